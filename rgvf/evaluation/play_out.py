"""The true answers to "what if" questions: saved games are restored, and played on as a question asks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from rgvf.environments import find_environment, restores_games
from rgvf.environments.device_games import DeviceGames
from rgvf.environments.workers import Workers
from rgvf.evaluation.evaluate import sticky_option
from rgvf.evaluation.frame_stack import FrameStack
from rgvf.questions import UNCONDITIONED, Plan, plans
from rgvf.runs import TrainedAgent
from rgvf.seeding import GamePurpose, Purpose, game_seeds
from rgvf.trajectory import Past, Transition

LONGEST = 100
"""Steps that a game is played on for at most; from there on the agent's own answers count, as where it is truncated."""
HOST_GAMES = 16
DEVICE_GAMES = 256
"""Games at once."""


class SavedGame(NamedTuple):
    """A game as it was before a step."""

    step: int
    state: Any
    """What the game's `save` gave."""
    observation: np.ndarray
    """What the agent saw."""
    past: Past = Past()
    """What the agent had from before."""


class _Job(NamedTuple):
    """A plan to be played out once from a saved game."""

    row: int
    column: int
    saved: SavedGame
    plan: Plan


def play_out(
    agent: TrainedAgent,
    saved: Sequence[SavedGame],
    task: str,
    nodes: Iterable[int],
    *,
    samples: int = 4,
    greedy: bool = False,
    sticky: float | None = None,
    seed: int = 0,
    report: Callable[[float], None] = lambda fraction: None,
) -> np.ndarray:
    """The true answers of some nodes of a question network, at each saved game: [saved, nodes].

    The actions that a question names are taken, the agent's policy acts otherwise, and the features that follow are
    summed with the question's weights, until these are negligible. NaN for questions that lead too many ways.

    A saved game on the host continues with the chance that it was saved with, whichever actions are taken: the samples
    then differ only in the policy's actions. An environment in JAX draws anew for each.

    Args:
        agent: whose policy and question network it is.
        saved: games as `record` saves them.
        task: the task of the question network.
        nodes: columns of its predictions.
        samples: the average of so many ways to play on.
        greedy: the policy takes its most likely action.
        sticky: probability that an action is repeated; by default as in training.
        seed: decides the actions that are sampled.
        report: called with the fraction done.

    Raises:
        ValueError: games of this environment cannot be continued from what was saved.
    """
    if not restores_games(agent.config.env):
        raise ValueError(f"a saved game of {agent.config.env} cannot be continued")
    unrolled = [plans(agent.networks[task], int(node), LONGEST) for node in nodes]
    answers = np.zeros((len(saved), len(unrolled)))
    answers[:, [not each for each in unrolled]] = np.nan
    jobs = [
        _Job(row, column, game, plan)
        for row, game in enumerate(saved)
        for column, ways in enumerate(unrolled)
        for plan in ways
        for _ in range(samples)
    ]
    if not jobs:
        return answers
    rng = np.random.default_rng([seed, int(Purpose.PLAYING_OUT)])
    features = eqx.filter_jit(agent.agent.task_states[task].features)
    with _games(agent, len(jobs), sticky, seed) as games:
        for start in range(0, len(jobs), games.n):
            batch = jobs[start : start + games.n]
            padded = batch + [batch[-1]] * (games.n - len(batch))  # so that nothing is compiled twice
            totals = _play(agent, task, features, games, padded, None if greedy else rng)
            for job, total in zip(batch, totals, strict=False):
                answers[job.row, job.column] += total / samples
            report((start + len(batch)) / len(jobs))
    return answers


def _games(agent: TrainedAgent, jobs: int, sticky: float | None, seed: int) -> Workers | DeviceGames:
    options = sticky_option(agent, sticky)
    environment = find_environment(agent.config.env, agent.environment, **options)
    n = min(jobs, HOST_GAMES if environment is None else DEVICE_GAMES)
    seeds = game_seeds(seed, n, GamePurpose.PLAYING_OUT).tolist()
    if environment is None:
        return Workers(agent.config.env, seeds, imports=agent.config.imports, **options)
    return DeviceGames(environment, seeds)


def _play(
    agent: TrainedAgent,
    task: str,
    features: Callable[[Transition], Any],
    games: Workers | DeviceGames,
    jobs: Sequence[_Job],
    rng: np.random.Generator | None,
) -> np.ndarray:
    """The sum of each job: [jobs]."""
    step = games.restore([job.saved.state for job in jobs])
    past = jax.tree.map(lambda *parts: jnp.concatenate(parts), *(job.saved.past.without_reward() for job in jobs))
    observation = np.stack([job.saved.observation for job in jobs])
    frames = FrameStack(agent.spec, len(jobs))
    frames.set(observation)
    total = np.zeros(len(jobs))
    lengths = np.array([job.plan.length for job in jobs])
    alive, truncated = np.ones(len(jobs), bool), np.zeros(len(jobs), bool)
    for t in range(lengths.max() + 1):
        past, predicted = agent.observe(past, observation, reward=step.reward, first=step.first)
        answers = np.asarray(predicted["answers"][task])
        for i in _where(alive & (truncated | (lengths == t))):
            total[i] += jobs[i].plan.open[t] @ answers[i, jobs[i].plan.nodes]
            alive[i] = False
        if not alive.any():
            break
        action = sample(np.asarray(predicted["policy"]), rng)
        for i in _where(alive):
            wanted = jobs[i].plan.action[t]
            action[i] = action[i] if wanted == UNCONDITIONED else wanted
        past = past.acted(action)
        games.send(action)
        step = games.receive()
        after = frames.push(step.observation, step.first).copy()
        reward = agent.config.rewards(step.reward).astype(np.float32)
        found = np.asarray(features(Transition(*map(jnp.asarray, (observation, action, reward, after)))))
        for i in _where(alive):
            total[i] += jobs[i].plan.feature[t] @ found[i]
        alive &= ~step.terminal
        observation, truncated = after, step.truncated.copy()
    return total


def _where(condition: np.ndarray) -> list[int]:
    return np.flatnonzero(condition).tolist()


def sample(policy: np.ndarray, rng: np.random.Generator | None) -> np.ndarray:
    """Actions drawn from probabilities [n, actions]; without a generator, the most likely ones: int32 [n]."""
    if rng is None:
        return policy.argmax(-1).astype(np.int32)
    below = policy.cumsum(-1) <= rng.random((len(policy), 1))
    return np.minimum(below.sum(-1), policy.shape[-1] - 1).astype(np.int32)
