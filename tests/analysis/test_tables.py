"""Tables of runs, against plain computations."""

import numpy as np
import pytest

from rgvf.analysis import difference_interval, mean_interval, ratio_interval, read_runs
from rgvf.analysis.tables import compare_evaluations, compare_training
from rgvf.errors import UserError
from tests.analysis.made_runs import evaluate_run, make_run

A = np.array([10.0, 12.0, 11.0, 15.0, 9.0])
B = np.array([20.0, 24.0, 21.0, 19.0, 30.0])


def points(finals):
    """Twenty points of each seed; the last two, a tenth, have the given mean."""
    return [[0.0] * 18 + [value - 1, value + 1] for value in finals]


def test_bootstrap_intervals_equal_a_plain_loop():
    rng = np.random.default_rng(5)
    means, differences, ratios = [], [], []
    for _ in range(20_000):
        a, b = rng.choice(A, len(A)), rng.choice(B, len(B))
        means.append(a.mean())
        differences.append(b.mean() - a.mean())
        ratios.append(b.mean() / a.mean())
    np.testing.assert_allclose(mean_interval(A), np.percentile(means, [2.5, 97.5]), atol=0.21)
    np.testing.assert_allclose(
        difference_interval(A, B), np.percentile(differences, [2.5, 97.5]), atol=0.21
    )  # means are multiples of 0.2
    np.testing.assert_allclose(ratio_interval(A, B), np.percentile(ratios, [2.5, 97.5]), rtol=0.1)
    assert mean_interval(A) == mean_interval(A)  # the same every time
    assert np.isnan(mean_interval(A[:1])).all()
    assert np.isnan(difference_interval(A, B[:1])).all()


def test_runs_are_compared_with_the_first(tmp_path):
    make_run(tmp_path / "a", points(A), "a2c")
    make_run(tmp_path / "b", points(B), "rgvf", settings={"stop_gradient": True})
    rows, notes = compare_training(read_runs([tmp_path]))
    header, first, second = rows
    assert header[0] == "agent"
    assert header[3] == "return, mean ± standard error"
    assert header[5] == "difference to a2c"
    assert first[:4] == ("a2c", "5", "2,000", f"{A.mean():.1f} ± {np.std(A, ddof=1) / 5**0.5:.1f}")
    assert first[4] == "{:.1f} to {:.1f}".format(*mean_interval(A))
    assert first[5:] == ("", "")
    assert second[0] == "rgvf-stop-gradient"
    assert second[5] == f"+{B.mean() - A.mean():.1f}"
    assert second[6] == "{:.1f} to {:.1f}".format(*difference_interval(A, B))
    assert notes == [
        "gym/CartPole-v1: return over the last tenth of training; bootstrap intervals over seeds, each agent resampled "
        "on its own."
    ]


def test_one_seed_has_no_interval(tmp_path):
    make_run(tmp_path / "a", points(A), "a2c")
    make_run(tmp_path / "b", points(B[:1]), every=50)
    rows, notes = compare_training(read_runs([tmp_path]))
    assert rows[2] == ("rgvf", "1", "1,000", "20.0 ± –", "–", "+8.6", "–")
    assert notes[1:] == [
        "–: one seed says nothing about the uncertainty.",
        "Not all have been trained for the same number of frames.",
    ]


def test_a_single_agent_has_no_difference(tmp_path):
    rows, notes = compare_training(read_runs([make_run(tmp_path / "a", points(A[:3]))]), "rgvf/loss")
    assert len(rows[0]) == 5
    assert rows[1][3].startswith("0.0257 ±")  # the mean of 0.5/19 and 0.5/20, to three digits
    assert "With fewer than 5 seeds these intervals are too narrow." in notes


def test_different_environments_are_refused(tmp_path):
    make_run(tmp_path / "a", [[1.0]])
    make_run(tmp_path / "b", [[1.0]], env="minatar/Breakout")
    for compare in (compare_training, compare_evaluations):
        with pytest.raises(ValueError, match=r"different environments \(gym/CartPole-v1, minatar/Breakout\)"):
            compare(read_runs([tmp_path]))


def test_evaluations_are_compared_by_how_games_were_played(tmp_path):
    a, b = make_run(tmp_path / "a", [[1.0]] * 2, "a2c"), make_run(tmp_path / "b", [[1.0]] * 2)
    make_run(tmp_path / "c", [[1.0]], "curl")
    with pytest.raises(UserError, match="none of these runs was evaluated yet; rgvf evaluate"):
        compare_evaluations(read_runs([tmp_path]))
    old = [(0, 0.0, False, 50, [999.0])]  # an earlier checkpoint
    evaluate_run(a, [*old, (0, 0.0, False, 100, [1.0, 3.0]), (1, 0.0, False, 100, [4.0]), (0, 0.0, True, 100, [5.0])])
    evaluate_run(b, [(0, 0.25, False, 100, [7.0]), (0, 0.0, False, 100, [8.0]), (1, 0.0, False, 100, [10.0])])
    rows, notes = compare_evaluations(read_runs([tmp_path]))
    assert [row[:5] for row in rows[1:]] == [
        ("a2c", "sampled", "2", "100", "3.00 ± 1.00"),
        ("a2c", "greedy", "1", "100", "5.00 ± –"),
        ("rgvf", "sampled, sticky 0.25", "1", "100", "7.00 ± –"),
        ("rgvf", "sampled", "2", "100", "9.00 ± 1.00"),
    ]
    assert [row[6] for row in rows[1:]] == ["", "", "", "+6.00"]
    assert notes[-1] == "Not evaluated: curl."
    (b / "evaluation.json").write_text("{}")
    with pytest.raises(UserError, match=r"evaluation.json is damaged"):
        compare_evaluations(read_runs([tmp_path]))
