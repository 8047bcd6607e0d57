"""DeepMind Lab, by a stand-in for its module; the last test runs the real one where it is installed."""

import importlib.util
import itertools
import os
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import rgvf
from rgvf.environments import DMLAB_LEVELS, find_spec, make_game
from rgvf.environments.game import GameError
from rgvf.environments.level_cache import LevelCache
from rgvf.environments.registry import SUITES
from rgvf.environments.workers import WorkerError, Workers
from rgvf.features import PixelChange, RandomPatches
from rgvf.trajectory import Transition
from tests.environments.test_workers import play

ROOT = str(Path(__file__).parents[2])
STANDINS = str(Path(__file__).parents[1] / "standins")
HAS_REAL = importlib.util.find_spec("deepmind_lab") is not None
MAZE = "dmlab/explore_goal_locations_small"
LASERTAG = "dmlab/lasertag_one_opponent_small"
ACTIONS = {  # look right, look down, strafe right, forward, fire, jump, crouch
    "forward": (0, 0, 0, 1, 0, 0, 0),
    "back": (0, 0, 0, -1, 0, 0, 0),
    "strafe_left": (0, 0, -1, 0, 0, 0, 0),
    "strafe_right": (0, 0, 1, 0, 0, 0, 0),
    "look_left": (-20, 0, 0, 0, 0, 0, 0),
    "look_right": (20, 0, 0, 0, 0, 0, 0),
    "look_left+forward": (-20, 0, 0, 1, 0, 0, 0),
    "look_right+forward": (20, 0, 0, 1, 0, 0, 0),
    "fire": (0, 0, 0, 0, 1, 0, 0),
}
NOTHING = ((0,) * 7, 4)


MODULES = ("deepmind_lab", "rgvf.environments.dmlab")


def forget(monkeypatch):
    for module in MODULES:
        monkeypatch.delitem(sys.modules, module, raising=False)


@pytest.fixture
def cache(monkeypatch, tmp_path):
    """The folder of the level cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "rgvf" / "dmlab"


@pytest.fixture
def lab(monkeypatch, cache):
    """The stand-in's class, in place of DeepMind Lab here and in worker processes; episodes have 400 frames."""
    monkeypatch.syspath_prepend(STANDINS)
    forget(monkeypatch)
    monkeypatch.setenv("STANDIN_FRAMES", "400")
    import deepmind_lab  # pyright: ignore[reportMissingImports]

    yield deepmind_lab.Lab
    for module in MODULES:  # not by monkeypatch, which would bring them back
        sys.modules.pop(module, None)


def play_to_the_end(game, action=0):
    steps = [game.step(action)]
    while not steps[-1].terminal:
        steps.append(game.step(action))
    return steps


@pytest.mark.parametrize("level", DMLAB_LEVELS)
def test_every_level_of_the_paper(lab, level):
    spec = find_spec(f"dmlab/{level}")
    assert (spec.observation_shape, spec.observation_dtype, spec.frames_per_step) == ((72, 96, 3), "uint8", 4)
    assert (spec.actions, spec.stack) == (tuple(ACTIONS), 1)
    assert lab.made == []  # to look at the spec starts no engine
    first = make_game(f"dmlab/{level}", 0).reset()
    assert first.first
    assert first.observation.shape == (72, 96, 3)
    assert lab.made[0].level == f"contributed/dmlab30/{level}"
    assert lab.made[0].config == {"width": "96", "height": "72"}


def test_nine_actions_each_held_for_four_frames(lab):
    game = make_game(MAZE, 0)
    game.reset()
    before = len(lab.made[0].taken)
    rewards = [game.step(action).reward for action in range(9)]
    assert lab.made[0].taken[before:] == [(each, 4) for each in ACTIONS.values()]
    assert rewards == [4, 0, 0, 0, 0, 0, 4, 4, 0]
    with pytest.raises(ValueError, match="has actions 0 to 8, not 9"):
        game.step(9)


def test_an_episode_opens_with_1_to_30_steps_of_nothing(lab):
    game = make_game(MAZE, 5)
    counts = []
    for _ in range(60):
        before = len(lab.made[0].taken) if lab.made else 0
        first = game.reset()
        opening = lab.made[0].taken[before:]
        assert opening == [NOTHING] * len(opening)
        assert (first.first, first.reward, first.game_return, first.game_length) == (True, 0, 0, 0)
        counts.append(len(opening))
    assert min(counts) >= 1
    assert max(counts) <= 30
    assert len(set(counts)) > 15
    assert len(lab.made) == 1  # one engine for its life
    assert len(set(lab.made[0].seeds)) == 60


def test_the_last_observation_is_repeated_so_that_nothing_seems_to_change(lab):
    game = make_game(MAZE, 1)
    game.reset()
    steps = play_to_the_end(game)
    last, end = steps[-2:]
    assert (end.terminal, end.truncated, end.game_over, end.first) == (True, False, True, False)
    assert end.reward > 0
    assert end.game_return == sum(step.reward for step in steps)
    assert end.game_length == len(steps)
    np.testing.assert_array_equal(end.observation, last.observation)
    assert end.observation is not last.observation
    transition = Transition(*map(jnp.asarray, (last.observation, 0, end.reward, end.observation)))
    for feature in (RandomPatches(jax.random.key(0), (72, 96, 3), (18, 24)), PixelChange((72, 96, 3))):
        assert not np.any(np.asarray(feature(transition)))
    following = game.step(3)
    assert (following.first, following.reward, following.terminal) == (True, 0, False)
    assert np.any(following.observation != end.observation)


def test_a_restored_game_starts_the_episode_that_would_have_come_next(lab):
    game = make_game(MAZE, 2)
    game.reset()
    for _ in range(7):
        game.step(0)
    saved = game.save()
    other = make_game(MAZE, 99)
    other.restore(saved)
    assert other.current().first
    assert (other.current().game_return, other.current().game_length) == (0, 0)
    play_to_the_end(game)
    game.step(0)
    assert lab.made[0].seeds[1:] == lab.made[1].seeds
    with pytest.raises(ValueError, match="saved state of explore_goal_locations_small; expected lasertag"):
        make_game(LASERTAG, 0).restore(saved)


def test_maps_are_compiled_once(lab, cache, monkeypatch):
    make_game(MAZE, 3).reset()
    kept = {path.name: path.read_bytes() for path in cache.iterdir()}
    assert len(kept) == 1
    assert next(iter(kept)).startswith("explore_maze_noaas_")

    def compiled(*arguments):
        raise AssertionError("compiled again")

    monkeypatch.setattr(LevelCache, "write", compiled)
    make_game(MAZE, 3).reset()
    assert {path.name: path.read_bytes() for path in cache.iterdir()} == kept


def test_the_cache_says_yes_only_where_the_whole_file_is_there(tmp_path):
    cache, target, source = LevelCache(tmp_path / "a" / "b"), tmp_path / "target.pk3", tmp_path / "source.pk3"
    source.write_bytes(b"a map")
    assert not cache.fetch("key_1", str(target))
    cache.write("key_1", str(source))
    assert cache.fetch("key_1", str(target))
    assert target.read_bytes() == b"a map"
    assert not cache.fetch("key_1", str(tmp_path / "missing" / "target.pk3"))
    cache.write("../outside", str(source))
    assert not (tmp_path / "a" / "outside.pk3").exists()
    assert cache.fetch("../outside", str(target))
    cache.write("key_2", str(tmp_path / "nothing.pk3"))  # it could not be read: nothing is kept
    assert not cache.fetch("key_2", str(target))
    source.write_bytes(b"")
    cache.write("key_3", str(source))
    assert not cache.fetch("key_3", str(target))
    blocked = LevelCache(source / "below a file")
    blocked.write("key", str(source))
    assert not blocked.fetch("key", str(target))


def test_no_map_is_kept_on_a_disk_that_is_nearly_full(tmp_path, monkeypatch):
    source, target = tmp_path / "source.pk3", tmp_path / "target.pk3"
    source.write_bytes(b"a map")
    cache = LevelCache(tmp_path / "cache")
    monkeypatch.setattr("shutil.disk_usage", lambda folder: SimpleNamespace(free=2**30))
    cache.write("key", str(source))
    assert not cache.fetch("key", str(target))


MANY_WRITE = """
import sys
import time
from pathlib import Path
from typing import Any
from rgvf.environments.level_cache import LevelCache

folder, me = Path(sys.argv[1]), sys.argv[2]
cache, source, target = LevelCache(folder / "cache"), folder / "source.pk3", folder / f"target-{me}.pk3"
for _ in range(100):
    cache.write("key", str(source))
    assert cache.fetch("key", str(target)) and target.read_bytes() == source.read_bytes()
"""


def test_a_cache_that_many_processes_write_never_shows_half_a_file(tmp_path):
    (tmp_path / "source.pk3").write_bytes(os.urandom(200_000))
    command = [sys.executable, "-c", MANY_WRITE, str(tmp_path)]
    processes = [subprocess.Popen([*command, str(i)], env={**os.environ, "PYTHONPATH": ROOT}) for i in range(4)]
    assert [process.wait(60) for process in processes] == [0] * 4
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["key.pk3"]


def test_what_is_wrong_is_said_in_a_sentence(lab, monkeypatch):
    with pytest.raises(ValueError, match="no level of DeepMind Lab 'explore_goal_location'; did you mean explore_goal"):
        find_spec("dmlab/explore_goal_location")
    assert rgvf.RunConfig("dmlab/contributed/dmlab30/explore_goal_locations_small").env == MAZE
    monkeypatch.setenv("RGVF_DMLAB_RENDERER", "gpu")
    with pytest.raises(ValueError, match="RGVF_DMLAB_RENDERER must be software or hardware, not 'gpu'"):
        find_spec(MAZE)


def test_an_engine_without_its_levels(lab, monkeypatch):
    def fail(*arguments, **named):
        raise RuntimeError("Failed to init environment - \"Level not found: Failed to open file 'x.lua'\"")

    monkeypatch.setattr(lab, "__init__", fail)
    with pytest.raises(GameError, match=r"Failed to init environment.*was it built without them\?"):
        make_game(MAZE, 0).reset()


@pytest.mark.parametrize(("chosen", "other"), [("software", "hardware"), ("hardware", "software")])
def test_a_renderer_that_was_not_built(lab, monkeypatch, chosen, other):
    monkeypatch.setenv("STANDIN_LACKS", chosen)
    monkeypatch.setenv("RGVF_DMLAB_RENDERER", chosen)
    message = f"with the {chosen} renderer.*RL API.*was not built.*RGVF_DMLAB_RENDERER={other} chooses"
    with Workers(MAZE, [0]) as workers, pytest.raises(WorkerError, match=message):
        workers.reset()
    monkeypatch.setenv("RGVF_DMLAB_RENDERER", other)
    with Workers(MAZE, [0]) as workers:
        assert workers.reset().first.all()


@pytest.mark.skipif(HAS_REAL, reason="DeepMind Lab is installed")
def test_without_the_module_the_error_says_where_it_is(monkeypatch):
    forget(monkeypatch)
    with pytest.raises(ValueError, match="deepmind_lab, which is not installed: .*github.com/google-deepmind/lab"):
        find_spec(MAZE)


def test_a_process_for_each_game(lab, capfd):
    with pytest.raises(ValueError, match="needs a process of its own: 3, not 2"):
        Workers(MAZE, [0, 1, 2], processes=2)
    with Workers(MAZE, [0, 1, 2]) as workers:
        assert workers.processes == 3
        assert workers.reset().first.all()
        workers.send(np.zeros(3, int))
        assert not workers.receive().first.any()
    assert capfd.readouterr().out == ""  # the engine's chatter


def test_a_process_that_dies_is_named(lab, monkeypatch):
    monkeypatch.setenv("STANDIN_DIES_AT", "40")
    with Workers(MAZE, [0, 1]) as workers:
        workers.reset()
        with pytest.raises(WorkerError, match=r"worker process \d+ ended with status 1. DeepMind Lab ends its process"):
            play(workers, np.zeros((40, 2), int))


def test_slow_resets_are_no_reason_to_give_up_when_a_run_is_stopped(lab, monkeypatch):
    assert SUITES["dmlab"].worker.reset_seconds > 22
    monkeypatch.setattr("rgvf.environments.workers.pool.seconds_since_stop", lambda: 3600.0)
    monkeypatch.setenv("STANDIN_COMPILE_SECONDS", "3")
    with Workers(MAZE, [0]) as workers:
        assert workers.reset().first.all()
    with Workers(MAZE, [1]) as workers:
        monkeypatch.setattr(workers, "_reset_seconds", 1.0)
        with pytest.raises(WorkerError, match="a worker process hangs"):
            workers.reset()


TINY = rgvf.tasks.RandomQuestions(depth=1, repeat=2, features=4)


SMALL: dict[str, Any] = dict(
    frames=800, actors=2, steps=5, hidden=8, kernels=(2, 2, 2), dense=(8,), memory=8, keep_checkpoints=100
)


@pytest.mark.slow
def test_a_run_is_resumed_with_everything_but_its_episodes(lab, tmp_path, monkeypatch, capfd):
    config = rgvf.preset(MAZE, TINY, **SMALL)
    agent = rgvf.train(config, tmp_path / "run", progress=False)
    more = rgvf.resume(tmp_path / "run", frames=1600, progress=False)
    assert (agent.frames, more.frames) == (800, 1600)
    leaves = [jax.tree.leaves(each.agent.modules) for each in (agent, rgvf.load(tmp_path / "run", checkpoint=800))]
    for before, after in zip(*leaves, strict=True):
        np.testing.assert_array_equal(before, after)
    assert len(rgvf.evaluate(more, games=2)) == 2
    recording = rgvf.evaluation.record(more, steps=3, save=True)
    with pytest.raises(ValueError, match="a saved game of dmlab/explore_goal_locations_small cannot be continued"):
        rgvf.evaluation.play_out(more, recording.saved, "rgvf", [0])
    assert recording.screens[0].shape == (72, 96, 3)
    assert "loading a map" not in capfd.readouterr().out  # the engine is in a process of its own
    monkeypatch.setenv("STANDIN_DIES_AT", "40")
    with pytest.raises(WorkerError, match="ended with status 1. DeepMind Lab ends its process"):
        rgvf.evaluation.record(more, steps=60)


@pytest.mark.slow
@pytest.mark.skipif(not HAS_REAL, reason="DeepMind Lab is not installed")
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
    maps = sorted(cache.iterdir())
    began = time.monotonic()
    with Workers(name, [0, 1]) as workers:  # the maps of the first episodes again
        workers.reset()
        assert time.monotonic() - began < 5.0
        assert sorted(cache.iterdir()) == maps
        assert workers.reset().first.all()  # a second reset of the same engines


@pytest.mark.slow
@pytest.mark.skipif(not HAS_REAL, reason="DeepMind Lab is not installed")
def test_a_run_with_the_real_engine(cache, tmp_path):
    config = rgvf.preset(MAZE, TINY, **SMALL)
    rgvf.train(config, tmp_path / "run", progress=False)
    agent = rgvf.resume(tmp_path / "run", frames=1600, progress=False)
    assert agent.frames == 1600
    assert len(rgvf.evaluate(agent, games=1)) == 1
    assert len(rgvf.evaluation.record(agent, steps=3).screens) == 3


@pytest.mark.slow
@pytest.mark.skipif(not HAS_REAL, reason="DeepMind Lab is not installed")
def test_what_the_real_engine_says_of_a_level_that_it_lacks(cache, monkeypatch):
    from rgvf.environments import dmlab

    monkeypatch.setattr(dmlab, "FOLDER", "contributed/nowhere")
    with pytest.raises(GameError, match="was it built without them"):
        dmlab.LabGame("explore_goal_locations_small", 0).reset()
