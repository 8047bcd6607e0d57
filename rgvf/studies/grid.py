"""The grid-world experiment that two studies share: does learning answers make a state that values can be read from?

An agent watches a uniformly random policy in an empty room and learns its value function on top of a representation
that it learns from its questions only. All seeds of a variant are one compiled program.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Key

from rgvf.agents import REPRESENTATION, Agent, Learner, Trained, ValueTask
from rgvf.agents.config import require, settle
from rgvf.analysis import estimate
from rgvf.auxiliary import GVFTask, questions
from rgvf.environments import GridWorld
from rgvf.features import Feature, RandomLinear, Touch
from rgvf.networks import DenseRepresentation
from rgvf.questions import FiniteMDP, QuestionNetwork, exact_answers, full_tree
from rgvf.studies.claims import Claim
from rgvf.studies.folder import StudyFolder
from rgvf.studies.study import Conclusion, Result
from rgvf.training import DeviceLoop, uniform_policy
from rgvf.trajectory import Transition

Ask = Callable[["GridConfig", int], tuple[QuestionNetwork, Feature]]
"""The questions of a seed, and the features that they are about."""


LEGEND = (
    "MSE: of the learned values against the true ones, over all cells. With states merged: the error that is left, "
    "computed, where cells with the same answers cannot be told apart."
)


@dataclass(frozen=True)
class GridConfig:
    """Settings of a grid-world study; the defaults are the paper's."""

    seeds: int = 5
    """Independent runs of each variant."""
    frames: int = 1_000_000
    """Environment steps of each run, rounded up to whole updates."""
    size: int = 7
    """Cells along a side of the room."""
    goal: tuple[int, int] = (0, 1)
    """Row and column of the rewarding cell."""
    wall: float = 1.0
    """How bright walls are in the observation; the agent is 1."""
    discount: float = 0.98
    """Discount of the value function."""
    question_discount: float = 0.8
    """Discount of the discounted sums in the question networks."""
    learning_rate: float = 1e-3
    """Adam's, of the value and the answers."""
    end_to_end_learning_rate: float = 1e-4
    """Adam's, where the value trains the representation."""
    actors: int = 8
    """Environments side by side."""
    steps: int = 8
    """Steps of each between two updates."""
    representation: tuple[int, ...] = (64, 64, 32)
    """Units of the representation's layers."""
    weight_gain: float = 1.0
    """Multiplies the representation's initial weights."""
    hidden: int = 32
    """Units of the hidden layer of the value and of the answers."""
    evaluations: int = 100
    """How often the value function is measured on the way."""

    def __post_init__(self) -> None:
        settle(self)
        counts = ("seeds", "frames", "actors", "steps", "hidden", "evaluations")
        require(self, "at least 1", lambda x: x >= 1, *counts)
        require(self, "in [0, 1)", lambda x: 0 <= x < 1, "discount", "question_discount")
        require(self, "positive", lambda x: x > 0, "learning_rate", "end_to_end_learning_rate")
        if not self.representation or min(self.representation) < 1:
            raise ValueError(f"representation must be one or more layers of at least 1 unit, not {self.representation}")
        _ = self.world  # checks size and goal

    @property
    def world(self) -> GridWorld:
        return GridWorld(self.size, self.goal, self.wall)


@dataclass(frozen=True)
class GridVariant:
    """One line of the figure."""

    label: str
    ask: Ask | None = None
    """What trains the representation; nothing does where there is none, unless it is end to end."""
    end_to_end: bool = False
    """The value trains the representation."""


@dataclass(frozen=True)
class GridResult:
    """What a variant gave."""

    frames: list[int]
    mse: np.ndarray
    """Error of the learned values, averaged over all states: [seeds, evaluations]."""
    values: np.ndarray
    """The values learned in the end: [seeds, states]."""

    def to_json(self) -> dict[str, Any]:
        return {"frames": self.frames, "mse": self.mse.tolist(), "values": self.values.tolist()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> GridResult:
        return cls(list(data["frames"]), np.array(data["mse"]), np.array(data["values"]))

    @property
    def final(self) -> np.ndarray:
        """The error over the last tenth of training, which smooths the jitter of single updates: [seeds]."""
        last = max(1, self.mse.shape[1] // 10)
        return self.mse[:, -last:].mean(1)


def touch_tree(depth: int) -> GridVariant:
    """Full action-conditional trees about bumping into a wall."""
    return GridVariant(
        f"tree of depth {depth}", lambda config, seed: (full_tree("touch", config.world.actions, depth), Touch())
    )


def random_features(config: GridConfig, seed: int, n: int) -> RandomLinear:
    return RandomLinear(jax.random.fold_in(jax.random.key(seed), 2), config.world.observation_shape, n)


def learner(config: GridConfig, variant: GridVariant, seed: int) -> Learner:
    """The agent of one seed. Its `update` serves every seed of the variant."""
    rate = config.end_to_end_learning_rate if variant.end_to_end else config.learning_rate
    tasks = [Trained("value", ValueTask(config.discount, config.hidden), optax.adam(rate), variant.end_to_end)]
    if variant.ask is not None:
        task = GVFTask(questions(*variant.ask(config, seed)), config.hidden)
        tasks.append(Trained("answers", task, optax.adam(config.learning_rate)))

    def representation(key: Key[Array, ""]) -> DenseRepresentation:
        drawn = DenseRepresentation(key, config.world.observation_shape, config.representation)
        return jax.tree.map(lambda weight: config.weight_gain * weight, drawn)

    return Learner(representation, tasks)


def run_variant(config: GridConfig, variant: GridVariant, report: Callable[[float], None]) -> GridResult:
    """Train all seeds of a variant; `report` is told the fraction done."""
    world = config.world
    learners = [learner(config, variant, seed) for seed in range(config.seeds)]
    loop = DeviceLoop(world, uniform_policy(len(world.actions)), learners[0].update, config.actors, config.steps)
    views, truth = jnp.asarray(world.views), world.values(config.discount)

    @jax.jit
    @jax.vmap
    def learned_values(agent: Agent) -> Float[Array, " states"]:
        return agent.modules["value"](agent.modules[REPRESENTATION].step(views))[:, 0]

    advance = jax.jit(jax.vmap(loop.advance, in_axes=(0, None)), donate_argnums=0)
    keys = [jax.random.key(seed) for seed in range(config.seeds)]
    agents = [each.init(jax.random.fold_in(key, 0)) for each, key in zip(learners, keys, strict=True)]
    starts = [loop.start(agent, jax.random.fold_in(key, 1)) for agent, key in zip(agents, keys, strict=True)]
    training = jax.tree.map(lambda *leaves: jnp.stack(leaves), *starts)

    updates = -(-config.frames // loop.frames_per_update)
    done = np.unique(np.linspace(0, updates, config.evaluations + 1).round().astype(int))
    values = np.asarray(learned_values(training.agent))
    errors = [_mean_squared(values, truth)]
    for before, after in itertools.pairwise(done):
        training = advance(training, jnp.int32(after - before))
        values = np.asarray(learned_values(training.agent))
        errors.append(_mean_squared(values, truth))
        report(after / updates)
    return GridResult((done * loop.frames_per_update).tolist(), np.stack(errors, 1), values)


def _mean_squared(values: np.ndarray, truth: np.ndarray) -> np.ndarray:
    return ((values.astype(np.float64) - truth) ** 2).mean(-1)


@dataclass(frozen=True)
class GridStudy:
    """A study of the grid world: some variants, the claims about them, and the figures."""

    name: str
    grid_variants: Mapping[str, GridVariant]
    claims: Callable[[GridConfig, Mapping[str, GridResult]], list[Claim]]
    draw: Callable[[GridConfig, Mapping[str, GridResult], Path], list[Path]]

    @property
    def config_type(self) -> type:
        return GridConfig

    @property
    def variants(self) -> Sequence[str]:
        return tuple(self.grid_variants)

    def batches(self, variants: Sequence[str]) -> Iterable[tuple[str, Sequence[str]]]:
        return ((variant, (variant,)) for variant in variants)

    def run(
        self, config: GridConfig, variants: Sequence[str], report: Callable[[float], None], folder: StudyFolder
    ) -> dict[str, Result]:
        del folder
        return {name: run_variant(config, self.grid_variants[name], report).to_json() for name in variants}

    def is_whole(self, config: GridConfig, variant: str, result: Result) -> bool:
        del variant
        try:
            read = GridResult.from_json(result)
            expected = (config.seeds, len(read.frames)), (config.seeds, config.world.n_states)
            return (read.mse.shape, read.values.shape) == expected and read.frames[-1] >= config.frames
        except (IndexError, KeyError, TypeError, ValueError):
            return False

    def conclude(self, config: GridConfig, results: Mapping[str, Result], folder: StudyFolder) -> Conclusion:
        read = {name: GridResult.from_json(result) for name, result in results.items()}
        claims = self.claims(config, read)
        folder.write_csv("curves.csv", ("variant", "seed", "frames", "mse"), _curve_rows(read))
        pictures = self.draw(config, read, folder.path)
        for name in read:
            pictures += _draw_questions(config, self.grid_variants[name], folder.path / "questions", name)
        table = [("variant", "MSE", "± standard error", "with states merged")]
        for name, result in read.items():
            ask = self.grid_variants[name].ask
            merged = "" if ask is None else f"{merged_states_error(config, *ask(config, 0)):.4f}"
            mean, error = estimate(result.final)
            table.append((name, f"{mean:.4f}", f"{error:.4f}", merged))
        return Conclusion(table, claims, pictures, LEGEND, _caution(config))


def _caution(config: GridConfig) -> str:
    paper = GridConfig()
    if config.frames >= paper.frames and config.seeds >= paper.seeds:
        return ""
    return (
        f"With {config.frames:,} frames and {config.seeds} seed{'s' * (config.seeds > 1)}; the claims are about "
        f"{paper.frames:,} frames and {paper.seeds} seeds, and may come out otherwise there."
    )


def merged_states_error(config: GridConfig, network: QuestionNetwork, feature: Feature) -> float:
    """The error of the values if states with the same answers are merged into one.

    It is what a representation ends at that keeps of the observation only what its answers need: the fixed point of TD
    with one value for each set of states whose true answers agree. Under the uniformly random policy all states are
    visited equally often.
    """
    world = config.world
    mdp, policy = world.mdp(), world.uniform_policy()
    arrivals = mdp.transition.argmax(-1)  # the world is deterministic
    views, actions = jnp.asarray(world.views), jnp.broadcast_to(jnp.arange(len(world.actions)), arrivals.shape)
    here = jnp.broadcast_to(views[:, None], (*arrivals.shape, *views.shape[1:]))
    seen = np.asarray(feature(Transition(here, actions, jnp.zeros(arrivals.shape), views[arrivals])), np.float64)
    features = {name: seen[:, :, k, None] for k, name in enumerate(feature.names)}
    answers = exact_answers(network, FiniteMDP(mdp.transition, features), policy)
    _, group = np.unique(answers.round(5), axis=0, return_inverse=True)
    member = np.eye(group.max() + 1)[group.ravel()]
    move = np.einsum("sa,sat->st", policy, mdp.transition)
    reward = move @ np.asarray(mdp.features["reward"], np.float64)
    values = member @ np.linalg.solve(member.T @ (member - config.discount * move @ member), member.T @ reward)
    return float(np.mean((values - world.values(config.discount)) ** 2))


def curves(variants: Mapping[str, GridVariant], results: Mapping[str, GridResult]) -> dict[str, Any]:
    """Learning curves by label, in the order of the variants."""
    return {variants[n].label: (results[n].frames, results[n].mse) for n in variants if n in results}


def _curve_rows(results: Mapping[str, GridResult]) -> list[Sequence[Any]]:
    """Every seed's curve as rows (variant, seed, frames, mse)."""
    return [
        (name, seed, frames, mse)
        for name, result in results.items()
        for seed, errors in enumerate(result.mse.tolist())
        for frames, mse in zip(result.frames, errors, strict=True)
    ]


def _draw_questions(config: GridConfig, variant: GridVariant, folder: Path, name: str) -> list[Path]:
    """Save every seed's question network and draw the first seed's."""
    if variant.ask is None:
        return []
    folder.mkdir(exist_ok=True)
    networks = [variant.ask(config, seed)[0] for seed in range(config.seeds)]
    if all(network == networks[0] for network in networks):
        networks[0].save(folder / f"{name}.json")
    else:
        for seed, network in enumerate(networks):
            network.save(folder / f"{name}.seed-{seed}.json")
    return [networks[0].draw(folder / f"{name}.svg")]
