"""How fast ViZDoom runs, alone and in worker processes, and how fast agents train in it, on one machine.

    .venv/bin/python benchmarks/doom.py [--scenario my_way_home] [--seconds 20] [--agents a2c rgvf …]

One process alone steps one game with random actions, without any workers; then as many such processes as there are
cores do so at once, which is what the machine can do: cores may share caches and units of a processor. Each process
stays with its engine on one core: they wait for each other, and are half as fast on two. Workers are as many processes
as there are cores, with 32 games. The machine should be idle otherwise; compare the ratios.
"""

import argparse
import multiprocessing
import os
import time
from concurrent.futures import ProcessPoolExecutor

from host_speed import raw_speed, training_speed

ACTORS = 32


def alone_speed(env: str, seconds: float, core: int) -> float:
    """Steps/s of one game in this process, which stays on a core."""
    os.sched_setaffinity(0, {core})
    import cv2
    import numpy as np

    from rgvf.environments import make_game

    cv2.setNumThreads(1)
    game = make_game(env, 0)
    try:
        game.reset()
        rng = np.random.default_rng(0)
        steps, began = 0, time.perf_counter()
        while time.perf_counter() - began < seconds:  # new actions each time: what is seen decides what a step costs
            for action in rng.integers(len(game.spec.actions), size=100).tolist():
                game.step(action)
            steps += 100
        return steps / (time.perf_counter() - began)
    finally:
        game.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenario", default="my_way_home")
    parser.add_argument("--seconds", type=float, default=20.0, help="of each measurement")
    parser.add_argument("--agents", nargs="*", default=["a2c", "rgvf-stop-gradient", "rgvf"])
    arguments = parser.parse_args()
    import jax

    env, seconds = f"doom/{arguments.scenario}", arguments.seconds
    places, device = sorted(os.sched_getaffinity(0)), jax.devices()[0].device_kind
    cores = len(places)
    print(f"{env}, {cores} cores, {device}, jax {jax.__version__}; a step is 4 frames\n")
    print(f"{'':36}{'steps/s':>10}{'of raw':>8}{'cost to a2c':>13}{'GiB':>6}")
    with ProcessPoolExecutor(cores, multiprocessing.get_context("spawn")) as processes:
        alone = processes.submit(alone_speed, env, seconds, places[0]).result()
        print(f"{'one process alone, 1 game':36}{alone:10,.0f}", flush=True)
        at_once = sum(processes.map(alone_speed, [env] * cores, [seconds] * cores, places))
    of_cores = f"{at_once / (cores * alone):.0%} of {cores} × one process alone"
    print(f"{f'{cores} such processes at once':36}{at_once:10,.0f}  {of_cores}", flush=True)
    raw = raw_speed(env, ACTORS, seconds, processes=cores) / 4
    of_them = f"{raw / at_once:.0%} of these, {raw / (cores * alone):.0%} of {cores} × one process alone"
    print(f"{f'{cores} worker processes, {ACTORS} games':36}{raw:10,.0f}  {of_them}", flush=True)
    a2c = None
    for agent in arguments.agents:
        frames, memory = training_speed(env, agent, seconds)
        speed = frames / 4
        a2c = a2c or speed
        print(f"{agent:36}{speed:10,.0f}{speed / raw:8.0%}{a2c / speed:13.2f}{memory:6.1f}", flush=True)


if __name__ == "__main__":
    main()
