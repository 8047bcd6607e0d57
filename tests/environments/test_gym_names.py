"""Arguments and wrappers of Gymnasium environments in their names."""

import pytest

from rgvf.environments import find_spec, gym_name
from rgvf.environments.gym_names import parse_gym_name

KWARGS = {
    "map_name": "8x8",
    "slippery": False,
    "size": 8,
    "text": "8",
    "truth": "true",
    "odd": "a&b=c %+?",
    "n": [1, 2],
}


def test_a_name_keeps_arguments_and_wrappers():
    name = gym_name("pkg:Some/Env-v0", KWARGS, ["a.b:C", "d:E"])
    assert name.startswith("gym/pkg:Some/Env-v0?map_name=8x8&slippery=false&size=8&")
    parsed = parse_gym_name(name.removeprefix("gym/"))
    assert parsed == ("pkg:Some/Env-v0", KWARGS, ("a.b:C", "d:E"))
    assert parsed.modules == ("pkg", "a.b", "d")
    assert gym_name("CartPole-v1") == "gym/CartPole-v1"


def test_arguments_reach_the_environment():
    assert find_spec(gym_name("FrozenLake-v1")).observation_shape == (16,)
    assert find_spec(gym_name("FrozenLake-v1", {"map_name": "8x8"})).observation_shape == (64,)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("gym/CartPole-v1?size", "malformed"),
        ("gym/CartPole-v1?wrapper=nothing", "MODULE:CLASS"),
        ("gym/CartPole-v1?wrapper=builtins:print", "no subclass of gymnasium.Wrapper"),
        ("gym/CartPole-v1?wrapper=no_such_module:Thing", "no_such_module"),
        ("gym/CartPole-v1?sutton_barto=true&colour=red", "colour"),
    ],
)
def test_wrong_names_are_refused_in_a_sentence(name, message):
    with pytest.raises(ValueError, match=message):
        find_spec(name)


def test_minigrid_is_flattened():
    spec = find_spec("gym/minigrid:MiniGrid-Empty-5x5-v0")
    assert spec.observation_shape == (4 + 7 * 7 * 3,)  # the direction, and what is seen; the mission is left out
