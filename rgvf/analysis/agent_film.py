"""A film of a trained agent: a game, the policy, and some predictions beside what then happened."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rgvf.analysis.film import Curve, Film, check_file, write_film
from rgvf.environments.registry import shows_observation
from rgvf.environments.workers import WorkerError
from rgvf.evaluation import Recording, Shown, choose, play_out, record, shown
from rgvf.evaluation.evaluate import check_agent
from rgvf.features import patch_of
from rgvf.runs import RunConfig, TrainedAgent


def make_film(
    agent: TrainedAgent,
    out: str | Path,
    steps: int = 600,
    *,
    predictions: Sequence[str] = (),
    played_on: int = 60,
    greedy: bool = False,
    sticky: float | None = None,
    seed: int = 0,
    report: Callable[[float], None] = lambda fraction: None,
) -> Recording:
    """Play one game and write a film of it; returns the game.

    Args:
        agent: from `train` or `load`.
        out: the file, .mp4 or .gif.
        steps: the longest part of the game to film.
        predictions: names of the prediction nodes to show; by default some whose answers vary most.
        played_on: steps, evenly spread, from which the game is played on for the true answers of predictions that name
            actions.
        greedy: take the most likely action instead of sampling.
        sticky: probability that an action is repeated; by default as in training.
        seed: decides the game and the actions that are sampled.
        report: called with the fraction done.

    Raises:
        ValueError: another kind of file, or there is no such prediction.
    """
    out = check_file(Path(out))
    check_agent(agent)
    given = shown(agent.networks, tuple(predictions))
    how = {"greedy": greedy, "sticky": sticky, "seed": seed}
    game = record(agent, steps, **how, save=played_on > 0)
    saved = game.saved[:: -(-len(game.saved) // max(played_on, 1)) or 1]
    selected = given or choose(agent.networks, game.answers)
    true = _true_answers(agent, game._replace(saved=saved), selected, how, lambda part: report(part / 2))
    can_mark = shows_observation(agent.config.env, agent.environment)
    curves = [Curve("value of the policy", game.value, game.true_return)]
    for each in selected:
        happened = game.true_answers[each.task][:, each.node]
        dots = true.get((each.task, each.node))
        features = each.features if can_mark else ()
        patches = tuple({patch for name in features if (patch := patch_of(name, agent.spec)) is not None})
        answers = game.answers[each.task][:, each.node]
        curves.append(Curve(each.title, answers, happened if dots is None else None, dots, patches))
    title = f"{agent.config.env}, {agent.config.agent.label}"
    game_shown = (title, game.screens, game.policy, agent.spec.actions, game.action, game.reward)
    write_film(out, Film(*game_shown, curves, notes(agent.config)), report=lambda part: report((1 + part) / 2))
    return game


def notes(config: RunConfig) -> list[str]:
    """What the legend of a film does not say."""
    rewards = config.rewards
    changed = [f"scaled by {rewards.scale:g}"] * (rewards.scale != 1) + [f"clipped to ±{rewards.clip:g}"] * (
        rewards.clip > 0
    )
    found = [f"Rewards are {' and '.join(changed)} in all values and answers, not in the return."] * bool(changed)
    sizes = {task.name: getattr(task, "feature_rms", None) for task in config.agent.auxiliary}
    found += [
        f"Features of {task} have a root mean square of {size:g}; its answers are in that unit."
        for task, size in sizes.items()
        if size
    ]
    return [*found, "Where a game is cut off, the agent's own answer stands for what would have followed."]


def _true_answers(
    agent: TrainedAgent, game: Recording, predictions: list[Shown], how: dict[str, Any], report: Callable[[float], None]
) -> dict[tuple[str, int], np.ndarray]:
    """True answers [T] of the predictions that name actions, by task and column; NaN where no game was saved."""
    found: dict[tuple[str, int], np.ndarray] = {}
    for task in agent.networks:
        nodes = [each.node for each in predictions if each.task == task and each.is_conditional]
        try:
            answers = play_out(agent, game.saved, task, nodes, **how, report=report)
        except (WorkerError, ValueError) as error:  # the game cannot be restored
            warnings.warn(f"no true answers of predictions that name actions: {error}", stacklevel=3)
            return {}
        for column, node in enumerate(nodes if game.saved else ()):
            found[task, node] = np.full(len(game.value), np.nan)
            found[task, node][[saved.step for saved in game.saved]] = answers[:, column]
    return found
