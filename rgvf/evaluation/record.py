"""One game with a trained agent, step by step: what it predicted, and what then happened."""

from __future__ import annotations

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from rgvf.environments.device_games import game_to_film
from rgvf.evaluation.evaluate import check_agent, sticky_option
from rgvf.evaluation.frame_stack import FrameStack
from rgvf.evaluation.play_out import SavedGame, sample
from rgvf.questions import mask, targets
from rgvf.runs import TrainedAgent
from rgvf.seeding import Purpose
from rgvf.trajectory import Transition


class Recording(NamedTuple):
    """T steps of a game, as the agent saw it."""

    screens: list[np.ndarray]
    """RGB, before each step."""
    policy: np.ndarray
    """Probabilities: [T, actions]."""
    value: np.ndarray
    """[T]."""
    action: np.ndarray
    """[T]."""
    reward: np.ndarray
    """Unclipped: [T]."""
    answers: dict[str, np.ndarray]
    """Of each task with a question network: [T, n_p]."""
    true_answers: dict[str, np.ndarray]
    """What the answers turned out to be: [T, n_p]; NaN where the actions of the question were not taken.

    As in training, they bootstrap from the agent's own answers where an episode is truncated or the recording ends.
    """
    true_return: np.ndarray
    """Discounted return of the rewards to learn from, as it followed: [T]; bootstrapped in the same places."""
    saved: tuple[SavedGame, ...] = ()
    """The game before each step that is not a reset step, if that was wanted."""

    def __repr__(self) -> str:
        steps = len(self.screens)
        return f"<recording, {steps:,} step{'s' * (steps != 1)}, return {self.reward.sum():g}>"


def record(
    agent: TrainedAgent,
    steps: int = 600,
    *,
    greedy: bool = False,
    sticky: float | None = None,
    seed: int = 0,
    save: bool = False,
) -> Recording:
    """Play one game, for at most so many steps.

    Args:
        agent: from `train` or `load`.
        steps: the longest part of the game to record.
        greedy: take the most likely action instead of sampling.
        sticky: probability that an action is repeated; by default as in training.
        seed: decides the game and the actions that are sampled.
        save: save the game before every step, for `play_out`.
    """
    check_agent(agent)
    if steps < 1:
        raise ValueError(f"steps must be at least 1, not {steps}")
    game = game_to_film(agent.config.env, seed, agent.environment, **sticky_option(agent, sticky))
    frames, past = FrameStack(agent.spec, 1), agent.begin()
    rng = None if greedy else np.random.default_rng([seed, int(Purpose.RECORDING)])
    saved: list[SavedGame] = []
    rows: list[tuple[Any, ...]] = []
    observations: list[np.ndarray] = []
    step = game.reset()
    try:
        for t in range(steps):
            observation = frames.push(step.observation[None], np.array([step.first])).copy()
            before = past
            past, predicted = agent.observe(past, observation[0], reward=step.reward, first=step.first)
            predicted = jax.tree.map(np.asarray, predicted)
            action = int(sample(predicted["policy"][None], rng)[0])
            screen = game.render()
            is_reset_step = step.terminal or step.truncated
            if save and not is_reset_step:
                saved.append(SavedGame(t, game.save(), observation[0], before))
            past = past.acted(action)
            step = game.step(action)
            observations.append(observation[0])
            facts = np.array([action, step.reward, step.terminal, is_reset_step])
            rows.append((screen, predicted["policy"], predicted["value"], predicted["answers"], facts))
            if step.game_over:
                break
        observations.append(frames.push(step.observation[None], np.array([step.first]))[0])
        _, last = agent.observe(past, observations[-1], reward=step.reward, first=step.first)
    finally:
        game.close()
    return _recording(agent, rows, np.stack(observations), jax.tree.map(np.asarray, last))._replace(saved=tuple(saved))


def _recording(
    agent: TrainedAgent, rows: list[tuple[Any, ...]], observations: np.ndarray, last: dict[str, Any]
) -> Recording:
    """`last` is what the agent predicts when it sees the last observation."""
    screens, policy, value, answers, facts = zip(*rows, strict=True)
    action, reward, terminal, reset = np.stack(facts).T
    action, terminal, reset = action.astype(np.int32), terminal > 0, reset > 0
    learned_from = agent.config.rewards(reward).astype(np.float32)
    by_task = {task: np.stack([each[task] for each in (*answers, last["answers"])]) for task in agent.networks}
    played = _Played(observations, action, learned_from, terminal, reset)
    true_answers = {task: _true_answers(agent, task, played, by_task[task]) for task in agent.networks}
    true_return = np.array([*value, last["value"]], float)
    discount = agent.config.agent.actor_critic.discount
    for t in reversed(np.flatnonzero(~reset)):
        true_return[t] = learned_from[t] + (0.0 if terminal[t] else discount * true_return[t + 1])
    for values in (true_return[:-1], *true_answers.values()):
        values[reset] = np.nan
    before = {task: each[:-1] for task, each in by_task.items()}
    return Recording(
        list(screens), np.stack(policy), np.stack(value), action, reward, before, true_answers, true_return[:-1]
    )


class _Played(NamedTuple):
    """T steps. Reset steps start an episode; their actions are ignored."""

    observations: np.ndarray  # [T + 1, *observation]
    action: np.ndarray
    reward: np.ndarray
    terminal: np.ndarray
    reset: np.ndarray


def _true_answers(agent: TrainedAgent, task: str, played: _Played, answers: np.ndarray) -> np.ndarray:
    """The target equation, backwards from the end, with what really happened in place of predictions."""
    questions = agent.agent.task_states[task]
    table = agent.networks[task].table
    before, after = jnp.asarray(played.observations[:-1]), jnp.asarray(played.observations[1:])
    transition = Transition(before, jnp.asarray(played.action), jnp.asarray(played.reward), after)
    features = np.asarray(eqx.filter_jit(questions.features)(transition))
    result = answers.copy()
    for t in reversed(np.flatnonzero(~played.reset)):
        target = targets(table, features[t], result[t + 1], played.terminal[t])
        result[t] = np.where(mask(table, played.action[t : t + 1])[0], target, np.nan)
    return result[:-1]
