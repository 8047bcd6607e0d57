"""Deep action-conditional questions about reward."""

from collections import Counter

import numpy as np
import pytest

from rgvf.questions import (
    MHVP_DISCOUNTS,
    FiniteMDP,
    QuestionNetwork,
    action_values,
    exact_answers,
    multi_horizon_values,
    random_network,
    union,
)


@pytest.mark.parametrize(("n_a", "depth", "repeat"), [(3, 8, 16), (2, 2, 3), (1, 4, 16), (6, 1, 40)])
def test_structure(n_a, depth, repeat):
    network = action_values(n_a, depth=depth, repeat=repeat, seed=5)
    assert network.features == ("reward",)
    edges = {name: [] for name in network.predictions}
    for source, target, weight in network.edges:
        edges[source].append((target, weight))
    layers = {name: int(name.split(".")[0]) for name in network.predictions}
    for k, discount in enumerate(MHVP_DISCOUNTS):
        assert edges[f"0.{k}"] == [("reward", 1.0), (f"0.{k}", discount)]
    parents = set()
    counts = Counter()
    for name, action in zip(network.predictions, network.conditions, strict=True):
        if layers[name] == 0:
            assert action is None
            continue
        (parent, one), *others = edges[name]
        assert others == [("reward", 1.0)]
        assert one == 1.0
        assert layers[parent] == layers[name] - 1
        parents.add((layers[name], action, parent))
        counts[layers[name], action] += 1
    assert len(parents) == sum(counts.values()), "a parent is drawn twice for an action"
    above = 10
    for layer in range(1, depth + 1):
        expected = min(repeat, above)
        assert [counts[layer, action] for action in range(n_a)] == [expected] * n_a
        above = expected * n_a


def test_parents_are_drawn_at_random_and_by_the_seed():
    networks = [action_values(3, depth=2, repeat=4, seed=seed) for seed in (0, 0, 1)]
    assert networks[0] == networks[1] != networks[2]
    drawn = Counter(
        target
        for seed in range(300)
        for source, target, _ in action_values(1, depth=1, repeat=5, seed=seed).edges
        if source.startswith("1.") and target != "reward"
    )
    assert len(drawn) == 10
    assert all(abs(n - 150) < 50 for n in drawn.values())  # deviation about 9


def test_depth_0_is_multi_horizon_values():
    assert multi_horizon_values(0.9) == multi_horizon_values([0.9])
    assert action_values(3, discounts=0.9, seed=0) == action_values(3, discounts=[0.9], seed=0)
    values, mhvp = action_values(3, depth=0, seed=0), multi_horizon_values()
    np.testing.assert_array_equal(values.dense, mhvp.dense)
    assert values.conditions == mhvp.conditions


def random_mdp(states=4, actions=2):
    rng = np.random.default_rng(0)
    transition = rng.dirichlet(np.ones(states), size=(states, actions))
    reward = rng.normal(size=(states, actions, states))
    return FiniteMDP(transition, {"reward": reward}, np.zeros(states, bool)), rng.dirichlet(np.ones(actions), states)


def test_exact_answers_are_those_of_the_sequence_of_actions_followed_by_the_policy():
    """By following the node's chain of parents, state by state; in layer 0 by linear algebra."""
    mdp, policy = random_mdp()
    network = action_values(2, depth=3, repeat=3, seed=1)
    answers = exact_answers(network, mdp, policy)
    transition, reward = mdp.transition, np.asarray(mdp.features["reward"])
    states = range(len(transition))

    parent = {s: t for s, t, _ in network.edges if s != t and t != "reward"}

    def follow(name, state):
        node = network.index[name]
        if name.startswith("0."):
            return answers[state, node]
        a = network.conditions[node]
        return sum(transition[state, a, s] * (reward[state, a, s] + follow(parent[name], s)) for s in states)

    for name in ("3.0", "3.4", "2.1", "1.5"):
        for state in states:
            assert answers[state, network.index[name]] == pytest.approx(follow(name, state), abs=1e-9)
    under_policy = np.einsum("sa,sat->st", policy, transition)
    gained = np.einsum("sa,sat,sat->s", policy, transition, reward)
    for k, discount in enumerate(MHVP_DISCOUNTS):
        values = np.linalg.solve(np.eye(len(states)) - discount * under_policy, gained)
        np.testing.assert_allclose(answers[:, k], values, atol=1e-9)


def test_described_and_saved(tmp_path):
    network = action_values(["left", "right"], discounts=[0.9], depth=2, repeat=1, seed=0)
    assert network.describe("2.0") == (
        "if I do left, then right and follow the policy from then on, what is the expected sum of reward over the "
        "next 2 steps + the discounted sum (γ = 0.9) of reward from step 3 on?"
    )
    assert QuestionNetwork.load(network.save(tmp_path / "q.json")) == network
    assert network.draw(tmp_path / "q.svg").stat().st_size > 1000


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"discounts": []}, "at least one discount"),
        ({"discounts": [1.5]}, r"discount must lie in \[0, 1\]"),
        ({"depth": -1}, "depth must be at least 0"),
        ({"repeat": 0}, "repeat must be at least 1"),
        ({"actions": 0}, "at least one action"),
    ],
)
def test_what_is_refused(arguments, said):
    with pytest.raises(ValueError, match=said):
        action_values(**{"actions": 2, "seed": 0, **arguments})


def test_a_union_asks_what_its_parts_ask():
    mdp, policy = random_mdp()
    rng = np.random.default_rng(1)
    features = {**mdp.features, "f0": rng.normal(size=np.shape(mdp.features["reward"]))}
    mdp = FiniteMDP(mdp.transition, features, mdp.terminal)
    random = random_network(["f0"], 2, depth=2, repeat=2, seed=0)
    parts = {"random": random, "reward": action_values(2, depth=2, repeat=2, seed=0)}
    whole = union(parts)
    assert whole.features == ("f0", "reward")
    answers = exact_answers(whole, mdp, policy)
    for key, part in parts.items():
        columns = [whole.index[f"{key} {name}"] for name in part.predictions]
        np.testing.assert_allclose(answers[:, columns], exact_answers(part, mdp, policy), atol=1e-12)
    assert union({"a": multi_horizon_values(), "b": random}).actions == random.actions
    with pytest.raises(ValueError, match="the same actions: 'b' has x"):
        union({"a": random, "b": QuestionNetwork(["f0"], {"n": "x"}, [("n", "f0")], ["x"])})
    one, other = (QuestionNetwork([f], [name], [(name, f)]) for f, name in (("f1", "b c"), ("f2", "c")))
    with pytest.raises(ValueError, match="'a b c' is named twice"):
        union({"a": one, "a b": other})


def different_questions(network):
    """How many there are: nodes with the same condition that look at the same, in the same way, are one."""
    kinds = dict.fromkeys(network.predictions, 0)
    while True:
        seen = {name: [] for name in kinds}
        for source, target, weight in network.edges:
            seen[source].append((str(kinds.get(target, target)), weight))
        conditions = dict(zip(network.predictions, network.conditions, strict=True))
        looks = {name: (kinds[name], str(conditions[name]), tuple(sorted(seen[name]))) for name in kinds}
        numbers = {look: i for i, look in enumerate(dict.fromkeys(looks.values()))}
        if len(numbers) == len(set(kinds.values())):
            return len(numbers)
        kinds = {name: numbers[look] for name, look in looks.items()}


def test_without_actions_many_questions_are_the_same():
    """The numbers of docs/results/minatar-reward.md."""
    network = action_values(3, seed=0)
    assert (network.n_predictions, different_questions(network)) == (376, 376)
    ablated = network.without_actions()
    assert (ablated.n_predictions, different_questions(ablated)) == (376, 85)
