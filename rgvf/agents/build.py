"""From a configuration and the shape of the world to an agent."""

from __future__ import annotations

import math
from typing import NamedTuple

import jax
from jaxtyping import Array, Key

from rgvf.agents.a2c import A2CTask
from rgvf.agents.config import AgentConfig
from rgvf.agents.learner import Learner, Trained
from rgvf.agents.optimisers import auxiliary_optimiser, main_optimiser
from rgvf.auxiliary import GVFTask, questions
from rgvf.features import Feature, RandomLinear, RandomPatches
from rgvf.networks import ConvRepresentation, ConvSize, DenseRepresentation, Representation
from rgvf.questions import QuestionNetwork, random_discounted_sums, random_network, random_shallow

SMALLEST_FOR_CONV = 36
MAIN, ANSWERS = "a2c", "answers"


class World(NamedTuple):
    """What an agent must know of its world."""

    observation_shape: tuple[int, ...]
    """Of what the agent is shown, stacked frames included, newest last."""
    actions: tuple[str, ...]
    stacked: bool = False
    """The last axis is a stack of frames."""

    @property
    def is_image(self) -> bool:
        return len(self.observation_shape) == 3


def make_learner(config: AgentConfig, world: World, seed: int) -> Learner:
    """The agent of one seed. Its `update` serves every seed with the same configuration."""
    task = A2CTask(len(world.actions), config.discount, config.entropy, config.value_weight, config.hidden)
    optimiser = main_optimiser(config.learning_rate, config.rms_decay, config.rms_epsilon, config.clip_norm)
    tasks = [Trained(MAIN, task, optimiser, trains_representation=not config.stop_gradient)]
    if config.has_questions:
        network, features = make_questions(config, world, seed)
        gvf = GVFTask(questions(network, features), config.hidden, gradient_scale(network))
        rate = config.c * config.learning_rate
        tasks.append(Trained(ANSWERS, gvf, auxiliary_optimiser(rate, config.rms_decay, config.rms_epsilon)))
    return Learner(lambda key: make_representation(config, world, key), tasks)


def make_questions(config: AgentConfig, world: World, seed: int) -> tuple[QuestionNetwork, Feature]:
    """The question network of a seed and the random features that it is about."""
    prefix = f"{_feature_family(config, world)}/"
    shape = {"depth": config.depth, "repeat": config.repeat}
    if config.name == "rgvf-shallow":
        network = random_shallow(world.actions, **shape, feature=prefix)
    elif config.name == "rgvf-discounted-sum":
        network = random_discounted_sums(
            world.actions, n_features=config.features, discount=config.question_discount, **shape, feature=prefix
        )
    else:
        names = [f"{prefix}{k}" for k in range(config.features)]
        discount, cap = config.question_discount, config.cap_repeat
        network = random_network(names, world.actions, discount=discount, **shape, seed=seed, cap_repeat=cap)
        if config.name == "rgvf-no-actions":
            network = network.without_actions()
    return network, make_features(config, world, network.n_features, seed)


def make_features(config: AgentConfig, world: World, n: int, seed: int) -> Feature:
    key = jax.random.fold_in(jax.random.key(seed), 2)
    if _feature_family(config, world) == "random-linear":
        return RandomLinear(key, world.observation_shape, n)
    height, width, channels = world.observation_shape
    patch = height // _tiles(height), width // _tiles(width)
    shape = (height, width, channels)
    return RandomPatches(key, shape, patch, n, config.feature_scale, newest_only=world.stacked)


def _feature_family(config: AgentConfig, world: World) -> str:
    if config.feature_kind == "patches" and not world.is_image:
        raise ValueError(f"feature_kind patches needs an image, not observations of shape {world.observation_shape}")
    patches = config.feature_kind == "patches" or (config.feature_kind == "auto" and world.is_image)
    return "random-patches" if patches else "random-linear"


def _tiles(pixels: int) -> int:
    """How many patches to cut a side into: 4, or the most that fit exactly."""
    return next(n for n in (4, 3, 2, 1) if pixels % n == 0)


def gradient_scale(network: QuestionNetwork) -> float:
    """1/√(predictions trained at a step): the unconditioned ones, and those of one action."""
    conditioned = sum(condition is not None for condition in network.conditions)
    return 1 / math.sqrt(network.n_predictions - conditioned + conditioned / max(1, len(network.actions)))


def make_representation(config: AgentConfig, world: World, key: Key[Array, ""]) -> Representation:
    kind, shape = config.representation, world.observation_shape
    if kind == "auto":
        kind = "mlp" if not world.is_image else "conv" if min(shape[:2]) >= SMALLEST_FOR_CONV else "small-conv"
    if kind == "mlp":
        return DenseRepresentation(key, shape, (64, 64))
    if not world.is_image:
        raise ValueError(f"representation {kind} needs an image, not observations of shape {shape}")
    image = (shape[0], shape[1], shape[2])
    if kind == "conv":
        return ConvRepresentation(key, image)
    return ConvRepresentation(key, image, (ConvSize(16, 3, 1),), (128,))
