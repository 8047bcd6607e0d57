"""Learning to answer a question network by temporal differences: the paper's auxiliary task."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple, cast

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from rgvf.features import Feature, Normalised, Paddable, can_be_padded, make_features
from rgvf.networks import Head, Representation
from rgvf.questions import EdgeTable, QuestionNetwork, mask, pad_table, targets
from rgvf.settings import check_types, positive, require
from rgvf.spec import EnvironmentSpec
from rgvf.tasks.protocol import Metrics, View
from rgvf.tasks.returns import RELATIVE_ERROR, td_loss_and_relative_error


class QuestionArrays(NamedTuple):
    """A question network as arrays: its edges, and the features that it is about. A pytree."""

    table: EdgeTable
    features: Feature
    gradient_scale: Float[Array, ""]
    """Multiplies the gradient that flows from the answers into the head's hidden layer, and on."""


def question_arrays(network: QuestionNetwork, features: Feature, gradient_scale: float | None = None) -> QuestionArrays:
    """Pair a network with the features that it names, in its order; the gradient scale is 1/√n unless it is given."""
    if network.features != features.names:
        raise ValueError(f"the question network needs the features {network.features}, not {features.names}")
    scale = _gradient_scale(network) if gradient_scale is None else gradient_scale
    return QuestionArrays(jax.tree.map(jnp.asarray, network.table), features, jnp.float32(scale))


def _gradient_scale(network: QuestionNetwork) -> float:
    """1/√n, where n predictions learn from a step: the unconditioned ones, and those of one action (on average)."""
    conditioned = sum(condition is not None for condition in network.conditions)
    return 1 / math.sqrt(network.n_predictions - conditioned + conditioned / max(1, len(network.actions)))


@dataclass(frozen=True, eq=False)  # it holds arrays, which have no truth value and no hash
class AnswersTask:
    """Answers ŷ from one hidden layer on the representation, learned by TD (the paper's Section 3.1).

        target_i(t) = Σ_j W_ij · ŷ_j(t+1) · (1 − terminal(t+1)) + Σ_k W_ik · f_k(t+1)
        L = ½ Σ_i m_i(t) · (target_i(t) − ŷ_i(t))², averaged over steps

    m_i(t) is 1 where node i is unconditioned or its action was taken, else 0. Targets carry no gradient.

    The output layer learns by the gradient of L. What flows from there into the hidden layer and the representation is
    multiplied by 1/√n, where n predictions learn from a step: its size then depends less on how many questions there
    are. The authors' code does so; the paper does not mention it.
    """

    questions: QuestionArrays
    """What a new agent is to answer. `loss` reads the agent's own copy, so one `loss` serves agents with others."""
    hidden: int

    def init(self, key: Key[Array, ""], representation: Representation) -> tuple[Head, QuestionArrays]:
        """A new head with one output for each prediction node; the state is the questions."""
        n_predictions = self.questions.table.condition.shape[-1]
        return Head(key, representation.size, self.hidden, n_predictions), self.questions

    def loss(
        self, params: Head, state: QuestionArrays, view: View, key: Key[Array, ""]
    ) -> tuple[Float[Array, ""], QuestionArrays, Metrics]:
        """The loss above; also logs the error in units of the targets' spread."""
        del key
        trajectory = view.trajectory
        answers = params(view.states, state.gradient_scale)
        next_answers = jax.lax.stop_gradient(answers[1:])
        features = state.features
        if isinstance(features, Normalised):
            features, values = features.observe(features.whole(trajectory.transitions), trajectory.valid)
        else:
            values = features(trajectory.transitions)
        target = targets(state.table, values, next_answers, trajectory.terminal)
        learns = mask(state.table, trajectory.action) & trajectory.valid[..., None]
        loss, relative_error = td_loss_and_relative_error(answers, target, learns)
        return loss, state._replace(features=features), {"loss": loss, RELATIVE_ERROR: relative_error}


@dataclass(frozen=True)
class QuestionSettings(ABC):
    """Settings of a task that answers a question network."""

    name: ClassVar[str]

    feature_rms: float | None = field(default=None, kw_only=True)
    """Divide each feature by its running root mean square and multiply it by this number; none: leave it as it is."""

    def __post_init__(self) -> None:
        check_types(self)
        require(self, "positive", lambda x: x is None or positive(x), "feature_rms")

    @abstractmethod
    def make_network(self, spec: EnvironmentSpec, seed: int) -> QuestionNetwork:
        """The question network of a seed."""

    def make_features(self, network: QuestionNetwork, spec: EnvironmentSpec, seed: int) -> Feature:
        """The features that the network is about."""
        return make_features(network.features, spec, seed)

    def make(
        self, spec: EnvironmentSpec, seed: int, hidden: int, network: QuestionNetwork | None = None
    ) -> AnswersTask:
        """The task of a seed; `network`: its question network, if it has been made already."""
        network = self.make_network(spec, seed) if network is None else network
        features = self.make_features(network, spec, seed)
        if self.feature_rms is not None:
            features = Normalised(features, self.feature_rms)
        return AnswersTask(question_arrays(network, features), hidden)


def pad_questions(questions: QuestionArrays, n_predictions: int, n_features: int) -> QuestionArrays:
    """The same questions with more nodes, which never learn. Agents with fewer and more nodes then share a program.

    Raises:
        ValueError: these features cannot be padded.
    """
    features = questions.features
    if not can_be_padded(features):
        raise ValueError(f"features such as {features.names[0]} cannot be padded")
    table = pad_table(questions.table, n_predictions, n_features)
    return questions._replace(table=table, features=cast(Paddable, features).padded(n_features))
