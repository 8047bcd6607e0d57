"""What an agent is asked: the question network of each task that is one, and the features that it is about."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import jax

from rgvf.agents.world import World
from rgvf.features import Chosen, Constant, Feature, Features, PixelChange, RandomLinear, RandomPatches, Reward
from rgvf.questions import (
    QuestionNetwork,
    horizon_discounts,
    multi_horizon_values,
    random_discounted_sums,
    random_network,
    random_shallow,
    reward_prediction,
    termination_prediction,
)

if TYPE_CHECKING:
    from rgvf.agents.config import AgentConfig


MOST_FEATURES = 100_000
"""Of one kind: a number beyond it in a file is a mistake, and would fill the memory with random vectors."""


def _rgvf(config: AgentConfig, world: World, seed: int) -> QuestionNetwork:
    if config.questions is not None:
        return _given(config.questions, world)
    features = [f"{_random_family(config, world)}/{k}" for k in range(config.features)]
    return random_network(
        features,
        world.actions,
        discount=config.question_discount,
        depth=config.depth,
        repeat=config.repeat,
        seed=seed,
        cap_repeat=config.cap_repeat,
    )


def _given(path: str, world: World) -> QuestionNetwork:
    """A network from a file, its actions in the order of the world's."""
    network = QuestionNetwork.load(path)
    asked = [None if action is None else network.actions[action] for action in network.conditions]
    for action in asked:
        if action is not None and action not in world.actions:
            raise ValueError(f"{path} asks about the action {action!r}; there are {', '.join(world.actions)}")
    predictions = dict(zip(network.predictions, asked, strict=True))
    return QuestionNetwork(network.features, predictions, network.edges, world.actions)


def _shallow(config: AgentConfig, world: World, seed: int) -> QuestionNetwork:
    del seed
    prefix = f"{_random_family(config, world)}/"
    return random_shallow(world.actions, depth=config.depth, repeat=config.repeat, feature=prefix)


def _discounted_sum(config: AgentConfig, world: World, seed: int) -> QuestionNetwork:
    del seed
    return random_discounted_sums(
        world.actions,
        n_features=config.features,
        discount=config.question_discount,
        depth=config.depth,
        repeat=config.repeat,
        feature=f"{_random_family(config, world)}/",
    )


NETWORKS: Mapping[str, Callable[[AgentConfig, World, int], QuestionNetwork]] = {
    "rgvf": _rgvf,
    "rgvf-no-actions": lambda config, world, seed: _rgvf(config, world, seed).without_actions(),
    "rgvf-shallow": _shallow,
    "rgvf-discounted-sum": _discounted_sum,
    "mhvp": lambda config, world, seed: multi_horizon_values(horizon_discounts(config.horizons)),
    "reward-prediction": lambda config, world, seed: reward_prediction(),
    "termination-prediction": lambda config, world, seed: termination_prediction(),
}
"""Tasks that are question networks, each by the seed of the run."""


def question_networks(config: AgentConfig, world: World, seed: int) -> dict[str, QuestionNetwork]:
    """What an agent is asked, by the name of the task."""
    return {task: NETWORKS[task](config, world, seed) for task in config.tasks if task in NETWORKS}


def make_questions(config: AgentConfig, world: World, seed: int, task: str = "rgvf") -> tuple[QuestionNetwork, Feature]:
    """The question network of a task and the features that it is about."""
    network = NETWORKS[task](config, world, seed)
    return network, make_features(config, world, network.features, seed)


def make_features(config: AgentConfig, world: World, names: Sequence[str], seed: int) -> Feature:
    """The features of these names, in this order. ValueError where one is unknown."""
    sizes: dict[str, int] = {}
    for name in names:
        family, _, number = name.partition("/")
        if family not in _FAMILIES or number.isdecimal() == (family in _SINGLE):
            raise ValueError(f"there is no feature {name!r} here; {_known()}")
        sizes[family] = max(sizes.get(family, 0), int(number or 0) + 1)
        if sizes[family] > MOST_FEATURES:
            raise ValueError(f"there is no feature {name!r}: a kind has at most {MOST_FEATURES:,}")
    parts: list[Feature] = [_FAMILIES[family](config, world, size, seed) for family, size in sizes.items()]
    whole = parts[0] if len(parts) == 1 else Features(parts)
    for name in names:
        if name not in whole.names:
            kin = [each for each in whole.names if each.partition("/")[0] == name.partition("/")[0]]
            raise ValueError(f"there is no feature {name!r}: the last of its kind is {kin[-1]}")
    return whole if whole.names == tuple(names) else Chosen(whole, tuple(names))


def _random_patches(config: AgentConfig, world: World, n: int, seed: int) -> Feature:
    height, width, channels = world.image_shape("features of random patches")
    patch = height // _tiles(height), width // _tiles(width)
    shape = (height, width, channels)
    return RandomPatches(_key(seed), shape, patch, n, config.feature_scale, newest_only=world.stacked)


_FAMILIES: Mapping[str, Callable[[AgentConfig, World, int, int], Feature]] = {
    "reward": lambda config, world, n, seed: Reward(),
    "constant": lambda config, world, n, seed: Constant(),
    "random-patches": _random_patches,
    "random-linear": lambda config, world, n, seed: RandomLinear(_key(seed), world.observation_shape, n),
    "pixel-change": lambda config, world, n, seed: PixelChange(world.image_shape("pixel-change"), world.stacked),
}
_SINGLE = ("reward", "constant")


def _known() -> str:
    numbered = [f"{family}/0, {family}/1, …" for family in _FAMILIES if family not in _SINGLE]
    return f"there are {', '.join([*_SINGLE, *numbered])}"


def _key(seed: int) -> jax.Array:
    return jax.random.fold_in(jax.random.key(seed), 2)


def _random_family(config: AgentConfig, world: World) -> str:
    if config.feature_kind == "patches":
        world.image_shape("feature_kind patches")
    patches = config.feature_kind == "patches" or (config.feature_kind == "auto" and world.is_image)
    return "random-patches" if patches else "random-linear"


def _tiles(pixels: int) -> int:
    """How many patches to cut a side into: 4, or the most that fit exactly."""
    return next(n for n in (4, 3, 2, 1) if pixels % n == 0)
