import gc
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from rgvf.environments import make_game
from rgvf.environments.workers import WorkerError, Workers

CARTPOLE = "gym/CartPole-v1"
BREAKOUT = "atari/Breakout"
ODD = "gym/tests.environments.odd_gym:Odd"
ROOT = Path(__file__).parents[2]


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_until_gone(pids, seconds=5.0):
    deadline = time.monotonic() + seconds
    while any(alive(pid) for pid in pids):
        assert time.monotonic() < deadline, f"{pids} are still there"
        time.sleep(0.02)


def pids_of(workers):
    return [process.pid for _, process in workers._connections.processes]


def play_alone(name, seeds, actions, **options):
    """What each game gives when it is played in this process: arrays [steps + 1, n] for each field."""
    games = [make_game(name, seed, **options) for seed in seeds]
    steps = [[game.reset() for game in games]]
    steps += [[game.step(int(action)) for game, action in zip(games, row, strict=True)] for row in actions]
    for game in games:
        game.close()
    return [np.array([[step[field] for step in row] for row in steps]) for field in range(8)]


def play(workers, actions):
    """The same through workers; every group is sent before any is received, in reverse order."""
    rows = []
    for row in actions:
        for group, games in enumerate(workers.groups):
            workers.send(row[games], group)
        groups = reversed(range(len(workers.groups)))
        parts = [[array.copy() for array in workers.receive(group)] for group in groups]
        rows.append([np.concatenate(arrays[::-1]) for arrays in zip(*parts, strict=True)])
    return rows


@pytest.mark.parametrize(("processes", "groups"), [(1, 1), (2, 1), (3, 2), (2, 5)])
def test_games_are_the_same_wherever_they_run(processes, groups):
    seeds = [5, 1, 9, 2, 7]
    actions = np.random.default_rng(0).integers(2, size=(60, 5))
    alone = play_alone(CARTPOLE, seeds, actions)
    with Workers(CARTPOLE, seeds, processes, groups) as workers:
        first = [array.copy() for array in workers.reset()]
        rows = [first, *play(workers, actions)]
    for field, expected in enumerate(alone):
        np.testing.assert_array_equal(np.stack([row[field] for row in rows]), expected)


def test_saved_games_continue_with_other_processes_and_groups():
    seeds = [3, 4, 5]
    actions = np.random.default_rng(1).integers(4, size=(160, 3))
    alone = play_alone(BREAKOUT, seeds, actions, frame_cap=600)
    with Workers(BREAKOUT, seeds, processes=2, frame_cap=600) as workers:
        workers.reset()
        play(workers, actions[:80])
        saved = workers.save()
    with Workers(BREAKOUT, [0, 0, 0], processes=1, groups=3, frame_cap=600) as workers:
        restored = workers.restore(saved)
        for field, expected in enumerate(alone):
            np.testing.assert_array_equal(restored[field], expected[80])
            np.testing.assert_array_equal(workers.current()[field], expected[80])
        rows = play(workers, actions[80:])
    for field, expected in enumerate(alone):
        np.testing.assert_array_equal(np.stack([row[field] for row in rows]), expected[81:])


def test_a_state_saved_at_the_end_of_an_episode_is_that_end():
    """The worker has taken the reset step ahead of time, which must not show."""
    actions = np.random.default_rng(2).integers(4, size=(400, 1))
    alone = play_alone(BREAKOUT, [3], actions)
    end = int(np.flatnonzero(alone[2][:, 0])[0])
    with Workers(BREAKOUT, [3]) as workers:
        workers.reset()
        play(workers, actions[:end])
        workers.prepare()
        saved = workers.save()
        rows = play(workers, actions[end : end + 30])
    with Workers(BREAKOUT, [0]) as workers:
        restored = workers.restore(saved)
        assert restored.terminal[0]
        for field, expected in enumerate(alone):
            np.testing.assert_array_equal(restored[field], expected[end])
        again = play(workers, actions[end : end + 30])
    for field, expected in enumerate(alone):
        for played in (rows, again):
            np.testing.assert_array_equal(np.stack([row[field] for row in played]), expected[end + 1 : end + 31])


def test_first_done_names_a_group_that_is_done():
    with Workers(CARTPOLE, range(4), processes=2, groups=2) as workers:
        workers.reset()
        with pytest.raises(RuntimeError, match="no group is stepping"):
            workers.first_done()
        workers.send(np.zeros(2, int), group=1)
        assert workers.first_done() == 1
        assert workers.receive(1).observation.shape == (2, 4)
        workers.send(np.zeros(2, int), group=0)
        workers.send(np.zeros(2, int), group=1)
        done = workers.first_done()
        workers.receive(done)
        assert {done, workers.first_done()} == {0, 1}


def test_groups_divide_the_games():
    with Workers(CARTPOLE, range(7), processes=2, groups=3) as workers:
        assert workers.groups == (slice(0, 2), slice(2, 4), slice(4, 7))
        assert workers.processes == 2
        assert workers.reset().observation.shape == (7, 4)
        workers.send(np.zeros(3, int), group=2)
        assert workers.receive(2).observation.shape == (3, 4)


def test_a_killed_worker_is_noticed():
    with Workers(CARTPOLE, range(4), processes=2) as workers:
        workers.reset()
        pids = pids_of(workers)
        workers.send(np.zeros(4, int))
        workers.receive()
        os.kill(pids[1], signal.SIGKILL)
        start = time.monotonic()
        with pytest.raises(WorkerError, match=f"worker process {pids[1]} was killed by signal 9"):
            play(workers, np.zeros((2, 4), int))
        assert time.monotonic() - start < 2.0
        wait_until_gone(pids)
        with pytest.raises(WorkerError, match="closed"):
            workers.reset()


def test_a_worker_killed_while_it_steps_is_noticed():
    with Workers(BREAKOUT, range(4), processes=2) as workers:
        workers.reset()
        os.kill(pids_of(workers)[0], signal.SIGSTOP)  # so that it cannot finish the step before it is killed
        workers.send(np.zeros(4, int))
        os.kill(pids_of(workers)[0], signal.SIGKILL)
        with pytest.raises(WorkerError, match="killed by signal 9"):
            workers.receive()


def test_an_exception_in_a_game_is_reported():
    with Workers(f"{ODD}/Fails-v0", range(4), processes=2, groups=2) as workers:
        workers.reset()
        pids = pids_of(workers)
        with pytest.raises(
            WorkerError, match=r"FileNotFoundError: the level is not there \(odd_gym.py:\d+, in step\) \(game [01]\)"
        ) as error:
            play(workers, np.zeros((5, 4), int))
        assert "\n" not in str(error.value)
        wait_until_gone(pids)


def test_a_game_that_ends_its_process_is_noticed():
    with Workers(f"{ODD}/Exits-v0", [0]) as workers:
        workers.reset()
        with pytest.raises(WorkerError, match="ended with status 3"):
            play(workers, np.zeros((5, 1), int))


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("KilledWhenMade", r"worker process \d+ was killed by signal 9"),
        ("QuitsInWorkers", "QuitsInWorkers-v0 cannot be made: SystemExit: not in a worker"),
        ("NoStart", r"NoStart-v0 failed: SystemExit: no display was found \(odd_gym.py:\d+, in reset\) \(game 0\)"),
    ],
)
def test_what_ends_a_worker_at_the_start_is_told_in_one_line(capfd, name, sentence):
    with pytest.raises(WorkerError, match=sentence) as error, Workers(f"{ODD}/{name}-v0", [0]) as workers:
        workers.reset()
    assert "\n" not in str(error.value)
    assert capfd.readouterr() == ("", "")


def children():
    return {int(path.name) for path in Path("/proc").glob("[0-9]*") if _parent(path) == os.getpid()}


def _parent(process):
    try:
        return int((process / "stat").read_text().rsplit(")", 1)[1].split()[1])
    except OSError:
        return None


@pytest.mark.parametrize("processes", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_a_game_that_hangs_is_given_up(processes):
    before = children()
    with Workers(f"{ODD}/Hangs-v0", [0, 1], processes, patience=2) as workers:
        workers.reset()
        pids = pids_of(workers)
        play(workers, np.zeros((2, 2), int))
        began = time.monotonic()
        with pytest.raises(WorkerError, match="a worker process hangs: it has not replied for [23] s"):
            play(workers, np.zeros((1, 2), int))
        assert time.monotonic() - began < 8
        wait_until_gone(pids)
    began = time.monotonic()
    workers = Workers(f"{ODD}/HangsAtStart-v0", [0, 1], processes, patience=2)
    with pytest.raises(WorkerError, match="hangs"):
        workers.reset()
    assert time.monotonic() - began < 15
    assert children() == before


def test_waiting_for_one_worker_costs_nothing_when_another_has_replied():
    with Workers(f"{ODD}/Odd-v0", [0, 1], 2, patience=2) as workers:
        os.kill(pids_of(workers)[0], signal.SIGSTOP)
        used = time.process_time()
        with pytest.raises(WorkerError, match="hangs"):
            workers.reset()
        assert time.process_time() - used < 0.5


def test_garbage_cannot_be_restored():
    with Workers(CARTPOLE, [0]) as workers, pytest.raises(WorkerError, match="not the saved state of a game"):
        workers.restore([b"garbage"])


def test_workers_do_not_import_jax():
    with Workers(f"{ODD}/Imports-v0", [0]) as workers:
        assert workers.reset().observation.tolist() == [[0.0]]
    modules = "workers", "atari", "gymnasium", "registry"
    code = "; ".join(f"import rgvf.environments.{name}" for name in modules)
    code += "; import sys; sys.exit('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


def test_closing_twice_is_fine_and_views_stay_readable():
    workers = Workers(CARTPOLE, range(3), processes=2)
    batch = workers.reset()
    pids = pids_of(workers)
    workers.send(np.zeros(3, int))
    workers.close()
    workers.close()
    wait_until_gone(pids, seconds=0.1)
    assert np.isfinite(batch.observation).all()


def test_workers_that_are_forgotten_end():
    workers = Workers(CARTPOLE, range(2), processes=2)
    pids = pids_of(workers)
    del workers
    gc.collect()
    wait_until_gone(pids, seconds=0.1)


LEARNER = """
import signal
import numpy as np, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # it is ignored in what a shell starts in the background
from rgvf.environments.workers import Workers
workers = Workers("gym/CartPole-v1", range(4), processes=2)
workers.reset()
print(*[process.pid for _, process in workers._connections.processes], flush=True)
while True:
    workers.send(np.zeros(4, int))
    workers.receive()
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_nothing_outlives_a_learner(number):
    before = set(Path("/dev/shm").iterdir())
    with subprocess.Popen(
        [sys.executable, "-c", LEARNER], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as learner:
        try:
            assert learner.stdout is not None
            pids = [int(word) for word in learner.stdout.readline().split()]
            assert len(pids) == 2
            assert all(alive(pid) for pid in pids)
            learner.send_signal(number)
            _, errors = learner.communicate(timeout=10)
        finally:
            learner.kill()
    wait_until_gone(pids)
    left = {path.name for path in set(Path("/dev/shm").iterdir()) - before}
    assert not {name for name in left if name.startswith(("rgvf", "psm_", "sem."))}
    assert "resource_tracker" not in errors
    assert "Warning" not in errors
    assert errors.count("Traceback") == (number == signal.SIGINT), "only the learner may complain"


def test_a_worker_that_hangs_ends_with_its_learner():
    program = LEARNER.replace(CARTPOLE, f"{ODD}/Hangs-v0")
    with subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE, text=True) as learner:
        assert learner.stdout is not None
        pids = [int(word) for word in learner.stdout.readline().split()]
        time.sleep(0.3)
        learner.kill()
    wait_until_gone(pids, seconds=10.0)


def test_wrong_use_is_explained():
    with pytest.raises(ValueError, match="at least one game"):
        Workers(CARTPOLE, [])
    with pytest.raises(ValueError, match="groups must be between 1 and 2, not 3"):
        Workers(CARTPOLE, [0, 1], groups=3)
    with pytest.raises(ValueError, match="processes"):
        Workers(CARTPOLE, [0], processes=0)
    with pytest.raises(ValueError, match="did you mean CartPole-v1"):
        Workers("gym/CartPol-v1", [0])
    with Workers(CARTPOLE, [0, 1], processes=1, groups=2) as workers:
        workers.reset()
        with pytest.raises(RuntimeError, match="send before receiving"):
            workers.receive()
        workers.send(np.zeros(1, int), 1)
        with pytest.raises(RuntimeError, match="receive before sending"):
            workers.send(np.zeros(1, int), 1)
        with pytest.raises(RuntimeError, match="receive every group first"):
            workers.save()
        with pytest.raises(ValueError, match="2 games, but 1 saved"):
            workers.restore([b""])


KILLED = """
import os, signal, sys, tempfile
from rgvf.environments.workers import Workers
tempfile.tempdir = sys.argv[1]
workers = Workers("gym/CartPole-v1", [0])
workers.reset()
print(os.listdir(sys.argv[1]), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_temporary_files_do_not_outlive_a_learner_that_was_killed(tmp_path):
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, "-c", KILLED, str(tmp_path)], capture_output=True, text=True, check=False
        )
        assert "rgvf-workers-" in done.stdout
        until = time.monotonic() + 20
        while list(tmp_path.iterdir()) and time.monotonic() < until:
            time.sleep(0.05)
        assert not list(tmp_path.iterdir())


def test_a_reward_that_is_not_finite_ends_a_run_with_its_reason():
    with Workers(f"{ODD}/Immeasurable-v0", [0]) as workers:
        workers.reset()
        with pytest.raises(WorkerError, match=r"its reward is nan \(game 0\)"):
            play(workers, np.zeros((3, 1), int))


def test_a_reset_that_is_due_comes_before_anything_else():
    with Workers(CARTPOLE, range(2), processes=2) as workers:
        workers.reset_later()
        workers.send(np.zeros(2, int))
        assert not workers.receive().first.any()  # a step of new games, not their reset
        workers.send(np.zeros(2, int))
        with pytest.raises(RuntimeError, match="some games are stepping"):
            workers.reset_later()


def test_a_group_is_reported_once_and_a_learner_that_was_busy_reads_all_reports_at_once(monkeypatch):
    with Workers(CARTPOLE, range(12), processes=6, groups=2) as workers:
        workers.reset()
        read, lengths = os.read, []

        def counted(descriptor, size):
            data = read(descriptor, size)
            if descriptor == workers._connections._stepped.fileno():
                lengths.append(len(data))
            return data

        monkeypatch.setattr(os, "read", counted)
        for _ in range(20):
            for group in range(2):
                workers.send(np.ones(6, int), group)
            time.sleep(0.05)
            for group in range(2):
                workers.receive(group)
        assert sum(lengths) == 20 * 2  # by the last of six workers
        assert len(lengths) < 30  # not one by one
