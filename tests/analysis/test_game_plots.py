"""Figures of many games: what must be in them."""

import re

import numpy as np
from matplotlib.image import imread

from rgvf.analysis import (
    ATARI_SCORES,
    Line,
    agent_style,
    improvement_bars,
    learning_panels,
    performance_profile,
    profile_panels,
)
from tests.analysis.test_plots import texts

GAMES = list(ATARI_SCORES)
FRAMES = list(range(0, 200_000_000, 20_000_000))


def test_many_games_are_small_panels_with_one_legend(tmp_path):
    rng = np.random.default_rng(0)
    agents = ("a2c", "rgvf-stop-gradient")
    panels = {
        game: [Line(agent, FRAMES, rng.normal(3000, 9, (2, 10)), agent_style(agent)) for agent in agents]
        for game in GAMES[:7]
    }
    path = learning_panels([tmp_path / "grid.svg"], panels, "return", "Atari", columns=4, small=True)[0]
    written = texts(path)
    assert [each for each in written if each in GAMES] == GAMES[:7]
    assert [written.count(agent) for agent in agents] == [1, 1]
    assert "line: mean of 2 seeds; band: ± standard error" in written
    assert written.count("frames") == 4  # below the last panel of each column
    assert len(re.findall("FillBetweenPolyCollection", path.read_text())) == 14


def test_small_scores_are_not_written_in_thousandths(tmp_path):
    line = Line("a2c", FRAMES, np.linspace(0, 0.8, 10)[None], agent_style("a2c"))
    path = learning_panels([tmp_path / "a.svg"], {"one": [line], "two": [line]}, "return", columns=2, small=True)[0]
    assert not [each for each in texts(path) if re.fullmatch(r"\d+m", each)]


def test_the_interval_of_a_line_is_that_of_its_mean():
    values = np.random.default_rng(0).normal(size=(30, 5))
    line = Line("a2c", FRAMES[:5], values, agent_style("a2c"))
    np.testing.assert_array_equal(line.mean, values.mean(0))
    low, high = line.band("interval")
    expected = 2 * 1.96 * values.std(0) / np.sqrt(30)
    np.testing.assert_allclose(high - low, expected, rtol=0.1)


def test_the_legend_says_that_bands_are_intervals(tmp_path):
    line = Line("a2c", FRAMES, np.random.default_rng(0).gamma(1, 1, size=(4, 10)), agent_style("a2c"))
    path = learning_panels([tmp_path / "a.svg"], {"Atari": [line]}, "score", band="interval")[0]
    assert "line: mean of 4 seeds" in texts(path)
    assert "band: 95 % bootstrap interval" in texts(path)


def test_bars_are_sorted_and_say_their_value(tmp_path):
    values = {"Pong": 0.5, "Qbert": -0.043, "Boxing": 12.3, "Alien": 0.0, "Hero": float("nan")}
    path = improvement_bars(tmp_path / "bars.svg", values, "rgvf against A2C", "improvement", "#CC3311")
    written = texts(path)
    assert [each for each in written if each in values] == ["Boxing", "Pong", "Alien", "Qbert", "Hero"]
    for word in ("+1,230 %", "+50 %", "−4.3 %", "–", "better: 2", "worse: 1", "improvement"):
        assert word in written
    assert imread(improvement_bars(tmp_path / "bars.png", dict.fromkeys(GAMES[:5], 0.1), "t", "x", "#CC3311")).std() > 0


def test_profiles_have_a_line_and_a_band_for_each_agent(tmp_path):
    rng = np.random.default_rng(0)
    thresholds = np.linspace(0, 4, 21)
    agents = ("a2c", "rgvf", "rgvf-stop-gradient")
    found = {agent: performance_profile(rng.gamma(1, 1, (9, 3)), thresholds, 100) for agent in agents}
    panels = {"all": found, "two": {agent: found[agent] for agent in agents[:2]}}
    path = profile_panels(tmp_path / "p.svg", panels, thresholds, "Profiles", "score", level=("human", 1.0))
    written = texts(path)
    assert [each for each in written if each in agents] == list(agents)
    assert written.count("score") == 2
    assert "human" in written
    assert len(re.findall("FillBetweenPolyCollection", path.read_text())) == 5
