"""Training several runs by turns, those that can be in one compiled program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from rgvf.loops import DeviceLoop, JointLoop
from rgvf.runs.progress import RunListener
from rgvf.runs.run import Run

ShouldStop: TypeAlias = Callable[[], bool]
"""Called between updates; true: stop."""


def advance(runs: Sequence[Run], listener: RunListener, should_stop: ShouldStop) -> bool:
    """Train to the end, or until `should_stop`; leaves a checkpoint of each run. Returns whether all ended."""
    for run in runs:
        run.open()
    if not all(run.finished for run in runs):
        listener.waiting("compiling, and playing the first steps")
    joint: dict[tuple[int, ...], JointLoop] = {}
    while unfinished := [run for run in runs if not run.finished]:
        behind = min(run.updates for run in unfinished)
        together = [run for run in unfinished if run.updates == behind]
        updates = min(run.next_stop for run in together) - behind
        if len(together) == 1:
            results = [together[0].loop.advance(together[0].state, updates)]
        else:
            key = tuple(map(id, together))
            joint[key] = joint.get(key) or _join(together)
            results = joint[key].advance([run.state for run in together], updates)
        for run, (state, progress) in zip(together, results, strict=True):
            run.receive(state, progress)
        _report(runs, listener)
        stop = should_stop()
        for run in unfinished if stop else together:
            run.save_if_due(stop)
        if stop:
            break
    return all(run.finished for run in runs)


def _report(runs: Sequence[Run], listener: RunListener) -> None:
    """Tell how far all runs are: frames are means over all seeds."""
    seeds = sum(run.config.seeds for run in runs)
    done = sum(min(run.frames, run.config.frames) * run.config.seeds for run in runs) / seeds
    total = sum(run.config.frames * run.config.seeds for run in runs) / seeds
    busy = [run for run in runs if not run.finished] or runs
    lines = [line for run in runs for line in run.lines]
    listener.progress(round(done), round(total), sum(run.speed for run in busy), lines)


def _join(runs: Sequence[Run]) -> JointLoop:
    loops = [run.loop for run in runs if isinstance(run.loop, DeviceLoop)]  # all of them are
    return JointLoop(loops, [run.config.agent.program for run in runs])
