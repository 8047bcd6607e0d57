"""The configuration of an agent: names or objects of tasks, what is refused, and its form in JSON."""

import dataclasses
import json
from dataclasses import dataclass
from typing import ClassVar

import pytest

from rgvf.agents import MAIN, AgentConfig
from rgvf.questions import figure_1a
from rgvf.tasks import (
    TASKS,
    ActorCriticSettings,
    CURLSettings,
    GivenQuestions,
    PixelControlSettings,
    RandomQuestions,
    Shallow,
    ValueTask,
)


@dataclass(frozen=True)
class OwnSettings:
    """Settings of a task that is not registered."""

    name: ClassVar[str] = "own"

    discount: float = 0.5
    """Discount."""

    def make(self, spec, seed, hidden):
        return ValueTask(self.discount, hidden)


@dataclass(frozen=True)
class Misnamed(OwnSettings):
    """Its name is that of another part of the agent."""

    name: ClassVar[str] = "representation"


def test_names_stand_for_the_default_settings():
    assert AgentConfig() == AgentConfig("rgvf") == AgentConfig(RandomQuestions()) == AgentConfig(["rgvf"])
    config = AgentConfig("rgvf+pixel-control", c=(0.5,))
    assert config.auxiliary == (RandomQuestions(), PixelControlSettings())
    assert (config.name, config.question_tasks, config.coefficients) == ("rgvf+pixel-control", ("rgvf",), (0.5, 0.5))


def test_a2c_has_no_auxiliary_tasks():
    config = AgentConfig("a2c")
    assert (config.name, config.auxiliary, config.coefficients) == (MAIN, (), ())
    assert config == AgentConfig([])


def test_names_and_objects_can_be_mixed():
    config = AgentConfig([Shallow(depth=2), "curl", PixelControlSettings(0.5)], c=(1, 0.5, 2))
    assert config.auxiliary == (Shallow(depth=2), CURLSettings(), PixelControlSettings(0.5))
    assert config.name == "rgvf-shallow+curl+pixel-control"
    assert config.coefficients == (1.0, 0.5, 2.0)


@pytest.mark.unchecked_types
def test_c_may_be_one_number_or_a_list():
    assert AgentConfig(c=0.5) == AgentConfig(c=(0.5,))  # pyright: ignore[reportArgumentType]
    assert AgentConfig("rgvf+curl", c=[1, 2]).coefficients == (1.0, 2.0)  # pyright: ignore[reportArgumentType]


def test_a_changed_copy_keeps_its_tasks():
    config = AgentConfig(RandomQuestions(depth=2))
    assert dataclasses.replace(config, hidden=16).auxiliary == (RandomQuestions(depth=2),)


@pytest.mark.parametrize("task", list(TASKS))
def test_json_round_trip(task):
    for settings in (task, GivenQuestions.of(figure_1a()) if task == "questions" else TASKS[task]()):
        config = AgentConfig(settings, c=(0.25,), actor_critic=ActorCriticSettings(entropy=0.02))
        assert AgentConfig.from_data(json.loads(json.dumps(config.to_data()))) == config


def test_json_round_trip_of_several_tasks_and_of_none():
    several = AgentConfig([RandomQuestions(depth=3, feature_kind="linear"), "curl"], c=(1.0, 0.5))
    for config in (several, AgentConfig("a2c")):
        assert AgentConfig.from_data(json.loads(json.dumps(config.to_data()))) == config


@pytest.mark.unchecked_types
@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"depth": 3}, "unknown setting 'depth'"),
        ({"tasks": [{"task": "rgvf", "horizons": 3}]}, "unknown setting 'horizons'"),
        ({"tasks": [{"task": "rgvv"}]}, "no task 'rgvv'; did you mean rgvf"),
        ({"tasks": ["rgvf"]}, "expected the settings of a task, not rgvf"),
        ({"tasks": None}, "expected a list of tasks, not None"),
        ({"actor_critic": 3}, "expected the settings of ActorCriticSettings, not 3"),
        ({"actor_critic": {"gamma": 0.9}}, "unknown setting 'gamma'"),
        ({"hidden": "many"}, "hidden must be a number"),
    ],
)
def test_foreign_data_is_refused(changes, said):
    with pytest.raises(ValueError, match=said):
        AgentConfig.from_data({**AgentConfig().to_data(), **changes})


@pytest.mark.unchecked_types
@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (dict(tasks="rgvv"), "no agent 'rgvv'; did you mean rgvf"),
        (dict(tasks="rgvf+pixelcontrol"), "no agent 'pixelcontrol'; did you mean pixel-control"),
        (dict(tasks="rgvf+rgvf"), "twice"),
        (dict(tasks=[RandomQuestions(), RandomQuestions(depth=2)]), "twice"),
        (dict(tasks="a2c+curl"), "every agent has the task a2c: name only the auxiliary tasks"),
        (dict(tasks=RandomQuestions), "a task is a name or an object of settings"),
        (dict(tasks=ActorCriticSettings()), "every agent has the task a2c"),
        (dict(tasks=OwnSettings()), "the task 'own' is not known; call rgvf.tasks.register\\(OwnSettings\\)"),
        (dict(tasks=Misnamed()), "a task cannot be named 'representation'"),
        (dict(tasks=3), "a task is a name or an object of settings, not 3"),
        (dict(tasks=None), "a task is a name or an object of settings, not None"),
        (dict(tasks="rgvf+curl", c=(1.0, 1.0, 1.0)), "c must be one number, or one for each of rgvf curl; not 3"),
        (dict(tasks="a2c", c=(1.0, 1.0)), "c is for auxiliary tasks, and a2c has none"),
        (dict(stop_gradient="x"), "stop_gradient must be true or false, not 'x'"),
        (dict(stop_gradient=1), "stop_gradient must be true or false, not 1"),
        (dict(representation=7), "representation must be text, not 7"),
        (dict(tasks="a2c", stop_gradient=True), "needs an auxiliary task"),
        (dict(c=(float("nan"),)), "c must be at least 0"),
        (dict(c="large"), "c must be a number, not 'large'"),
        (dict(learning_rate=0.0), "learning_rate must be positive"),
        (dict(hidden=0), "hidden must be between 1 and 65,536"),
        (dict(actor_critic=0.9), "actor_critic must be of type ActorCriticSettings, not 0.9"),
        (dict(representation="cnn"), "no representation 'cnn'"),
    ],
)
def test_a_wrong_configuration_is_refused_with_the_field_named(wrong, said):
    with pytest.raises(ValueError, match=said):
        AgentConfig(**wrong)
