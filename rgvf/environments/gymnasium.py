"""Any Gymnasium environment with discrete actions, as a game."""

from __future__ import annotations

import math
import os
import sysconfig
import traceback
import warnings
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete, Tuple, flatten
from numpy.typing import NDArray

from rgvf.environments import catch
from rgvf.environments.game import GameError
from rgvf.environments.gym_names import parse_gym_name
from rgvf.environments.picture import picture_of
from rgvf.environments.seeded import Outcome, SeededGame
from rgvf.messages import one_line, suggestion
from rgvf.spec import EnvironmentSpec

Flatten = Callable[[Any], NDArray[np.float32]]
FORMS = {
    "reset": "reset must give (observation, info)",
    "step": "step must give five values: observation, reward, terminated, truncated, info",
}
"""What Gymnasium's methods give; those of the older Gym gave less."""


def registered_ids() -> list[str]:
    """The environments that `gymnasium.make` knows, but Atari games (a suite of their own) and those of MuJoCo, whose
    actions are all continuous."""
    catch.register()
    made_by = {id: str(spec.entry_point) for id, spec in gymnasium.registry.items()}
    return [id for id, maker in made_by.items() if not any(each in maker for each in ("ale_py", "mujoco", "shimmy"))]


class GymGame(SeededGame):
    """One Gymnasium environment; each of its episodes is a game.

    Images of bytes stay as they are; every other observation becomes float32.

    Args:
        id: as `gymnasium.make` takes it, with arguments and wrappers as `gym_name` writes them.
        seed: decides every episode's seed.
        render: whether `render` will be called.
    """

    suite = "gym"

    def __init__(self, id: str, seed: int, render: bool = False) -> None:
        self._env = _make(id, render)
        spec, self._start, self._flatten = _read_spaces(id, self._env)
        super().__init__(id, seed, spec)

    def _open(self, episode_seed: int) -> NDArray[np.generic]:
        given = self._call(self._env.reset, seed=episode_seed)
        if not (isinstance(given, tuple | list) and len(given) == 2):
            raise GameError(f"{self.name} failed: {FORMS['reset']}")
        return self._convert(given[0])

    def _act(self, action: int) -> Outcome:
        given = self._call(self._env.step, self._start + action)
        if not (isinstance(given, tuple | list) and len(given) == 5):
            raise GameError(f"{self.name} failed: {FORMS['step']}")
        observation, reward, terminal, truncated, _ = given
        return Outcome(self._convert(observation), float(reward), bool(terminal), bool(truncated))

    def _call(self, method: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        """Whatever the environment raises, SystemExit included, becomes a GameError."""
        try:
            return method(*arguments, **named)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise GameError(f"{self.name} failed: {one_line(error)}{_place(error) or _form(error)}") from error

    def _convert(self, observation: Any) -> NDArray[np.generic]:
        flat = observation if self._flatten is None else self._flatten(observation)
        array = np.array(flat, self._spec.observation_dtype)
        if array.size != math.prod(self._spec.observation_shape):
            says = self._env.observation_space.shape if self._flatten is None else self._spec.observation_shape
            shapes = f"the observation has the shape {array.shape}, its observation_space says {says}"
            raise GameError(f"{self.name} failed: {shapes}")
        return array.reshape(self._spec.observation_shape)

    def render(self) -> NDArray[np.uint8]:
        if self._env.render_mode != "rgb_array":
            return picture_of(self.current().observation)
        return np.asarray(self._call(self._env.render), np.uint8)

    def close(self) -> None:
        self._env.close()


def _place(error: BaseException) -> str:
    """The last line on the way to an error that is neither of Python nor of an installed package, if there is one."""
    frames = traceback.extract_tb(error.__traceback__)
    installed = "site-packages", "dist-packages", sysconfig.get_path("stdlib"), "<", __file__
    own = [each for each in frames if not any(word in each.filename for word in installed)]
    return f" ({Path(own[-1].filename).name}:{own[-1].lineno}, in {own[-1].name})" if own else ""


def _form(error: BaseException) -> str:
    """What `reset` or `step` must give, where one of Gymnasium's wrappers could not unpack what it got."""
    *_, last = traceback.extract_tb(error.__traceback__)
    is_wrapper = Path(last.filename).is_relative_to(Path(gymnasium.__file__).parent)
    return f"; {FORMS[last.name]}" if isinstance(error, ValueError) and is_wrapper and last.name in FORMS else ""


def _make(name: str, render: bool) -> gymnasium.Env[Any, Any]:
    """The environment; with `render`, one that can draw itself, if it says that it can."""
    id, kwargs, wrappers = parse_gym_name(name)
    if render:
        # Pygame draws into memory: it needs no window, and is to print nothing.
        for variable, value in {"SDL_VIDEODRIVER": "dummy", "PYGAME_HIDE_SUPPORT_PROMPT": "1"}.items():
            os.environ.setdefault(variable, value)
    env = _open(id, **kwargs)
    if render and env.render_mode != "rgb_array" and "rgb_array" in _render_modes(env):
        env.close()
        env = _open(id, **{**kwargs, "render_mode": "rgb_array"})
    for wrapper in wrappers:
        env = _wrap(env, wrapper)
    return env


def _wrap(env: gymnasium.Env[Any, Any], wrapper: str) -> gymnasium.Env[Any, Any]:
    module, _, name = wrapper.partition(":")
    try:
        cls = getattr(import_module(module), name)
        if not (isinstance(cls, type) and issubclass(cls, gymnasium.Wrapper)):
            raise TypeError("it is no subclass of gymnasium.Wrapper")
        return cls(env)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # whatever the wrapper raises, SystemExit included
        env.close()
        raise ValueError(f"the wrapper {wrapper} cannot be used: {one_line(error)}") from error


def _open(id: str, **options: Any) -> gymnasium.Env[Any, Any]:
    catch.register()
    with warnings.catch_warnings():
        # Advice about newer versions and render modes does not help who chose the version.
        warnings.simplefilter("ignore")
        try:
            # The passive checker warns about style and slows every step.
            return gymnasium.make(id, disable_env_checker=True, **options)
        except gymnasium.error.DependencyNotInstalled as error:
            raise ValueError(f"{id} needs a package that is not installed: {_sentence(error)}") from error
        except gymnasium.error.Error as error:
            raise ValueError(f"there is no Gymnasium environment {id!r}; {_hint(id, error)}") from error
        except ImportError as error:
            raise ValueError(f"{id} needs a module that cannot be imported: {_sentence(error)}") from error
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # whatever the constructor raises, SystemExit included
            raise ValueError(f"{id} cannot be made: {one_line(error)}") from error


def _render_modes(env: gymnasium.Env[Any, Any]) -> list[str]:
    """The render modes that the environment declares."""
    return (getattr(env, "metadata", None) or {}).get("render_modes") or []


def _hint(id: str, error: Exception) -> str:
    known = [name for name in gymnasium.registry if "/" not in name or "/" in id]
    module, colon, name = id.rpartition(":")
    if near := suggestion(name, known, n=3):
        return near.replace("mean ", f"mean {module}:").replace(" or ", f" or {module}:") if colon else near
    package = "" if ":" in id else f" If a package brings it, write gym/PACKAGE:{id}."
    return _sentence(error) + package


def _sentence(error: Exception) -> str:
    return " ".join(str(error).split())


def _read_spaces(id: str, env: gymnasium.Env[Any, Any]) -> tuple[EnvironmentSpec, int, Flatten | None]:
    """The spec, the number of the first action, and what makes a vector of an observation."""
    try:
        return _spaces(id, env)
    except (ValueError, KeyboardInterrupt):
        raise
    except BaseException as error:  # an environment may lack spaces, or fail when they are read
        raise ValueError(f"the spaces of {id} cannot be read: {one_line(error)}") from error


def _spaces(id: str, env: gymnasium.Env[Any, Any]) -> tuple[EnvironmentSpec, int, Flatten | None]:
    actions, observations = env.action_space, env.observation_space
    if not isinstance(actions, Discrete):
        raise ValueError(f"{id} has {_kind(actions)} actions; only Discrete ones are supported")
    flatten = _flattener(observations)
    if flatten is None:
        shape = tuple(int(size) for size in observations.shape or ())
    else:
        shape = flatten(observations.sample()).shape
    image = observations.dtype == np.uint8 and len(shape) in (2, 3)
    count, start = int(actions.n), int(actions.start)
    meanings: Any = getattr(env.unwrapped, "get_action_meanings", tuple)
    names = tuple(meanings())
    if len(names) != count:
        names = tuple(str(start + index) for index in range(count))
    shape = (*shape, 1) if len(shape) == 2 else shape  # an image without channels
    return EnvironmentSpec(shape, "uint8" if image else "float32", names), start, flatten


def _kind(space: gymnasium.Space[Any]) -> str:
    return type(space).__name__


def _flattener(space: gymnasium.Space[Any]) -> Flatten | None:
    """What makes a vector of an observation, or None where it is an array already.

    Discrete numbers become one-hot vectors. The parts of a Dict or Tuple are flattened and concatenated; text, such as
    the mission of MiniGrid, is left out. ValueError where nothing is left.
    """
    if isinstance(space, Box):
        return None
    parts = list(_parts(space, lambda observation: observation))
    if not parts:
        raise ValueError(f"observations of type {_kind(space)} are not supported")
    return lambda observation: np.concatenate([part(observation) for part in parts])


def _parts(space: gymnasium.Space[Any], pick: Callable[[Any], Any]) -> Iterator[Flatten]:
    """A function for each part of a space that has numbers; `pick` finds the space's value in an observation."""
    if isinstance(space, Dict):
        for name, part in space.spaces.items():
            yield from _parts(part, lambda observation, name=name: pick(observation)[name])
    elif isinstance(space, Tuple):
        for i, part in enumerate(space.spaces):
            yield from _parts(part, lambda observation, i=i: pick(observation)[i])
    elif isinstance(space, Box | Discrete | MultiDiscrete | MultiBinary):
        yield lambda observation: np.asarray(flatten(space, pick(observation)), np.float32).reshape(-1)
