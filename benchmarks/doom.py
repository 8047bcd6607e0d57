"""How fast ViZDoom runs, alone and in worker processes, and how fast agents train in it, on one machine.

    .venv/bin/python benchmarks/doom.py [--scenario my_way_home] [--seconds 20] [--agents a2c rgvf …]

One process alone steps games with random actions, without any workers: one game, and as many as a worker has (their
engines share a core's cache). Then as many such processes as there are cores do so at once, which is what the machine
can do with 32 games: cores may share caches and units of a processor. Each process stays with its engines on one core:
they wait for each other, and are half as fast on two. Workers are as many processes as there are cores, with the same
32 games in two groups, each of which waits for its slowest game. What that alone costs is computed from how long the
steps of the processes at once took: workers without any messages would be so fast. The machine should be idle
otherwise; compare the ratios.
"""

import argparse
import multiprocessing
import os
import time
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from host_speed import raw_speed, training_speed
from numpy.typing import NDArray

from rgvf.loops import group_count

ACTORS = 32


def alone(env: str, seconds: float, core: int, games: int) -> NDArray[np.float64]:
    """How long each step takes of some games in this process, which stays on a core: [rounds, games]."""
    os.sched_setaffinity(0, {core})
    import cv2

    from rgvf.environments import make_game

    cv2.setNumThreads(1)
    playing = [make_game(env, seed) for seed in range(games)]
    try:
        for game in playing:
            game.reset()
        rng, n_actions = np.random.default_rng(0), len(playing[0].spec.actions)
        clock = [time.perf_counter()]
        while clock[-1] - clock[0] < seconds:  # new actions each time: what is seen decides what a step costs
            for game, action in zip(playing, rng.integers(n_actions, size=games).tolist(), strict=True):
                game.step(action)
                clock.append(time.perf_counter())
        return np.diff(clock).reshape(-1, games)
    finally:
        for game in playing:
            game.close()


def rate(steps: NDArray[np.float64]) -> float:
    """Steps/s."""
    return steps.size / float(steps.sum())


def lockstep(processes: list[NDArray[np.float64]]) -> float:
    """Steps/s of processes whose games are in groups that wait for their slowest game, from how long the steps take.

    A process steps its games of one group after the other; a group steps again when all its games have stepped.
    """
    rounds, groups = min(map(len, processes)), group_count(ACTORS)
    taken = [[part.sum(1) for part in np.array_split(steps[:rounds], groups, axis=1)] for steps in processes]
    by_round = np.array(taken).transpose(2, 1, 0)  # rounds, groups, processes
    free, done = np.zeros(len(processes)), np.zeros(groups)
    for each in by_round:
        for group in range(groups):
            free = np.maximum(free, done[group]) + each[group]
            done[group] = free.max()
    return rounds * sum(steps.shape[1] for steps in processes) / free.max()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenario", default="my_way_home")
    parser.add_argument("--seconds", type=float, default=20.0, help="of each measurement")
    parser.add_argument("--agents", nargs="*", default=["a2c", "rgvf-stop-gradient", "rgvf"])
    arguments = parser.parse_args()
    import jax

    env, seconds = f"doom/{arguments.scenario}", arguments.seconds
    places, device = sorted(os.sched_getaffinity(0))[:ACTORS], jax.devices()[0].device_kind
    cores = len(places)
    print(f"{env}, {cores} cores, {device}, jax {jax.__version__}; a step is 4 frames\n")
    print(f"{'':40}{'steps/s':>10}{'of raw':>8}{'cost to a2c':>13}{'GiB':>6}")
    own = [ACTORS // cores + (i < ACTORS % cores) for i in range(cores)]  # games of each worker

    def show(title: str, speed: float, compared: str = "") -> None:
        print(f"{title:40}{speed:10,.0f}  {compared}".rstrip(), flush=True)

    with ProcessPoolExecutor(cores, multiprocessing.get_context("spawn")) as processes:
        one = rate(processes.submit(alone, env, seconds, places[0], 1).result())
        show("one process alone, 1 game", one)
        many = rate(processes.submit(alone, env, seconds, places[0], own[0]).result())
        show(f"one process alone, {own[0]} games", many, f"{many / one:.0%} of one game")
        steps = list(processes.map(alone, [env] * cores, [seconds] * cores, places, own))
    at_once, waiting = sum(map(rate, steps)), lockstep(steps)
    of_cores = f"of {cores} × one process alone"
    show(f"{cores} such processes at once, {ACTORS} games", at_once, f"{at_once / (cores * many):.0%} {of_cores}")
    show("the same, if they waited in groups", waiting, f"{waiting / at_once:.0%} of these")
    raw = raw_speed(env, ACTORS, seconds, processes=cores) / 4
    of_them = f"{raw / waiting:.0%} of these, {raw / (cores * many):.0%} {of_cores}"
    show(f"{cores} worker processes, {ACTORS} games", raw, f"{of_them} ({raw / (cores * one):.0%} with 1 game)")
    a2c = None
    for agent in arguments.agents:
        frames, memory = training_speed(env, agent, seconds)
        speed = frames / 4
        a2c = a2c or speed
        print(f"{agent:40}{speed:10,.0f}{speed / raw:8.0%}{a2c / speed:13.2f}{memory:6.1f}", flush=True)


if __name__ == "__main__":
    main()
