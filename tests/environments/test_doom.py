"""ViZDoom: the real engine, in all scenarios that it brings with it."""

import itertools
import os
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rgvf
from rgvf.environments import DOOM_SCENARIOS, make_game
from rgvf.environments.game import GameError
from rgvf.environments.workers import WorkerError, Workers, available_cores
from rgvf.runs import RunFolder
from tests.environments.test_workers import alive, pids_of, play, play_alone, wait_until_gone
from tests.helpers import stop_after
from tests.runs.small_runs import assert_same

vizdoom = pytest.importorskip("vizdoom")
HOME = "doom/my_way_home"
HEALTH = "doom/health_gathering"


def children(pid):
    """Processes that this one has started."""
    lists = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for each in lists for child in each.read_text().split()]


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system has no such call")
def test_workers_share_a_core_with_their_engines_where_every_core_has_one():
    cores = available_cores()
    for processes, expected in ((len(cores), [{core} for core in cores]), (1, [set(cores)])):
        with Workers(HOME, range(len(cores)), processes=processes) as workers:
            workers.reset()
            pids = pids_of(workers)
            assert [os.sched_getaffinity(pid) for pid in pids] == expected
            engines = [[os.sched_getaffinity(child) for child in children(pid)] for pid in pids]
            assert all(each and all(own == core for own in each) for each, core in zip(engines, expected, strict=True))


def test_engines_that_end_print_nothing(capfd):
    """Their files are there until they have ended, also those of the workers that end last."""
    for _ in range(3):
        with Workers(HOME, range(9), processes=2) as workers:
            workers.reset()
        assert capfd.readouterr() == ("", "")


def finish(game, action):
    """The steps to the end of the game."""
    steps = [game.step(action)]
    while not steps[-1].game_over:
        steps.append(game.step(action))
    return steps


def test_all_scenarios_for_one_player_are_there():
    bundled = {path.stem for path in Path(vizdoom.scenarios_path).glob("*.cfg")}
    several_players, without_files = {"cig", "multi", "multi_duel"}, {"doom", "doom2", "oblige"}
    assert set(DOOM_SCENARIOS) == bundled - several_players - without_files


@pytest.mark.parametrize("scenario", DOOM_SCENARIOS)
def test_every_scenario_repeats_itself_exactly_after_a_restore(scenario):
    name = f"doom/{scenario}"
    game, other = make_game(name, 7), make_game(name, 99)
    try:
        n = len(game.spec.actions)
        actions = np.random.default_rng(0).integers(n, size=160)
        game.reset()
        for action in actions[:100]:
            game.step(int(action))
        saved = game.save()
        expected = [game.step(int(action)) for action in actions[100:]]
        other.reset()
        other.step(0)
        other.restore(saved)
        for action, step in zip(actions[100:], expected, strict=True):
            same = other.step(int(action))
            np.testing.assert_array_equal(same.observation, step.observation)
            assert same[1:] == step[1:]
            assert step.observation.shape == (72, 96, 3)
            assert step.observation.dtype == np.uint8
    finally:
        game.close()
        other.close()


@pytest.mark.parametrize(
    ("scenario", "actions"),
    [
        ("take_cover", "noop move_left move_right"),
        ("basic", "noop move_left move_right attack"),
        ("defend_the_line", "noop turn_left turn_right attack"),
        (
            "health_gathering",
            "noop move_forward turn_left turn_right turn_left+move_forward turn_right+move_forward",
        ),
        (
            "deathmatch",
            "noop move_forward move_backward move_left move_right turn_left turn_right turn_left+move_forward "
            "turn_right+move_forward attack",
        ),
    ],
)
def test_actions_are_buttons_and_turning_while_moving_forward(scenario, actions):
    spec = rgvf.environments.find_spec(f"doom/{scenario}")
    assert spec.actions == tuple(actions.split())
    assert (spec.observation_shape, spec.frames_per_step, spec.stack) == ((72, 96, 3), 4, 1)


def test_an_observation_makes_three_pixels_of_five_of_the_engine_s_picture():
    game = make_game(HOME, 1)
    step = game.reset()
    screen = game.render().astype(float)
    game.close()
    assert screen.shape == (120, 160, 3)
    three_of_five = np.array([[2, 1, 0, 0, 0], [0, 0, 3, 0, 0], [0, 0, 0, 1, 2]]) / 3
    rows, columns = np.kron(np.eye(24), three_of_five), np.kron(np.eye(32), three_of_five)
    expected = np.einsum("yh,xw,hwc->yxc", rows, columns, screen)
    assert np.abs(step.observation - expected).max() <= 1


def test_a_step_is_four_frames_of_living_and_death_is_terminal():
    game = make_game(HEALTH, 3)
    game.reset()
    steps = finish(game, 0)  # standing still in acid
    game.close()
    assert all(step.reward == 4 for step in steps[:-1])
    assert steps[-1].reward <= 4 - 100  # the last step is cut short
    assert (steps[-1].terminal, steps[-1].truncated) == (True, False)
    assert steps[-1].game_return == sum(step.reward for step in steps)
    np.testing.assert_array_equal(steps[-1].observation, steps[-2].observation)
    assert any(np.any(a.observation != b.observation) for a, b in itertools.pairwise(steps))


def test_the_end_of_the_time_is_a_truncation_and_a_reset_step_follows():
    game = make_game(HOME, 3)
    game.reset()
    steps = finish(game, 4)  # turning on the spot
    assert (steps[-1].terminal, steps[-1].truncated) == (False, True)
    assert len(steps) == 2100 / 4
    assert steps[-1].game_return == pytest.approx(-0.0001 * 2100)
    np.testing.assert_array_equal(steps[-1].observation, steps[-2].observation)
    following = game.step(2)
    game.close()
    assert (following.first, following.reward, following.game_return) == (True, 0, 0)


def test_seeds_decide_the_games():
    def firsts(seed):
        game = make_game(HOME, seed)
        pictures = [game.reset().observation for _ in range(4)]
        game.close()
        return np.stack(pictures)

    a, same, other = firsts(1), firsts(1), firsts(2)
    np.testing.assert_array_equal(a, same)
    assert np.any(a != other)
    assert np.any(a[0] != a[1])


def test_games_are_the_same_wherever_they_run():
    seeds, actions = [5, 1, 9, 2], np.random.default_rng(0).integers(6, size=(140, 4))
    alone = play_alone(HEALTH, seeds, actions)
    with Workers(HEALTH, seeds, processes=2, groups=2) as workers:
        rows = [[array.copy() for array in workers.reset()], *play(workers, actions[:70])]
        saved = workers.save()
    with Workers(HEALTH, [0] * 4, processes=1) as workers:
        workers.restore(saved)
        rows += play(workers, actions[70:])
    for field, expected in enumerate(alone):
        np.testing.assert_array_equal(np.stack([row[field] for row in rows]), expected)


def test_no_engine_outlives_its_worker_and_no_file_stays(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    with Workers(HOME, [0, 1], processes=1) as workers:
        workers.reset()
        engines = children(pids_of(workers)[0])
        assert len(engines) == 2
        assert all(alive(engine) for engine in engines)
    wait_until_gone(engines)
    assert [path.name for path in tmp_path.iterdir()] == ["temporary"]
    assert list((tmp_path / "temporary").iterdir()) == []
    with Workers(HOME, [0], processes=1) as workers:
        workers.reset()
        (engine,) = children(pids_of(workers)[0])
        os.kill(pids_of(workers)[0], signal.SIGKILL)
        with pytest.raises(WorkerError, match="was killed by signal 9"):
            play(workers, np.zeros((2, 1), int))
    wait_until_gone([engine])


def test_an_engine_that_dies_is_an_error():
    with Workers(HOME, [0], processes=1) as workers:
        workers.reset()
        (engine,) = children(pids_of(workers)[0])
        os.kill(engine, signal.SIGKILL)
        time.sleep(0.2)
        with pytest.raises(WorkerError, match="the engine of doom/my_way_home failed: .*crash"):
            play(workers, np.zeros((2, 1), int))


def test_wrong_names():
    with pytest.raises(ValueError, match="no scenario of ViZDoom 'health'; did you mean health_gathering"):
        make_game("doom/health", 0)
    with pytest.raises(ValueError, match="did you mean doom/my_way_home"):
        rgvf.preset("my-way-home")
    assert issubclass(GameError, rgvf.errors.UserError)


@pytest.mark.slow
def test_a_run_that_was_stopped_ends_like_one_that_was_not(tmp_path):
    task = rgvf.tasks.RandomQuestions(depth=1, repeat=2, features=4)
    small: dict[str, Any] = dict(
        actors=2, steps=5, hidden=8, kernels=(2, 2, 2), dense=(8,), memory=8, processes=2, checkpoint_every=400
    )
    config = rgvf.preset(HEALTH, task, frames=1600, **small)
    rgvf.train(config, tmp_path / "whole", progress=False)
    rgvf.train(config, tmp_path / "stopped", progress=False, should_stop=stop_after(17))
    frames = RunFolder(tmp_path / "stopped").checkpoints()[0].name
    assert 0 < int("".join(filter(str.isdigit, frames))) < 1600
    resumed = rgvf.resume(tmp_path / "stopped", progress=False)
    assert_same(tmp_path / "whole", tmp_path / "stopped")
    recording = rgvf.evaluation.record(resumed, steps=5, save=True)
    assert np.isfinite(rgvf.evaluation.play_out(resumed, recording.saved[:2], "rgvf", [0], samples=1)).all()
