"""`rgvf record`: make a film of a trained agent."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from rgvf.cli.errors import command_errors
from rgvf.cli.imports import import_modules
from rgvf.cli.parsing import parse


@dataclass(frozen=True)
class _Options:
    run: Annotated[Path, tyro.conf.Positional]
    """The run's folder."""
    out: Path | None = None
    """File of the film, .mp4 or .gif; film.mp4 in the run's folder by default."""
    steps: int = 600
    """Number of steps to record; fewer if the game ends before."""
    seed: int | None = None
    """Seed of the agent; the first of the run by default."""
    predictions: tuple[str, ...] = ()
    """Names of the prediction nodes to show; by default some whose answers vary most."""
    play_out: int = 60
    """Steps, evenly spread, from which the game is played on for the true answers of predictions that name actions."""
    greedy: bool = False
    """Take the most likely action instead of sampling from the policy."""
    sticky: float | None = None
    """Probability that a sticky action is repeated (Atari and MinAtar); by default as in training."""
    checkpoint: int | None = None
    """Frames after which the checkpoint was written; the newest one by default."""
    games_seed: int = 0
    """Random seed of the game and of the actions that are sampled."""

    def __post_init__(self) -> None:
        if self.steps < 1:
            raise ValueError(f"steps must be at least 1, not {self.steps}")
        if self.play_out < 0:
            raise ValueError(f"play_out must be at least 0, not {self.play_out}")


def record(arguments: list[str]) -> None:
    """Run the command."""
    _, arguments = import_modules(arguments)
    description = """Make a film of a trained agent: the game, its policy, its value and some of its predictions.

--import MODULE first imports a module that the run needs, such as that of gym/MODULE:ID."""
    options = parse(_Options, arguments, "rgvf record", description=description)
    with command_errors():
        _record(options)


def _record(options: _Options) -> None:
    from rgvf.analysis.agent_film import make_film
    from rgvf.cli.terminal import bar, plain_warnings
    from rgvf.runs import load

    out = options.out or options.run / "film.mp4"
    replaced = " (replaced)" if out.exists() else ""
    with plain_warnings(), bar(f"making {out.name}") as report:
        agent = load(options.run, options.seed, checkpoint=options.checkpoint)
        game = make_film(
            agent,
            out,
            options.steps,
            predictions=options.predictions,
            played_on=options.play_out,
            greedy=options.greedy,
            sticky=options.sticky,
            seed=options.games_seed,
            report=report,
        )
    steps = f"{len(game.screens)} steps, return {game.reward.sum():g}"
    print(f"{out}{replaced}: {steps}, after {agent.frames:,} frames of training")
