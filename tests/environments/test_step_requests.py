"""Requests for steps, with workers in threads: each hears every request once, and the last one to be done knows it."""

import random
import socket
import threading
import time
from multiprocessing.connection import Connection

import pytest

from rgvf.environments.workers.step_requests import Inbox, StepRequests


def connected():
    """Two connections, as the learner and a worker have them."""
    return [Connection(each.detach()) for each in socket.socketpair()]


@pytest.fixture
def sides():
    """The learner's side of two groups, of which the second is only the last worker's; and three workers' sides."""
    requests = StepRequests([3, 1])
    pipes = [connected() for _ in range(3)]
    inboxes = [Inbox(theirs, requests.read_ends) for _, theirs in pipes]
    for worker, inbox in enumerate(inboxes):
        inbox.listen([0, 1] if worker == 2 else [0])
    ours = [ours for ours, _ in pipes]
    yield requests, inboxes, ours
    requests.close()
    for pair in pipes:
        for end in pair:
            end.close()


def test_every_worker_hears_a_request_once_also_a_late_one(sides):
    requests, inboxes, _ = sides
    for _ in range(3):
        requests.send(0)
        assert [inbox.receive() for inbox in inboxes] == [([], [0])] * 3
        assert [inboxes[worker].is_last(0) for worker in (1, 2, 0)] == [False, False, True]
    requests.send(1)
    requests.send(0)
    assert [sorted(inbox.receive()[1]) for inbox in inboxes] == [[0], [0], [0, 1]]
    assert inboxes[2].is_last(1)


def test_a_message_comes_through_the_connection(sides):
    requests, inboxes, ours = sides
    ours[2].send_bytes(b"message")
    assert inboxes[2].receive() == ([b"message"], [])
    requests.send(1)
    ours[2].send_bytes(b"another")
    assert inboxes[2].receive() == ([b"another"], [1])
    ours[2].close()
    with pytest.raises(EOFError):
        inboxes[2].receive()


def test_a_learner_that_has_ended_is_no_request(sides):
    """Its pipes and its connection may not end at the same moment."""
    requests, inboxes, ours = sides
    requests.close()
    assert inboxes[0].receive() == ([], [])
    ours[0].close()
    with pytest.raises(EOFError):
        inboxes[0].receive()


def test_many_requests_with_workers_that_are_late_at_random():
    n, rounds = 5, 300
    requests = StepRequests([n, n])
    pipes = [connected() for _ in range(n)]
    heard = [[0, 0] for _ in range(n)]
    done = [threading.Event(), threading.Event()]

    def work(worker):
        rng, inbox = random.Random(worker), Inbox(pipes[worker][1], requests.read_ends)
        inbox.listen([0, 1])
        while min(heard[worker]) < rounds:
            for group in inbox.receive()[1]:
                if rng.random() < 0.1:
                    time.sleep(rng.random() * 1e-3)
                heard[worker][group] += 1
                if inbox.is_last(group):
                    assert all(each[group] == heard[worker][group] for each in heard)
                    assert not done[group].is_set()
                    done[group].set()

    workers = [threading.Thread(target=work, args=(worker,), daemon=True) for worker in range(n)]
    for thread in workers:
        thread.start()
    for _ in range(rounds):
        for group in (0, 1):
            requests.send(group)
        for group in (1, 0):
            assert done[group].wait(10), "somebody has missed a request"
            done[group].clear()
    for thread in workers:
        thread.join(10)
    assert heard == [[rounds, rounds]] * n
    requests.close()
    for pair in pipes:
        for end in pair:
            end.close()
