"""How fast Atari agents train, in one run on one machine.

    .venv/bin/python benchmarks/atari.py [--game Breakout] [--seconds 20] [--seeds 1 5] [--main-only]
    .venv/bin/python benchmarks/atari.py --trials 4 --seeds 1 5    # trials of a study, so many at once

Raw is what the emulators alone give with random actions and the same workers. The other auxiliary tasks are measured
with one seed. With --trials, trials of `rgvf study atari-49 --preset fast` are measured as the study runs them, beside
raw emulators for as many games. The machine should be idle otherwise; compare the ratios.
"""

import argparse
import os
import tempfile
from pathlib import Path

from host_speed import raw_speed, training_speed

MAIN_ROWS = ("a2c", "rgvf-stop-gradient", "rgvf")
TASK_ROWS = ("mhvp", "reward-prediction", "termination-prediction", "pixel-control", "curl")
ACTORS = 16


AGENTS = ("a2c", "rgvf-stop-gradient", "rgvf", "rgvf+action-values-stop-gradient")


def trials_speed(game: str, seeds: int, parallel: int, seconds: float) -> float:
    """Frames/s of all trials that run at once, in turn of these agents; on a GPU a batch has all seeds of an agent."""
    from rgvf.studies.atari_49 import STUDY
    from rgvf.studies.plan import make_plan
    from rgvf.studies.trials import TrialsConfig

    agents = AGENTS[:parallel]
    config = TrialsConfig(games=(game,), agents=agents, seeds=seeds, preset="fast")
    with tempfile.TemporaryDirectory() as out:
        plan = make_plan(STUDY, config, Path(out) / "new", parallel=parallel, seconds=seconds)
    return parallel * sum(kind.rate for kind in plan.kinds) / len(plan.kinds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="Breakout")
    parser.add_argument("--seconds", type=float, default=20.0, help="of each measurement")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 5])
    parser.add_argument("--main-only", action="store_true", help="only a2c and rgvf, not the other tasks")
    parser.add_argument("--trials", type=int, help="measure so many batches of trials at once, as a study runs them")
    arguments = parser.parse_args()
    import jax

    env, device, device_is_gpu = f"atari/{arguments.game}", jax.devices()[0].device_kind, jax.default_backend() != "cpu"
    print(f"{arguments.game}, {os.cpu_count()} cores, {device}, jax {jax.__version__}; frames/s\n")
    if arguments.trials:
        print(f"{'seeds':>6}{'at once':>9}{'raw':>10}{'trials':>10}{'of raw':>8}")
        for seeds in arguments.seeds:
            together = seeds if device_is_gpu else 1
            raw = raw_speed(env, ACTORS, arguments.seconds, together * arguments.trials)
            speed = trials_speed(arguments.game, seeds, arguments.trials, arguments.seconds)
            print(f"{together:6}{arguments.trials:9}{raw:10,.0f}{speed:10,.0f}{speed / raw:8.0%}", flush=True)
        return
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
