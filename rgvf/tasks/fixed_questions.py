"""Question networks that are not random, as tasks: values, reward, termination, and networks of the user."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rgvf.features import Feature, make_features
from rgvf.questions import (
    QuestionNetwork,
    horizon_discounts,
    multi_horizon_values,
    reward_prediction,
    termination_prediction,
)
from rgvf.settings import positive, require
from rgvf.spec import EnvironmentSpec
from rgvf.tasks.answers import QuestionSettings


@dataclass(frozen=True)
class MultiHorizonValues(QuestionSettings):
    """Multi-horizon value prediction (MHVP; Fedus et al. 2019): the value of the policy at several discounts."""

    name: ClassVar[str] = "mhvp"

    horizons: int = 10
    """Number n of values, at horizons of max(1, 100·k/n) steps, k = 0 … n − 1: for ten 1, 10, 20, …, 90."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, "between 1 and 100,000", lambda x: 1 <= x <= 100_000, "horizons")

    def make_network(self, spec: EnvironmentSpec, seed: int) -> QuestionNetwork:
        """A discounted sum of reward for each horizon."""
        return multi_horizon_values(horizon_discounts(self.horizons))


@dataclass(frozen=True)
class RewardPrediction(QuestionSettings):
    """Reward prediction (Jaderberg et al. 2016): the next reward."""

    name: ClassVar[str] = "reward-prediction"

    def make_network(self, spec: EnvironmentSpec, seed: int) -> QuestionNetwork:
        """One node."""
        return reward_prediction()


@dataclass(frozen=True)
class TerminationPrediction(QuestionSettings):
    """Termination prediction (Kartal et al. 2019): steps until the episode ends."""

    name: ClassVar[str] = "termination-prediction"

    def make_network(self, spec: EnvironmentSpec, seed: int) -> QuestionNetwork:
        """One node."""
        return termination_prediction()


@dataclass(frozen=True)
class GivenQuestions(QuestionSettings):
    """A question network of the user."""

    name: ClassVar[str] = "questions"

    network: str = ""
    """The question network: a JSON file (in Python the text of one, or `GivenQuestions.of(network)`)."""
    feature_scale: float | None = None
    """Length of the random vectors of `random-patches`; none: 8, or what suits the environment."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, "positive", lambda x: x is None or positive(x), "feature_scale")

    @classmethod
    def of(
        cls, network: QuestionNetwork, feature_scale: float | None = None, feature_rms: float | None = None
    ) -> GivenQuestions:
        """The task of answering this network."""
        return cls(network.to_json(), feature_scale, feature_rms=feature_rms)

    def make_network(self, spec: EnvironmentSpec, seed: int) -> QuestionNetwork:
        """The given network, with the environment's actions in the environment's order."""
        if not self.network:
            raise ValueError("the task `questions` needs a question network (--questions.network FILE.json)")
        if not self.network.lstrip().startswith("{"):
            of_a_file = 'of a file: GivenQuestions.of(QuestionNetwork.load("FILE.json"))'
            raise ValueError(f"GivenQuestions takes a question network as JSON, not {self.network[:80]!r}; {of_a_file}")
        network = QuestionNetwork.from_json(self.network)
        conditions = [None if action is None else network.actions[action] for action in network.conditions]
        for action in conditions:
            if action is not None and action not in spec.actions:
                raise ValueError(
                    f"the question network has a condition on the action {action!r}; "
                    f"the environment has {', '.join(spec.actions)}"
                )
        predictions = dict(zip(network.predictions, conditions, strict=True))
        return QuestionNetwork(network.features, predictions, network.edges, spec.actions)

    def make_features(self, network: QuestionNetwork, spec: EnvironmentSpec, seed: int) -> Feature:
        """The features that the network names."""
        return make_features(network.features, spec, seed, self.feature_scale)
