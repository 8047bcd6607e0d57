"""How fast ViZDoom runs, alone and in worker processes, and how fast agents train in it, on one machine.

    .venv/bin/python benchmarks/doom.py [--scenario my_way_home] [--seconds 20] [--agents a2c rgvf …]

One process alone steps games with random actions, without any workers: one game, and as many as a worker has (their
engines share a core's cache). Then as many such processes as there are cores do so at once, which is what the machine
can do with 32 games: cores may share caches and units of a processor. Each process stays with its engines on one core:
they wait for each other, and are half as fast on two. Workers are as many processes as there are cores, with the same
32 games. The machine should be idle otherwise; compare the ratios.
"""

import argparse
import multiprocessing
import os
import time
from concurrent.futures import ProcessPoolExecutor

from host_speed import raw_speed, training_speed

ACTORS = 32


def alone_speed(env: str, seconds: float, core: int, games: int) -> float:
    """Steps/s of some games in this process, which stays on a core."""
    os.sched_setaffinity(0, {core})
    import cv2
    import numpy as np

    from rgvf.environments import make_game

    cv2.setNumThreads(1)
    playing = [make_game(env, seed) for seed in range(games)]
    try:
        for game in playing:
            game.reset()
        rng, n_actions = np.random.default_rng(0), len(playing[0].spec.actions)
        steps, began = 0, time.perf_counter()
        while time.perf_counter() - began < seconds:  # new actions each time: what is seen decides what a step costs
            for _ in range(10):
                for game, action in zip(playing, rng.integers(n_actions, size=games).tolist(), strict=True):
                    game.step(action)
            steps += 10 * games
        return steps / (time.perf_counter() - began)
    finally:
        for game in playing:
            game.close()


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
        one = processes.submit(alone_speed, env, seconds, places[0], 1).result()
        show("one process alone, 1 game", one)
        alone = processes.submit(alone_speed, env, seconds, places[0], own[0]).result()
        show(f"one process alone, {own[0]} games", alone, f"{alone / one:.0%} of one game")
        at_once = sum(processes.map(alone_speed, [env] * cores, [seconds] * cores, places, own))
    of_cores = f"{at_once / (cores * alone):.0%} of {cores} × one process alone"
    show(f"{cores} such processes at once, {ACTORS} games", at_once, of_cores)
    raw = raw_speed(env, ACTORS, seconds, processes=cores) / 4
    of_them = f"{raw / at_once:.0%} of these, {raw / (cores * alone):.0%} of {cores} × one process alone"
    show(f"{cores} worker processes, {ACTORS} games", raw, f"{of_them} ({raw / (cores * one):.0%} with 1 game)")
    a2c = None
    for agent in arguments.agents:
        frames, memory = training_speed(env, agent, seconds)
        speed = frames / 4
        a2c = a2c or speed
        print(f"{agent:40}{speed:10,.0f}{speed / raw:8.0%}{a2c / speed:13.2f}{memory:6.1f}", flush=True)


if __name__ == "__main__":
    main()
