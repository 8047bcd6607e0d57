"""Whole games with a trained agent, for a score."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from rgvf.environments import find_environment
from rgvf.environments.device_games import DeviceGames
from rgvf.environments.game_names import FRAME_CAP
from rgvf.environments.registry import takes_option
from rgvf.environments.workers import Workers
from rgvf.evaluation.frame_stack import FrameStack
from rgvf.runs import TrainedAgent
from rgvf.seeding import GamePurpose, Purpose, game_seeds, key_for

MAX_GAMES_AT_ONCE = 16
MAX_STEPS = FRAME_CAP // 4
"""Steps of a game that is evaluated: as many as an Atari game can have."""


def check_agent(agent: TrainedAgent) -> None:
    """ValueError where it is something else, such as the folder of a run."""
    if not isinstance(agent, TrainedAgent):
        raise ValueError(f"expected a trained agent, such as rgvf.load(…) gives, not {agent!r}")


def evaluate(
    agent: TrainedAgent,
    games: int = 30,
    *,
    sticky: float | None = None,
    greedy: bool = False,
    seed: int = 0,
    processes: int = 0,
    report: Callable[[float], None] = lambda fraction: None,
) -> np.ndarray:
    """Unclipped returns of whole games: [games].

    Every environment plays the same number of games (or one more), so that short games do not count more often. A game
    in JAX that has not ended after `MAX_STEPS` is truncated there.

    Args:
        agent: from `train` or `load`.
        games: how many to play.
        sticky: probability that an action is repeated; by default as in training.
        greedy: take the most likely action instead of sampling.
        seed: decides the games and the actions that are sampled.
        processes: worker processes; 0: one for each core.
        report: called with the fraction of the games that are over.

    Raises:
        ValueError: a game on the host has not ended by then, or actions cannot be sticky there.
    """
    check_agent(agent)
    if games < 1:
        raise ValueError(f"games must be at least 1, not {games}")
    n = min(games, MAX_GAMES_AT_ONCE)
    quota = np.full(n, games // n) + (np.arange(n) < games % n)
    seeds = game_seeds(seed, n, GamePurpose.EVALUATION).tolist()
    scores: list[list[float]] = [[] for _ in range(n)]
    key = key_for(seed, Purpose.EVALUATION)
    with _games(agent, sticky_option(agent, sticky), seeds, processes) as environments:
        step, frames, past = environments.reset(), FrameStack(agent.spec, n), agent.begin(n)
        wanted = quota > 0
        while wanted.any():
            key, action_key = jax.random.split(key)
            observation = frames.push(step.observation, step.first)
            past, action = agent.step(
                past, observation, reward=step.reward, first=step.first, key=None if greedy else action_key
            )
            environments.send(np.asarray(action))
            step = environments.receive()
            for i in np.flatnonzero(step.game_over):
                if len(scores[i]) < quota[i]:
                    scores[i].append(float(step.game_return[i]))
                    report(sum(map(len, scores)) / games)
            wanted = np.array([len(each) for each in scores]) < quota
            if np.max(step.game_length, where=wanted, initial=0) > MAX_STEPS:
                raise ValueError(f"a game of {agent.config.env} has not ended after {MAX_STEPS:,} steps")
    return np.concatenate([np.array(each) for each in scores])


def sticky_option(agent: TrainedAgent, sticky: float | None) -> dict[str, Any]:
    """The option `sticky` for the agent's environment. ValueError where it cannot have one."""
    if not takes_option(agent.config.env, "sticky"):
        if sticky:
            raise ValueError(f"actions cannot be sticky in {agent.config.env}, only in atari/ and minatar/ games")
        return {}
    if sticky is not None and not 0 <= sticky <= 1:
        raise ValueError(f"sticky must be in [0, 1], not {sticky}")
    return {} if sticky is None else {"sticky": sticky}


def _games(agent: TrainedAgent, options: dict[str, Any], seeds: list[int], processes: int) -> Workers | DeviceGames:
    environment = find_environment(agent.config.env, agent.environment, **options)
    if environment is None:
        return Workers(agent.config.env, seeds, processes or None, imports=agent.config.imports, **options)
    return DeviceGames(environment, seeds, MAX_STEPS)
