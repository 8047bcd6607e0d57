"""`rgvf record`: make a film of a trained agent."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import tyro

from rgvf.cli.errors import command_errors
from rgvf.cli.imports import import_modules
from rgvf.cli.parsing import parse

if TYPE_CHECKING:
    from rgvf.evaluation import Recording, Shown
    from rgvf.runs import RunConfig, TrainedAgent


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
    from rgvf.analysis.film import Curve, Film, check_suffix, write_film
    from rgvf.cli.terminal import bar
    from rgvf.evaluation import choose, record, shown
    from rgvf.features import patch_of
    from rgvf.runs import load

    out = check_suffix(options.out or options.run / "film.mp4")
    agent = load(options.run, options.seed, checkpoint=options.checkpoint)
    given = shown(agent.networks, options.predictions)
    how = {"greedy": options.greedy, "sticky": options.sticky, "seed": options.games_seed}
    game = record(agent, options.steps, **how, save=options.play_out > 0)
    saved = game.saved[:: -(-len(game.saved) // max(options.play_out, 1)) or 1]
    predictions = given or choose(agent.networks, game.answers)
    with bar("playing saved games on") as report:
        played_out = _play_out(agent, game._replace(saved=saved), predictions, how, report)
    curves = [Curve("value of the policy", game.value, game.true_return)]
    for each in predictions:
        happened = game.true_answers[each.task][:, each.node]
        dots = played_out.get((each.task, each.node))
        patches = tuple({patch for name in each.features if (patch := patch_of(name, agent.spec)) is not None})
        answers = game.answers[each.task][:, each.node]
        curves.append(Curve(each.title, answers, happened if dots is None else None, dots, patches))
    title = f"{agent.config.env}, {agent.config.agent.label}"
    game_shown = (title, game.screens, game.policy, agent.spec.actions, game.action, game.reward)
    film = Film(*game_shown, curves, _notes(agent.config))
    with bar(f"writing {out}") as report:
        write_film(out, film, report=report)
    print(f"{out}: {len(game.screens)} steps, return {game.reward.sum():g}, after {agent.frames:,} frames of training")


def _notes(config: RunConfig) -> list[str]:
    """What the legend of a film does not say."""
    rewards = config.rewards
    changed = [f"scaled by {rewards.scale:g}"] * (rewards.scale != 1) + [f"clipped to ±{rewards.clip:g}"] * (
        rewards.clip > 0
    )
    notes = [f"Rewards are {' and '.join(changed)} in all values and answers, not in the return."] * bool(changed)
    sizes = {task.name: getattr(task, "feature_rms", None) for task in config.agent.auxiliary}
    notes += [f"Features of {task} have a root mean square of {size:g}." for task, size in sizes.items() if size]
    return [*notes, "Where a game is cut off, the agent's own answer stands for what would have followed."]


def _play_out(
    agent: TrainedAgent, game: Recording, predictions: list[Shown], how: dict[str, Any], report: Callable[[float], None]
) -> dict[tuple[str, int], np.ndarray]:
    """True answers [T] of the predictions that name actions, by task and column; NaN where no game was saved."""
    from rgvf.environments.workers import WorkerError
    from rgvf.evaluation import play_out

    found: dict[tuple[str, int], np.ndarray] = {}
    for task in agent.networks:
        nodes = [each.node for each in predictions if each.task == task and each.is_conditional]
        try:
            answers = play_out(agent, game.saved, task, nodes, **how, report=report)
        except (WorkerError, ValueError) as error:  # the game cannot be restored
            print(f"rgvf: no true answers of predictions that name actions: {error}", file=sys.stderr)
            return {}
        for column, node in enumerate(nodes if game.saved else ()):
            found[task, node] = np.full(len(game.value), np.nan)
            found[task, node][[saved.step for saved in game.saved]] = answers[:, column]
    return found
