"""Learning to answer a question network by temporal differences."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Key

from rgvf.auxiliary.protocol import Metrics, View
from rgvf.features import Feature, Paddable
from rgvf.networks import Head, Representation
from rgvf.questions import NEVER, EdgeTable, QuestionNetwork, mask, pad_table, targets


class Questions(NamedTuple):
    """What is asked, as arrays: the question network's edges and the features it is about."""

    table: EdgeTable
    features: Feature
    gradient_scale: Float[Array, ""]
    """Multiplies the gradient that flows from the answers into the head's hidden layer and on."""


def questions(network: QuestionNetwork, features: Feature, gradient_scale: float = 1.0) -> Questions:
    """Pair a network with the features that it names, in its order."""
    if network.features != features.names:
        raise ValueError(
            f"the question network is about the features {network.features}, but these were given: {features.names}"
        )
    return Questions(jax.tree.map(jnp.asarray, network.table), features, jnp.float32(gradient_scale))


def pad_questions(asked: Questions, predictions: int, features: int) -> Questions:
    """The same questions with nodes added that never learn, up to these numbers.

    Agents whose networks differ in shape can then learn side by side. ValueError where there are more already, or
    these features cannot be padded.
    """
    for what, least, given in (
        ("pad_predictions", asked.table.condition.shape[-1], predictions),
        ("pad_features", asked.table.feature.shape[-1], features),
    ):
        if given < least:
            raise ValueError(f"{what} must be at least the {least} that are asked, not {given}")
    if not isinstance(asked.features, Paddable):
        raise ValueError(f"features like {asked.features.names[0]} cannot be padded")
    table = jax.tree.map(jnp.asarray, pad_table(asked.table, predictions, features))
    return asked._replace(table=table, features=asked.features.padded(features))


@dataclass(frozen=True)
class GVFTask:
    """Answers from one hidden layer on the representation; loss ½·(target − answer)², summed over nodes."""

    questions: Questions
    """What a new agent is asked. `loss` looks at the agent's own copy, so one `loss` serves agents with other ones."""
    hidden: int = 512

    def init(self, key: Key[Array, ""], representation: Representation) -> tuple[Head, Questions]:
        condition = np.asarray(self.questions.table.condition)
        asked = int(np.sum(condition != NEVER))
        head = Head(key, representation.size, self.hidden, asked)
        return head.padded(len(condition)), self.questions

    def loss(
        self, params: Head, state: Questions, view: View, key: Key[Array, ""]
    ) -> tuple[Float[Array, ""], Questions, Metrics]:
        del key
        trajectory = view.trajectory
        answers = params(view.states[:-1], state.gradient_scale)
        # Only the last step's answers are not yet there; a whole second pass would cost as much as the first.
        final = params(view.states[-1:])
        next_answers = jax.lax.stop_gradient(jnp.concatenate([answers[1:], final]))
        features = state.features(trajectory.transitions)
        loss = td_loss(
            answers,
            targets(state.table, features, next_answers, trajectory.terminal),
            mask(state.table, trajectory.action) & trajectory.valid[..., None],
        )
        return loss, state, {"loss": loss}


def td_loss(
    answers: Float[Array, "*batch n"], target: Float[Array, "*batch n"], learns: Bool[Array, "*batch n"]
) -> Float[Array, ""]:
    """½ · squared error where a node learns, summed over nodes, averaged over steps; no gradient through targets."""
    error = jnp.where(learns, jax.lax.stop_gradient(target) - answers, 0.0)
    return 0.5 * jnp.sum(error**2) / math.prod(answers.shape[:-1])
