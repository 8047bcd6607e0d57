"""Random question networks as tasks: about random features (rgvf), about reward (action values), and ablations."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from rgvf.features import Feature, make_features, random_kind
from rgvf.questions import (
    QuestionNetwork,
    action_values,
    horizon_discounts,
    random_discounted_sums,
    random_network,
    random_shallow,
    union,
)
from rgvf.settings import positive, require
from rgvf.spec import EnvironmentSpec
from rgvf.tasks.answers import QuestionSettings

MAX_SIZE = 100_000
"""Of depth, repeat, features and horizons each."""
MAX_PREDICTIONS = 1_000_000


@dataclass(frozen=True)
class RandomQuestions(QuestionSettings):
    """Random deep action-conditional questions about random features: the paper's rGVFs (Section 3.2)."""

    name: ClassVar[str] = "rgvf"

    depth: int = 8
    """Action-conditional layers of the question network."""
    repeat: int = 16
    """Questions for each action in each layer."""
    features: int = 16
    """Number of random features."""
    discount: float = 0.95
    """Discount of the sums in layer 0 of the question network."""
    cap_repeat: bool = False
    """Use all candidates where a layer has fewer than `repeat`, instead of an error."""
    feature_scale: float | None = None
    """Length of the random vectors of image patches; none: 8, or what suits the environment."""
    feature_kind: Literal["auto", "patches", "linear"] = "auto"
    """Random features of image patches, or of the whole observation; auto: patches for images."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, f"between 1 and {MAX_SIZE:,}", lambda x: 1 <= x <= MAX_SIZE, "depth", "repeat", "features")
        require(self, "in [0, 1)", lambda x: 0 <= x < 1, "discount")
        require(self, "positive", lambda x: x is None or positive(x), "feature_scale")

    def make_network(self, spec: EnvironmentSpec, seed: int) -> QuestionNetwork:
        """A random network over the environment's actions."""
        kind = random_kind(spec, self.feature_kind)
        self._check_size(spec)
        return random_network(
            [f"{kind}/{k}" for k in range(self.features)],
            spec.actions,
            discount=self.discount,
            depth=self.depth,
            repeat=self.repeat,
            seed=seed,
            cap_repeat=self.cap_repeat,
        )

    def _check_size(self, spec: EnvironmentSpec) -> None:
        _check_size(self.features + self.depth * self.repeat * len(spec.actions))

    def make_features(self, network: QuestionNetwork, spec: EnvironmentSpec, seed: int) -> Feature:
        """The random features of a seed."""
        return make_features(network.features, spec, seed, self.feature_scale)


@dataclass(frozen=True)
class NoActions(RandomQuestions):
    """Ablation: the same networks without conditions on actions."""

    name: ClassVar[str] = "rgvf-no-actions"

    def make_network(self, spec: EnvironmentSpec, seed: int) -> QuestionNetwork:
        """A random network whose conditions are removed."""
        return super().make_network(spec, seed).without_actions()


@dataclass(frozen=True)
class Shallow(RandomQuestions):
    """Ablation: depth · repeat random features, each predicted one step ahead after every action."""

    name: ClassVar[str] = "rgvf-shallow"

    def make_network(self, spec: EnvironmentSpec, seed: int) -> QuestionNetwork:
        """A tree of depth 1 for each feature."""
        del seed
        self._check_size(spec)
        prefix = f"{random_kind(spec, self.feature_kind)}/"
        return random_shallow(spec.actions, depth=self.depth, repeat=self.repeat, feature=prefix)


@dataclass(frozen=True)
class DiscountedSums(RandomQuestions):
    """Ablation: as many predictions, each the discounted sum of a random feature of its own."""

    name: ClassVar[str] = "rgvf-discounted-sum"

    def make_network(self, spec: EnvironmentSpec, seed: int) -> QuestionNetwork:
        """A discounted sum for each feature."""
        del seed
        self._check_size(spec)
        return random_discounted_sums(
            spec.actions,
            n_features=self.features,
            discount=self.discount,
            depth=self.depth,
            repeat=self.repeat,
            feature=f"{random_kind(spec, self.feature_kind)}/",
        )


@dataclass(frozen=True)
class ActionValues(QuestionSettings):
    """Deep action-conditional questions about reward: if I do this, then that, how much reward, at several horizons?"""

    name: ClassVar[str] = "action-values"

    depth: int = 8
    """Action-conditional layers of the question network. 0: multi-horizon values; 1: the values after each action."""
    repeat: int = 16
    """Questions for each action in each layer, or as many as there are candidates in the layer above."""
    horizons: int = 10
    """Number n of values in layer 0, at horizons of max(1, 100·k/n) steps, k = 0 … n − 1: for ten 1, 10, 20, …, 90."""
    feature_rms: float | None = field(default=8.0, kw_only=True)
    """Divide reward by its running root mean square and multiply it by this number; none: leave it as it is."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, f"between 0 and {MAX_SIZE:,}", lambda x: 0 <= x <= MAX_SIZE, "depth")
        require(self, f"between 1 and {MAX_SIZE:,}", lambda x: 1 <= x <= MAX_SIZE, "repeat", "horizons")

    def make_network(self, spec: EnvironmentSpec, seed: int) -> QuestionNetwork:
        """A random network about reward, over the environment's actions."""
        _check_size(self.horizons + self.depth * self.repeat * len(spec.actions))
        discounts = horizon_discounts(self.horizons)
        return action_values(spec.actions, discounts=discounts, depth=self.depth, repeat=self.repeat, seed=seed)


@dataclass(frozen=True)
class ActionValuesNoActions(ActionValues):
    """Ablation: the same networks without conditions on actions. Questions that differed only by these are the same."""

    name: ClassVar[str] = "action-values-no-actions"

    def make_network(self, spec: EnvironmentSpec, seed: int) -> QuestionNetwork:
        """A random network about reward whose conditions are removed."""
        return super().make_network(spec, seed).without_actions()


@dataclass(frozen=True)
class RandomAndActionValues(RandomQuestions):
    """Random questions and action values in one network, which one head answers."""

    name: ClassVar[str] = "random-and-action-values"

    horizons: int = ActionValues.horizons
    """Number of values in layer 0 of the questions about reward, as for `action-values`."""
    feature_rms: float | None = field(default=ActionValues.feature_rms, kw_only=True)
    """Divide each feature by its running root mean square and multiply it by this number; none: leave it as it is."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, f"between 1 and {MAX_SIZE:,}", lambda x: 1 <= x <= MAX_SIZE, "horizons")

    def make_network(self, spec: EnvironmentSpec, seed: int) -> QuestionNetwork:
        """The networks of the tasks `rgvf` and `action-values`, side by side."""
        _check_size(self.features + self.horizons + 2 * self.depth * self.repeat * len(spec.actions))
        reward = ActionValues(depth=self.depth, repeat=self.repeat, horizons=self.horizons)
        return union({"random": super().make_network(spec, seed), "reward": reward.make_network(spec, seed)})


def _check_size(n_predictions: int) -> None:
    """ValueError where a network of so many predictions would not fit into memory."""
    if n_predictions > MAX_PREDICTIONS:
        gib = 2 * 4 * 512 * n_predictions / 2**30
        raise ValueError(
            f"{n_predictions:,} predictions (layer 0 + depth · repeat · actions) are more than {MAX_PREDICTIONS:,}; "
            f"their weights alone would take about {gib:,.0f} GiB"
        )
