"""The agents of the grid-world studies: a value to learn, and questions that may train the representation."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import jax
import optax
from jaxtyping import Array, Key

from rgvf.agents import Learner, OptimisedTask
from rgvf.environments import GridWorld
from rgvf.features import Feature, RandomLinear, Touch
from rgvf.networks import DenseRepresentation
from rgvf.questions import QuestionNetwork, full_tree
from rgvf.seeding import Purpose, key_for
from rgvf.settings import positive, require
from rgvf.studies.config import StudyConfig
from rgvf.tasks import AnswersTask, ValueTask, question_arrays

Questions = Callable[["GridConfig", int], tuple[QuestionNetwork, Feature]]
"""The question network of a seed, and the features that it is about."""

MAX_SIZE = 65_536
"""Of actors, steps, evaluations and each layer."""
MAX_ROOM = 64


@dataclass(frozen=True)
class GridConfig(StudyConfig):
    """Settings of a grid-world study; the defaults are the paper's."""

    size: int = 7
    """Cells along a side of the room."""
    goal: tuple[int, int] = (0, 1)
    """Row and column of the rewarding cell."""
    wall: float = 1.0
    """Brightness of walls in the observation; the agent has 1."""
    discount: float = 0.98
    """Discount of the value function."""
    question_discount: float = 0.8
    """Discount of the discounted sums in the question networks."""
    learning_rate: float = 1e-3
    """Adam learning rate of the value and the answers."""
    end_to_end_learning_rate: float = 1e-4
    """Adam learning rate where the value trains the representation."""
    value_rate_decay: float = 0.0
    """Fraction of training, at its end, over which the value's learning rate falls linearly to 0."""
    answers_rate_decay: float = 0.0
    """Fraction of training, at its end, over which the answers' learning rate falls linearly to 0."""
    actors: int = 8
    """Number of environments."""
    steps: int = 8
    """Steps of each environment between two updates."""
    representation: tuple[int, ...] = (64, 64, 32)
    """Units of the representation's layers."""
    weight_gain: float = 1.0
    """Multiplies the representation's initial weights."""
    hidden: int = 32
    """Units of the hidden layer of the value and of the answers."""
    evaluations: int = 100
    """How often the value function is measured during training."""

    def __post_init__(self) -> None:
        super().__post_init__()
        many = ("actors", "steps", "hidden", "evaluations")
        require(self, f"between 1 and {MAX_SIZE:,}", lambda x: 1 <= x <= MAX_SIZE, *many)
        require(self, "in [0, 1)", lambda x: 0 <= x < 1, "discount", "question_discount")
        require(self, "positive", positive, "learning_rate", "end_to_end_learning_rate", "weight_gain")
        require(self, "in [0, 1]", lambda x: 0 <= x <= 1, "value_rate_decay", "answers_rate_decay")
        if not self.representation or not all(1 <= units <= MAX_SIZE for units in self.representation):
            raise ValueError(
                f"representation must be one or more layers of 1 to {MAX_SIZE:,} units, not {self.representation}"
            )
        require(self, "finite", math.isfinite, "wall")
        require(self, f"at most {MAX_ROOM}: exact values need size⁴ numbers", lambda x: x <= MAX_ROOM, "size")
        _ = self.room  # checks size and goal

    @property
    def room(self) -> GridWorld:
        """The environment."""
        return GridWorld(self.size, self.goal, self.wall)

    @property
    def updates(self) -> int:
        """Of each agent: enough for all frames."""
        return -(-self.frames // (self.actors * self.steps))


@dataclass(frozen=True)
class GridVariant:
    """One line of the figure."""

    label: str
    questions: Questions | None = None
    """What trains the representation; nothing does where there is none, unless the variant is end-to-end."""
    end_to_end: bool = False
    """The value trains the representation."""


def touch_tree(depth: int) -> GridVariant:
    """Full action-conditional trees about bumping into a wall."""
    return GridVariant(
        f"tree of depth {depth}", lambda config, seed: (full_tree("touch", config.room.actions, depth), Touch())
    )


def random_features(config: GridConfig, seed: int, n: int) -> RandomLinear:
    """n random features of the room."""
    return RandomLinear(key_for(seed, Purpose.FEATURES), config.room.observation_shape, n)


def _adam(config: GridConfig, rate: float, decay: float) -> optax.GradientTransformation:
    """Adam whose rate is constant, then falls linearly: it would be 0 in the update after the last."""
    falling = round(decay * config.updates)
    if not falling:
        return optax.adam(rate)
    return optax.adam(optax.linear_schedule(rate, 0.0, falling, config.updates - falling))


def learner(config: GridConfig, variant: GridVariant, seed: int) -> Learner:
    """The agent of one seed. Its `update` serves every seed of the variant."""
    rate = config.end_to_end_learning_rate if variant.end_to_end else config.learning_rate
    optimiser = _adam(config, rate, config.value_rate_decay)
    value = ValueTask(config.discount, config.hidden)
    tasks = [OptimisedTask("value", value, optimiser, trains_representation=variant.end_to_end)]
    if variant.questions is not None:
        answers = AnswersTask(question_arrays(*variant.questions(config, seed), gradient_scale=1.0), config.hidden)
        optimiser = _adam(config, config.learning_rate, config.answers_rate_decay)
        tasks.append(OptimisedTask("answers", answers, optimiser))

    def representation(key: Key[Array, ""]) -> DenseRepresentation:
        new = DenseRepresentation(key, config.room.observation_shape, config.representation)
        return jax.tree.map(lambda weight: config.weight_gain * weight, new)

    return Learner(representation, tasks)
