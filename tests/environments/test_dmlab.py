"""DeepMind Lab, by a stand-in for its module."""

import importlib
import importlib.util
import os
import subprocess
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import rgvf
from rgvf.environments import DMLAB_LEVELS, find_spec, make_game, restores_games
from rgvf.environments.game import GameError
from rgvf.environments.level_cache import LevelCache
from rgvf.environments.registry import SUITES
from rgvf.environments.workers import WorkerError, Workers
from rgvf.environments.workers.process import RESET
from rgvf.features import PixelChange, RandomPatches
from rgvf.trajectory import Transition
from tests.environments.conftest import STANDINS
from tests.environments.test_real_dmlab import LASERTAG, MAZE, SMALL, TINY, all_but_games_is_restored
from tests.environments.test_workers import play

HAS_REAL = importlib.util.find_spec("deepmind_lab") is not None
ACTIONS = {  # look right, look up, strafe right, forward, fire, jump, crouch
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
    assert not restores_games(MAZE)
    with pytest.raises(ValueError, match="saved state of explore_goal_locations_small; expected lasertag"):
        make_game(LASERTAG, 0).restore(saved)


def test_maps_are_compiled_once(lab, cache, monkeypatch):
    make_game(MAZE, 3).reset()
    kept = {path.name: path.read_bytes() for path in cache.glob("*/*")}
    assert len(kept) == 1
    assert next(iter(kept)).startswith("explore_maze_noaas_")

    def compiled(*arguments):
        raise AssertionError("compiled again")

    monkeypatch.setattr(LevelCache, "write", compiled)
    make_game(MAZE, 3).reset()
    assert {path.name: path.read_bytes() for path in cache.glob("*/*")} == kept


@pytest.mark.parametrize("damage", [lambda content: content[:-9], lambda content: b"garbage", lambda content: b""])
def test_a_damaged_map_is_compiled_again_and_replaced(lab, cache, damage):
    """With a damaged map the engine would end its process, at every attempt to resume."""
    with Workers(MAZE, [0]) as workers:
        workers.reset()
    (kept,) = cache.glob("*/*")
    whole = kept.read_bytes()
    kept.write_bytes(damage(whole))
    with Workers(MAZE, [0]) as workers:
        assert workers.reset().first.all()
    assert kept.read_bytes() == whole


def test_a_cache_that_copied_nothing_ends_the_process(lab, monkeypatch):
    """The stand-in is as mortal as the engine, so the tests around this one can fail."""
    program = (
        "import deepmind_lab\n"
        "class Cache:\n    def fetch(self, key, path): return True\n"
        "lab = deepmind_lab.Lab('contributed/dmlab30/explore_goal_locations_small', ['RGB_INTERLEAVED'],"
        " level_cache=Cache())\n"
        "lab.reset(seed=1)\nprint('alive')\n"
    )
    environment = {**os.environ, "PYTHONPATH": STANDINS}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert done.returncode == 1
    assert "alive" not in done.stdout


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


def test_a_reset_that_fails_is_tried_once_more(lab, monkeypatch):
    monkeypatch.setenv("STANDIN_FAILS", "1")
    game = make_game(MAZE, 0)
    assert game.reset().first
    assert len(lab.made[0].seeds) == 2
    assert len(set(lab.made[0].seeds)) == 1
    assert all(0 <= seed < 2**31 for seed in lab.made[0].seeds)
    monkeypatch.setenv("STANDIN_FAILS", "2")
    with pytest.raises(GameError, match="cannot play explore_goal_locations_small .*the map could not be compiled"):
        make_game(MAZE, 0).reset()


def test_seeds_have_31_bits(lab):
    """Beyond that the engine truncates them, and two episodes might be one."""
    game = make_game(MAZE, 7)
    for _ in range(50):
        game.reset()
    assert max(lab.made[0].seeds).bit_length() <= 31
    assert sum(seed >= 2**30 for seed in lab.made[0].seeds) > 10


def test_an_engine_is_closed_and_leaves_nothing_behind(lab, monkeypatch, tmp_path):
    files = tmp_path / "files"
    files.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(files))
    game = make_game(MAZE, 0)
    game.reset()
    assert list(files.iterdir())
    game.close()
    assert lab.made[0].closed
    assert not list(files.iterdir())
    monkeypatch.setenv("STANDIN_COMPILE_SECONDS", "30")
    with Workers(MAZE, [0]) as workers:  # it is killed while it compiles a map
        workers._connections.send(RESET, [0])
        until = time.monotonic() + 20
        while not list(files.rglob("dmlab_temp_folder_*")) and time.monotonic() < until:
            time.sleep(0.05)
        assert list(files.rglob("dmlab_temp_folder_*"))
    assert not list(files.iterdir())


def test_a_resumed_run_loads_one_map_for_each_engine(lab, cache):
    with Workers(MAZE, [0, 1]) as workers:
        workers.reset()
        saved = workers.save()
    for path in cache.glob("*/*"):
        path.unlink()
    with Workers(MAZE, [0, 1]) as workers:
        workers.reset_later()
        assert workers.restore(saved).first.all()
        workers.current()
        workers.save()
    assert len(list(cache.glob("*/*"))) == 2
    with Workers(MAZE, [2, 3]) as workers:
        workers.reset_later()
        assert workers.current().first.all()


def test_too_few_processes_are_refused_before_anything_is_written(lab, tmp_path):
    config = rgvf.preset(MAZE, TINY, **SMALL, processes=1)
    with pytest.raises(ValueError, match="needs a process of its own: 2, not 1"):
        rgvf.train(config, tmp_path / "run", progress=False)
    assert not (tmp_path / "run").exists()


def test_what_deepmind_lab_itself_needs_is_named(no_lab, monkeypatch, tmp_path):
    (tmp_path / "deepmind_lab.py").write_text("import dm_env_that_is_not_here")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ValueError, match="needs dm_env_that_is_not_here, .*: deepmind_lab itself imports it"):
        find_spec(MAZE)


def test_warnings_of_its_package_are_not_the_user_s(no_lab, monkeypatch, tmp_path):
    (tmp_path / "deepmind_lab.py").write_text("import warnings; warnings.warn('imp is old', DeprecationWarning)")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert len(find_spec(MAZE).actions) == 9


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
def test_without_the_module_the_error_says_where_it_is(no_lab):
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
    monkeypatch.setattr("rgvf.environments.workers.connections.seconds_since_stop", lambda: 3600.0)
    monkeypatch.setenv("STANDIN_COMPILE_SECONDS", "3")
    with Workers(MAZE, [0]) as workers:
        assert workers.reset().first.all()
    with Workers(MAZE, [1]) as workers:
        monkeypatch.setattr(workers._connections, "_reset_seconds", 1.0)
        with pytest.raises(WorkerError, match="a worker process hangs"):
            workers.reset()


@pytest.mark.slow
def test_a_run_is_resumed_with_everything_but_its_episodes(lab, tmp_path, monkeypatch, capfd):
    config = rgvf.preset(MAZE, TINY, **SMALL)
    agent = rgvf.train(config, tmp_path / "run", progress=False)
    more = rgvf.resume(tmp_path / "run", frames=1600, progress=False)
    assert (agent.frames, more.frames) == (800, 1600)
    leaves = [jax.tree.leaves(each.agent.modules) for each in (agent, rgvf.load(tmp_path / "run", checkpoint=800))]
    for before, after in zip(*leaves, strict=True):
        np.testing.assert_array_equal(before, after)
    all_but_games_is_restored(tmp_path / "run", frames=800)
    assert len(rgvf.evaluate(more, games=2)) == 2
    recording = rgvf.evaluation.record(more, steps=3, save=True)
    with pytest.raises(ValueError, match="a saved game of dmlab/explore_goal_locations_small cannot be continued"):
        rgvf.evaluation.play_out(more, recording.saved, "rgvf", [0])
    assert recording.screens[0].shape == (72, 96, 3)
    assert "loading a map" not in capfd.readouterr().out  # the engine is in a process of its own
    monkeypatch.setenv("STANDIN_DIES_AT", "40")
    with pytest.raises(WorkerError, match="ended with status 1. DeepMind Lab ends its process"):
        rgvf.evaluation.record(more, steps=60)
