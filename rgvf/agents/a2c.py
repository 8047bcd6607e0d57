"""Advantage actor-critic (A2C): the main task of an agent that acts."""

from __future__ import annotations

from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Key

from rgvf.auxiliary.protocol import Metrics, View
from rgvf.networks import Dense, Representation
from rgvf.trajectory import Trajectory


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
        returns = jax.lax.stop_gradient(segment_returns(trajectory, values, self.discount))
        advantage = returns - values[:-1]
        taken = jnp.take_along_axis(log_policy, trajectory.action[..., None], axis=-1)[..., 0]
        policy_loss = -masked_mean(taken * jax.lax.stop_gradient(advantage), trajectory.valid)
        value_loss = masked_mean(0.5 * advantage**2, trajectory.valid)
        entropy = masked_mean(-jnp.sum(jnp.exp(log_policy) * log_policy, axis=-1), trajectory.valid)
        loss = policy_loss + self.value_weight * value_loss - self.entropy * entropy
        return loss, state, {"policy_loss": policy_loss, "value_loss": value_loss, "entropy": entropy}


def masked_mean(x: Float[Array, "T B"], valid: Bool[Array, "T B"]) -> Float[Array, ""]:
    """The mean over all steps, where those that are not valid count as 0."""
    return jnp.mean(jnp.where(valid, x, 0.0))


def segment_returns(trajectory: Trajectory, values: Float[Array, "T+1 B"], discount: float) -> Float[Array, "T B"]:
    """G_t = R_{t+1} + γ · (G_{t+1}, or v(O_{t+1}) where the segment or a truncated episode ends there, or 0).

    0 follows a terminal step. What a dummy step gets has no meaning.
    """
    dummy = trajectory.first[1:]
    cut = jnp.concatenate([dummy[1:], jnp.ones_like(dummy[:1])])  # nothing of this episode follows in the segment

    def backwards(following: Float[Array, " B"], now: tuple[Array, Array, Array, Array]):
        reward, terminal, is_cut, next_value = now
        following = jnp.where(terminal, 0.0, jnp.where(is_cut, next_value, following))
        total = reward + discount * following
        return total, total

    steps = trajectory.reward, trajectory.terminal, cut, values[1:]
    return jax.lax.scan(backwards, values[-1], steps, reverse=True)[1]
