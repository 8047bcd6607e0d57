"""Questions about reward as tasks."""

import numpy as np
import pytest

from rgvf.agents import AgentConfig
from rgvf.features import Normalised
from rgvf.questions import action_values, multi_horizon_values, union
from rgvf.tasks import ActionValues, ActionValuesNoActions, MultiHorizonValues, RandomAndActionValues, RandomQuestions
from tests.helpers import SMALL_IMAGE


def test_the_network_is_about_the_environment_s_actions():
    network = ActionValues(depth=2, repeat=3).make_network(SMALL_IMAGE, seed=4)
    assert network == action_values(SMALL_IMAGE.actions, depth=2, repeat=3, seed=4)
    free = ActionValuesNoActions(depth=2, repeat=3).make_network(SMALL_IMAGE, seed=4)
    assert free == network.without_actions()


def test_depth_0_is_multi_horizon_values_with_normalisation():
    task = ActionValues(depth=0, horizons=4).make(SMALL_IMAGE, 0, 8)
    assert isinstance(task.questions.features, Normalised)
    network = ActionValues(depth=0).make_network(SMALL_IMAGE, 0)
    np.testing.assert_array_equal(network.dense, multi_horizon_values().dense)


def test_one_network_of_both():
    both = RandomAndActionValues(depth=2, repeat=3)
    random, reward = RandomQuestions(depth=2, repeat=3), ActionValues(depth=2, repeat=3)
    parts = {"random": random.make_network(SMALL_IMAGE, 4), "reward": reward.make_network(SMALL_IMAGE, 4)}
    assert both.make_network(SMALL_IMAGE, 4) == union(parts)
    assert both.feature_rms == 8.0


def test_only_questions_about_reward_are_normalised_unless_told():
    assert RandomQuestions().feature_rms is None
    assert MultiHorizonValues().feature_rms is None
    assert ActionValues().feature_rms == 8.0
    assert not isinstance(ActionValues(feature_rms=None).make(SMALL_IMAGE, 0, 8).questions.features, Normalised)


def test_settings_are_checked_and_saved():
    config = AgentConfig([RandomQuestions(feature_rms=2.0), ActionValues(depth=1)])
    assert AgentConfig.from_data(config.to_data()) == config
    for wrong, said in [
        ({"feature_rms": 0.0}, "feature_rms must be positive"),
        ({"feature_rms": float("inf")}, "feature_rms must be positive"),
        ({"depth": -1}, "depth must be between 0"),
        ({"repeat": 0}, "repeat must be between 1"),
        ({"horizons": 0}, "horizons must be between 1"),
    ]:
        with pytest.raises(ValueError, match=said):
            ActionValues(**wrong)
    with pytest.raises(ValueError, match="predictions .* are more than 1,000,000"):
        ActionValues(depth=100_000, repeat=100_000).make_network(SMALL_IMAGE, 0)
