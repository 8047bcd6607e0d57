from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rgvf.environments import GridWorld
from rgvf.questions import (
    FiniteMDP,
    QuestionNetwork,
    discounted_sum,
    exact_answers,
    full_tree,
    random_network,
    termination_prediction,
)
from tests.questions.strategies import network_arguments


def random_mdp(rng, features, states=5, actions=3, terminal=True):
    transition = rng.dirichlet(np.ones(states), size=(states, actions))
    names = {name: rng.normal(size=(states, actions, states)) for name in features}
    ends = np.arange(states) == states - 1 if terminal else None
    return FiniteMDP(transition, names, ends), rng.dirichlet(np.ones(actions), size=states)


def by_iteration(network, mdp, policy, sweeps=400):
    """The Bellman equation of every node, applied over and over, with plain loops over states and actions."""
    states, actions, _ = mdp.transition.shape
    terminal = np.zeros(states, bool) if mdp.terminal is None else mdp.terminal
    answers = np.zeros((states, network.n_predictions))
    features = [np.broadcast_to(mdp.features[name], mdp.transition.shape) for name in network.features]
    for _ in range(sweeps):
        inner = (answers * ~terminal[:, None]) @ network.dense[:, : network.n_predictions].T  # [s', node]
        new = np.zeros_like(answers)
        for s, a in product(range(states), range(actions)):
            outer = sum(
                network.dense[:, network.n_predictions + k] * (mdp.transition[s, a] @ f[s, a])
                for k, f in enumerate(features)
            )
            after = mdp.transition[s, a] @ inner + outer
            for i, condition in enumerate(network.conditions):
                weight = policy[s, a] if condition is None else float(condition == a)
                new[s, i] += weight * after[i]
        answers = new
    return answers * ~terminal[:, None]


@settings(max_examples=12, deadline=None)
@given(network_arguments(max_nodes=5), st.integers(0, 10_000), st.booleans())
def test_equals_iterating_the_bellman_equations(arguments, seed, terminal):
    network = QuestionNetwork(**arguments)
    rng = np.random.default_rng(seed)
    mdp, policy = random_mdp(rng, network.features, states=4, terminal=terminal)
    np.testing.assert_allclose(exact_answers(network, mdp, policy), by_iteration(network, mdp, policy), atol=1e-6)


def test_a_random_network_equals_iteration():
    network = random_network(2, 3, discount=0.8, depth=3, repeat=3, seed=0)
    mdp, policy = random_mdp(np.random.default_rng(0), network.features)
    np.testing.assert_allclose(exact_answers(network, mdp, policy), by_iteration(network, mdp, policy, 100), atol=1e-8)


def test_a_tree_sums_the_feature_along_its_action_sequence():
    rng = np.random.default_rng(1)
    mdp, policy = random_mdp(rng, ["f"], actions=2, terminal=False)
    network = full_tree("f", ["a", "b"], 2)
    answers = exact_answers(network, mdp, policy)
    reward = (mdp.transition * mdp.features["f"]).sum(-1)
    for node, name in enumerate(network.predictions):
        sequence = ["ab".index(action) for action in name.split(",")]
        expected, where = np.zeros(5), np.eye(5)
        for action in sequence:
            expected += where @ reward[:, action]
            where = where @ mdp.transition[:, action]
        np.testing.assert_allclose(answers[:, node], expected)


def test_the_discounted_sum_of_a_constant():
    mdp, policy = random_mdp(np.random.default_rng(2), ["constant"], terminal=False)
    mdp = FiniteMDP(mdp.transition, {"constant": np.ones(1)})
    np.testing.assert_allclose(exact_answers(discounted_sum(["constant"], 0.9), mdp, policy), 10.0)


def test_steps_until_an_episode_ends():
    # From state 0 the episode ends with probability 1/4 at each step: 4 steps on average.
    transition = np.array([[[0.75, 0.25]], [[1.0, 0.0]]])
    mdp = FiniteMDP(transition, {"constant": np.ones(1)}, np.array([False, True]))
    answers = exact_answers(termination_prediction(), mdp, np.ones((2, 1)))
    np.testing.assert_allclose(answers, [[4.0], [0.0]])


def test_an_undiscounted_sum_without_termination_has_no_answer():
    mdp, policy = random_mdp(np.random.default_rng(3), ["constant"], terminal=False)
    with pytest.raises(ValueError, match="'steps left'.*no finite answer"):
        exact_answers(termination_prediction(), mdp, policy)


def test_a_terminal_transition_still_counts_its_feature():
    transition = np.array([[[0.0, 1.0]], [[0.0, 1.0]]])
    mdp = FiniteMDP(transition, {"reward": np.array([0.0, 7.0])}, np.array([False, True]))
    assert exact_answers(discounted_sum(["reward"], 0.9), mdp, np.ones((2, 1)))[0, 0] == 7.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (dict(policy=np.ones((2, 2))), "probability distribution"),
        (dict(policy=np.full((3, 2), 0.5)), "shape"),
        (dict(network=discounted_sum(["nope"], 0.5)), "no feature 'nope'"),
        (
            dict(network=QuestionNetwork(["f"], {"x": 4}, [("x", "f")], 5)),
            "'x' is conditioned on action '4'; the MDP has 2",
        ),
    ],
)
def test_wrong_arguments_are_refused(change, message):
    mdp = FiniteMDP(np.full((2, 2, 2), 0.5), {"f": np.ones(1)})
    arguments = dict(network=discounted_sum(["f"], 0.5), mdp=mdp, policy=np.full((2, 2), 0.5))
    with pytest.raises(ValueError, match=message):
        exact_answers(**{**arguments, **change})


def test_actions_are_found_by_name():
    """A network may name some of them, in another order; without names they are found by number."""
    room = GridWorld(size=3)
    touch = dict(features=["touch"], predictions={"if right": "right", "if up": "up"})
    edges = [("if right", "touch"), ("if up", "touch")]
    mdp, policy = room.mdp(), room.uniform_policy()
    answers = exact_answers(QuestionNetwork(**touch, edges=edges, actions=["right", "up"]), mdp, policy)
    cells = np.arange(9).reshape(3, 3)
    np.testing.assert_array_equal(answers[:, 0], np.isin(cells, cells[:, 2]).ravel())
    np.testing.assert_array_equal(answers[:, 1], np.isin(cells, cells[0]).ravel())
    numbered = QuestionNetwork(["touch"], {"x": 1, "y": 0}, [("x", "touch"), ("y", "touch")], 4)
    assert mdp.actions[:2] == ("up", "right")
    for each in (mdp, FiniteMDP(mdp.transition, mdp.features)):
        np.testing.assert_array_equal(exact_answers(numbered, each, policy), answers)


def test_actions_that_cannot_be_found_are_refused():
    room = GridWorld(size=3)
    other = QuestionNetwork(["touch"], {"x": "jump"}, [("x", "touch")], ["jump", "up"])
    with pytest.raises(ValueError, match="'x' is conditioned on action 'jump'; the MDP has up, right, down, left"):
        exact_answers(other, room.mdp(), room.uniform_policy())
    unnamed = FiniteMDP(room.mdp().transition, room.mdp().features)
    with pytest.raises(ValueError, match=r"has the actions jump, up, and the MDP has 4 without names; name them"):
        exact_answers(other, unnamed, room.uniform_policy())
    with pytest.raises(ValueError, match="transition has 2 actions, and there are 1 names"):
        FiniteMDP(np.full((2, 2, 2), 0.5), {}, actions=["up"])


def test_a_transition_that_is_no_distribution_is_refused():
    with pytest.raises(ValueError, match="probability distribution"):
        FiniteMDP(np.full((2, 2, 2), 0.6), {})
    with pytest.raises(ValueError, match="'f' has shape"):
        FiniteMDP(np.full((2, 2, 2), 0.5), {"f": np.ones(3)})


@pytest.mark.unchecked_types
def test_lists_and_integers_are_accepted():
    chain = [[[0.0, 1.0, 0.0]], [[0.0, 0.0, 1.0]], [[0.0, 0.0, 1.0]]]
    mdp = FiniteMDP(chain, {"constant": np.ones(1)}, [0, 0, 1])  # pyright: ignore[reportArgumentType]
    answers = exact_answers(termination_prediction(), mdp, [[1.0]] * 3)  # pyright: ignore[reportArgumentType]
    np.testing.assert_allclose(answers[:, 0], [2, 1, 0])
