"""`rgvf record`: make a film of a trained agent."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from rgvf.accelerate import use_fast_convolutions
from rgvf.cli.errors import command_errors
from rgvf.cli.imports import import_modules
from rgvf.cli.parsing import parse

if TYPE_CHECKING:
    from rgvf.questions import QuestionNetwork


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
    """Names of the prediction nodes to show; three discounted sums by default."""
    greedy: bool = False
    """Take the most likely action instead of sampling from the policy."""
    sticky: float | None = None
    """Probability that a sticky action is repeated (Atari and MinAtar); by default as in training."""
    game_seed: int = 0
    """Random seed of the game and of the actions that are sampled."""

    def __post_init__(self) -> None:
        if self.steps < 1:
            raise ValueError(f"steps must be at least 1, not {self.steps}")


def record(arguments: list[str]) -> None:
    """Run the command."""
    use_fast_convolutions()
    _, arguments = import_modules(arguments)
    description = "Make a film of a trained agent: the game, its policy, its value and some of its predictions."
    options = parse(_Options, arguments, "rgvf record", description=description)
    with command_errors():
        _record(options)


def _record(options: _Options) -> None:
    from rgvf.analysis.film import check_suffix, write_film
    from rgvf.cli.terminal import bar
    from rgvf.evaluation import record
    from rgvf.runs import load

    out = check_suffix(options.out or options.run / "film.mp4")
    agent = load(options.run, options.seed)
    chosen = _choose(agent.networks, options.predictions)
    game = record(agent, options.steps, greedy=options.greedy, sticky=options.sticky, seed=options.game_seed)
    curves = {"value": (game.value, game.true_return)}
    for (task, node), title in chosen.items():
        curves[title] = (game.answers[task][:, node], game.true_answers[task][:, node])
    with bar(f"writing {out}") as report:
        write_film(out, game.screens, game.policy, agent.spec.actions, curves, report=report)
    print(f"{out}: {len(game.screens)} steps, return {game.reward.sum():g}, after {agent.frames:,} frames of training")


def _choose(networks: dict[str, QuestionNetwork], names: tuple[str, ...]) -> dict[tuple[str, int], str]:
    """Task and column of each prediction to show, and its title."""
    if not networks:
        if names:
            raise ValueError("this agent has no question network, so it makes no predictions")
        return {}
    chosen: dict[tuple[str, int], str] = {}
    for name in names or _some_sums(next(iter(networks.values()))):
        task = next((task for task, network in networks.items() if name in network.predictions), None)
        if task is None:
            raise ValueError(f"there is no prediction node {name!r}; the run's questions*.json name them")
        chosen[task, networks[task].index[name]] = f"{name}: {networks[task].describe(name)}"
    return chosen


def _some_sums(network: QuestionNetwork) -> tuple[str, ...]:
    """Three predictions without a condition; any three where there are none."""
    plain = [n for n, condition in zip(network.predictions, network.conditions, strict=True) if condition is None]
    return tuple(plain[:: max(1, len(plain) // 3)][:3]) or network.predictions[:3]
