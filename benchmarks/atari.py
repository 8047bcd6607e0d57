"""How fast Atari agents train, in one run on one machine.

    .venv/bin/python benchmarks/atari.py [--game Breakout] [--seconds 20] [--seeds 1 5] [--main-only]
    .venv/bin/python benchmarks/atari.py --trials 4 --seeds 1 5    # trials of a study, so many at once

Raw is what the emulators alone give with random actions and the same workers. The other auxiliary tasks are measured
with one seed. With --trials, trials of `rgvf study atari-49 --preset fast` are measured as the study runs them, beside
raw emulators for as many games. The machine should be idle otherwise; compare the ratios.
"""

import argparse
import contextlib
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MAIN_ROWS = {
    "a2c": ["--agent", "a2c"],
    "rgvf stop-gradient": ["--agent", "rgvf", "--stop-gradient"],
    "rgvf end-to-end": ["--agent", "rgvf"],
}
TASKS = ("mhvp", "reward-prediction", "termination-prediction", "pixel-control", "curl")
TASK_ROWS = {f"{task} end-to-end": ["--agent", task] for task in TASKS}


def raw_speed(game: str, seeds: int, seconds: float) -> float:
    """Frames/s of the emulators alone, in the same groups: each steps again when all its games have stepped."""
    import numpy as np

    from rgvf.runs import RunConfig
    from rgvf.runs.run import make_workers

    rng = np.random.default_rng(0)
    with make_workers(RunConfig(env=f"atari/{game}", seeds=seeds)) as workers:
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


def training_speed(game: str, options: list[str], seeds: int, seconds: float) -> tuple[float, float]:
    """Frames/s over all seeds once compiled, and the peak memory of the learner in GiB; in a process of its own."""
    child = [sys.executable, __file__, "--child", str(seconds), "--game", game, "--seeds", str(seeds), "--", *options]
    printed = subprocess.run(child, check=True, capture_output=True, text=True).stdout.split()
    return float(printed[-2]), float(printed[-1])


def child(game: str, options: list[str], seeds: int, seconds: float) -> None:
    from rgvf.accelerate import use_fast_convolutions

    use_fast_convolutions()
    import jax

    from rgvf.cli.options import config_of, option_type
    from rgvf.cli.parsing import parse
    from rgvf.loops import start
    from rgvf.runs.run import make_loop, prepare

    arguments = ["--env", f"atari/{game}", "--seeds", str(seeds), *options]
    config = config_of(parse(option_type(), arguments, "rgvf train"))
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
    parser.add_argument("--child", type=float, help=argparse.SUPPRESS)
    parser.add_argument("options", nargs="*", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        child(arguments.game, arguments.options, arguments.seeds[0], arguments.child)
        return
    import jax

    device, device_is_gpu = jax.devices()[0].device_kind, jax.default_backend() != "cpu"
    print(f"{arguments.game}, {os.cpu_count()} cores, {device}, jax {jax.__version__}; frames/s\n")
    if arguments.trials:
        print(f"{'seeds':>6}{'at once':>9}{'raw':>10}{'trials':>10}{'of raw':>8}")
        for seeds in arguments.seeds:
            together = seeds if device_is_gpu else 1
            raw = raw_speed(arguments.game, together * arguments.trials, arguments.seconds)
            speed = trials_speed(arguments.game, seeds, arguments.trials, arguments.seconds)
            print(f"{together:6}{arguments.trials:9}{raw:10,.0f}{speed:10,.0f}{speed / raw:8.0%}", flush=True)
        return
    print(f"{'':28}{'seeds':>6}{'frames/s':>10}{'of raw':>8}{'cost to a2c':>13}{'GiB':>6}")
    for seeds in arguments.seeds:
        raw = raw_speed(arguments.game, seeds, arguments.seconds)
        print(f"{'raw emulators':28}{seeds:6}{raw:10,.0f}", flush=True)
        a2c = None
        rows = MAIN_ROWS | (TASK_ROWS if seeds == 1 and not arguments.main_only else {})
        for name, options in rows.items():
            speed, memory = training_speed(arguments.game, options, seeds, arguments.seconds)
            a2c = a2c or speed
            print(f"{name:28}{seeds:6}{speed:10,.0f}{speed / raw:8.0%}{a2c / speed:13.2f}{memory:6.1f}", flush=True)


if __name__ == "__main__":
    main()
