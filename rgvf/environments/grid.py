"""The paper's illustrative grid world: an empty room with a goal cell, seen from above."""

from __future__ import annotations

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key

from rgvf.environments.environment import Step
from rgvf.questions import FiniteMDP, discounted_sum, exact_answers

_MOVES = np.array([(-1, 0), (0, 1), (1, 0), (0, -1)])


@dataclass(frozen=True)
class GridWorld:
    """A square room inside walls. Continuing: no episode ever ends.

    Every step that ends in the goal cell is rewarded with 1, a bump into the wall from there included. The state is the
    number of the agent's cell, row by row; the observation shows the walls in channel 0 and the agent in channel 1.
    """

    size: int = 7
    """Cells along a side, walls not counted."""
    goal: tuple[int, int] = (0, 1)
    """Row and column of the goal cell."""
    wall: float = 1.0
    """How bright walls are in the observation; the agent is 1."""

    def __post_init__(self) -> None:
        if self.size < 1:
            raise ValueError(f"size must be at least 1, not {self.size}")
        if len(self.goal) != 2 or not all(isinstance(x, (int, np.integer)) for x in self.goal):
            raise ValueError(f"goal must be a row and a column, not {self.goal}")
        if not all(0 <= x < self.size for x in self.goal):
            raise ValueError(f"goal {self.goal} lies outside the {self.size}×{self.size} room")

    @property
    def actions(self) -> tuple[str, ...]:
        """The four moves."""
        return ("up", "right", "down", "left")

    @property
    def observation_shape(self) -> tuple[int, ...]:
        """Cells and walls along each side, and two channels."""
        return (self.size + 2, self.size + 2, 2)

    @property
    def n_states(self) -> int:
        """Number of cells."""
        return self.size**2

    def reset(self, key: Key[Array, ""]) -> tuple[Int[Array, ""], Float[Array, "height width 2"]]:
        """The agent in a cell drawn uniformly."""
        cell = jax.random.randint(key, (), 0, self.n_states)
        return cell, self.observe(cell)

    def step(self, state: Int[Array, ""], action: Int[Array, ""], key: Key[Array, ""]) -> tuple[Int[Array, ""], Step]:
        """Move, or stay where a wall blocks the move."""
        del key  # the environment is deterministic
        cell = jnp.asarray(self._arrivals)[state, action]
        goal = self.goal[0] * self.size + self.goal[1]
        never = jnp.zeros((), bool)
        return cell, Step(self.observe(cell), (cell == goal).astype(jnp.float32), never, never)

    def observe(self, state: Int[Array, "*batch"]) -> Float[Array, "*batch height width 2"]:
        """The view from above for a cell number."""
        return jnp.asarray(self.views)[state]

    @property
    def views(self) -> np.ndarray:
        """The observation of every state: float32 [states, height, width, 2]."""
        side = self.size + 2
        views = np.zeros((self.n_states, side, side, 2), np.float32)
        views[:, :, :, 0] = self.wall
        views[:, 1:-1, 1:-1, 0] = 0
        rows, columns = np.divmod(np.arange(self.n_states), self.size)
        views[np.arange(self.n_states), rows + 1, columns + 1, 1] = 1
        return views

    @property
    def _arrivals(self) -> np.ndarray:
        """The cell that each action leads to: int32 [states, actions]."""
        cells = np.stack(np.divmod(np.arange(self.n_states), self.size), -1)
        rows, columns = np.moveaxis(np.clip(cells[:, None] + _MOVES, 0, self.size - 1), -1, 0)
        return (rows * self.size + columns).astype(np.int32)

    def mdp(self) -> FiniteMDP:
        """The same environment as arrays, with the features `touch`, `reward` and `constant`."""
        arrivals = self._arrivals
        states = self.n_states
        transition = np.eye(states)[arrivals]
        blocked = arrivals == np.arange(states)[:, None]
        goal = self.goal[0] * self.size + self.goal[1]
        features = {"touch": blocked[:, :, None], "reward": np.arange(states) == goal, "constant": np.ones(1)}
        return FiniteMDP(transition, features, actions=self.actions)

    def uniform_policy(self) -> np.ndarray:
        """π(a | s) = ¼: [states, actions]."""
        return np.full((self.n_states, len(self.actions)), 1 / len(self.actions))

    def values(self, discount: float = 0.98) -> np.ndarray:
        """The exact value of every state under the uniformly random policy: [states]."""
        question = discounted_sum(["reward"], discount)
        return exact_answers(question, self.mdp(), self.uniform_policy())[:, 0]
