"""Aggregates over games and seeds: against hand-made numbers, slow loops, SciPy, and the package rliable.

rliable needs pandas, statsmodels and more, so it is no dependency. `rliable.json` has what version 1.2.0 (with arch
7.2.0 and pandas 2.3.3) printed for what follows, after imports of json, numpy, importlib.metadata.version,
rliable.library and rliable.metrics:

    rng = np.random.default_rng(7)
    x = np.round(rng.gamma(1.2, 0.9, (8, 5)) + np.linspace(-0.1, 1, 8)[:, None], 1)  # rounded, so that some are equal
    y = np.round(rng.gamma(1.0, 0.8, (8, 6)) + np.linspace(-0.1, 1, 8)[:, None], 1)
    taus = [0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 4.0]
    functions = {
        "median_over_games": metrics.aggregate_median,
        "mean_over_games": metrics.aggregate_mean,
        "interquartile_mean": metrics.aggregate_iqm,
        "optimality_gap": metrics.aggregate_optimality_gap,
    }


    def estimates(scores, function):
        np.random.seed(0)
        value, ends = library.get_interval_estimates({"": scores}, function, reps=500)
        return {"value": value[""].tolist(), "ends": ends[""].tolist()}


    found = {name: estimates(x.T, lambda s, f=f: np.array([f(s)])) for name, f in functions.items()}
    np.random.seed(0)
    value, ends = library.create_performance_profile({"": x.T}, taus, reps=500)
    found["performance_profile"] = {"value": value[""].tolist(), "ends": ends[""].tolist()}
    pair = lambda a, b: np.array([metrics.probability_of_improvement(a, b)])
    found["probability_of_improvement"] = estimates((x.T, y.T), pair)
    data = {"rliable": version("rliable"), "x": x.tolist(), "y": y.tolist(), "thresholds": taus, "found": found}
    print(json.dumps(data))
"""

import json
import math
from fractions import Fraction
from pathlib import Path
from statistics import median

import numpy as np
import pytest
from scipy.stats import binomtest, mannwhitneyu

from rgvf.analysis import (
    aggregate,
    bootstrap,
    capped_mean,
    compare_by_game,
    estimate,
    interquartile_mean,
    interval,
    mean_over_games,
    median_of_seeds,
    over_games,
    performance_profile,
    probability_of_improvement,
    sign_test,
)

STATISTICS = [median_of_seeds, mean_over_games, capped_mean, interquartile_mean]
OF_RLIABLE = {
    "median_over_games": lambda scores: median_of_seeds(scores.mean(-1, keepdims=True)),
    "mean_over_games": mean_over_games,
    "interquartile_mean": interquartile_mean,
    "optimality_gap": lambda scores: 1 - capped_mean(scores),
}
"""Its statistics, made of ours."""
RLIABLE = json.loads((Path(__file__).parent / "rliable.json").read_text(encoding="utf-8"))
X, Y, THRESHOLDS = (np.array(RLIABLE[name]) for name in ("x", "y", "thresholds"))
FOUND = RLIABLE["found"]


def rliable_resamples(*agents):
    """The resamples of rliable, which takes its indices from NumPy's old global generator: [500, games, seeds]."""
    rng = np.random.RandomState(0)
    samples = [[] for _ in agents]
    for _ in range(500):
        for scores, mine in zip(agents, samples, strict=True):
            games, seeds = scores.shape
            mine.append(np.take_along_axis(scores, rng.choice(seeds, (seeds, games)).T, axis=1))
    return [np.stack(each) for each in samples]


@pytest.mark.parametrize(
    ("games", "seeds", "found"),
    [(7, 5, 0.9999999999999998), (5, 2, 0.7833333333333332), (3, 3, 0.78), (1, 5, 0.5333333333333333), (3, 1, 2.3 / 3)],
)
def test_the_interquartile_mean_of_any_number_of_scores_is_that_of_rliable(games, seeds, found):
    """`metrics.aggregate_iqm(x[:games, :seeds].T)` of version 1.2.0."""
    assert float(interquartile_mean(X[:games, :seeds])) == pytest.approx(found, abs=1e-12)


@pytest.mark.parametrize("name", OF_RLIABLE)
def test_statistics_and_their_intervals_are_those_of_rliable(name):
    found, statistic = FOUND[name], OF_RLIABLE[name]
    assert float(statistic(X)) == pytest.approx(found["value"][0], abs=1e-12)
    (samples,) = rliable_resamples(X)
    assert interval(statistic(samples)) == pytest.approx(np.ravel(found["ends"]), abs=1e-12)
    low, value, high = aggregate(X, statistic, resamples=4000)  # other random numbers
    assert value == pytest.approx(found["value"][0], abs=1e-12)
    assert (low, high) == pytest.approx(np.ravel(found["ends"]), abs=0.03)


def test_the_probability_of_improvement_is_that_of_rliable():
    found = FOUND["probability_of_improvement"]
    pairs = zip(*rliable_resamples(X, Y), strict=True)
    samples = np.array([probability_of_improvement(x, y, resamples=1).value for x, y in pairs])
    assert interval(samples) == pytest.approx(np.ravel(found["ends"]), abs=1e-12)
    low, value, high = probability_of_improvement(X, Y, resamples=4000)
    assert value == pytest.approx(found["value"][0], abs=1e-12)
    assert (low, high) == pytest.approx(np.ravel(found["ends"]), abs=0.015)


def test_performance_profiles_are_those_of_rliable():
    """Some of the thresholds are scores: a run is above a threshold only if it is higher."""
    found = FOUND["performance_profile"]
    (samples,) = rliable_resamples(X)
    profiles = np.stack([performance_profile(sample, THRESHOLDS, resamples=1)[1] for sample in samples])
    np.testing.assert_allclose(np.percentile(profiles, [2.5, 97.5], axis=0), found["ends"], atol=1e-12)
    ours = performance_profile(X, THRESHOLDS, resamples=4000)
    np.testing.assert_allclose(ours[1], found["value"], atol=1e-12)
    np.testing.assert_allclose(ours[[0, 2]], found["ends"], atol=0.026)  # 1 run of 40


def test_statistics_are_what_they_are_called():
    games = [[Fraction(1, 2), Fraction(3, 2)], [Fraction(-1), Fraction(0)], [Fraction(4), Fraction(8)]]
    scores = np.array(games, float)
    means = [(a + b) / 2 for a, b in games]
    assert float(median_of_seeds(scores)) == (median([0.5, -1, 4]) + median([1.5, 0, 8])) / 2 == 1
    uneven = np.array([[0.0, 9.0], [1.0, 2.0], [2.0, 0.0]])  # the medians of the seeds are 1 and 2
    assert float(median_of_seeds(uneven)) == 1.5 == median_of_seeds(uneven[:, :1]) + 0.5
    assert float(mean_over_games(scores)) == pytest.approx(float(sum(means) / 3))
    capped = sum(min(score, Fraction(1)) for game in games for score in game) / 6
    assert float(capped_mean(scores)) == pytest.approx(float(capped))  # each run is capped, not the mean of a game
    middle = (Fraction(0) + Fraction(1, 2) + Fraction(3, 2) + Fraction(4)) / 4  # of -1, 0, .5, 1.5, 4, 8
    assert float(interquartile_mean(scores)) == pytest.approx(float(middle))


@pytest.mark.parametrize("statistic", STATISTICS)
def test_statistics_of_many_samples_are_those_of_each(statistic):
    many = np.random.default_rng(0).gamma(1, 1, size=(3, 4, 5, 6))
    each = [[float(statistic(scores)) for scores in row] for row in many]
    np.testing.assert_allclose(statistic(many), each, rtol=1e-12)


@pytest.mark.parametrize("statistic", STATISTICS)
def test_the_statistic_of_each_seed_is_over_its_games(statistic):
    """As the paper draws it: a curve for each seed, then their mean and standard error."""
    curves = np.random.default_rng(0).gamma(1, 1, size=(7, 3, 4))
    expected = [[float(statistic(curves[:, [seed], point])) for point in range(4)] for seed in range(3)]
    np.testing.assert_allclose(over_games(curves, statistic), expected, rtol=1e-12)
    last = over_games(curves[..., -1], statistic)
    np.testing.assert_allclose(last, [row[-1] for row in expected], rtol=1e-12)
    assert estimate(last).standard_error == pytest.approx(np.std(last, ddof=1) / math.sqrt(3))


def test_a_profile_is_the_mean_share_of_runs_above_with_its_interval():
    scores = np.random.default_rng(0).gamma(1, 1, size=(6, 4))
    thresholds = np.array([0.3, 1.0, 2.0])
    profile = performance_profile(scores, thresholds)
    for point, threshold in enumerate(thresholds):
        assert profile[:, point] == pytest.approx(aggregate(1.0 * (scores > threshold), mean_over_games), rel=1e-12)
    assert (np.diff(performance_profile(scores, np.linspace(0, 3, 50)), axis=1) <= 0).all()


def test_the_probability_of_improvement_is_mann_whitney_s_statistic():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 6, size=(9, 4)) * 1.0, rng.integers(0, 5, size=(9, 7)) * 1.0  # with many draws
    expected = np.mean([mannwhitneyu(x, y).statistic / 28 for x, y in zip(a, b, strict=True)])
    low, value, high = probability_of_improvement(a, b)
    assert value == pytest.approx(expected)
    assert low < value < high
    assert probability_of_improvement(b, a).value == pytest.approx(1 - expected)
    assert probability_of_improvement(a, a).value == pytest.approx(0.5)
    assert probability_of_improvement(a + 10, b) == (1.0, 1.0, 1.0)


def test_the_sign_test_is_the_exact_binomial_test():
    for better in range(12):
        for worse in range(12):
            if better + worse:
                assert sign_test(better, worse) == pytest.approx(binomtest(better, better + worse).pvalue)
    assert sign_test(0, 0) == 1.0
    assert sign_test(5, 0) == 2 / 32
    assert sign_test(34, 15) == pytest.approx(0.0094, abs=5e-5)


def test_games_are_compared_in_pairs():
    a = np.array([[1.0, 3.0], [2.0, 2.0], [0.0, 1.0], [5.0, 5.0]])
    b = np.array([[1.0, 1.0, 1.0], [1.0, 2.0, 3.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0]])
    found = compare_by_game(a, b)
    assert (found.better, found.worse, found.equal) == (2, 1, 1)
    assert found.p_value == 1.0
    assert found.difference.value == pytest.approx((1 + 0 - 0.5 + 4) / 4)
    rng = np.random.default_rng(1)
    slow = rng.choice([1.0, 0.0, -0.5, 4.0], size=(20_000, 4)).mean(1)
    assert (found.difference.low, found.difference.high) == pytest.approx(np.percentile(slow, [2.5, 97.5]), abs=0.13)
    assert compare_by_game(b, a).difference.value == -found.difference.value


def test_one_seed_has_no_interval_and_nan_stays_nan():
    one = np.array([[1.0], [2.0]])
    two = np.array([[1.0, 2.0], [2.0, 3.0]])
    for low, value, high in (aggregate(one, mean_over_games), probability_of_improvement(one, two)):
        assert np.isnan([low, high]).all()
        assert np.isfinite(value)
    profile = performance_profile(one, THRESHOLDS)
    assert np.isnan(profile[[0, 2]]).all()
    assert np.isfinite(profile[1]).all()
    gap = np.array([[1.0, np.nan], [2.0, 3.0]])
    for statistic in STATISTICS:
        assert np.isnan(statistic(gap))
    assert np.isnan(probability_of_improvement(two, gap).value)
    assert np.isnan(performance_profile(gap, THRESHOLDS)[1]).all()
    assert np.isnan(compare_by_game(two, gap).p_value)


def test_agents_are_compared_on_the_same_games():
    for function in (probability_of_improvement, compare_by_game):
        with pytest.raises(ValueError, match="same games; these have 8 and 7"):
            function(X, X[:7])


def test_the_bootstrap_of_several_agents_resamples_each_on_its_own():
    samples = bootstrap({"a": X, "b": X}, mean_over_games)
    assert abs(np.corrcoef(samples["a"], samples["b"])[0, 1]) < 0.1
    expected = np.sqrt(np.mean(X.var(1)) / 5 / 8)  # the standard error of the mean, seeds resampled within games
    assert samples["a"].std() == pytest.approx(expected, rel=0.06)


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
        resamples = rng.integers(12, size=(100, 3, 12))
        slow = [interquartile_mean(np.take_along_axis(known, chosen, axis=1)) for chosen in resamples]
        covered_with_a_known_unit += interval(np.array(slow))[0] < 2.0 < interval(np.array(slow))[1]
    assert covered >= 85
    assert covered_with_a_known_unit < 60


def test_the_bootstrap_equals_a_plain_loop_over_resamples():
    rng = np.random.default_rng(2)
    scores = {"unit": rng.gamma(4.0, 2.0, size=(2, 6)), "a": rng.gamma(5.0, 2.0, size=(2, 6))}
    plain = []
    for _ in range(2000):
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
