"""`rgvf record`: a film of a trained agent playing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from rgvf.commands import CommandError, parse

if TYPE_CHECKING:
    from rgvf.questions import QuestionNetwork


@dataclass(frozen=True)
class _Options:
    run: Annotated[Path, tyro.conf.Positional]
    """The run's folder."""
    out: Path | None = None
    """The film, .mp4 or .gif; by default film.mp4 in the run's folder."""
    steps: int = 600
    """The longest part of the game to record."""
    seed: int | None = None
    """Which of the run's seeds; the first by default."""
    predictions: tuple[str, ...] = ()
    """Prediction nodes to show; by default three sums of layer 0."""
    greedy: bool = False
    """Take the likeliest action instead of sampling from the policy."""
    sticky: float | None = None
    """Probability that an action is repeated (Atari and MinAtar); by default as in training."""
    game_seed: int = 0
    """Decides the game and the agent's chances in it."""

    def __post_init__(self) -> None:
        if self.steps < 1:
            raise ValueError(f"steps must be at least 1, not {self.steps}")


def record(arguments: list[str]) -> None:
    from rgvf.accelerate import use_fast_convolutions

    use_fast_convolutions()
    description = "A film of a trained agent playing, with its policy, its value and some of its predictions."
    options = parse(_Options, arguments, "rgvf record", description=description)
    from rgvf.analysis.film import check_suffix, write_film
    from rgvf.terminal import bar
    from rgvf.training.folder import RunError
    from rgvf.training.play import record
    from rgvf.training.trained import load

    try:
        out = check_suffix(options.out or options.run / "film.mp4")
        agent = load(options.run, options.seed)
        chosen = _choose(agent.questions, options.predictions)
        game = record(agent, options.steps, greedy=options.greedy, sticky=options.sticky, seed=options.game_seed)
        curves = {"value": (game.value, game.realised)}
        for (task, node), title in chosen.items():
            curves[title] = (game.answers[task][:, node], game.happened[task][:, node])
        with bar(f"writing {out}") as report:
            write_film(out, game.screens, game.policy, agent.world.actions, curves, report=report)
    except (RunError, ValueError) as error:
        raise CommandError(str(error), status=1) from None
    except OSError as error:
        raise CommandError(f"{error.strerror or error}: {error.filename or 'while writing'}", status=1) from None
    print(f"{out}: {len(game.screens)} steps, return {game.reward.sum():g}, after {agent.frames:,} frames of training")


def _choose(questions: dict[str, QuestionNetwork], names: tuple[str, ...]) -> dict[tuple[str, int], str]:
    """Task and column of each prediction to show, and its title."""
    if not questions:
        if names:
            raise ValueError("this agent was asked no questions, so it makes no predictions")
        return {}
    chosen: dict[tuple[str, int], str] = {}
    for name in names or _some_sums(next(iter(questions.values()))):
        task = next((task for task, network in questions.items() if name in network.predictions), None)
        if task is None:
            raise ValueError(f"there is no prediction node {name!r}; the run's questions*.json name them")
        chosen[task, questions[task].index[name]] = f"{name}: {questions[task].describe(name)}"
    return chosen


def _some_sums(network: QuestionNetwork) -> tuple[str, ...]:
    """Three predictions without a condition; any three where there are none."""
    plain = [n for n, condition in zip(network.predictions, network.conditions, strict=True) if condition is None]
    return tuple(plain[:: max(1, len(plain) // 3)][:3]) or network.predictions[:3]
