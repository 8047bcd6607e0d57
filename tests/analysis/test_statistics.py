import numpy as np
import pytest

from rgvf.analysis import (
    clearly_lower,
    estimate,
    interquartile_interval,
    interquartile_mean,
    line_of_best_fit,
    slope_interval,
    stratified_bootstrap,
)


def test_the_interquartile_mean_is_the_mean_of_the_middle_half():
    assert interquartile_mean(np.array([100.0, 3, 1, 2, 4, 5, 6, -50])) == pytest.approx((2 + 3 + 4 + 5) / 4)
    # Six samples: a quarter is one and a half, so the second and the fifth count half.
    assert interquartile_mean(np.arange(6.0)) == pytest.approx((0.5 * 1 + 2 + 3 + 0.5 * 4) / 3)
    assert interquartile_mean(np.array([[7.0]])) == 7.0
    rng = np.random.default_rng(0)
    assert interquartile_mean(rng.normal(3, 1, size=20_000)) == pytest.approx(3, abs=0.05)


def test_the_bootstrap_interval_covers_the_truth_about_as_often_as_it_says():
    rng = np.random.default_rng(1)
    covered = 0
    for _ in range(60):
        a, b = rng.normal(1.0, 1.0, size=(3, 12)), rng.normal(0.0, 1.0, size=(3, 12))
        low, high = stratified_bootstrap(a, b, resamples=200)
        covered += low < 1.0 < high
    assert 50 <= covered <= 60


def test_games_are_not_mixed_in_the_bootstrap():
    """Seeds are drawn within their game: without spread inside the games there is no uncertainty."""
    a, b = np.array([[1.0] * 5, [9.0] * 5]), np.array([[0.0] * 5, [0.0] * 5])
    low, high = stratified_bootstrap(a, b)
    assert low == high == interquartile_mean(a)


def test_means_and_paired_differences():
    assert estimate(np.array([1.0, 2, 3])) == pytest.approx((2.0, 1 / np.sqrt(3)))
    assert estimate(np.array([4.0])) == (4.0, 0.0)
    luck = np.array([0.0, 10, 20, 30])
    noise = np.array([0.1, -0.1, 0.1, -0.1])
    assert clearly_lower(luck, luck + 1 + noise)
    assert not clearly_lower(luck, luck + noise)


def test_the_line_of_best_fit_is_numpy_s_and_its_slope_is_covered():
    rng = np.random.default_rng(2)
    covered = 0
    for _ in range(40):
        x = rng.uniform(0, 10, 25)
        y = 3 - 0.5 * x + rng.normal(0, 1, 25)
        np.testing.assert_allclose(line_of_best_fit(x, y), np.polyfit(x, y, 1))
        low, high = slope_interval(x, y)
        covered += low < -0.5 < high
    assert 33 <= covered <= 40


def test_the_interval_of_one_interquartile_mean():
    rng = np.random.default_rng(3)
    scores = rng.normal(2.0, 1.0, size=(5, 10))
    low, high = interquartile_interval(scores)
    assert low < interquartile_mean(scores) < high
    assert high - low == pytest.approx(4 * 1.2 / np.sqrt(50), rel=0.5)
