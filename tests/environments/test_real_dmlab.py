"""DeepMind Lab itself, where it is installed."""

import importlib
import importlib.util
import itertools
import time
from typing import Any

import numpy as np
import pytest

import rgvf
from rgvf.environments.game import GameError
from rgvf.environments.workers import Workers
from rgvf.runs import RunFolder
from rgvf.runs.checkpoint import load_checkpoint
from rgvf.runs.run import start_run
from tests.helpers import Listener

MAZE = "dmlab/explore_goal_locations_small"
LASERTAG = "dmlab/lasertag_one_opponent_small"
TINY = rgvf.tasks.RandomQuestions(depth=1, repeat=2, features=4)
SMALL: dict[str, Any] = dict(
    frames=800, actors=2, steps=5, hidden=8, kernels=(2, 2, 2), dense=(8,), memory=8, keep_checkpoints=100
)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("deepmind_lab") is None, reason="DeepMind Lab is not installed"),
    pytest.mark.usefixtures("no_lab"),
]


def all_but_games_is_restored(path, frames):
    """Bit for bit: parameters, optimisers, what tasks carry, memories, keys and counters."""
    folder, config = RunFolder.open(path)
    (checkpoint,) = (each for each in folder.checkpoints() if str(frames) in each.stem)
    arrays, facts = load_checkpoint(checkpoint)
    with start_run(config, folder, folder.load_networks(config), Listener(), None) as run:
        new = run.loop.save(run.state)
        run._restore_from(arrays, facts)
        restored = run.loop.save(run.state)
    games = {name for name in arrays if name.startswith("environment/")}
    assert len(games) == config.actors
    assert set(new) == set(restored) == set(arrays)
    for name in set(arrays) - games:
        np.testing.assert_array_equal(restored[name], arrays[name], err_msg=name)
    for part in ("modules", "optimiser", ".key", "memory", "last_action"):
        changed = [name for name in arrays if part in name and not np.array_equal(new[name], arrays[name])]
        assert changed, f"a new run has the same {part}"
    assert (run.frames, run.metrics.to_json()) == (frames, facts["metrics"])


@pytest.mark.parametrize("name", [MAZE, LASERTAG])
def test_the_real_engine(name, cache):
    with Workers(name, [0, 1]) as workers:
        first = workers.reset()
        assert first.first.all()
        pictures = [first.observation.copy()]
        for action in range(9):
            workers.send(np.full(2, action))
            pictures.append(workers.receive().observation.copy())
        assert all(picture.shape == (2, 72, 96, 3) for picture in pictures)
        assert sum(np.any(a != b) for a, b in itertools.pairwise(pictures)) >= 6
        steps = workers.current()
        for _ in range(4000):
            workers.send(np.zeros(2, int))
            steps = workers.receive()
            if steps.terminal.any():
                break
        ended = int(np.flatnonzero(steps.terminal)[0])
        frames = {MAZE: 5400, LASERTAG: 14400}[name]
        assert frames / 4 - 31 <= steps.game_length[ended] <= frames / 4
        saved = workers.save()
    with Workers(name, [5, 6]) as workers:
        assert workers.restore(saved).first.all()
    maps = sorted(cache.glob("*/*"))
    began = time.monotonic()
    with Workers(name, [0, 1]) as workers:  # the maps of the first episodes again
        workers.reset()
        assert time.monotonic() - began < 5.0
        assert sorted(cache.glob("*/*")) == maps
        assert workers.reset().first.all()  # a second reset of the same engines


def test_a_run_with_the_real_engine(cache, tmp_path):
    config = rgvf.preset(MAZE, TINY, **SMALL)
    rgvf.train(config, tmp_path / "run", progress=False)
    agent = rgvf.resume(tmp_path / "run", frames=1600, progress=False)
    assert agent.frames == 1600
    all_but_games_is_restored(tmp_path / "run", frames=800)
    assert len(rgvf.evaluate(agent, games=1)) == 1
    assert len(rgvf.evaluation.record(agent, steps=3).screens) == 3


def test_what_the_real_engine_says_of_a_level_that_it_lacks(cache, monkeypatch):
    dmlab = importlib.import_module("rgvf.environments.dmlab")
    monkeypatch.setattr(dmlab, "FOLDER", "contributed/nowhere")
    with pytest.raises(GameError, match="was it built without them"):
        dmlab.LabGame("explore_goal_locations_small", 0).reset()
