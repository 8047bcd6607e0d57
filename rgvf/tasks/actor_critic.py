"""Advantage actor-critic (A2C): the main task of an agent that acts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from rgvf.networks import Dense, Representation
from rgvf.settings import check_types, not_negative, require
from rgvf.spec import EnvironmentSpec
from rgvf.tasks.protocol import Metrics, View
from rgvf.tasks.returns import masked_mean, n_step_returns


class ActorCritic(eqx.Module):
    """One hidden layer, then the policy's logits and the value."""

    hidden: Dense
    policy: Dense
    value: Dense

    def __init__(self, key: Key[Array, ""], inputs: int, hidden: int, n_actions: int) -> None:
        keys = jax.random.split(key, 3)
        self.hidden = Dense(keys[0], inputs, hidden)
        self.policy = Dense(keys[1], hidden, n_actions)
        self.value = Dense(keys[2], hidden, 1)

    def __call__(
        self, states: Float[Array, "*batch inputs"]
    ) -> tuple[Float[Array, "*batch actions"], Float[Array, "*batch"]]:
        """Logits and values."""
        x = jax.nn.relu(self.hidden(states))
        return self.policy(x), self.value(x)[..., 0]


@dataclass(frozen=True)
class ActorCriticTask:
    """Policy gradient with n-step returns G_t to the end of the segment, a value loss and an entropy bonus.

        L = −log π(A_t | S_t) · (G_t − v(S_t)) + w · ½ (G_t − v(S_t))² − β · H(π(· | S_t)), averaged over steps

    No gradient flows through G_t, nor through the advantage in the first term.
    """

    settings: ActorCriticSettings
    """The discount of G_t, β (`entropy`) and w (`value_weight`)."""
    n_actions: int
    hidden: int

    def init(self, key: Key[Array, ""], representation: Representation) -> tuple[ActorCritic, None]:
        """A new actor-critic; there is no state."""
        return ActorCritic(key, representation.size, self.hidden, self.n_actions), None

    def loss(
        self, params: ActorCritic, state: None, view: View, key: Key[Array, ""]
    ) -> tuple[Float[Array, ""], None, Metrics]:
        """The loss above; logs its three parts."""
        del key
        trajectory = view.trajectory
        valid = trajectory.valid
        logits, values = params(view.states)
        log_policy = jax.nn.log_softmax(logits[:-1])
        returns = n_step_returns(
            r_t=trajectory.reward,
            discount_t=trajectory.discounts(self.settings.discount),
            v_t=jax.lax.stop_gradient(values[1:]),
            bootstrap_t=trajectory.last_in_segment,
        )
        advantage = returns - values[:-1]
        taken = jnp.take_along_axis(log_policy, trajectory.action[..., None], axis=-1)[..., 0]
        policy_loss = -masked_mean(taken * jax.lax.stop_gradient(advantage), valid)
        value_loss = masked_mean(0.5 * advantage**2, valid)
        entropy = masked_mean(-jnp.sum(jnp.exp(log_policy) * log_policy, axis=-1), valid)
        loss = policy_loss + self.settings.value_weight * value_loss - self.settings.entropy * entropy
        return loss, state, {"policy_loss": policy_loss, "value_loss": value_loss, "entropy": entropy}


@dataclass(frozen=True)
class ActorCriticSettings:
    """The actor-critic."""

    name: ClassVar[str] = "a2c"

    discount: float = 0.99
    """Discount of the return that the agent maximises."""
    entropy: float = 0.01
    """Weight of the policy's entropy bonus."""
    value_weight: float = 0.5
    """Weight of the value loss."""

    def __post_init__(self) -> None:
        check_types(self)
        require(self, "in [0, 1)", lambda x: 0 <= x < 1, "discount")
        require(self, "at least 0", not_negative, "entropy", "value_weight")

    def make(self, spec: EnvironmentSpec, seed: int, hidden: int) -> ActorCriticTask:
        """The task for an environment."""
        del seed
        return ActorCriticTask(self, len(spec.actions), hidden)
