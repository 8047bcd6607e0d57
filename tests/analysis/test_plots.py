"""Figures: what must be in them, whatever they look like."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.image import imread

from rgvf.analysis import Line, agent_style, heat_maps, intervals, learning_panels, standard_error

SVG = "{http://www.w3.org/2000/svg}"


def texts(path):
    return [" ".join(each.itertext()).strip() for each in ElementTree.parse(path).iter(f"{SVG}text")]


def line(agent, seeds=3, label=""):
    values = np.random.default_rng(0).normal(5, 1, size=(seeds, 20))
    return Line(label or agent, list(range(0, 2000, 100)), values, agent_style(agent))


def test_bands_are_what_the_legend_says():
    one = line("rgvf")
    low, high = one.band("error")
    np.testing.assert_allclose(high - low, 2 * one.values.std(0, ddof=1) / 3**0.5)
    np.testing.assert_allclose((low + high) / 2, one.values.mean(0))
    np.testing.assert_allclose(standard_error(one.values), (high - low) / 2)
    low, high = one.band("range")
    np.testing.assert_array_equal((low, high), (one.values.min(0), one.values.max(0)))


@pytest.mark.parametrize(
    ("seeds", "band", "said"),
    [
        ((3, 3), "error", ["line: mean of 3 seeds", "band: ± standard error", "a2c", "rgvf"]),
        ((3, 3), "range", ["line: mean of 3 seeds", "band: range", "a2c", "rgvf"]),
        ((3, 1), "error", ["line: mean of seeds (how many)", "band: ± standard error", "a2c (3)", "rgvf (1)"]),
        ((1, 1), "error", ["one seed", "a2c", "rgvf"]),
    ],
)
def test_the_legend_says_what_bands_are_and_how_many_seeds(tmp_path, seeds, band, said):
    lines = [line("a2c", seeds[0]), line("rgvf", seeds[1])]
    svg, png = learning_panels(
        [tmp_path / "curves.svg", tmp_path / "curves.png"], {"Breakout": lines, "Pong": lines}, "return", band=band
    )
    written = texts(svg)
    assert [each for each in written if each in said] == said
    for word in ("Breakout", "Pong", "frames", "return"):
        assert word in written
    assert imread(png).std() > 0
    bands = len(re.findall("FillBetweenPolyCollection", svg.read_text()))
    assert bands == 2 * sum(n > 1 for n in seeds)
    again = learning_panels([tmp_path / "again.svg"], {"Breakout": lines, "Pong": lines}, "return", band=band)[0]
    assert again.read_bytes() == svg.read_bytes()


def test_agents_are_sorted_by_their_value_with_a_line_at_one(tmp_path):
    found = {"curl": (0.1, 0.2, 0.3), "rgvf": (1.1, 1.2, 1.3), "a2c": (np.nan, 1.0, np.nan)}
    path = intervals(tmp_path / "a.svg", {"rivals": found, "ablations": {"mhvp": (0.3, 0.4, 0.5)}}, "Title", "x", 1.0)
    agents = [each for each in texts(path) if each in ("curl", "rgvf", "a2c", "mhvp")]
    assert agents == ["rgvf", "a2c", "curl", "mhvp"]
    assert path.read_text().count("stroke-dasharray") == 2  # the line at 1, in both panels


def test_maps_say_their_error_and_mark_the_goal(tmp_path):
    truth = np.arange(9.0).reshape(3, 3)
    maps = {"true values": truth, "learned": truth + 0.5}
    path = heat_maps(tmp_path / "maps.svg", maps, "Values", goal=(0, 1))
    assert "MSE 0.250" in texts(path)
    assert sum("MSE" in each for each in texts(path)) == 1
    plain, marked = (heat_maps(tmp_path / f"{g}.png", maps, "Values", goal=(0, g)) for g in (0, 1))
    assert not np.array_equal(imread(plain), imread(marked))
