"""Questions about reward: action values, alone and in one network with random questions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from rgvf.questions import QuestionNetwork, action_values, horizon_discounts, union
from rgvf.settings import require
from rgvf.spec import EnvironmentSpec
from rgvf.tasks.answers import QuestionSettings
from rgvf.tasks.random_questions import RandomQuestions, check_size


@dataclass(frozen=True)
class ActionValues(QuestionSettings):
    """Deep action-conditional questions about reward: if I do this, then that, how much reward, at several horizons?"""

    name: ClassVar[str] = "action-values"

    depth: int = 8
    """Action-conditional layers of the question network. 0: multi-horizon values; 1: the values after each action."""
    repeat: int = 16
    """Questions for each action in each layer."""
    horizons: int = 10
    """Number of values in layer 0; their horizons are spread from 1 to 100 steps."""
    feature_rms: float | None = field(default=8.0, kw_only=True)
    """Divide reward by its running root mean square and multiply it by this number; none: leave it as it is."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, "between 0 and 100,000", lambda x: 0 <= x <= 100_000, "depth")
        require(self, "between 1 and 100,000", lambda x: 1 <= x <= 100_000, "repeat", "horizons")

    def make_network(self, spec: EnvironmentSpec, seed: int) -> QuestionNetwork:
        """A random network about reward, over the environment's actions."""
        check_size(self.horizons + self.depth * self.repeat * len(spec.actions))
        discounts = horizon_discounts(self.horizons)
        return action_values(spec.actions, discounts=discounts, depth=self.depth, repeat=self.repeat, seed=seed)


@dataclass(frozen=True)
class ActionValuesNoActions(ActionValues):
    """Ablation: the same networks without conditions on actions."""

    name: ClassVar[str] = "action-values-no-actions"

    def make_network(self, spec: EnvironmentSpec, seed: int) -> QuestionNetwork:
        """A random network about reward whose conditions are removed."""
        return super().make_network(spec, seed).without_actions()


@dataclass(frozen=True)
class RandomAndActionValues(RandomQuestions):
    """Random questions and action values in one network, which one head answers."""

    name: ClassVar[str] = "rgvf-action-values"

    horizons: int = 10
    """Number of values in layer 0 of the questions about reward."""
    feature_rms: float | None = field(default=8.0, kw_only=True)
    """Divide each feature by its running root mean square and multiply it by this number; none: leave it as it is."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, "between 1 and 100,000", lambda x: 1 <= x <= 100_000, "horizons")

    def make_network(self, spec: EnvironmentSpec, seed: int) -> QuestionNetwork:
        """The networks of the tasks `rgvf` and `action-values`, side by side."""
        reward = ActionValues(depth=self.depth, repeat=self.repeat, horizons=self.horizons)
        return union({"random": super().make_network(spec, seed), "reward": reward.make_network(spec, seed)})
