"""The GRU against Equinox's, and a segment against single steps."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rgvf.agents import AgentConfig
from rgvf.networks import GRU, ConvRepresentation, DenseRepresentation, Recurrent, Sizes, make_representation
from rgvf.runs import RunConfig
from rgvf.runs.run import prepare
from rgvf.tasks import View
from rgvf.trajectory import NO_ACTION, Past, Percept
from tests.helpers import ATARI, SMALL_IMAGE, VECTOR, trajectory


def normal(seed, *shape):
    return jax.random.normal(jax.random.key(seed), shape)


def recurrent(size=7):
    """With biases that are not zero, as after training."""
    made = make_representation("gru", VECTOR, jax.random.key(0), Sizes(dense=(6,), memory=size))
    biases = normal(1, 3 * size), normal(2, size)
    return eqx.tree_at(lambda r: (r.gru.inputs.bias, r.gru.bias), made, biases)


def segment(representation, seed=0):
    """Experience with an episode that ends within it and one that begins with it, and some past."""
    batch = trajectory(VECTOR, seed, steps=9, environments=3, terminal=[(3, 0)], first=[(5, 0), (0, 1), (7, 1)])
    past = Past(normal(seed + 9, 3, representation.size), jnp.array([1, 0, 1]), jnp.array([0.5, -1.0, 0.25]))
    return batch._replace(past=past)


def test_the_gru_is_that_of_equinox():
    gru = eqx.tree_at(
        lambda gru: (gru.inputs.bias, gru.bias), GRU(jax.random.key(0), 5, 4), (normal(1, 12), normal(2, 4))
    )
    cell = eqx.nn.GRUCell(5, 4, key=jax.random.key(1))
    weights = gru.inputs.weight.T, gru.recurrent.T, gru.inputs.bias, gru.bias
    cell = eqx.tree_at(lambda c: (c.weight_ih, c.weight_hh, c.bias, c.bias_n), cell, weights)
    x, h = normal(3, 6, 5), normal(4, 6, 4)
    np.testing.assert_allclose(gru(h, gru.inputs(x)), jax.vmap(cell)(x, h), rtol=1e-5, atol=1e-6)


def test_initial_weights():
    gru = GRU(jax.random.key(0), 300, 64)
    for gate in np.split(np.asarray(gru.recurrent), 3, axis=1):
        np.testing.assert_allclose(gate @ gate.T, np.eye(64), atol=1e-5)
    assert np.abs(gru.inputs.weight).max() <= 2 / np.sqrt(300)
    assert abs(np.std(gru.inputs.weight) * np.sqrt(300) - 0.8796) < 0.01  # a normal, cut at two deviations
    assert not np.any(gru.inputs.bias)
    assert not np.any(gru.bias)


def test_an_unrolled_segment_with_resets_is_one_step_after_another():
    representation = recurrent()
    batch = segment(representation)
    memory, expected = batch.past.memory, []
    action, reward = batch.past.last_action, batch.past.last_reward
    for t in range(10):
        percept = Past(memory, action, reward).percept(batch.observation[t], batch.first[t])
        memory, state = representation.step(memory, percept)
        expected.append(state)
        if t < 9:
            action, reward = batch.action[t], batch.reward[t]
    np.testing.assert_allclose(View.of(batch, representation).states, jnp.stack(expected), rtol=1e-5, atol=1e-6)


def test_gradients_through_a_segment_are_those_of_single_steps():
    """All of them, against automatic differentiation of one step after another, in double precision."""
    with jax.enable_x64(True):
        gru = jax.tree.map(lambda leaf: leaf.astype(jnp.float64), recurrent().gru)
        h, x, weight = (normal(seed, *shape) for seed, shape in ((3, (4, 7)), (4, (9, 4, 21)), (5, (9, 4, 7))))
        first = jnp.zeros((9, 4), bool).at[[0, 3, 3, 8], [1, 0, 2, 3]].set(True)

        def one_by_one(gru, h, x):
            states = []
            for t in range(len(x)):
                h = gru(jnp.where(first[t, :, None], 0.0, h), x[t])
                states.append(h)
            return jnp.stack(states)

        def loss(unroll, gru, h, x):
            return jnp.sum(weight * unroll(gru, h, x) ** 2)

        ours = jax.grad(lambda *a: loss(lambda gru, h, x: gru.unroll(h, x, first), *a), (0, 1, 2))(gru, h, x)
        expected = jax.grad(lambda *a: loss(one_by_one, *a), (0, 1, 2))(gru, h, x)
        compared = jax.tree.leaves(
            jax.tree.map(
                lambda a, b: np.abs(a - b).max(),
                (ours[0].recurrent, ours[0].bias, *ours[1:]),
                (expected[0].recurrent, expected[0].bias, *expected[1:]),
            )
        )
        assert max(compared) < 1e-12
        assert min(float(jnp.abs(each).max()) for each in jax.tree.leaves(expected[1:])) > 0.1


def test_an_episode_that_begins_has_nothing_before_it():
    """From a reset on, states are those of the episode alone."""
    representation = recurrent()
    batch = segment(representation)
    alone = jax.tree.map(lambda x: x[5:, :1], batch._replace(past=Past()))
    fresh = Past.new(representation.initial_memory(1), 1)
    states = View.of(alone._replace(past=fresh), representation).states
    np.testing.assert_allclose(View.of(batch, representation).states[5:, :1], states, rtol=1e-5, atol=1e-6)


def test_the_last_action_and_reward_are_seen():
    representation = recurrent()
    memory, observation, later = representation.initial_memory(1), jnp.ones((1, 4)), jnp.zeros(1, bool)

    def state(action, reward, first=later):
        percept = Past(memory, jnp.array([action]), jnp.array([reward])).percept(observation, first)
        return np.asarray(representation.step(memory, percept)[1])

    states = [state(0, 0.0), state(1, 0.0), state(0, 1.0), state(NO_ACTION, 0.0)]
    for i, one in enumerate(states):
        assert all(np.abs(one - other).max() > 1e-3 for other in states[:i])
    np.testing.assert_array_equal(state(1, 1.0, ~later), states[3])


def test_gradients_go_back_to_the_start_of_the_segment_and_of_the_episode():
    representation = recurrent()
    batch = segment(representation)

    def last_states(memory, observation):
        past = batch.past._replace(memory=memory)
        return jnp.sum(View.of(batch._replace(past=past, observation=observation), representation).states[-1])

    by_memory, by_observation = jax.grad(last_states, (0, 1))(batch.past.memory, batch.observation)
    assert not np.any(by_memory)
    reached = np.abs(by_observation).max(-1) > 0
    np.testing.assert_array_equal(reached[:, 0], np.arange(10) >= 5)
    np.testing.assert_array_equal(reached[:, 1], np.arange(10) >= 7)
    assert reached[:, 2].all()


@pytest.mark.parametrize(("spec", "units"), [(ATARI, 512), (SMALL_IMAGE, 128), (VECTOR, 128)])
def test_the_torso_is_what_the_observations_call_for(spec, units):
    made = eqx.filter_eval_shape(make_representation, "gru", spec, jax.random.key(0))
    feed_forward = eqx.filter_eval_shape(make_representation, "auto", spec, jax.random.key(0))
    assert isinstance(made, Recurrent)
    assert type(made.torso) is type(feed_forward)
    assert made.size == units
    torso = {ATARI: 512, SMALL_IMAGE: 128, VECTOR: 64}[spec]
    assert made.torso.size == torso
    assert made.gru.inputs.weight.shape == (torso + len(spec.actions) + 1, 3 * units)
    if isinstance(feed_forward, ConvRepresentation):
        assert isinstance(made.torso, ConvRepresentation)
        kernels = [each.weight.shape for each in feed_forward.convolutions]
        assert [each.weight.shape for each in made.torso.convolutions] == kernels


def test_sizes_can_be_set():
    made = make_representation("gru", SMALL_IMAGE, jax.random.key(0), Sizes((5,), (9, 8), 6))
    assert isinstance(made, Recurrent)
    assert isinstance(made.torso, ConvRepresentation)
    assert [layer.bias.shape for layer in made.torso.dense.layers] == [(9,), (8,)]
    assert made.torso.convolutions[0].bias.shape == (5,)
    assert made.size == 6


def test_a_memory_of_a_representation_without_one_is_refused():
    message = "the representation mlp has no memory, so memory cannot be set; gru has one"
    with pytest.raises(ValueError, match=message):
        prepare(RunConfig("cue/10", AgentConfig("a2c", memory=64)))
    with pytest.raises(ValueError, match="memory must be between 0 and 65,536, not -1"):
        AgentConfig("a2c", memory=-1)


def test_curl_needs_a_representation_without_memory():
    with pytest.raises(ValueError, match="leave out curl, or choose a representation that has none, such as auto"):
        prepare(RunConfig("minatar/Breakout", AgentConfig("rgvf+curl", representation="gru")))


def test_without_memory_a_percept_is_the_observation():
    representation = DenseRepresentation(jax.random.key(0), (4,), (6,))
    batch = trajectory(VECTOR)
    assert batch.percepts == Percept(batch.observation, batch.first)
    assert representation.initial_memory(3) == ()
    memory, state = representation.step((), jax.tree.map(lambda x: x[0], batch.percepts))
    assert memory == ()
    np.testing.assert_allclose(state, View.of(batch, representation).states[0], rtol=1e-6)
