"""A trained agent: act, represent, answer."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Bool, Float, Int, Key, Shaped

from rgvf.agents import REPRESENTATION, Agent, make_learner, predict
from rgvf.arrays import derived_parts, fill
from rgvf.environments.environment import Environment
from rgvf.environments.registry import RULES, find_spec
from rgvf.networks import has_memory
from rgvf.questions import QuestionNetwork
from rgvf.runs.config import RunConfig
from rgvf.runs.folder import RunError, RunFolder, check_identity
from rgvf.spec import EnvironmentSpec
from rgvf.trajectory import NO_ACTION, UNKNOWN_ACTION, Past, Percept


class _Networks(dict[str, QuestionNetwork]):
    """Question networks by task."""

    def __missing__(self, task: str) -> QuestionNetwork:
        known = ", ".join(map(repr, self)) or "none"
        raise KeyError(f"the agent has no question network of a task {task!r}; it has {known}")


class TrainedAgent:
    """The agent of one seed of a run.

    Observations have any leading axes, and a frame stack if the environment has one (newest frame last): bytes
    [..., 84, 84, 4] for Atari.

    `predict`, `represent`, `answer` and `act` are for agents without memory. Every agent can be used step by step:

        past = agent.begin()
        past, action = agent.step(past, observation)
        past, action = agent.step(past, next_observation, reward=reward)
    """

    def __init__(
        self,
        config: RunConfig,
        spec: EnvironmentSpec,
        seed: int,
        agent: Agent,
        frames: int,
        networks: Mapping[str, QuestionNetwork],
        environment: Environment | None = None,
    ) -> None:
        self.config = config
        self.spec = spec
        self.seed = seed
        self.frames = frames
        """Frames that it has been trained for."""
        self.agent = agent
        """All that it has learned: a pytree, for `rgvf.agents.predict` in functions of yours that JAX compiles."""
        self.environment = environment
        """The environment that the program passed itself, if any."""
        self.networks = _Networks(networks)
        """Its question networks, by task."""
        self.has_memory = has_memory(agent.modules[REPRESENTATION])
        """Its states depend on more than the newest observation."""
        self._predict = jax.jit(predict)

    def __repr__(self) -> str:
        agent = self.config.agent
        mode = ", stop-gradient" if agent.stop_gradient else ""
        return f"<{agent.name}{mode}, {self.config.env}, seed {self.seed}, {self.frames:,} frames>"

    def predict(self, observation: Shaped[Any, "*batch *observation"]) -> dict[str, Any]:
        """Everything at once, as `rgvf.agents.predict` gives it: state, logits, policy, value, and answers by task."""
        if self.has_memory:
            how = "past = agent.begin(), then past, action = agent.step(past, observation, reward=…)"
            raise ValueError(f"this agent has memory, so one observation is not enough: {how}")
        percept = Percept(self._checked(observation), jnp.zeros((), bool))
        return self._predict(self.agent, (), percept)[1]

    def _checked(self, observation: Any) -> Array:
        shape = self.spec.observation_shape
        try:
            array = jnp.asarray(observation)
        except (TypeError, ValueError):
            expected = f"observations must be arrays that end in axes of {shape}, as in training"
            flatten = "; those of a Dict or Tuple must be flattened" if isinstance(observation, Mapping | tuple) else ""
            raise TypeError(f"{expected}, not of type {type(observation).__name__}{flatten}") from None
        if array.shape[array.ndim - len(shape) :] != shape:
            raise ValueError(f"observations must end in axes of {shape}, not {array.shape}")
        if self.spec.observation_dtype == "uint8" and array.dtype != jnp.uint8:
            raise ValueError(f"observations must be bytes (uint8), not {array.dtype}")
        traced = isinstance(array, Tracer)
        if not traced and jnp.issubdtype(array.dtype, jnp.inexact) and not np.isfinite(array).all():
            raise ValueError("observations must be finite")
        return array

    def represent(self, observation: Shaped[Any, "*batch *observation"]) -> Float[Array, "*batch size"]:
        """The state vector."""
        return self.predict(observation)["state"]

    def answer(
        self, observation: Shaped[Any, "*batch *observation"], task: str | None = None
    ) -> Float[Array, "*batch n"]:
        """The answers to the question network of a task, in the order of its predictions.

        Rewards count as in training, scaled and clipped, and features of a task with `feature_rms` in that unit.
        """
        if not self.networks:
            raise ValueError(f"the agent {self.config.agent.name} has no question network")
        if task is None and len(self.networks) == 1:
            task = next(iter(self.networks))
        if task not in self.networks:
            unknown = "" if task is None else f"there is no task {task!r}; "
            raise ValueError(f"which answers? {unknown}pass task=, one of: {', '.join(map(repr, self.networks))}")
        return self.predict(observation)["answers"][task]

    def act(
        self, observation: Shaped[Any, "*batch *observation"], key: Key[Array, ""] | None = None
    ) -> int | Int[np.ndarray, "*batch"]:
        """Actions drawn from the policy; without a key, the most likely ones. For one observation, an int."""
        return _choose(self.predict(observation)["policy"], key)

    def begin(self, games: int = 1) -> Past:
        """What the agent has before anything has happened, of one game or of several side by side."""
        if isinstance(games, bool) or not isinstance(games, int | np.integer) or games < 1:
            raise ValueError(f"games must be a whole number of at least 1, not {games!r}")
        games = int(games)
        return Past.new(self.agent.modules[REPRESENTATION].initial_memory(games), games)

    def step(
        self,
        past: Past,
        observation: Shaped[Any, "*games *observation"],
        *,
        reward: float | Shaped[Any, "*games"] | None = None,
        first: bool | Bool[Any, "*games"] = False,
        key: Key[Array, ""] | None = None,
    ) -> tuple[Past, int | Int[np.ndarray, "*games"]]:
        """The next past, and the action: drawn from the policy, or without a key the most likely one.

        The past is for the next call of `step` or `observe`, which is given the reward of the action. It does not hold
        this reward itself, so `agents.predict` refuses it.

        Args:
            past: what `begin` or the last step gave: the memory, and the last action.
            observation: of one game, or with a leading axis of all games.
            reward: what the environment gave with it, neither scaled nor clipped. An agent with memory needs it, except
                where an episode begins.
            first: an episode begins with it, so nothing is remembered. Not needed after `begin`.
            key: to draw the action with.
        """
        past, predicted = self.observe(past, observation, reward=reward, first=first)
        action = _choose(predicted["policy"], key)
        return past.acted(action), action

    def observe(
        self,
        past: Past,
        observation: Shaped[Any, "*games *observation"],
        *,
        reward: float | Shaped[Any, "*games"] | None = None,
        first: bool | Bool[Any, "*games"] = False,
    ) -> tuple[Past, dict[str, Any]]:
        """The same without an action: the next past, and all that `predict` gives. Then `past.acted(action)`."""
        if not isinstance(past, Past):
            given = f"not an object of type {type(past).__name__}"
            raise TypeError(
                f"first comes the past, as `begin` or the last `step` gave it, {given}; then the observation"
            )
        array = self._checked(observation)
        games = array.shape[: array.ndim - len(self.spec.observation_shape)]
        n = games or (1,)
        if past.last_action is not None and past.last_action.shape != n:
            raise ValueError(_other_games(len(past.last_action), n))
        firsts = _of_each("first", first, n).astype(bool)
        if past.last_action is not None:
            firsts |= self._begins(np.asarray(past.last_action), firsts)
            if reward is None and not firsts.all():
                raise ValueError("this agent remembers rewards: pass reward=, what the environment gave for its action")
        given = _of_each("reward", 0.0 if reward is None else reward, n).astype(np.float32)
        if not np.isfinite(given).all():
            raise ValueError(f"rewards must be finite, not {reward}")
        rewards = jnp.asarray(self.config.rewards(given))
        percept = past._replace(last_reward=rewards).percept(array if games else array[None], jnp.asarray(firsts))
        new, predicted = self._predict(self.agent, past.memory, percept)
        return past.seen(new), predicted if games else jax.tree.map(lambda x: x[0], predicted)

    def _begins(self, last_action: np.ndarray, first: np.ndarray) -> np.ndarray:
        """Where nothing has happened yet. ValueError for actions that there are not."""
        actions = len(self.spec.actions)
        if ((last_action == UNKNOWN_ACTION) & ~first).any():
            raise ValueError("the agent has not acted since it last observed: past = past.acted(action)")
        if ((last_action >= actions) | (last_action < UNKNOWN_ACTION)).any():
            raise ValueError(f"the last action was {last_action}; there are {actions}, from 0 on")
        return last_action == NO_ACTION


def _other_games(past: int, given: tuple[int, ...]) -> str:
    """Why observations with these leading axes are not of the games of the past."""
    if len(given) != 1 or not given[0]:
        return f"the past is of {_games(past)}, so observations have one leading axis of {past}, not axes of {given}"
    how = f"begin({given[0]}) is for {_games(given[0])}{' side by side' if given[0] > 1 else ''}"
    return f"the past is of {_games(past)}, the observations are of {given[0]}: {how}"


def _games(n: int) -> str:
    return f"{n} game" + "s" * (n != 1)


def _of_each(name: str, value: Any, games: tuple[int, ...]) -> Shaped[np.ndarray, " games"]:
    """One value for each game, or the same for all."""
    array = np.asarray(value)
    if array.shape not in ((), games) or array.dtype.kind not in "biuf":
        raise ValueError(f"{name} must be one number, or one for each of {games[0]} games, not {value!r}")
    return np.array(np.broadcast_to(array, games))


def _choose(policy: Float[Array, "*batch actions"], key: Key[Array, ""] | None) -> int | Int[np.ndarray, "*batch"]:
    if key is not None:
        _check_key(key)
    action = np.asarray(jnp.argmax(policy, -1) if key is None else jax.random.categorical(key, jnp.log(policy)))
    return action if action.ndim else int(action)


def _check_key(key: Any) -> None:
    """TypeError unless it is one random key, of JAX's new kind or the old one."""
    kind = getattr(key, "dtype", None)
    is_new = kind is not None and jnp.issubdtype(kind, jax.dtypes.prng_key)
    if not (is_new or kind == jnp.uint32) or key.ndim != (0 if is_new else 1):
        given = repr(key) if kind is None else f"{kind}{list(key.shape)}"
        raise TypeError(f"key must be one random key, such as jax.random.key(0), not {given}")


def load(
    path: str | Path,
    seed: int | None = None,
    environment: Environment | None = None,
    *,
    checkpoint: int | None = None,
) -> TrainedAgent:
    """The agent of a run, from its newest intact checkpoint.

    Args:
        path: the run's folder.
        seed: which of the run's seeds; the first by default.
        environment: the one in JAX that was passed to `train`, if any.
        checkpoint: the frames after which the checkpoint was written; the newest intact one by default.

    Raises:
        RunError: there is no such run, seed or checkpoint.
    """
    folder, config = RunFolder.open(Path(path))
    seeds = config.all_seeds
    seed = config.seed if seed is None else seed
    if seed not in seeds:
        known = f"seeds {seeds[0]} to {seeds[-1]}" if len(seeds) > 1 else f"seed {seeds[0]} only"
        raise RunError(f"the run in {path} has {known}, not {seed}")
    found, complaints = folder.load_checkpoint(checkpoint)
    for complaint in complaints:
        warnings.warn(f"{complaint}; loading the one before it", stacklevel=2)
    if found is None:
        raise RunError(f"the run in {path} has no checkpoint yet")
    arrays, facts = found
    if folder.rules != RULES.get(config.env, 1):
        changed = f"the rules of {config.env} have changed since {path} was trained"
        warnings.warn(f"{changed}: it plays by the new ones, and its scores do not compare", stacklevel=2)
    spec = find_spec(config.env, environment)
    networks = folder.load_networks(config)
    try:
        check_identity(facts, config, networks)
        learner = make_learner(config.agent, spec, seed, networks[seed])
        key = jax.random.key(0)
        template = jax.eval_shape(learner.init, key)  # shapes only: nothing is compiled
        derived = jax.jit(lambda key: derived_parts(learner.init(key)))(key)  # constants, once all else is left out
        prefix = f".agent[{seeds.index(seed)}]"
        mine = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
        agent, frames = fill(template, mine, derived), facts["frames"]
    except (ValueError, KeyError) as error:
        raise folder.does_not_fit(error) from None
    return TrainedAgent(config, spec, seed, agent, frames, networks[seed], environment)
