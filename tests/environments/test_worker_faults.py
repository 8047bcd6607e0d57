"""Workers whose games, processes or users do what they should not."""

import gc
import signal
import subprocess
import sys
import threading
import time
from os import environ
from pathlib import Path

import numpy as np
import pytest

from rgvf.environments.workers import WorkerError, Workers
from rgvf.environments.workers.step_requests import StepRequests

ODD = "gym/tests.environments.odd_gym:Odd"
CARTPOLE = "gym/CartPole-v1"


def step(workers, times):
    for _ in range(times):
        workers.send(np.zeros(workers.n, int))
        workers.receive()


@pytest.fixture
def files(tmp_path, monkeypatch):
    """The folder of all temporary files, which must be empty in the end."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    yield tmp_path
    assert list(tmp_path.iterdir()) == []


def test_where_a_request_is_interrupted_no_reply_is_taken_for_another(files):
    with Workers(f"{ODD}/SlowStart-v0", [0, 1], processes=1) as workers:
        threading.Timer(0.5, lambda: signal.raise_signal(signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            workers.reset()
        for use in (workers.reset, workers.save, workers.prepare, workers.current):
            with pytest.raises(WorkerError, match="the workers are closed"):
                use()


def test_where_a_request_for_a_step_is_interrupted_the_workers_are_closed(files, monkeypatch):
    """After the request is sent, but before that is noted: the next one would wait for ever."""
    with Workers(CARTPOLE, range(4), processes=2, groups=2) as workers:
        workers.reset()

        def interrupted(self, group, send=StepRequests.send):
            send(self, group)
            raise KeyboardInterrupt

        monkeypatch.setattr(StepRequests, "send", interrupted)
        with pytest.raises(KeyboardInterrupt):
            workers.send(np.zeros(2, int), 1)
        for use in (workers.receive, workers.first_done, workers.reset):
            with pytest.raises(WorkerError, match="the workers are closed"):
                use()


def test_a_worker_that_does_not_read_is_given_up(files):
    """A large message fills the connection, so that not even its end can be sent."""
    with Workers(CARTPOLE, range(4), processes=2, patience=2) as workers:
        workers.reset()
        process = workers._connections.processes[0][1]
        process.send_signal(signal.SIGSTOP)
        began = time.monotonic()
        with pytest.raises(WorkerError, match="hangs: it has not replied for 2 s"):
            workers.restore([bytes(1_000_000)] * 4)
        assert time.monotonic() - began < 8


def test_where_nothing_can_reply_to_steps_the_learner_does_not_spin(files):
    with Workers(f"{ODD}/LosesPipe-v0", [0, 1], processes=2, patience=2) as workers:
        workers.reset()
        used = time.process_time()
        with pytest.raises(WorkerError, match="hangs"):
            step(workers, 1)
        assert time.process_time() - used < 0.5


def running(command):
    """The processes with these words."""
    found = []
    for each in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found += [each.parent.name] * (each.read_bytes().split(b"\0")[:-1] == command)
        except OSError:
            continue
    return found


def test_an_engine_does_not_outlive_a_worker_that_ended_as_if_all_were_well(files):
    with Workers(f"{ODD}/Leaves-v0", [0]) as workers:
        workers.reset()
        with pytest.raises(WorkerError, match="ended with status 0"):
            step(workers, 3)
    time.sleep(0.2)
    assert running([b"sleep", b"777"]) == []


def test_the_death_of_a_worker_is_noticed_also_where_a_fork_has_its_connections(files):
    with Workers(f"{ODD}/Forks-v0", [0]) as workers:
        workers.reset()
        began = time.monotonic()
        with pytest.raises(WorkerError, match="was killed by signal 9"):
            step(workers, 3)
        assert time.monotonic() - began < 5


def test_an_error_that_is_no_text_is_reported(files, capfd):
    with Workers(f"{ODD}/Unprintable-v0", [0]) as workers:
        workers.reset()
        with pytest.raises(WorkerError, match=r"the level .udc80 is not there"):
            step(workers, 1)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("group", [-1, 2])
def test_there_is_no_such_group(group):
    with Workers(CARTPOLE, range(2), processes=1, groups=2) as workers:
        workers.reset()
        for use in (lambda: workers.send(np.zeros(1, int), group), lambda: workers.receive(group)):
            with pytest.raises(ValueError, match=f"there are 2 groups, counted from 0, and no group {group}"):
                use()
        workers.send(np.zeros(1, int), 1)
        assert len(workers.receive(1).reward) == 1


def test_nothing_is_left_where_the_learner_dies_while_a_worker_is_stopped(files):
    program = """
import os, signal, time
from rgvf.environments.workers import Workers
workers = Workers("gym/CartPole-v1", range(2), processes=2)
workers.reset()
os.kill(workers._connections.processes[0][1].pid, signal.SIGSTOP)
time.sleep(0.5)  # until it has stopped
print(*[process.pid for _, process in workers._connections.processes], flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    env = {**environ, "TMPDIR": str(files)}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=30, check=False)
    pids = done.stdout.split()
    until = time.monotonic() + 10
    while (any(Path(f"/proc/{pid}").exists() for pid in pids) or list(files.iterdir())) and time.monotonic() < until:
        time.sleep(0.1)
    assert len(pids) == 2
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


def test_no_descriptor_is_left_behind():
    def used():
        gc.collect()
        return len(list(Path("/proc/self/fd").iterdir()))

    def once():
        with Workers(CARTPOLE, range(2), processes=2) as workers:
            workers.reset()

    once()
    before = used()
    for _ in range(3):
        once()
    assert used() == before
