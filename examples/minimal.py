"""The whole algorithm on one page: questions train a representation, and values are learned on it.

An agent walks through a room at random. No reward trains its representation φ, only questions about bumps into walls:
the paper's Section 3 and Figure 3, with nothing but arrays, modules and one pure update.
"""

import jax
import jax.numpy as jnp
import optax

from rgvf.agents import REPRESENTATION, Learner, OptimisedTask
from rgvf.environments import GridWorld
from rgvf.features import Touch
from rgvf.networks import DenseRepresentation
from rgvf.questions import exact_answers, random_network
from rgvf.tasks import AnswersTask, ValueTask, question_arrays
from rgvf.trajectory import Trajectory

T, B, GAMMA = 8, 16, 0.98  # steps in a segment, environments, discount
room = GridWorld(size=7, goal=(0, 1))
network = random_network(["touch"], room.actions, discount=0.8, depth=3, repeat=1, seed=0)  # Section 3.2

# L_value = ½ (R_t+1 + γ·v(S_t+1) − v(S_t))², which only reads S_t = φ(O_t): stop-gradient
value = OptimisedTask("value", ValueTask(GAMMA, hidden=32), optax.adam(5e-4), trains_representation=False)
# L_answers = ½ Σ_i m_i(t)·(Σ_j W_ij·ŷ_j(t+1) + Σ_k W_ik·f_k(t+1) − ŷ_i(t))²: Section 3.1. It trains φ, by 1/√n of its
# gradient where n answers learn from a step, as in the authors' code.
answers = OptimisedTask("answers", AnswersTask(question_arrays(network, Touch()), hidden=32), optax.adam(5e-4))
learner = Learner(lambda key: DenseRepresentation(key, room.observation_shape, (64, 64, 32)), [value, answers])


def step(before, key):
    """O_t, A_t and R_t+1 of every environment; the policy is uniformly random."""
    action_key, step_key = jax.random.split(key)
    action = jax.random.randint(action_key, (B,), 0, len(room.actions))
    state, after = jax.vmap(room.step)(before[0], action, jax.random.split(step_key, B))
    return (state, after.observation), (before[1], action, after.reward)


def update(carry, key):
    """A segment of experience, then (θ_k, φ) ← (θ_k, φ) − optimiser_k(∇L_k) for each task k."""
    agent, before = carry
    *keys, update_key = jax.random.split(key, T + 1)
    after, (observation, action, reward) = jax.lax.scan(step, before, jnp.stack(keys))
    ended = jnp.zeros((T + 1, B), bool)  # no episode ends in this room
    trajectory = Trajectory(jnp.concatenate([observation, after[1][None]]), action, reward, ended[1:], ended)
    agent, metrics = learner.update(agent, trajectory, update_key)
    return (agent, after), metrics["answers/loss"]


train = jax.jit(lambda carry, key: jax.lax.scan(update, carry, jax.random.split(key, 1000)))
carry = learner.init(jax.random.key(0)), jax.vmap(room.reset)(jax.random.split(jax.random.key(1), B))
truth = exact_answers(network, room.mdp(), room.uniform_policy()), room.values(GAMMA)[:, None]
for i in range(1, 6):
    carry, loss = train(carry, jax.random.key(1 + i))
    modules = carry[0].modules
    states = modules[REPRESENTATION](jnp.asarray(room.views))  # of all 49 cells
    errors = [((modules[name](states) - y) ** 2).mean() for name, y in zip(("answers", "value"), truth, strict=True)]
    steps = 1000 * T * B * i
    print(f"{steps:7,} steps   loss {loss.mean():.3f}   squared error: answers {errors[0]:.3f}, values {errors[1]:.3f}")
