"""`rgvf evaluate`: play whole games with a trained agent."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tyro

from rgvf.atomic import remove_temporary_files, write_atomically
from rgvf.cli.errors import command_errors
from rgvf.cli.imports import import_modules
from rgvf.cli.parsing import parse

DESCRIPTION = """Play whole games with a trained agent.

--import MODULE first imports a module that the run needs, such as that of gym/MODULE:ID."""


@dataclass(frozen=True)
class _Options:
    run: Annotated[Path, tyro.conf.Positional]
    """The run's folder."""
    games: int = 30
    """Number of whole games to play; where actions can be sticky, as many with and without."""
    seed: int | None = None
    """Seed of the agent to evaluate; all seeds of the run by default."""
    greedy: bool = False
    """Take the most likely action instead of sampling from the policy."""
    sticky: float | None = None
    """Probability that a sticky action is repeated; by default 0.25 on Atari and 0.1 on MinAtar."""
    checkpoint: int | None = None
    """Frames after which the checkpoint was written; the newest one by default."""
    games_seed: int = 0
    """Random seed of the games and of the actions that are sampled."""

    def __post_init__(self) -> None:
        if self.games < 1:
            raise ValueError(f"games must be at least 1, not {self.games}")
        if self.sticky is not None and not 0 <= self.sticky <= 1:
            raise ValueError(f"sticky must be in [0, 1], not {self.sticky}")


def evaluate(arguments: list[str]) -> None:
    """Run the command."""
    _, arguments = import_modules(arguments)
    options = parse(_Options, arguments, "rgvf evaluate", description=DESCRIPTION)
    with command_errors():
        _evaluate(options)


def _evaluate(options: _Options) -> None:
    from rgvf.analysis import estimate, show
    from rgvf.cli.terminal import bar, plain_warnings
    from rgvf.environments.registry import takes_option
    from rgvf.evaluation.evaluate import evaluate, sticky_option
    from rgvf.runs import RunFolder, load

    _, config = RunFolder.open(options.run)
    seeds = config.all_seeds if options.seed is None else [options.seed]
    suite = config.env.partition("/")[0]
    usual = {"atari": 0.25, "minatar": 0.1, "minatar-pgx": 0.1}.get(suite, 0.0)
    modes = sorted({0.0, usual if options.sticky is None else options.sticky})
    can_stick = takes_option(config.env, "sticky")
    results = []
    for seed in seeds:
        with plain_warnings():
            agent = load(options.run, seed, checkpoint=options.checkpoint)
        sticky_option(agent, options.sticky)  # a wrong one is refused before any game is played
        if not results:
            print(_row("seed", "sticky" if can_stick else "", "games", "mean", "± error", "median", "after"))
        for sticky in modes:
            settings = {"sticky": sticky, "greedy": options.greedy, "seed": options.games_seed}
            with bar("playing") as report:
                scores = evaluate(agent, options.games, **settings, report=report)
            results.append(
                {
                    "seed": seed,
                    "sticky": sticky,
                    "greedy": options.greedy,
                    "games_seed": options.games_seed,
                    "frames": agent.frames,
                    "returns": scores.tolist(),
                }
            )
            mean, error = estimate(scores)
            stuck = f"{sticky:.2f}" if can_stick else ""
            middle = show(float(np.median(scores)), 2)
            after = f"{agent.frames:,} frames{', greedy actions' * options.greedy}"
            row = _row(str(seed), stuck, str(len(scores)), show(mean, 2), show(error, 2), middle, after)
            print(row, flush=True)
            _keep(options.run, config.env, results)
    if can_stick:
        learned = 0.0 if suite == "atari" else usual
        print(
            f"sticky: how probably an action is repeated; it was {learned:.2f} while the agent learned.",
            file=sys.stderr,
        )


def _keep(run: Path, env: str, results: list[dict[str, Any]]) -> None:
    """Write the results into the run's folder, with earlier ones that were not played again."""
    remove_temporary_files(run)
    kept = _other_results(run / "evaluation.json", results)
    text = json.dumps({"env": env, "results": [*kept, *results]})
    write_atomically(run / "evaluation.json", text + "\n")


def _row(seed: str, sticky: str, games: str, mean: str, error: str, median: str, after: str) -> str:
    """A row of the table; without the column of sticky actions where it is empty."""
    column = f"{sticky:>7} " if sticky else ""
    return f"{seed:>5} {column}{games:>6} {mean:>10} {error:>9} {median:>10}   {after}"


def _other_results(path: Path, results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Earlier results in the file, but those that were played again."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))["results"]
        settings = [name for name in results[0] if name != "returns"]
        again = [[each[name] for name in settings] for each in results]
        return [each for each in found if [each[name] for name in settings] not in again]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return []
