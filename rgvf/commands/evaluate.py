"""`rgvf evaluate`: whole games with a trained agent."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import tyro

from rgvf.commands import CommandError, parse


@dataclass(frozen=True)
class _Options:
    run: Annotated[Path, tyro.conf.Positional]
    """The run's folder."""
    games: int = 30
    """Whole games to play, with and without sticky actions each."""
    seed: int | None = None
    """Which of the run's seeds; all of them by default."""
    greedy: bool = False
    """Take the likeliest action instead of sampling from the policy."""
    sticky: float | None = None
    """Probability that an action is repeated, in the games with sticky actions; 0.25 on Atari, 0.1 on MinAtar."""
    games_seed: int = 0
    """Decides the games and the agent's chances in them."""

    def __post_init__(self) -> None:
        if self.games < 1:
            raise ValueError(f"games must be at least 1, not {self.games}")
        if self.sticky is not None and not 0 <= self.sticky <= 1:
            raise ValueError(f"sticky must lie in [0, 1], not {self.sticky}")


def evaluate(arguments: list[str]) -> None:
    from rgvf.accelerate import use_fast_convolutions

    use_fast_convolutions()
    options = parse(_Options, arguments, "rgvf evaluate", description="Whole games with a trained agent.")
    from rgvf.environments.workers import WorkerError
    from rgvf.training.folder import RunError, RunFolder
    from rgvf.training.play import evaluate
    from rgvf.training.trained import load

    try:
        _, config = RunFolder.open(options.run)
        seeds = range(config.seed, config.seed + config.seeds) if options.seed is None else [options.seed]
        usual = {"atari": 0.25, "minatar": 0.1}.get(config.env.partition("/")[0], 0.0)
        modes = sorted({0.0, usual if options.sticky is None else options.sticky})
        header = f"{'seed':>5} {'sticky':>7} {'games':>6} {'mean':>10} {'± error':>9} {'median':>10}   after"
        results = []
        for seed in seeds:
            agent = load(options.run, seed)
            if not results:
                print(header)
            for sticky in modes:
                scores = evaluate(agent, options.games, sticky=sticky, greedy=options.greedy, seed=options.games_seed)
                results.append({"seed": seed, "sticky": sticky, "frames": agent.frames, "returns": scores.tolist()})
                mean, error = scores.mean(), scores.std(ddof=1) / np.sqrt(len(scores)) if len(scores) > 1 else 0.0
                row = f"{seed:5} {sticky:7.2f} {len(scores):6} {mean:10.2f} {error:9.2f} {np.median(scores):10.2f}"
                print(f"{row}   {agent.frames:,} frames", flush=True)
        settings = {"greedy": options.greedy, "games_seed": options.games_seed, "env": config.env}
        (options.run / "evaluation.json").write_text(json.dumps({**settings, "results": results}, indent=1) + "\n")
    except (RunError, WorkerError, ValueError) as error:
        raise CommandError(str(error), status=1) from None
    except OSError as error:
        raise CommandError(f"{error.strerror or error}: {error.filename or 'while writing'}", status=1) from None
