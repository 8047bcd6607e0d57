"""Reference scores: against what the literature made of the same tables; and scores that are normalised by them."""

import numpy as np
import pytest

from rgvf.analysis import (
    ATARI_SCORES,
    DMLAB_SCORES,
    Reference,
    improvement,
    mean_over_games,
    median_of_seeds,
    normalised,
    reference,
    scaled,
)
from rgvf.environments import ATARI_GAMES

# Table K.1 of Hafner et al. (2021): scores of two agents in the 49 games, in the order of their names.
RAINBOW = """
3457 2529 3229 18367 1484 802548 1075 40061 6290 43 99 120 6510 12338 145389 17071 22 2200 42 34 8208 10641 1272
46675 0 1097 12748 4066 26475 500 3861 9026 20 21334 17383 20756 54662 66 9903 4131 57909 0 12051 239 34888 1529
466895 7879 14603
"""
DREAMER = """
3967 2577 23625 72311 41526 978778 1126 40325 18646 49 92 312 11883 2861 161839 82263 17 1656 65 33 11384 92282 3789
21868 26 40445 14064 50061 62741 81 5652 14649 20 2198 94688 16351 203576 78 7480 2474 7800 14 37945 264 653662 2
41860 12851 50699
"""
OTHERS = {
    "Berzerk": (Reference(123.7, 2630.4, 1057940), 833, 810),
    "Phoenix": (Reference(761.4, 7242.6, 4014440), 8545, 49375),
    "Pitfall": (Reference(-229.4, 6463.7, 114000), -20, 0),
    "Skiing": (Reference(-17098.1, -4336.9, -3272), -28708, -9299),
    "Solaris": (Reference(1236.3, 12326.7, 111420), 1583, 922),
    "YarsRevenge": (Reference(3092.9, 54576.9, 15000105), 45542, 156748),
}
"""Six games of that table that are not among the 49, with their reference scores, Rainbow's and DreamerV2's scores."""


@pytest.mark.parametrize(
    ("agent", "scores", "median_human", "mean_human", "mean_record", "capped_record"),
    [("rainbow", RAINBOW, 1.47, 9.12, 0.17, 0.17), ("dreamer", DREAMER, 2.15, 11.33, 0.44, 0.28)],
)
def test_published_agents_have_their_published_scores(
    agent, scores, median_human, mean_human, mean_record, capped_record
):
    """Table 1 of Hafner et al. (2021), to its last digit; its games are our 49 and the six others.

    It takes random play to score 229 in Alien and 7 in Jamesbond; only the mean human-normalised score shows that.
    """
    own = np.array(scores.split(), float)[:, None]
    rest = np.array([each[1 if agent == "rainbow" else 2] for each in OTHERS.values()], float)[:, None]
    random, human, record = np.array([each[0] for each in OTHERS.values()]).T
    by_human = np.concatenate([normalised(own, ATARI_GAMES), scaled(rest, random, human)])
    by_record = np.concatenate([normalised(own, ATARI_GAMES, "record"), scaled(rest, random, record)])
    capped = np.concatenate([normalised(own, ATARI_GAMES, "record", cap=1.0), scaled(rest, random, record, cap=1.0)])
    assert len(by_human) == 55
    assert float(median_of_seeds(by_human)) == pytest.approx(median_human, abs=0.005)
    theirs = {"Alien": 229.0, "Jamesbond": 7.0}
    zero = np.array([theirs.get(game, found.random) for game, found in ATARI_SCORES.items()])
    one = np.array([found.human for found in ATARI_SCORES.values()])
    by_human[:49] = scaled(own, zero, one)
    assert float(mean_over_games(by_human)) == pytest.approx(mean_human, abs=0.005)
    assert float(mean_over_games(by_record)) == pytest.approx(mean_record, abs=0.005)
    assert float(mean_over_games(capped)) == pytest.approx(capped_record, abs=0.005)


def test_the_tables_are_complete():
    assert tuple(ATARI_SCORES) == ATARI_GAMES
    assert len(DMLAB_SCORES) == 12
    for found in (*ATARI_SCORES.values(), *DMLAB_SCORES.values()):
        assert found.random < found.human
    assert all(found.record is not None and found.record > found.human for found in ATARI_SCORES.values())
    # Sums of the columns of the tables that these came from: a digit that is wrong shows.
    assert np.array([*ATARI_SCORES.values()], float).sum(0) == pytest.approx([60113.6, 508895.4, 131658337.0], abs=0.01)
    sums = np.sum([[each.random, each.human] for each in DMLAB_SCORES.values()], axis=0)
    assert sums == pytest.approx([32.306, 1193.30])


def test_random_play_is_0_and_human_or_record_play_1():
    for table in (ATARI_SCORES, DMLAB_SCORES):
        games = list(table)
        random, human = (np.array([each[i] for each in table.values()]) for i in (0, 1))
        np.testing.assert_allclose(normalised(random, games), 0)
        np.testing.assert_allclose(normalised(human, games), 1)
    record = np.array([each.record for each in ATARI_SCORES.values()], float)
    np.testing.assert_allclose(normalised(record, ATARI_GAMES, "record"), 1)


def test_scores_of_each_game_are_on_the_scale_of_that_game():
    """Breakout: random 1.7, human 30.5, record 864. Pong: -20.7, 14.6, 21."""
    scores = np.array([[[1.7, 30.5, 59.3], [16.1, 1.7, 1.7]], [[-20.7, 14.6, 20.0], [21.0, 0.0, -21.0]]])
    found = normalised(scores, ["Breakout", "Pong"])
    np.testing.assert_allclose(found[0], [[0, 1, 2], [0.5, 0, 0]])
    np.testing.assert_allclose(found[1], [[0, 1, 40.7 / 35.3], [41.7 / 35.3, 20.7 / 35.3, -0.3 / 35.3]])
    np.testing.assert_array_equal(normalised(scores, ["Breakout", "Pong"], cap=1.0), np.minimum(found, 1))
    by_record = normalised(scores, ["Breakout", "Pong"], "record")
    np.testing.assert_allclose(by_record[:, 0, 1], [28.8 / 862.3, 35.3 / 41.7])


def test_improvement_is_relative_to_the_better_of_human_and_baseline():
    agent, baseline = np.array([20.0, 100.0, 10.0]), np.array([10.0, 59.3, 10.0])
    found = improvement(agent, baseline, ["Breakout"] * 3)
    np.testing.assert_allclose(found, [10 / 28.8, 40.7 / 57.6, 0])


def test_what_cannot_be_normalised_is_refused():
    assert reference("Pong") == Reference(-20.7, 14.6, 21)
    with pytest.raises(ValueError, match="did you mean Breakout"):
        normalised(np.zeros((1, 2)), ["Breakuot"])
    with pytest.raises(ValueError, match="no record for explore_goal_locations_small"):
        normalised(np.zeros((2, 2)), ["Pong", "explore_goal_locations_small"], "record")
    with pytest.raises(ValueError, match="scores of 3 games cannot be scaled by those of 2"):
        normalised(np.zeros((3, 2)), ["Pong", "Breakout"])
