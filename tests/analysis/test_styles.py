"""Lines can be told apart with any kind of colour vision."""

import itertools

import numpy as np
import pytest

from rgvf.agents import STOPPED
from rgvf.analysis import agent_style, styles
from rgvf.analysis.styles import KNOWN
from rgvf.analysis.styles import STOPPED as SUFFIX
from rgvf.studies import grid_random, grid_touch
from rgvf.studies.minatar import STUDY
from rgvf.studies.minatar_reward import STUDY as REWARD
from rgvf.studies.minatar_tuning import tried
from rgvf.tasks import TASKS

# Machado, Oliveira and Fernandes (2009), A Physiologically-based Model for Simulation of Color Vision Deficiency, IEEE
# Transactions on Visualization and Computer Graphics 15(6): the matrices for complete dichromacy, on linear RGB.
VISION = {
    "normal": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
# sRGB (IEC 61966-2-1) to CIE XYZ, white D65.
XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
CLEAR = 20.0
"""Distance in CIELAB; 2.3 is just noticeable between two large patches."""


def linear(colour):
    rgb = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    ratio = XYZ @ np.clip(rgb, 0, 1) / (XYZ @ np.ones(3))
    f = np.where(ratio > (6 / 29) ** 3, np.cbrt(ratio), ratio / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def distance(a, b, vision):
    return float(np.linalg.norm(lab(np.dot(VISION[vision], linear(a))) - lab(np.dot(VISION[vision], linear(b)))))


def confused(chosen):
    """Pairs of lines that look alike to somebody."""
    return [
        (a, b, vision, round(distance(chosen[a].colour, chosen[b].colour, vision), 1))
        for a, b in itertools.combinations(chosen, 2)
        for vision in VISION
        if (chosen[a].dash, chosen[a].marker) == (chosen[b].dash, chosen[b].marker)
        and distance(chosen[a].colour, chosen[b].colour, vision) < CLEAR
    ]


def test_the_simulation():
    """Known numbers of CIELAB. Without green cones some red and green look alike; grey stays grey."""
    np.testing.assert_allclose(lab(linear("#FF0000")), [53.24, 80.09, 67.20], atol=0.02)
    np.testing.assert_allclose(lab(linear("#FFFFFF")), [100, 0, 0], atol=0.02)
    red, green = "#C87137", "#7C8A2A"
    assert distance(red, green, "normal") > 40
    assert distance(red, green, "deuteranopia") < 20
    for vision in VISION:
        np.testing.assert_allclose(lab(np.dot(VISION[vision], linear("#808080"))), lab(linear("#808080")), atol=0.1)


FIGURES = {
    "all agents": [*(f"{task}{mode}" for task in TASKS for mode in ("", STOPPED)), "a2c"],
    "MinAtar": STUDY.comparison.agents,
    "MinAtar, reward": REWARD.comparison.agents,
    "grid-touch": [variant.label for variant in grid_touch.VARIANTS.values()],
    "grid-random": [variant.label for variant in grid_random.VARIANTS.values()],
    "tuning": [str(each) for each in tried("rgvf")],
    "some of yours": [
        "a2c",
        "mine",
        f"mine{STOPPED}",
        "rgvf",
        "rgvf+mine",
        f"rgvf+curl{STOPPED}",
        "rgvf-no-actions",
        "yours",
    ],
    "many others": [f"agent {i}" for i in range(60)],
}


@pytest.mark.parametrize("figure", FIGURES)
def test_the_lines_of_a_figure_can_be_told_apart(figure):
    chosen = styles({label: label for label in FIGURES[figure]})
    assert confused(chosen) == []


def test_the_rivals_need_no_marks():
    """Their colours alone are far apart."""
    rivals = ["a2c", "rgvf", "mhvp", "pixel-control", "curl"]
    assert {agent_style(agent).marker for agent in rivals} == {""}
    for a, b in itertools.combinations(rivals, 2):
        assert min(distance(KNOWN[a].colour, KNOWN[b].colour, vision) for vision in VISION) > 30


def test_one_colour_for_each_task_dashed_with_stop_gradient():
    assert SUFFIX == STOPPED
    assert set(TASKS) < set(KNOWN)
    for task in TASKS:
        solid, dashed = agent_style(task), agent_style(f"{task}{STOPPED}")
        assert (solid.dash, dashed.dash) == ("-", "--")
        assert (solid.colour, solid.marker) == (dashed.colour, dashed.marker)
        others = {label: label for label in ("a2c", "x", "y", task)}
        assert styles(others)[task] == solid  # whatever else is in the figure


def test_lines_of_one_agent_differ_by_marks_and_shades():
    chosen = styles({f"rgvf (depth {depth})": "rgvf" for depth in range(8)} | {"a2c": "a2c", "mhvp": "mhvp"})
    rgvf = [style for label, style in chosen.items() if label.startswith("rgvf")]
    assert rgvf[0] == agent_style("rgvf")
    assert len({style.marker for style in rgvf}) == 8
    assert len({style.colour for style in rgvf}) == 3
    assert confused(chosen) == []
