"""The question networks that are not random: the baselines, and networks of the user."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rgvf.agents import AgentConfig
from rgvf.features import RandomPatches
from rgvf.questions import QuestionNetwork, mask, multi_horizon_values, targets
from rgvf.tasks import (
    GivenQuestions,
    MultiHorizonValues,
    RandomQuestions,
    RewardPrediction,
    TerminationPrediction,
    View,
)
from rgvf.trajectory import Transition
from tests.helpers import SMALL_IMAGE, VECTOR, learner_of, trajectory


def questions(settings, spec=SMALL_IMAGE, seed=0):
    network = settings.make_network(spec, seed)
    return network, settings.make_features(network, spec, seed)


def test_multi_horizon_values_have_ten_targets():
    """y_k(t) → R + γ_k · y_k(t+1), γ = 0, 1 − 1/10, …, 1 − 1/90; only R where the episode ends."""
    network, features = questions(MultiHorizonValues())
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
    network, _ = questions(MultiHorizonValues(horizons=1024))
    discounts = [weight for source, target, weight in network.edges if source == target]
    assert network.n_predictions == 1024
    assert discounts == sorted(discounts)
    assert 0.98 < discounts[-1] < 0.99


@pytest.mark.parametrize(
    ("settings", "reward", "terminal", "next_answer", "expected"),
    [
        (RewardPrediction(), 0.5, False, 9.0, 0.5),
        (RewardPrediction(), 0.5, True, 9.0, 0.5),
        (TerminationPrediction(), 0.5, False, 9.0, 10.0),
        (TerminationPrediction(), 0.5, True, 9.0, 1.0),
    ],
)
def test_targets_of_reward_and_termination_prediction(settings, reward, terminal, next_answer, expected):
    network, features = questions(settings)
    step = Transition(jnp.zeros((1, 10, 10, 2)), jnp.array([0]), jnp.array([reward]), jnp.zeros((1, 10, 10, 2)))
    got = targets(network.table, np.asarray(features(step)), np.array([[next_answer]]), np.array([terminal]))
    np.testing.assert_allclose(got, [[expected]])


GIVEN = QuestionNetwork(
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


def test_a_given_network_has_the_features_and_actions_that_it_names():
    network, features = questions(GivenQuestions.of(GIVEN, feature_scale=2.0), seed=3)
    assert network.actions == SMALL_IMAGE.actions
    assert [c if c is None else network.actions[c] for c in network.conditions] == ["right", None, "left", None]
    assert features.names == GIVEN.features

    rng = np.random.default_rng(0)
    before, after = rng.integers(0, 256, size=(2, 10, 10, 2)).astype(np.uint8)
    got = features(Transition(jnp.asarray(before), jnp.array(0), jnp.array(0.25), jnp.asarray(after)))
    change = after / 255.0 - before / 255.0
    _, patches = questions(RandomQuestions(feature_scale=2.0), seed=3)  # the same seed has the same random features
    assert isinstance(patches, RandomPatches)
    weight = np.asarray(patches.weight[0]).reshape(5, 5, 2)  # 10 pixels have two patches of 5 to a side
    expected = [np.abs(change[0, 7]).mean(), 0.25, abs((weight * change[5:, :5]).sum()), 1.0]
    np.testing.assert_allclose(got, expected, rtol=1e-5)


def test_a_given_network_can_be_read_from_a_file(tmp_path):
    path = GIVEN.save(tmp_path / "questions.json")
    assert GivenQuestions(path.read_text()) == GivenQuestions.of(GIVEN)


def test_a_given_network_can_be_learned():
    learner = learner_of(AgentConfig(GivenQuestions.of(GIVEN), hidden=8), SMALL_IMAGE)
    agent = learner.init(jax.random.key(0))
    head, state = agent.modules["questions"], agent.task_states["questions"]
    assert head.output.weight.shape == (8, 4)
    batch = trajectory(SMALL_IMAGE, reward=0.0)
    representation = agent.modules["representation"]
    view = View.of(batch, representation)
    loss, _, _ = learner.tasks[1].task.loss(head, state, view, jax.random.key(0))
    assert np.isfinite(loss)


@pytest.mark.parametrize(
    ("feature", "action", "said"),
    [
        ("touch", None, "no feature 'touch' here; choose from reward, constant, random-patches/0"),
        ("reward/1", None, "no feature 'reward/1'"),
        ("pixel-change/100", None, "no feature 'pixel-change/100': the last of its kind is pixel-change/99"),
        ("pixel-change", None, "no feature 'pixel-change'"),
        ("random-linear/-1", None, "no feature"),
        ("reward", "jump", "the action 'jump'; the environment has left, stay, right"),
    ],
)
def test_what_the_environment_does_not_have_is_refused(feature, action, said):
    network = QuestionNetwork([feature], {"x": action}, [("x", feature)], [action] if action else [])
    with pytest.raises(ValueError, match=said):
        questions(GivenQuestions.of(network))


def test_pixel_change_needs_an_image():
    network = QuestionNetwork(["pixel-change/0"], ["x"], [("x", "pixel-change/0")])
    with pytest.raises(ValueError, match="pixel-change needs an image"):
        questions(GivenQuestions.of(network), VECTOR)


def test_the_task_needs_a_network():
    with pytest.raises(ValueError, match="`questions` needs a question network"):
        questions(GivenQuestions())
    with pytest.raises(
        ValueError, match=r"not 'mine.json'; of a file: GivenQuestions.of\(QuestionNetwork.load\(\"FILE.json\"\)\)$"
    ):
        questions(GivenQuestions("mine.json"))
    with pytest.raises(ValueError, match="not valid JSON"):
        questions(GivenQuestions('{"format": '))
