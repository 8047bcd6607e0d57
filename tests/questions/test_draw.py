"""Drawings: what must be in them, whatever they look like."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.image import imread

from rgvf.questions import (
    QuestionNetwork,
    discounted_sum,
    figure_1a,
    full_tree,
    multi_horizon_values,
    random_discounted_sums,
    random_network,
    reward_prediction,
    shallow,
    termination_prediction,
)
from rgvf.questions.draw import draw, draw_on
from rgvf.questions.layout import label, layers

SVG = "{http://www.w3.org/2000/svg}"
MOVES = ["up", "right", "down", "left"]

ACYCLIC: dict[str, Callable[[], QuestionNetwork]] = {
    "figure 1a": figure_1a,
    "reward": reward_prediction,
    "tree": lambda: full_tree("touch", MOVES, 3),
    "shallow": lambda: shallow(["red", "green"], 3),
    "random": lambda: random_network(3, 2, depth=4, repeat=3, seed=0),
    "random of one feature": lambda: random_network(1, 4, depth=4, repeat=1, seed=0),
}
LOOPS: dict[str, Callable[[], QuestionNetwork]] = {
    "sums": lambda: discounted_sum(["touch", "light"], 0.8),
    "values": multi_horizon_values,
    "termination": termination_prediction,
}


def ring(n: int) -> QuestionNetwork:
    names = [f"r{i}" for i in range(n)]
    edges = [(name, names[i - 1], 0.9) for i, name in enumerate(names)]
    return QuestionNetwork(["f"], [*names, "after"], [*edges, ("r0", "f", 1.0), ("after", "r1", 1.0)])


def settings() -> dict[str, object]:
    # To read the backend is to choose one.
    return {key: matplotlib.rcParams[key] for key in matplotlib.rcParams if key != "backend"}


def texts(path: Path) -> list[str]:
    return [element.text or "" for element in ElementTree.parse(path).iter(f"{SVG}text")]


@pytest.mark.parametrize("name", ACYCLIC)
def test_rows_lie_below_what_they_look_at(name: str) -> None:
    network = ACYCLIC[name]()
    row = dict(zip(network.predictions + network.features, layers(network), strict=True))
    assert all(row[feature] == 0 for feature in network.features)
    for source, target, _ in network.edges:
        if source != target and target in network.predictions:
            assert row[source] > row[target]


def test_rows_are_longest_paths() -> None:
    network = QuestionNetwork(["f"], ["a", "b", "c"], [("a", "f"), ("b", "a"), ("c", "b"), ("c", "a"), ("c", "f")])
    assert layers(network) == (1, 2, 3, 0)


def test_sums_stand_beside_features_only_among_other_predictions() -> None:
    assert set(layers(random_network(2, 2, depth=2, repeat=2, seed=0))[:2]) == {0}
    for make in LOOPS.values():
        network = make()
        assert layers(network) == (1,) * network.n_predictions + (0,) * network.n_features


def test_a_cycle_shares_a_row() -> None:
    assert layers(ring(3)) == (1, 1, 1, 2, 0)


@pytest.mark.parametrize(("name", "suffix"), [*((name, ".svg") for name in ACYCLIC | LOOPS), ("figure 1a", ".png")])
def test_the_same_network_gives_the_same_bytes(name: str, suffix: str, tmp_path: Path) -> None:
    make = (ACYCLIC | LOOPS)[name]
    first, second = (draw(make(), tmp_path / f"{copy}{suffix}").read_bytes() for copy in "ab")
    assert first == second


def test_svg_names_features_actions_and_weights(tmp_path: Path) -> None:
    written = texts(figure_1a(0.85).draw(tmp_path / "figure.svg"))
    assert sorted(written) == sorted(["f1", "f2", "1", "2", "3", "4", "5", "6", "a", "b", "0.85"])


def test_a_tree_is_labelled_by_actions_alone(tmp_path: Path) -> None:
    written = texts(draw(full_tree("touch", MOVES, 2), tmp_path / "tree.svg"))
    assert sorted(written) == sorted(["touch", *MOVES * 5])


def test_without_room_for_labels_a_legend_names_the_actions(tmp_path: Path) -> None:
    written = texts(draw(full_tree("touch", MOVES, 4), tmp_path / "tree.svg"))
    assert sorted(written) == sorted(["touch", *MOVES])


def test_png_is_a_picture_on_white(tmp_path: Path) -> None:
    path = draw(figure_1a(), tmp_path / "figure.PNG")
    assert path.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    picture = imread(path)[..., :3]
    border = np.concatenate([picture[0], picture[-1], picture[:, 0], picture[:, -1]])
    assert (border == 1).all()
    dark = (picture.sum(-1) < 1.5).mean()
    assert 0.01 < dark < 0.5


def test_makes_missing_folders_and_returns_the_path(tmp_path: Path) -> None:
    path = tmp_path / "new" / "newer" / "figure.svg"
    assert draw(figure_1a(), str(path)) == path
    assert path.exists()


@pytest.mark.parametrize("name", ["figure.pdf", "figure", "figure.svg.gz"])
def test_refuses_other_suffixes(name: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"\.svg or a \.png"):
        draw(figure_1a(), tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_any_name_can_be_drawn(tmp_path: Path) -> None:
    odd = ["$x", "<b>&amp;", "two\nlines", "\x00\x1b", "long " * 50, "漢字漢字漢字", "_$\\frac{", "]]>", " "]
    features = [f"{name}f" for name in odd]
    predictions = dict(zip(odd, odd, strict=True))
    network = QuestionNetwork(features, predictions, list(zip(odd, features, [0.5] * len(odd), strict=True)), odd)
    written = texts(draw(network, tmp_path / "odd.svg"))
    assert {"$x", "<b>&amp;", "two lines", "漢字漢字漢字", "_$\\frac{"} <= set(written)
    assert any(text.startswith("long long") and text.endswith("…") for text in written)
    assert max(map(len, written)) <= 14
    draw(network, tmp_path / "odd.png")


@pytest.mark.parametrize("network", [ring(3), ring(500), QuestionNetwork([], ["a"], [("a", "a", 0.5)])], ids=repr)
def test_cycles_can_be_drawn(network: QuestionNetwork, tmp_path: Path) -> None:
    ElementTree.parse(draw(network, tmp_path / "cycle.svg"))


def test_settings_are_left_alone_in_threads(tmp_path: Path) -> None:
    with matplotlib.rc_context({"svg.fonttype": "path", "lines.linewidth": 7}):
        before = settings()
        with ThreadPoolExecutor(4) as pool:
            paths = list(pool.map(lambda i: draw(figure_1a(), tmp_path / f"{i}.svg"), range(8)))
        assert settings() == before
    alone = draw(figure_1a(), tmp_path / "alone.svg").read_bytes()
    assert {path.read_bytes() for path in paths} == {alone}


def test_several_networks_in_one_figure() -> None:
    figure = Figure(figsize=(8, 3))
    left, right = figure.subplots(1, 2)
    draw_on(figure_1a(), left)
    draw_on(full_tree("touch", MOVES, 3), right)
    assert {text.get_text() for text in left.texts} >= {"f1", "f2", "a", "b"}
    assert [text.get_text() for text in right.get_legend().get_texts()] == MOVES


@pytest.mark.parametrize(
    ("network", "megabytes"),
    [(random_network(16, 18, seed=0), 3), (random_discounted_sums(4, depth=4), 1)],
    ids=["random", "sums"],
)
def test_large_networks_are_quick_and_small(network: QuestionNetwork, megabytes: int, tmp_path: Path) -> None:
    start = time.perf_counter()
    path = draw(network, tmp_path / "large.svg")
    assert time.perf_counter() - start < 15
    assert path.stat().st_size < megabytes * 2**20


def test_very_many_edges_become_an_image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rgvf.questions.draw.MAX_VECTORS", 400)
    root = ElementTree.parse(draw(full_tree("touch", MOVES, 4), tmp_path / "large.svg"))
    assert len(list(root.iter(f"{SVG}image"))) > 0
    assert len(list(root.iter(f"{SVG}path"))) < 20


def test_labels_keep_what_differs():
    assert label("random-linear/12") == "random-lin…/12"
    assert label("random-linear/1") == "random-line…/1"
    assert label("a name without a number") == "a name withou…"
    assert max(len(label("x" * n + "/123")) for n in range(40)) <= 14


def test_a_drawing_names_every_feature_apart(tmp_path: Path) -> None:
    features = [f"random-linear/{i}" for i in range(16)]
    written = texts(random_network(features, 2, depth=1, repeat=1, seed=0).draw(tmp_path / "network.svg"))
    assert {label(feature) for feature in features} <= set(written)
    assert len({label(feature) for feature in features}) == 16


def test_a_notebook_shows_the_drawing(tmp_path):
    network = figure_1a()
    shown_there = network._repr_svg_()
    assert shown_there == network.draw(tmp_path / "network.svg").read_text()
    assert ElementTree.fromstring(shown_there).tag == f"{SVG}svg"
