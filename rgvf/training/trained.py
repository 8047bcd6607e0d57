"""A trained agent, back in Python: act, represent, answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key, Shaped

from rgvf.agents import REPRESENTATION, Agent, World, make_learner, make_questions
from rgvf.agents.build import ANSWERS, MAIN
from rgvf.environments.sources import parse_source, spec_of
from rgvf.questions import QuestionNetwork
from rgvf.training.checkpoint import CheckpointError, fill
from rgvf.training.config import RunConfig
from rgvf.training.folder import RunError, RunFolder
from rgvf.training.host import world_of


class TrainedAgent:
    """The agent of one seed of a run.

    Observations are what the agent is shown, stacked frames included (newest last), with any leading axes: bytes
    [..., 84, 84, 4] for Atari.
    """

    def __init__(self, config: RunConfig, world: World, seed: int, agent: Agent, frames: int) -> None:
        self.config = config
        self.world = world
        self.seed = seed
        self.frames = frames
        """How long it has been trained."""
        self.agent = agent
        self.questions: QuestionNetwork | None = None
        if config.agent.has_questions:
            self.questions = make_questions(config.agent, world, seed)[0]
        self._look = jax.jit(_look)

    def look(self, observation: Shaped[Any, "*batch *observation"]) -> dict[str, Array]:
        """Everything at once: state, policy (probabilities), value, and answers where there are questions."""
        return self._look(self.agent, jnp.asarray(observation))

    def represent(self, observation: Shaped[Any, "*batch *observation"]) -> Float[Array, "*batch size"]:
        """The state vector."""
        return self.look(observation)["state"]

    def answer(self, observation: Shaped[Any, "*batch *observation"]) -> Float[Array, "*batch n"]:
        """The answers to `questions`, in the order of its predictions."""
        if self.questions is None:
            raise ValueError(f"the agent {self.config.agent.name} was asked no questions")
        return self.look(observation)["answers"]

    def act(
        self, observation: Shaped[Any, "*batch *observation"], key: Key[Array, ""] | None = None
    ) -> Int[Array, "*batch"]:
        """An action from the policy; without a key the likeliest one."""
        policy = self.look(observation)["policy"]
        return jnp.argmax(policy, -1) if key is None else jax.random.categorical(key, jnp.log(policy))


def _look(agent: Agent, observation: Array) -> dict[str, Array]:
    state = agent.modules[REPRESENTATION].step(observation)
    logits, value = agent.modules[MAIN](state)
    seen = {"state": state, "policy": jax.nn.softmax(logits), "value": value}
    return seen | ({"answers": agent.modules[ANSWERS](state)} if ANSWERS in agent.modules else {})


def load(path: str | Path, seed: int | None = None) -> TrainedAgent:
    """The agent of a run, as its newest whole checkpoint has it.

    Args:
        path: the run's folder.
        seed: which of the run's seeds; the first by default.

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
    spec = spec_of(parse_source(config.env))
    world = world_of(spec)
    template = make_learner(config.agent, world, seed).init(jax.random.key(0))
    try:
        prefix = f".agent[{seeds.index(seed)}]"
        mine = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
        agent = fill(template, mine)
    except CheckpointError as error:
        raise RunError(f"the checkpoint of {path} does not fit its configuration: {error}") from None
    steps_per_update = config.actors * config.steps * spec.frames_per_step
    return TrainedAgent(config, world, seed, agent, facts["updates"] * steps_per_update)
