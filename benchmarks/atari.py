"""How fast Atari agents train, in one run on one machine.

    .venv/bin/python benchmarks/atari.py [--game Breakout] [--seconds 20] [--seeds 1 5] [--main-only]

Raw is what the emulators alone give with random actions and the same workers. The other auxiliary tasks are measured
with one seed. The machine should be idle otherwise; compare the ratios.
"""

import argparse
import os

from host_speed import raw_speed, training_speed

MAIN_ROWS = ("a2c", "rgvf-stop-gradient", "rgvf")
TASK_ROWS = ("mhvp", "reward-prediction", "termination-prediction", "pixel-control", "curl")
ACTORS = 16


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="Breakout")
    parser.add_argument("--seconds", type=float, default=20.0, help="of each measurement")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 5])
    parser.add_argument("--main-only", action="store_true", help="only a2c and rgvf, not the other tasks")
    arguments = parser.parse_args()
    import jax

    env, device = f"atari/{arguments.game}", jax.devices()[0].device_kind
    print(f"{arguments.game}, {os.cpu_count()} cores, {device}, jax {jax.__version__}; frames/s\n")
    print(f"{'':28}{'seeds':>6}{'frames/s':>10}{'of raw':>8}{'cost to a2c':>13}{'GiB':>6}")
    for seeds in arguments.seeds:
        raw = raw_speed(env, ACTORS, arguments.seconds, seeds)
        print(f"{'raw emulators':28}{seeds:6}{raw:10,.0f}", flush=True)
        a2c = None
        for agent in (*MAIN_ROWS, *(TASK_ROWS if seeds == 1 and not arguments.main_only else ())):
            speed, memory = training_speed(env, agent, arguments.seconds, seeds)
            a2c = a2c or speed
            print(f"{agent:28}{seeds:6}{speed:10,.0f}{speed / raw:8.0%}{a2c / speed:13.2f}{memory:6.1f}", flush=True)


if __name__ == "__main__":
    main()
