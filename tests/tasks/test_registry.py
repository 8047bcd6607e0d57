"""Tasks by name, and tasks of the user."""

import dataclasses
from dataclasses import dataclass
from typing import ClassVar

import jax
import numpy as np
import pytest

from rgvf.agents import AgentConfig
from rgvf.settings import field_docs
from rgvf.tasks import (
    TASKS,
    ActorCriticSettings,
    CURLSettings,
    GivenQuestions,
    MultiHorizonValues,
    PixelControlSettings,
    RandomQuestions,
    TaskSettings,
    ValueTask,
    find_task,
    register,
)
from tests.helpers import VECTOR, learner_of, trajectory


@pytest.fixture
def registry():
    """The registry; what a test registers is removed afterwards."""
    before = dict(TASKS)
    yield TASKS
    TASKS.clear()
    TASKS.update(before)


@dataclass(frozen=True)
class ValueSettings:
    """A second value function."""

    name: ClassVar[str] = "second-value"

    discount: float = 0.5
    """Discount of its return."""

    def make(self, spec, seed, hidden):
        return ValueTask(self.discount, hidden)


@pytest.mark.parametrize("settings", [*TASKS.values(), ActorCriticSettings], ids=lambda settings: settings.name)
def test_settings_obey_the_protocol_and_every_field_has_a_docstring(settings):
    assert isinstance(settings(), TaskSettings)
    with pytest.raises(dataclasses.FrozenInstanceError):
        settings().name = "other"
    assert settings.__doc__
    docs = field_docs(settings)
    assert [field.name for field in dataclasses.fields(settings) if not docs.get(field.name)] == []


def test_names_are_those_of_the_settings():
    for name, settings in TASKS.items():
        assert settings.name == name
        assert find_task(name) is settings


def test_an_unknown_name_is_refused_with_the_nearest_one():
    with pytest.raises(ValueError, match="no task 'pixelcontrol'; did you mean pixel-control"):
        find_task("pixelcontrol")


def test_an_old_name_is_refused_with_the_new_one():
    with pytest.raises(ValueError, match="'rgvf-action-values' is called 'random-and-action-values' now; runs with"):
        find_task("rgvf-action-values")
    with pytest.raises(ValueError, match="the agent rgvf-action-values is called random-and-action-values now"):
        AgentConfig("rgvf-action-values")


def test_a_registered_task_is_known_by_its_name(registry):
    assert register(ValueSettings) is ValueSettings
    assert registry["second-value"] is find_task("second-value") is ValueSettings
    config = AgentConfig("second-value+reward-prediction", hidden=8)
    assert config.auxiliary[0] == ValueSettings()
    assert AgentConfig(ValueSettings(0.25)).auxiliary == (ValueSettings(0.25),)
    assert AgentConfig.from_data(config.to_data()) == config
    learner = learner_of(config, VECTOR)
    _, metrics = jax.jit(learner.update)(learner.init(jax.random.key(0)), trajectory(VECTOR), jax.random.key(1))
    assert np.isfinite(metrics["second-value/loss"])


def test_a_task_can_be_registered_again_but_not_another_of_its_name(registry):
    register(register(ValueSettings))
    other = type("Other", (ValueSettings,), {})
    with pytest.raises(ValueError, match="there is a task 'second-value' already"):
        register(other)


@pytest.mark.parametrize("name", ["", "a+b", "a b", "a.b"])
def test_names_that_options_cannot_have_are_refused(registry, name):
    with pytest.raises(ValueError, match="must be letters, digits, - and _"):
        register(type("Odd", (ValueSettings,), {"name": name}))


@pytest.mark.unchecked_types
@pytest.mark.parametrize(
    ("settings", "wrong", "said"),
    [
        (RandomQuestions, dict(depth=0), "depth must be between 1 and 100,000"),
        (RandomQuestions, dict(repeat=-1), "repeat"),
        (RandomQuestions, dict(features=0), "features"),
        (RandomQuestions, dict(discount=1.0), "discount"),
        (GivenQuestions, dict(feature_scale=0.0), "feature_scale"),
        (MultiHorizonValues, dict(horizons=0), "horizons"),
        (RandomQuestions, dict(feature_kind=7), "feature_kind must be one of auto, patches, linear; not 7"),
        (CURLSettings, dict(layer_norm="x"), "layer_norm must be true or false, not 'x'"),
        (CURLSettings, dict(outputs=10**12), "outputs must be between 1 and 65,536"),
        (CURLSettings, dict(step=2.0), "step"),
        (CURLSettings, dict(margin=-1), "margin"),
        (PixelControlSettings, dict(discount=1.0), "discount"),
        (ActorCriticSettings, dict(discount=1.0), "discount"),
        (ActorCriticSettings, dict(entropy=-0.1), "entropy"),
    ],
)
def test_wrong_settings_are_refused_with_the_field_named(settings, wrong, said):
    with pytest.raises(ValueError, match=said):
        settings(**wrong)
