"""The on-device loop as a run needs it: several seeds, metrics, checkpoints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from rgvf.agents import MAIN, REPRESENTATION, Agent, Learner
from rgvf.auxiliary import Metrics
from rgvf.environments.protocol import Environment
from rgvf.training.checkpoint import fill, named_arrays, plain
from rgvf.training.device import DeviceLoop, Tally, Training
from rgvf.training.loop import Progress
from rgvf.training.packs import Pack, across_seeds, listed, pack
from rgvf.training.worlds import world_of_environment

CHUNK = 100
"""Updates that one call of the compiled program makes at most: a run can be stopped between two calls."""


def sampled_policy(agent: Agent, observation: jax.Array, key: jax.Array) -> jax.Array:
    """Actions as likely as the agent's policy has them."""
    logits, _ = agent.modules[MAIN](agent.modules[REPRESENTATION].step(observation))
    return jax.random.categorical(key, logits)


class CompiledLoop:
    """Training with environment, rollout and update in one compiled program."""

    def __init__(
        self, environment: Environment, learners: Sequence[Learner], actors: int, steps: int, clip_rewards: float
    ) -> None:
        self.world = world_of_environment(environment)
        self.learners = learners
        self.loop = DeviceLoop(environment, sampled_policy, learners[0].update, actors, steps, clip_rewards)
        # Copies: an agent may have one constant in several places, and no memory can be given up twice.
        self._start = jax.jit(lambda agent, key: jax.tree.map(jnp.copy, self.loop.start(agent, key)))
        self._advance = across_seeds(
            lambda training, updates: self.loop.advance_noting(training, updates, CHUNK), consumes_first=True, shared=1
        )

    @property
    def frames_per_update(self) -> int:
        return self.loop.frames_per_update

    def start(self, seeds: Sequence[int]) -> Any:
        started = []
        for learner, seed in zip(self.learners, seeds, strict=True):
            key = jax.random.key(seed)
            agent = learner.init(jax.random.fold_in(key, 0))
            started.append(self._start(agent, jax.random.fold_in(key, 1)))
        return pack(started)

    def advance(self, state: Any, updates: int) -> tuple[Any, Progress]:
        updates = min(updates, CHUNK)
        before = self.tallies(state)
        state, losses = self._advance(state, jnp.int32(updates))
        return state, self.progress(before, state, losses, updates)

    def progress(self, before: list[Tally], state: Any, losses: Pack[Metrics], updates: int) -> Progress:
        """What so many updates brought that led to this state."""
        after = self.tallies(state)
        games = [int(b.games - a.games) for a, b in zip(before, after, strict=True)]
        scores = [tally.newest(new) for tally, new in zip(after, games, strict=True)]
        return Progress(updates, losses, scores, games)

    def tallies(self, state: Any) -> list[Tally]:
        """Those of each seed, on the host."""
        if isinstance(state, list):
            return [jax.tree.map(np.asarray, each.tally) for each in state]
        arrays = jax.tree.map(np.asarray, state.tally)
        return [jax.tree.map(lambda array, i=i: array[i], arrays) for i in range(len(self.learners))]

    def save(self, state: Any) -> dict[str, np.ndarray]:
        on_host = jax.tree.map(lambda leaf: np.asarray(plain(leaf)), state)  # each array once, not seed by seed
        return named_arrays(self._by_field(on_host))

    def restore(self, state: Any, arrays: Mapping[str, np.ndarray]) -> Any:
        filled = fill(self._by_field(state), arrays)
        return pack([Training(*fields) for fields in zip(*filled, strict=True)])

    def _by_field(self, state: Any) -> Any:
        """A `Training` with a list over seeds in each field, as the host loop has it."""
        columns: list[Any] = [list(column) for column in zip(*listed(state, len(self.learners)), strict=True)]
        return Training(*columns)

    def close(self) -> None:
        """Nothing is held but memory."""
