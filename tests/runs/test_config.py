import json
from typing import Any, cast

import numpy as np
import pytest

from rgvf.agents import AgentConfig
from rgvf.runs import RunConfig
from rgvf.tasks import CURLSettings, RandomQuestions


@pytest.mark.unchecked_types
def test_numbers_may_be_given_in_any_form():
    many, third, half, halves = cast(Any, (5e6, np.int64(3), 0.5, [0.5]))
    config = RunConfig("gym/CartPole-v1", AgentConfig(c=half), frames=many, seed=third)
    assert (config.frames, config.seed, config.agent.c) == (5_000_000, 3, (0.5,))
    assert RunConfig.from_json(config.to_json()) == config
    assert AgentConfig(c=halves) == AgentConfig(c=(0.5,))
    with pytest.raises(ValueError, match=r"frames must be a whole number, not 1\.5"):
        RunConfig("gym/CartPole-v1", frames=cast(Any, 1.5))
    with pytest.raises(ValueError, match="seed must be a number, not 'x'"):
        RunConfig("gym/CartPole-v1", seed=cast(Any, "x"))


def test_a_configuration_comes_back_from_json():
    tasks = [RandomQuestions(depth=3, discount=0.5, feature_kind="linear"), CURLSettings(margin=2)]
    config = RunConfig("minatar/Breakout", AgentConfig(tasks, c=(0.5, 2.0), hidden=7), frames=99, seeds=3)
    assert RunConfig.from_json(config.to_json()) == config


@pytest.mark.parametrize("imports", ["no_such_module", ["no_such_module"], {"no_such_module": 1}, [["no_such_module"]]])
def test_a_file_cannot_name_modules_to_import(imports):
    data = json.loads(RunConfig("minatar/Breakout").to_json())
    with pytest.raises(ValueError, match="--import no_such_module|imports must be a list of names"):
        RunConfig.from_json(json.dumps({**data, "imports": imports}))
    assert RunConfig.from_json(json.dumps({**data, "imports": ["json"]})).imports == ("json",)
