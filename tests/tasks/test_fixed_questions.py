"""What agents are asked: the baselines that are question networks, and networks of one's own."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rgvf.agents import AgentConfig, World, make_learner, make_questions
from rgvf.auxiliary import View
from rgvf.features import RandomPatches
from rgvf.questions import QuestionNetwork, mask, multi_horizon_values, targets
from rgvf.trajectory import Trajectory, Transition

WORLD = World((10, 10, 2), ("left", "stay", "right"))


def test_multi_horizon_values_have_ten_targets():
    """y_k(t) → R + γ_k · y_k(t+1), γ = 0, 1 − 1/10, …, 1 − 1/90; only R where the episode ends."""
    network, features = make_questions(AgentConfig(name="mhvp"), WORLD, 0, "mhvp")
    discounts = [0.0, 0.9, 0.95, 1 - 1 / 30, 0.975, 0.98, 1 - 1 / 60, 1 - 1 / 70, 0.9875, 1 - 1 / 90]
    assert network == multi_horizon_values(discounts)
    reward = jnp.array([0.5, -1.0])
    step = Transition(jnp.zeros((2, 10, 10, 2)), jnp.array([0, 1]), reward, jnp.zeros((2, 10, 10, 2)))
    following = np.arange(1, 21.0).reshape(2, 10)
    got = targets(network.table, np.asarray(features(step)), following, np.array([False, True]))
    np.testing.assert_allclose(got[0], [0.5 + g * (k + 1) for k, g in enumerate(discounts)], rtol=1e-6)
    np.testing.assert_allclose(got[1], -1.0)
    assert mask(network.table, np.array([0, 1])).all()


def test_mhvp_can_have_1024_predictions():
    network, _ = make_questions(AgentConfig(name="mhvp", horizons=1024), WORLD, 0, "mhvp")
    discounts = [weight for source, target, weight in network.edges if source == target]
    assert network.n_predictions == 1024
    assert discounts == sorted(discounts)
    assert 0.98 < discounts[-1] < 0.99


@pytest.mark.parametrize(
    ("name", "reward", "terminal", "answers_next", "expected"),
    [
        ("reward-prediction", 0.5, False, 9.0, 0.5),
        ("reward-prediction", 0.5, True, 9.0, 0.5),
        ("termination-prediction", 0.5, False, 9.0, 10.0),
        ("termination-prediction", 0.5, True, 9.0, 1.0),
    ],
)
def test_what_unreal_and_kartal_ask(name, reward, terminal, answers_next, expected):
    network, features = make_questions(AgentConfig(name=name), WORLD, 0, name)
    step = Transition(jnp.zeros((1, 10, 10, 2)), jnp.array([0]), jnp.array([reward]), jnp.zeros((1, 10, 10, 2)))
    got = targets(network.table, np.asarray(features(step)), np.array([[answers_next]]), np.array([terminal]))
    np.testing.assert_allclose(got, [[expected]])


OWN = QuestionNetwork(
    features=["pixel-change/7", "reward", "random-patches/2", "constant"],
    predictions={"flicker": "right", "gain": None, "patch": "left", "time": None},
    edges=[
        ("flicker", "pixel-change/7"),
        ("gain", "reward"),
        ("gain", "gain", 0.5),
        ("patch", "random-patches/2"),
        ("patch", "gain"),
        ("time", "constant"),
        ("time", "time", 0.9),
    ],
    actions=["right", "left"],
)


def test_a_network_of_one_s_own_is_asked_with_the_features_and_actions_that_it_names(tmp_path):
    config = AgentConfig(questions=str(OWN.save(tmp_path / "own.json")), feature_scale=2.0)
    network, features = make_questions(config, WORLD, seed=3)
    assert network.actions == WORLD.actions
    assert [c if c is None else network.actions[c] for c in network.conditions] == ["right", None, "left", None]
    assert features.names == OWN.features

    rng = np.random.default_rng(0)
    before, after = rng.integers(0, 256, size=(2, 10, 10, 2)).astype(np.uint8)
    got = features(Transition(jnp.asarray(before), jnp.array(0), jnp.array(0.25), jnp.asarray(after)))
    change = after / 255.0 - before / 255.0
    _, patches = make_questions(AgentConfig(feature_scale=2.0), WORLD, seed=3)
    assert isinstance(patches, RandomPatches)
    weight = np.asarray(patches.weight[0]).reshape(5, 5, 2)  # 10 pixels have two patches of 5 to a side
    expected = [np.abs(change[0, 7]).mean(), 0.25, abs((weight * change[5:, :5]).sum()), 1.0]
    np.testing.assert_allclose(got, expected, rtol=1e-5)


def test_it_can_be_learned(tmp_path):
    config = AgentConfig(questions=str(OWN.save(tmp_path / "own.json")), hidden=8)
    learner = make_learner(config, WORLD, 0)
    agent = learner.init(jax.random.key(0))
    assert agent.modules["rgvf"].output.weight.shape == (8, 4)
    rng = np.random.default_rng(0)
    trajectory = Trajectory(
        jnp.asarray(rng.integers(0, 256, size=(4, 2, 10, 10, 2)), jnp.uint8),
        jnp.asarray(rng.integers(3, size=(3, 2)), jnp.int32),
        jnp.zeros((3, 2)),
        jnp.zeros((3, 2), bool),
        jnp.zeros((4, 2), bool),
    )
    representation = agent.modules["representation"]
    view = View(trajectory, representation, representation.unroll(trajectory))
    loss, _, _ = learner.tasks[1].task.loss(agent.modules["rgvf"], agent.task_states["rgvf"], view, jax.random.key(0))
    assert np.isfinite(loss)


@pytest.mark.parametrize(
    ("feature", "action", "said"),
    [
        ("touch", None, "no feature 'touch' here; there are reward, constant, random-patches/0"),
        ("reward/1", None, "no feature 'reward/1'"),
        ("pixel-change/100", None, "no feature 'pixel-change/100': the last of its kind is pixel-change/99"),
        ("pixel-change", None, "no feature 'pixel-change'"),
        ("random-linear/-1", None, "no feature"),
        ("reward", "jump", "the action 'jump'; there are left, stay, right"),
    ],
)
def test_what_this_world_does_not_have_is_refused(tmp_path, feature, action, said):
    network = QuestionNetwork([feature], {"x": action}, [("x", feature)], [action] if action else [])
    config = AgentConfig(questions=str(network.save(tmp_path / "own.json")))
    with pytest.raises(ValueError, match=said):
        make_questions(config, WORLD, 0)


def test_pixel_change_needs_an_image(tmp_path):
    network = QuestionNetwork(["pixel-change/0"], ["x"], [("x", "pixel-change/0")])
    config = AgentConfig(questions=str(network.save(tmp_path / "own.json")))
    with pytest.raises(ValueError, match="pixel-change needs an image"):
        make_questions(config, World((4,), ("a",)), 0)
