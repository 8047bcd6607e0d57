"""Everything that can be set about an agent; the defaults are the paper's for Atari."""

from __future__ import annotations

import dataclasses
import difflib
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import tyro

from rgvf.agents.tasks import CARRY_QUESTIONS, TASKS

MAIN = "a2c"
"""The main task, and the agent that has no other."""


_PADS = ("pad_predictions", "pad_features")
_RATES = ("learning_rate", "c")
_ASKED = (
    *("questions", "depth", "repeat", "features", "question_discount", "cap_repeat", "feature_scale", "feature_kind"),
    *("horizons", *_PADS),
)


@dataclass(frozen=True)
class AgentConfig:
    """The agent."""

    name: Annotated[str, tyro.conf.arg(name="agent")] = "rgvf"
    """a2c alone, or what it learns beside: rgvf, rgvf-no-actions, rgvf-shallow, rgvf-discounted-sum, mhvp,
    reward-prediction, termination-prediction, pixel-control, curl; several are joined by +: rgvf+pixel-control."""
    stop_gradient: bool = False
    """Let only the auxiliary tasks train the representation."""

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
    c: tuple[float, ...] = (1.0,)
    """Mixing coefficient: multiplies an auxiliary task's learning rate; one for all tasks, or one for each."""

    questions: str | None = None
    """A question network of your own, a JSON file, for rgvf to ask in place of a random one."""
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
    pad_predictions: int = 0
    """Places for predictions, to train networks of different shapes side by side; 0: as many as are asked."""
    pad_features: int = 0
    """The same of features."""

    horizons: int = 10
    """Values that mhvp predicts: their horizons are spread from 1 to 100 steps."""
    pixel_discount: float = 0.9
    """Discount of pixel-control."""
    curl_margin: int = 0
    """Pixels that curl's crops are smaller by; 0: 4, or 2 where the image is smaller than 36×36."""
    curl_outputs: int = 128
    """Numbers that curl compares two crops by."""
    curl_step: float = 0.001
    """Step of curl's moving averages."""
    curl_layer_norm: bool = False
    """Normalise the layers of curl's encoder, as CURL's authors did."""
    curl_logit_scale: float = 1.0
    """Multiplies curl's similarities; CURL's authors took 0.1."""

    representation: Literal["auto", "conv", "small-conv", "mlp"] = "auto"
    """conv: the paper's, for images from 36×36; small-conv: for smaller ones; mlp: 64-64."""
    hidden: int = 512
    """Units of the hidden layer of each head."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "c", _numbers("c", self.c))
        settle(self)
        if not all(task in TASKS for task in self.tasks):
            raise ValueError(_no_such_agent(self.name))
        if len(set(self.tasks)) < len(self.tasks):
            raise ValueError(f"the agent {self.name} names a task twice")
        if self.stop_gradient and not self.tasks:
            raise ValueError("stop_gradient needs an auxiliary task: nothing would train a2c's representation")
        if len(self.c) > 1 and not self.tasks:
            raise ValueError(f"c weighs auxiliary tasks, and {MAIN} has none")
        if len(self.c) not in (1, len(self.tasks)):
            raise ValueError(f"c must be one number, or one for each of {' '.join(self.tasks)}; not {len(self.c)}")
        if self.questions is not None and "rgvf" not in self.tasks:
            raise ValueError(f"questions are for rgvf to ask, and the agent {self.name} has no rgvf in it")
        sizes = ("depth", "repeat", "features", "horizons", "curl_outputs", "hidden")
        require(self, "at least 1", lambda x: x >= 1, *sizes)
        require(self, "in [0, 1)", lambda x: 0 <= x < 1, "discount", "question_discount", "pixel_discount", "rms_decay")
        require(self, "in [0, 1]", lambda x: 0 <= x <= 1, "curl_step")
        require(self, "positive", _positive, "learning_rate", "rms_epsilon", "clip_norm", "feature_scale")
        require(self, "positive", _positive, "curl_logit_scale")
        require(self, "at least 0", _not_negative, "entropy", "value_weight", "curl_margin", *_PADS)
        if not all(map(_not_negative, self.c)):
            raise ValueError(f"c must be at least 0, not {' '.join(map(str, self.c))}")

    @property
    def tasks(self) -> tuple[str, ...]:
        """The auxiliary tasks."""
        return () if self.name == MAIN else tuple(self.name.split("+"))

    @property
    def program(self) -> AgentConfig:
        """What agents must share to learn by one compiled program, if their arrays have the same shapes too.

        All else they carry with them as numbers: the learning rates, and what is asked. (Whether a task of one's own
        carries that is not known.)
        """
        carried = (*_RATES, *_ASKED) if CARRY_QUESTIONS.issuperset(self.tasks) else _RATES
        return dataclasses.replace(self, **{name: getattr(AgentConfig, name) for name in carried})

    @property
    def mixing(self) -> tuple[float, ...]:
        """c of each auxiliary task."""
        return self.c if len(self.c) == len(self.tasks) else self.c * len(self.tasks)


def require(config: Any, what: str, holds: Callable[[Any], bool], *fields: str) -> None:
    """ValueError that names the first of the fields whose value is not as it must be."""
    for field in fields:
        if not holds(getattr(config, field)):
            raise ValueError(f"{field} must be {what}, not {getattr(config, field)}")


def settle(config: Any) -> None:
    """Make Python's own of a frozen dataclass's numbers: 5e6 is a whole one. ValueError where that cannot be done."""
    for field in dataclasses.fields(config):
        if field.type in ("int", "float"):
            number = _number(field.name, getattr(config, field.name))
            if field.type == "int" and not number.is_integer():
                raise ValueError(f"{field.name} must be a whole number, not {number:g}")
            object.__setattr__(config, field.name, int(number) if field.type == "int" else number)


def _number(name: str, given: Any) -> float:
    try:
        return float(given)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a number, not {given!r}") from None


def _numbers(name: str, given: Any) -> tuple[float, ...]:
    """Of one number or several."""
    several = isinstance(given, Iterable) and not isinstance(given, str)
    return tuple(_number(name, each) for each in (given if several else (given,)))


def _positive(x: float) -> bool:
    return x > 0 and math.isfinite(x)


def _not_negative(x: float) -> bool:
    return x >= 0 and math.isfinite(x)


def _no_such_agent(name: str) -> str:
    known = [MAIN, *TASKS]
    wrong = name if "+" not in name else next(part for part in name.split("+") if part not in TASKS)
    if wrong == MAIN:
        return f"every agent is an {MAIN}: name only what it learns beside, not {name!r}"
    near = difflib.get_close_matches(wrong, known, n=1, cutoff=0.4)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}, and sets of them joined by +."
    return f"there is no agent {wrong!r}; {hint}"
