"""A trained agent, back in Python: act, represent, answer."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key, Shaped

from rgvf.agents import MAIN, REPRESENTATION, Agent, World, make_learner, question_networks
from rgvf.environments.protocol import Environment
from rgvf.environments.sources import parse_source
from rgvf.questions import QuestionNetwork
from rgvf.training.checkpoint import CheckpointError, fill
from rgvf.training.config import RunConfig
from rgvf.training.folder import RunError, RunFolder
from rgvf.training.worlds import world_of_source


class TrainedAgent:
    """The agent of one seed of a run.

    Observations are what the agent is shown, stacked frames included (newest last), with any leading axes: bytes
    [..., 84, 84, 4] for Atari.
    """

    def __init__(
        self,
        config: RunConfig,
        world: World,
        seed: int,
        agent: Agent,
        frames: int,
        environment: Environment | None = None,
    ) -> None:
        self.config = config
        self.world = world
        self.seed = seed
        self.frames = frames
        """How long it has been trained."""
        self.agent = agent
        self.environment = environment
        """One's own, where it was trained in that."""
        self.questions: dict[str, QuestionNetwork] = question_networks(config.agent, world, seed)
        """What it was asked, by the name of the task."""
        asked = {task: network.n_predictions for task, network in self.questions.items()}
        self._look = jax.jit(partial(_look, asked))

    def __repr__(self) -> str:
        agent = self.config.agent
        mode = ", stop-gradient" if agent.stop_gradient else ""
        return f"<{agent.name}{mode}, {self.config.env}, seed {self.seed}, {self.frames:,} frames>"

    def look(self, observation: Shaped[Any, "*batch *observation"]) -> dict[str, Any]:
        """Everything at once: state, policy (probabilities), value, and answers by the name of the task."""
        shown, shape = jnp.asarray(observation), self.world.observation_shape
        if shown.shape[shown.ndim - len(shape) :] != shape:
            raise ValueError(f"observations must end in axes of {shape}, not {shown.shape}")
        if self.world.of_bytes and shown.dtype != jnp.uint8:
            raise ValueError(f"observations must be bytes (uint8), not {shown.dtype}")
        return self._look(self.agent, shown)

    def represent(self, observation: Shaped[Any, "*batch *observation"]) -> Float[Array, "*batch size"]:
        """The state vector."""
        return self.look(observation)["state"]

    def answer(
        self, observation: Shaped[Any, "*batch *observation"], task: str | None = None
    ) -> Float[Array, "*batch n"]:
        """The answers to the questions of a task, in the order of its predictions."""
        if not self.questions:
            raise ValueError(f"the agent {self.config.agent.name} was asked no questions")
        if task is None and len(self.questions) == 1:
            task = next(iter(self.questions))
        if task not in self.questions:
            raise ValueError(f"which answers? The agent has those of {', '.join(self.questions)}, not of {task}")
        return self.look(observation)["answers"][task]

    def act(
        self, observation: Shaped[Any, "*batch *observation"], key: Key[Array, ""] | None = None
    ) -> Int[Array, "*batch"]:
        """An action from the policy; without a key the likeliest one."""
        policy = self.look(observation)["policy"]
        return jnp.argmax(policy, -1) if key is None else jax.random.categorical(key, jnp.log(policy))


def _look(asked: Mapping[str, int], agent: Agent, observation: Array) -> dict[str, Any]:
    state = agent.modules[REPRESENTATION].step(observation)
    logits, value = agent.modules[MAIN](state)
    answers = {task: agent.modules[task](state)[..., :n] for task, n in asked.items()}  # not those that only pad
    return {"state": state, "policy": jax.nn.softmax(logits), "value": value, "answers": answers}


def load(path: str | Path, seed: int | None = None, environment: Environment | None = None) -> TrainedAgent:
    """The agent of a run, as its newest whole checkpoint has it.

    Args:
        path: the run's folder.
        seed: which of the run's seeds; the first by default.
        environment: where the run was trained in one of your own, that.

    Raises:
        RunError: there is no such run, seed or checkpoint.
    """
    folder, config = RunFolder.open(Path(path))
    seeds = range(config.seed, config.seed + config.seeds)
    seed = config.seed if seed is None else seed
    if seed not in seeds:
        raise RunError(f"the run in {path} has the seeds {seeds[0]} to {seeds[-1]}, not {seed}")
    found, _ = folder.load_checkpoint()
    if found is None:
        raise RunError(f"the run in {path} has no checkpoint yet")
    arrays, facts = found
    source = parse_source(config.env)
    world = world_of_source(source, environment)
    template = make_learner(config.agent, world, seed).init(jax.random.key(0))
    try:
        prefix = f".agent[{seeds.index(seed)}]"
        mine = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
        agent = fill(template, mine)
    except CheckpointError as error:
        raise RunError(f"the checkpoint of {path} does not fit its configuration: {error}") from None
    return TrainedAgent(config, world, seed, agent, facts["frames"], environment)
