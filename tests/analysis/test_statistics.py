import numpy as np
import pytest

from rgvf.analysis import (
    clearly_lower,
    difference_interval,
    estimate,
    line_of_best_fit,
    show_estimate,
    slope_interval,
    standard_error,
)


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


@pytest.mark.medium
@pytest.mark.parametrize(("seeds", "low", "high"), [(4, 0.06, 0.08), (10, 0.03, 0.05)])
def test_intervals_of_few_seeds_are_too_narrow_by_as_much_as_is_said(seeds, low, high):
    """How often one lies on one side of 0 where there is no difference: docs/results/minatar-reward.md."""
    rng, n = np.random.default_rng(0), 2500
    found = [difference_interval(*rng.normal(size=(2, seeds))) for _ in range(n)]
    wrong = sum(lower > 0 or upper < 0 for lower, upper in found) / 2 / n
    assert low < wrong < high
