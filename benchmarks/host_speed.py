"""Speeds of games on the host and of agents that train in them; for the benchmarks beside this file."""

from __future__ import annotations

import contextlib
import resource
import subprocess
import sys
import time


def raw_speed(env: str, actors: int, seconds: float, seeds: int = 1, processes: int | None = None) -> float:
    """Frames/s of the games alone, with random actions, in groups as in training.

    Each group steps again when all its games have stepped.
    """
    import numpy as np

    from rgvf.environments.workers import Workers
    from rgvf.loops import group_count

    rng = np.random.default_rng(0)
    with Workers(env, list(range(actors * seeds)), processes, group_count(actors)) as workers:
        workers.reset()
        sizes = [part.stop - part.start for part in workers.groups]

        def play(group: int) -> None:
            workers.send(rng.integers(len(workers.spec.actions), size=sizes[group]), group)

        for group in range(len(sizes)):
            play(group)
        steps, began = 0, time.perf_counter()
        while time.perf_counter() - began < seconds:
            group = workers.first_done()
            workers.receive(group)
            steps += sizes[group]
            play(group)
        return steps * workers.spec.frames_per_step / (time.perf_counter() - began)


def training_speed(env: str, agent: str, seconds: float, seeds: int = 1) -> tuple[float, float]:
    """Frames/s over all seeds once compiled, and the peak memory of the learner in GiB; in a process of its own.

    Args:
        agent: as `AgentConfig.label` has it: rgvf-stop-gradient.
    """
    child = [sys.executable, __file__, env, agent, str(seconds), str(seeds)]
    printed = subprocess.run(child, check=True, capture_output=True, text=True).stdout.split()
    return float(printed[-2]), float(printed[-1])


def _measure(env: str, agent: str, seconds: float, seeds: int) -> None:
    import jax

    import rgvf
    from rgvf.agents import STOPPED
    from rgvf.loops import start
    from rgvf.runs.run import make_loop, prepare

    config = rgvf.preset(env, agent.removesuffix(STOPPED), stop_gradient=agent.endswith(STOPPED), seeds=seeds)
    with contextlib.closing(make_loop(config, prepare(config))) as loop:
        state = start(loop)
        for _ in range(3):
            state, _ = loop.advance(state, 1)
        jax.block_until_ready(state)
        updates, began = 0, time.perf_counter()
        while time.perf_counter() - began < seconds:
            state, _ = loop.advance(state, 1)
            updates += 1
        jax.block_until_ready(state)
        frames = updates * loop.frames_per_update * seeds / (time.perf_counter() - began)
    print(frames, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)


if __name__ == "__main__":
    _measure(sys.argv[1], sys.argv[2], float(sys.argv[3]), int(sys.argv[4]))
