from collections import Counter

import pytest

from rgvf.questions import random_discounted_sums, random_network, random_shallow


def layer(name):
    return int(name.split(".")[0])


@pytest.mark.parametrize(("n_f", "n_a", "depth", "repeat"), [(16, 4, 8, 16), (1, 4, 4, 1), (3, 2, 1, 6), (4, 18, 3, 8)])
def test_structure(n_f, n_a, depth, repeat):
    network = random_network(n_f, n_a, discount=0.9, depth=depth, repeat=repeat, seed=3)
    assert network.n_predictions == n_f + depth * repeat * n_a
    outgoing = {name: [] for name in network.predictions}
    for source, target, weight in network.edges:
        outgoing[source].append((target, weight))
    per_layer_and_action = Counter()
    parents = set()
    for name, action in zip(network.predictions, network.conditions, strict=True):
        edges = outgoing[name]
        if layer(name) == 0:
            assert action is None
            assert [weight for _, weight in edges] == [1.0, 0.9]
            assert [target for target, _ in edges] == [f"f{name.split('.')[1]}", name]
            continue
        per_layer_and_action[layer(name), action] += 1
        assert all(weight == 1 for _, weight in edges)
        (parent, _), *others = edges
        assert (layer(name), action, parent) not in parents, "two nodes of a layer and action share a parent"
        parents.add((layer(name), action, parent))
        if parent in network.features:
            assert layer(name) == 1
            assert not others
        else:
            assert layer(parent) == layer(name) - 1
            assert len(others) == 1
            assert others[0][0] in network.features
    assert per_layer_and_action == {(d, a): repeat for d in range(1, depth + 1) for a in range(n_a)}


def test_about_half_of_layer_one_asks_about_a_feature_alone():
    network = random_network(32, 18, depth=1, repeat=16, seed=0)
    alone = Counter(source for source, _, _ in network.edges if layer(source) == 1)
    share = sum(n == 1 for n in alone.values()) / len(alone)
    assert 0.4 < share < 0.6


def test_parents_and_features_are_drawn_uniformly():
    counts = Counter()
    for seed in range(300):
        network = random_network(2, 2, depth=1, repeat=2, seed=seed)
        counts.update(t for s, t, w in network.edges if layer(s) == 1 and (t not in network.features))
    # Each of the two sums is a parent with probability 1/2 for each action: 300 expected, deviation about 12.
    assert all(abs(counts[f"0.{k}"] - 300) < 60 for k in range(2))


def test_everything_follows_from_the_seed():
    assert random_network(4, 3, depth=2, repeat=4, seed=5) == random_network(4, 3, depth=2, repeat=4, seed=5)
    assert random_network(4, 3, depth=2, repeat=4, seed=5) != random_network(4, 3, depth=2, repeat=4, seed=6)


def test_a_repeat_that_is_too_large_is_refused_or_capped():
    with pytest.raises(ValueError, match="repeat 9 is too large: layer 1 has only 8"):
        random_network(4, 3, depth=2, repeat=9, seed=0)
    network = random_network(4, 3, depth=2, repeat=9, seed=0, cap_repeat=True)
    assert Counter(map(layer, network.predictions)) == {0: 4, 1: 8 * 3, 2: 9 * 3}
    parents = {source: target for source, target, _ in reversed(network.edges)}  # the first edge of each node
    for action in range(3):
        drawn = [parents[f"1.{8 * action + i}"] for i in range(8)]
        assert sorted(drawn) == ["0.0", "0.1", "0.2", "0.3", "f0", "f1", "f2", "f3"]


@pytest.mark.parametrize(
    "wrong",
    [dict(discount=1.5), dict(discount=-0.1), dict(depth=-1), dict(repeat=0), dict(features=0), dict(actions=0)],
)
def test_arguments_out_of_range_are_refused(wrong):
    with pytest.raises(ValueError, match=r"must|needed|needs"):
        random_network(**{**dict(features=2, actions=2, depth=1, repeat=1, seed=0), **wrong})
    if "features" not in wrong:
        with pytest.raises(ValueError, match=r"must|needed|needs"):
            random_discounted_sums(**{**dict(actions=2, depth=1, repeat=1), **wrong})


def test_ablations():
    full = random_network(16, 6, seed=1)
    bare = full.without_actions()
    assert bare.edges == full.edges
    assert set(bare.conditions) == {None}
    sums = random_discounted_sums(6)
    assert sums.n_predictions == sums.n_features == full.n_predictions == 16 + 8 * 16 * 6
    flat = random_shallow(6)
    assert (flat.n_features, flat.n_predictions) == (128, 128 * 6)
    assert len(flat.edges) == flat.n_predictions
