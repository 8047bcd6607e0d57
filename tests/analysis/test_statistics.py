import numpy as np
import pytest

from rgvf.analysis import (
    bootstrap,
    clearly_lower,
    estimate,
    interquartile_mean,
    interval,
    line_of_best_fit,
    show_estimate,
    slope_interval,
    standard_error,
)


def test_the_interquartile_mean_is_the_mean_of_the_middle_half():
    assert interquartile_mean(np.array([100.0, 3, 1, 2, 4, 5, 6, -50])) == pytest.approx((2 + 3 + 4 + 5) / 4)
    # Six samples: a quarter is one and a half, so the second and the fifth count half.
    assert interquartile_mean(np.arange(6.0)) == pytest.approx((0.5 * 1 + 2 + 3 + 0.5 * 4) / 3)
    assert interquartile_mean(np.array([[7.0]])) == 7.0
    rng = np.random.default_rng(0)
    assert interquartile_mean(rng.normal(3, 1, size=20_000)) == pytest.approx(3, abs=0.05)


def test_the_bootstrap_interval_counts_the_uncertainty_of_the_unit():
    """The interval covers the true value in most experiments; one that takes the unit as known is too narrow."""
    rng = np.random.default_rng(1)
    covered = covered_with_a_known_unit = 0
    for _ in range(100):
        scores = {"unit": rng.normal(10.0, 4.0, size=(3, 12)), "other": rng.normal(20.0, 1.0, size=(3, 12))}
        samples = bootstrap(scores, interquartile_mean, "unit", resamples=400)
        low, high = interval(samples["other"])
        covered += low < 2.0 < high
        known = scores["other"] / scores["unit"].mean(1, keepdims=True)
        slow = [interquartile_mean(np.stack([rng.choice(row, 12) for row in known])) for _ in range(100)]
        covered_with_a_known_unit += interval(np.array(slow))[0] < 2.0 < interval(np.array(slow))[1]
    assert covered >= 85
    assert covered_with_a_known_unit < 60


def test_the_bootstrap_equals_a_plain_loop_over_resamples():
    rng = np.random.default_rng(2)
    scores = {"unit": rng.gamma(4.0, 2.0, size=(2, 6)), "a": rng.gamma(5.0, 2.0, size=(2, 6))}
    plain = []
    for _ in range(4000):
        unit, a = (np.stack([rng.choice(row, 6) for row in scores[name]]) for name in ("unit", "a"))
        unit_means = unit.mean(1, keepdims=True)
        plain.append(interquartile_mean(a / unit_means) - interquartile_mean(unit / unit_means))
    samples = bootstrap(scores, interquartile_mean, "unit", resamples=4000)
    np.testing.assert_allclose(interval(samples["a"] - samples["unit"]), interval(np.array(plain)), atol=0.06)


def test_the_bootstrap_resamples_seeds_within_each_game():
    """Where all seeds of a game are equal there is no uncertainty."""
    scores = {"unit": np.array([[2.0] * 5, [3.0] * 5]), "a": np.array([[2.0] * 5, [27.0] * 5])}
    samples = bootstrap(scores, interquartile_mean, "unit")
    assert interval(samples["a"]) == pytest.approx((5.0, 5.0))  # halfway between 1 and 9
    assert interval(samples["unit"]) == pytest.approx((1.0, 1.0))


def test_a_unit_of_zero_is_never_divided_by():
    scores = {"unit": np.array([[0.0, 0.0, 3.0]]), "a": np.array([[1.0, 2.0, 3.0]])}
    assert all(np.isfinite(each).all() for each in bootstrap(scores, interquartile_mean, "unit").values())


def test_means_and_paired_differences():
    assert estimate(np.array([1.0, 2, 3])) == pytest.approx((2.0, 1 / np.sqrt(3)))
    one = estimate(np.array([4.0]))
    assert one.mean == 4.0
    assert np.isnan(one.standard_error)  # one seed says nothing about the uncertainty
    assert show_estimate(np.array([4.0])) == "4.0 ± –"
    assert show_estimate(np.array([1000.0, 3000.0]), 0) == "2,000 ± 1,000"
    assert np.isnan(standard_error(np.ones((1, 3)))).all()
    luck = np.array([0.0, 10, 20, 30])
    noise = np.array([0.1, -0.1, 0.1, -0.1])
    assert clearly_lower(luck, luck + 1 + noise)
    assert not clearly_lower(luck, luck + noise)


def test_the_line_of_best_fit_equals_numpy_s_and_its_interval_covers_the_slope():
    rng = np.random.default_rng(2)
    covered = 0
    for _ in range(40):
        x = rng.uniform(0, 10, 25)
        y = 3 - 0.5 * x + rng.normal(0, 1, 25)
        np.testing.assert_allclose(line_of_best_fit(x, y), np.polyfit(x, y, 1))
        low, high = slope_interval(x, y)
        covered += low < -0.5 < high
    assert 33 <= covered <= 40
