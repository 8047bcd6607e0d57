"""Unrolled questions, against exact answers in the grid world."""

import numpy as np
import pytest

from rgvf.environments import GridWorld
from rgvf.questions import UNCONDITIONED, QuestionNetwork, exact_answers, full_tree, plans, random_network

ROOM = GridWorld(size=4)
MDP = ROOM.mdp()
POLICY = np.random.default_rng(0).dirichlet(np.ones(4), ROOM.n_states)


def expected_sum(network, plan, answers, steps):
    """What a plan gives in each state, if it is left after so many steps: the distribution over states is moved on."""
    states = np.eye(ROOM.n_states)
    total = np.zeros(ROOM.n_states)
    steps = min(steps, plan.length)
    for action, weights in zip(plan.action[:steps], plan.feature, strict=False):
        acts = POLICY if action == UNCONDITIONED else np.eye(4)[np.full(ROOM.n_states, action)]
        for name, weight in zip(network.features, weights, strict=True):
            expected = (MDP.transition * np.broadcast_to(MDP.features[name], MDP.transition.shape)).sum(-1)
            total += weight * states @ (acts * expected).sum(-1)
        states = states @ np.einsum("sa,sat->st", acts, MDP.transition)
    return total + states @ answers[:, plan.nodes] @ plan.open[steps]


NETWORKS = [
    random_network(["touch", "reward"], ROOM.actions, depth=4, repeat=3, discount=0.8, seed=0),
    random_network(["touch", "reward"], ROOM.actions, depth=2, repeat=2, discount=0.8, seed=1).without_actions(),
    full_tree("touch", ROOM.actions, depth=2),
    QuestionNetwork(  # it branches at each step, and one loop names an action
        ["touch", "reward"],
        {"all": None, "down": "down", "up": "up", "always left": "left"},
        [
            ("all", "touch"),
            ("all", "down", 0.5),
            ("all", "up", -2),
            ("all", "always left"),
            ("down", "reward", 3),
            ("down", "up"),
            ("up", "touch"),
            ("always left", "always left", 0.7),
            ("always left", "touch"),
        ],
        ROOM.actions,
    ),
]


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("steps", [1, 3, 12])
def test_the_plans_of_a_question_add_up_to_its_answer(network, steps):
    answers = exact_answers(network, MDP, POLICY)
    for node in range(network.n_predictions):
        ways = plans(network, node, steps)
        assert ways
        for left_after in range(steps + 1):
            total = sum(expected_sum(network, way, answers, left_after) for way in ways)
            np.testing.assert_allclose(total, answers[:, node], atol=1e-9)


def test_a_plan_ends_where_nothing_is_left_or_the_rest_is_negligible():
    network = random_network(["touch"], ["a", "b"], depth=1, repeat=2, discount=0.5, seed=0)
    assert [way.length for way in plans(network, network.index["0.0"], 100)] == [6]  # 0.5⁶ < 0.02
    ends = {plans(network, node, 100)[0].length for node in range(1, network.n_predictions)}
    assert ends == {1, 1 + 6}  # of the feature itself, and of its discounted sum


def test_a_question_that_leads_too_many_ways_is_not_unrolled():
    names = [f"{i}" for i in range(4)]
    edges = [(name, other, 0.2) for name in names for other in names] + [(name, "touch", 1.0) for name in names]
    network = QuestionNetwork(["touch"], dict(zip(names, ROOM.actions, strict=True)), edges, ROOM.actions)
    assert plans(network, 0, 50) == ()
