"""Everything that can be set about an agent; the defaults are the paper's for Atari."""

from __future__ import annotations

import difflib
import math
from dataclasses import dataclass
from typing import Annotated, Literal

import tyro

AGENTS = ("a2c", "rgvf", "rgvf-no-actions", "rgvf-shallow", "rgvf-discounted-sum")


@dataclass(frozen=True)
class AgentConfig:
    """The agent."""

    name: Annotated[str, tyro.conf.arg(name="agent")] = "rgvf"
    """a2c, rgvf, or an ablation: rgvf-no-actions, rgvf-shallow, rgvf-discounted-sum."""
    stop_gradient: bool = False
    """Let only the auxiliary task train the representation."""

    discount: float = 0.99
    """Of the return that the agent maximises."""
    entropy: float = 0.01
    """Weight of the policy's entropy."""
    value_weight: float = 0.5
    """Weight of the value's ½·squared error."""
    learning_rate: float = 7e-4
    """RMSProp's."""
    rms_decay: float = 0.99
    """RMSProp's, of the mean squared gradient."""
    rms_epsilon: float = 1e-5
    """RMSProp's, inside the root."""
    clip_norm: float = 0.5
    """Largest global norm of the main task's gradient."""
    c: float = 1.0
    """Mixing coefficient: multiplies the auxiliary task's learning rate."""

    depth: int = 8
    """Action-conditional layers of the question network."""
    repeat: int = 16
    """Questions for each action in each layer."""
    features: int = 16
    """Random features that the questions are about."""
    question_discount: float = 0.95
    """Discount of the sums in layer 0 of the question network."""
    cap_repeat: bool = False
    """Where a layer has fewer candidates than `repeat`, use them all instead of refusing."""
    feature_scale: float = 8.0
    """Length of the random vectors that are applied to image patches."""
    feature_kind: Literal["auto", "patches", "linear"] = "auto"
    """Random features: of image patches, or of the whole observation; auto: patches where it is an image."""

    representation: Literal["auto", "conv", "small-conv", "mlp"] = "auto"
    """conv: the paper's, for images from 36×36; small-conv: for smaller ones; mlp: 64-64."""
    hidden: int = 512
    """Units of the hidden layer of each head."""

    def __post_init__(self) -> None:
        if self.name not in AGENTS:
            near = difflib.get_close_matches(self.name, AGENTS, n=1, cutoff=0.4)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(AGENTS)}."
            raise ValueError(f"there is no agent {self.name!r}; {hint}")
        if self.name == "a2c" and self.stop_gradient:
            raise ValueError("stop_gradient needs an auxiliary task: nothing would train a2c's representation")
        for field in ("depth", "repeat", "features", "hidden"):
            if getattr(self, field) < 1:
                raise ValueError(f"{field} must be at least 1, not {getattr(self, field)}")
        for field in ("discount", "question_discount", "rms_decay"):
            if not 0 <= getattr(self, field) < 1:
                raise ValueError(f"{field} must lie in [0, 1), not {getattr(self, field)}")
        for field in ("learning_rate", "rms_epsilon", "clip_norm", "feature_scale"):
            if not (getattr(self, field) > 0 and math.isfinite(getattr(self, field))):
                raise ValueError(f"{field} must be positive, not {getattr(self, field)}")
        for field in ("entropy", "value_weight", "c"):
            if not (getattr(self, field) >= 0 and math.isfinite(getattr(self, field))):
                raise ValueError(f"{field} must not be negative, not {getattr(self, field)}")

    @property
    def has_questions(self) -> bool:
        return self.name != "a2c"
