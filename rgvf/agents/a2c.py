"""Advantage actor-critic (A2C): the main task of an agent that acts."""

from __future__ import annotations

from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from rgvf.auxiliary.protocol import Metrics, View
from rgvf.auxiliary.returns import masked_mean, segment_returns
from rgvf.networks import Dense, Representation


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
        x = jax.nn.relu(self.hidden(states))
        return self.policy(x), self.value(x)[..., 0]


@dataclass(frozen=True)
class A2CTask:
    """Policy gradient with n-step returns to the end of the segment, a value loss and an entropy bonus."""

    n_actions: int
    discount: float = 0.99
    entropy: float = 0.01
    value_weight: float = 0.5
    """Weight of ½·(return − value)²."""
    hidden: int = 512

    def init(self, key: Key[Array, ""], representation: Representation) -> tuple[ActorCritic, None]:
        return ActorCritic(key, representation.size, self.hidden, self.n_actions), None

    def loss(
        self, params: ActorCritic, state: None, view: View, key: Key[Array, ""]
    ) -> tuple[Float[Array, ""], None, Metrics]:
        del key
        trajectory = view.trajectory
        logits, values = params(view.states)
        log_policy = jax.nn.log_softmax(logits[:-1])
        returns = segment_returns(trajectory, trajectory.reward, jax.lax.stop_gradient(values[1:]), self.discount)
        advantage = returns - values[:-1]
        taken = jnp.take_along_axis(log_policy, trajectory.action[..., None], axis=-1)[..., 0]
        policy_loss = -masked_mean(taken * jax.lax.stop_gradient(advantage), trajectory)
        value_loss = masked_mean(0.5 * advantage**2, trajectory)
        entropy = masked_mean(-jnp.sum(jnp.exp(log_policy) * log_policy, axis=-1), trajectory)
        loss = policy_loss + self.value_weight * value_loss - self.entropy * entropy
        return loss, state, {"policy_loss": policy_loss, "value_loss": value_loss, "entropy": entropy}
