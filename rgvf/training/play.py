"""Letting a trained agent play: whole games for a score, or one game to look at."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from rgvf.agents import make_questions
from rgvf.environments.device_games import DeviceGame, DeviceGames
from rgvf.environments.games import FRAME_CAP
from rgvf.environments.host import Game, HostSpec
from rgvf.environments.sources import (
    AtariSource,
    MinAtarSource,
    Source,
    environment_of,
    make_game,
    parse_source,
)
from rgvf.environments.workers import Workers
from rgvf.questions import mask, targets
from rgvf.training.trained import TrainedAgent
from rgvf.trajectory import Transition

ABREAST = 16
"""Games that are played side by side."""
MOST_STEPS = FRAME_CAP // 4
"""Of a game that is evaluated: as many as a game of Atari can have."""


class Eyes:
    """Stacks what environments show, as in training: nothing of an episode before."""

    def __init__(self, spec: HostSpec, n: int) -> None:
        self._stacks = len(spec.observation_shape) == 2
        self._stack = np.zeros((n, *spec.observation_shape, spec.stack), spec.observation_dtype)

    def see(self, observation: np.ndarray, first: np.ndarray) -> np.ndarray:
        """What the agent is shown: [n, *observation]."""
        if not self._stacks:
            return observation.copy()
        self._stack[first] = 0
        self._stack = np.concatenate([self._stack[..., 1:], observation[..., None]], axis=-1)
        return self._stack


def source_of(agent: TrainedAgent, sticky: float | None) -> Source:
    """Where the agent was trained; `sticky`: with another probability that actions stick."""
    source = parse_source(agent.config.env)
    if not sticky and not isinstance(source, AtariSource | MinAtarSource):
        return source
    if not isinstance(source, AtariSource | MinAtarSource):
        raise ValueError(f"actions cannot be made to stick in {agent.config.env}, only in atari/ and minatar/ games")
    return source if sticky is None else dataclasses.replace(source, sticky=sticky)


def _games(agent: TrainedAgent, source: Source, seeds: list[int], processes: int) -> Workers | DeviceGames:
    """Several games of a source side by side."""
    compiled = environment_of(source, agent.environment)
    return Workers(source, seeds, processes or None) if compiled is None else DeviceGames(compiled, seeds, MOST_STEPS)


def _game(agent: TrainedAgent, source: Source, seed: int) -> Game | DeviceGame:
    compiled = environment_of(source, agent.environment)
    return make_game(source, seed) if compiled is None else DeviceGame(compiled, seed)


def evaluate(
    agent: TrainedAgent,
    games: int,
    *,
    sticky: float | None = None,
    greedy: bool = False,
    seed: int = 0,
    processes: int = 0,
) -> np.ndarray:
    """Unclipped returns of whole games: [games].

    Every environment plays the same number of games (or one more), so that short games do not count more often. A game
    inside the compiled program that has not ended after `MOST_STEPS` is cut off there.

    Raises:
        ValueError: a game elsewhere has not ended by then; or actions cannot stick there.
    """
    n = min(games, ABREAST)
    quota = np.full(n, games // n) + (np.arange(n) < games % n)
    seeds = [int(s) & 0x7FFFFFFF for s in np.random.SeedSequence([seed, 2]).generate_state(n)]
    scores: list[list[float]] = [[] for _ in range(n)]
    key = jax.random.fold_in(jax.random.key(seed), 3)
    with _games(agent, source_of(agent, sticky), seeds, processes) as workers:
        now, eyes = workers.reset(), Eyes(workers.spec, n)
        while any(len(each) < wanted for each, wanted in zip(scores, quota, strict=True)):
            key, action_key = jax.random.split(key)
            action = agent.act(eyes.see(now.observation, now.first), None if greedy else action_key)
            workers.send(np.asarray(action))
            now = workers.receive()
            for i in np.flatnonzero(now.game_over):
                if len(scores[i]) < quota[i]:
                    scores[i].append(float(now.game_return[i]))
            if now.game_length.max() > MOST_STEPS:
                raise ValueError(f"a game of {agent.config.env} has not ended after {MOST_STEPS:,} steps")
    return np.concatenate([np.array(each) for each in scores])


class Recording(NamedTuple):
    """A game as the agent lived it, T steps."""

    screens: list[np.ndarray]
    """RGB, before each step."""
    policy: np.ndarray  # [T, actions]
    value: np.ndarray  # [T]
    action: np.ndarray  # [T]
    reward: np.ndarray  # [T], unclipped
    answers: dict[str, np.ndarray]  # [T, n_p] for each task that asks questions
    happened: dict[str, np.ndarray]
    """[T, n_p]: what the answers turned out to be; NaN where another action was taken than the question asks about.

    As in training, what comes after an episode that was cut off, or after the recording, is what the agent answers at
    its end.
    """
    realised: np.ndarray
    """[T]: the discounted, clipped return that followed, as the value predicts it; the same holds of its end."""


def record(
    agent: TrainedAgent, steps: int, *, greedy: bool = False, sticky: float | None = None, seed: int = 0
) -> Recording:
    """Play one game, for at most so many steps."""
    game = _game(agent, source_of(agent, sticky), seed)
    eyes = Eyes(game.spec, 1)
    key = jax.random.fold_in(jax.random.key(seed), 4)
    rows: list[tuple[Any, ...]] = []
    shown: list[np.ndarray] = []
    now = game.reset()
    try:
        for _ in range(steps):
            seen = eyes.see(now.observation[None], np.array([now.first])).copy()
            looked = jax.tree.map(lambda value: np.asarray(value[0]), agent.look(seen))
            key, action_key = jax.random.split(key)
            action = int(agent.act(seen, None if greedy else action_key)[0])
            screen = game.render()
            dummy = now.terminal or now.truncated
            now = game.step(action)
            shown.append(seen[0])
            facts = np.array([action, now.reward, now.terminal, dummy])
            rows.append((screen, looked["policy"], looked["value"], looked["answers"], facts))
            if now.game_over:
                break
        shown.append(eyes.see(now.observation[None], np.array([now.first]))[0])
    finally:
        game.close()
    return _told(agent, rows, np.stack(shown))


def _told(agent: TrainedAgent, rows: list[tuple[Any, ...]], shown: np.ndarray) -> Recording:
    screens, policy, value, answers, facts = zip(*rows, strict=True)
    action, reward, terminal, dummy = np.stack(facts).T
    action, terminal, dummy = action.astype(np.int32), terminal > 0, dummy > 0
    clip = agent.config.clip_rewards
    clipped = (np.clip(reward, -clip, clip) if clip else reward).astype(np.float32)
    last = agent.look(shown[-1])
    told = {task: np.stack([each[task] for each in (*answers, last["answers"])]) for task in agent.questions}
    lived = _Lived(shown, action, clipped, terminal, dummy)
    happened = {task: _what_happened(agent, task, lived, told[task]) for task in agent.questions}
    realised = np.array([*value, last["value"]], float)
    for t in reversed(np.flatnonzero(~dummy)):
        realised[t] = clipped[t] + (0.0 if terminal[t] else agent.config.agent.discount * realised[t + 1])
    for values in (realised[:-1], *happened.values()):
        values[dummy] = np.nan
    before = {task: each[:-1] for task, each in told.items()}
    return Recording(list(screens), np.stack(policy), np.stack(value), action, reward, before, happened, realised[:-1])


class _Lived(NamedTuple):
    """T steps; on a dummy one an episode began, and nothing was chosen."""

    shown: np.ndarray  # [T + 1, *observation]
    action: np.ndarray
    reward: np.ndarray
    terminal: np.ndarray
    dummy: np.ndarray


def _what_happened(agent: TrainedAgent, task: str, lived: _Lived, answers: np.ndarray) -> np.ndarray:
    """The target equation, backwards from the end, with what really came in place of what was predicted."""
    network, feature = make_questions(agent.config.agent, agent.world, agent.seed, task)
    before, after = jnp.asarray(lived.shown[:-1]), jnp.asarray(lived.shown[1:])
    step = Transition(before, jnp.asarray(lived.action), jnp.asarray(lived.reward), after)
    features = np.asarray(eqx.filter_jit(feature)(step))
    happened = answers.copy()
    for t in reversed(np.flatnonzero(~lived.dummy)):
        came = targets(network.table, features[t], happened[t + 1], lived.terminal[t])
        happened[t] = np.where(mask(network.table, lived.action[t : t + 1])[0], came, np.nan)
    return happened[:-1]
