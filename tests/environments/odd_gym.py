"""Gymnasium environments that tests need: "tests.environments.odd_gym:Odd/Fails-v0"."""

import os
import signal
import subprocess
import sys
import time
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Dict, Discrete, MultiBinary, Text, Tuple


class _Odd(gymnasium.Env):
    """An episode of ten steps that shows the action as it came."""

    action_space = Discrete(3, start=2)
    observation_space = Box(0, 255, (6, 5, 3), np.uint8)
    time = 0

    def __init__(self):
        """No render mode, as plain environments have it."""

    def see(self, value) -> Any:
        return np.full((6, 5, 3), value, np.uint8)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.time = 0
        return self.see(0), {}

    def step(self, action):
        self.time += 1
        return self.see(action), 1.0, self.time == 10, False, {}


class Fails(_Odd):
    """An exception at the third step."""

    def step(self, action):
        if self.time == 2:
            raise FileNotFoundError("the level is not there")
        return super().step(action)


class Immeasurable(_Odd):
    """No number is the reward of the third step."""

    def step(self, action):
        observation, reward, terminated, truncated, info = super().step(action)
        return observation, np.nan if self.time == 3 else reward, terminated, truncated, info


class Exits(_Odd):
    """The whole process ends at the third step."""

    def step(self, action):
        if self.time == 2:
            os._exit(3)
        return super().step(action)


class Leaves(_Odd):
    """The whole process ends, as if all were well, and leaves an engine behind."""

    def step(self, action):
        if self.time == 2:
            subprocess.Popen(["sleep", "777"])
            os._exit(0)
        return super().step(action)


class Forks(_Odd):
    """Its process forks at the third step, and is killed; the fork has all its connections."""

    def step(self, action):
        if self.time == 2 and os.fork() == 0:
            time.sleep(60)
        if self.time == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().step(action)


class Unprintable(_Odd):
    """An error about a file whose name is no UTF-8."""

    def step(self, action):
        raise FileNotFoundError("the level \udc80 is not there")


class LosesPipe(_Odd):
    """It closes what it has not opened: the descriptor through which a worker replies to steps."""

    def step(self, action):
        os.dup2(os.open(os.devnull, os.O_WRONLY), int(sys.argv[3]))
        return super().step(action)


class SlowStart(_Odd):
    """In a worker process, reset takes a second."""

    def reset(self, *, seed=None, options=None):
        time.sleep(0.0 if "jax" in sys.modules else 1.0)
        return super().reset(seed=seed)


class Hangs(_Odd):
    """The third step never ends."""

    def step(self, action):
        while self.time == 2:
            time.sleep(60)
        return super().step(action)


class HangsAtStart(_Odd):
    """So does reset, in a worker process."""

    def reset(self, *, seed=None, options=None):
        while "jax" not in sys.modules:
            time.sleep(60)
        return super().reset(seed=seed)


class NoStart(_Odd):
    """Reset fails, with an error that is no Exception."""

    def reset(self, *, seed=None, options=None):
        sys.exit("no display\nwas found")


class Quits(_Odd):
    """Its constructor wants to end the program."""

    def __init__(self):
        sys.exit(5)


class Unusual(BaseException):
    """Not an Exception."""


class Strange(_Odd):
    def __init__(self):
        raise Unusual


class KilledWhenMade(_Odd):
    """A worker process is killed while it makes its games, as when memory runs out."""

    def __init__(self):
        if "jax" not in sys.modules:
            os.kill(os.getpid(), signal.SIGKILL)


class QuitsInWorkers(_Odd):
    def __init__(self):
        if "jax" not in sys.modules:
            sys.exit("not in a worker")


class NoSpaces(gymnasium.Env):
    """It has forgotten its spaces."""


class Imports(_Odd):
    """Shows whether JAX has been imported into its process."""

    observation_space = Box(0, 1, (1,), np.float64)

    def see(self, value):
        return np.array([float("jax" in sys.modules)])


class Forgetful(_Odd):
    """Not deterministic: each reset shows something else."""

    count = 0

    def see(self, value):
        Forgetful.count += 1
        return super().see(Forgetful.count % 256)


class OldReset(_Odd):
    """Only the observation, as in Gym."""

    def reset(self, *, seed=None, options=None):
        return super().reset(seed=seed)[0]


class OldStep(_Odd):
    """Four values, as in Gym."""

    def step(self, action) -> Any:
        observation, reward, terminated, _, info = super().step(action)
        return observation, reward, terminated, info


class Wider(_Odd):
    """It shows more than its space says."""

    observation_space = Box(0, 1, (5,))

    def see(self, value):
        return np.zeros(9)


class Continuous(_Odd):
    action_space = Box(-1, 1, (2,))


class Words(_Odd):
    observation_space = Text(5)


class Nested(_Odd):
    """Numbers of every kind, and a text that is left out."""

    observation_space = Dict(
        {"place": Discrete(3, start=1), "pair": Tuple([MultiBinary(2), Box(-1, 1, (2, 1))]), "mission": Text(9)}
    )

    def see(self, value):
        place = 1 + int(value) % 3
        return {"place": place, "pair": (np.array([1, 0]), np.array([[0.5], [-0.5]])), "mission": "go"}


class Broken(_Odd):
    """Its constructor fails."""

    def __init__(self):
        raise ZeroDivisionError("no level\nwas found")


class Drawn(_Odd):
    """Draws itself, if it is made for that."""

    metadata = {"render_modes": ["rgb_array"]}  # noqa: RUF012

    def __init__(self, render_mode=None):
        self.render_mode = render_mode

    def render(self):
        return np.full((4, 4, 3), 7, np.uint8)


def made_by_a_function(render_mode=None):
    return gymnasium.wrappers.TimeLimit(Drawn(render_mode), 5)


makers: dict[str, Any] = {"Odd": _Odd, "Function": made_by_a_function}
kinds: list[Any] = [Fails, Exits, Imports, Forgetful, Continuous, Nested, Words, Broken, Drawn, Hangs, HangsAtStart]
kinds += [OldReset, OldStep, Wider, Leaves, Forks, Unprintable, LosesPipe, SlowStart]
kinds += [NoStart, Quits, Strange, KilledWhenMade, QuitsInWorkers, NoSpaces, Immeasurable]
for kind in kinds:
    makers[kind.__name__] = kind
for name, maker in makers.items():
    gymnasium.register(f"Odd/{name}-v0", entry_point=maker)
gymnasium.register("Odd/Missing-v0", entry_point="no_such_package.envs:Env")
