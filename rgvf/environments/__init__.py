"""The worlds that agents live in.

Two kinds: pure functions that run inside a compiled program (`protocol`, `grid`), and games that run on the host
(`host`, `atari`, `gymnasium`), many at once in worker processes (`workers`). Names are imported when they are first
used, because a worker process must not import JAX.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rgvf.environments.grid import GridWorld
    from rgvf.environments.protocol import Environment, Step

__all__ = ["Environment", "GridWorld", "Step"]

_HOMES = {"Environment": "protocol", "GridWorld": "grid", "Step": "protocol"}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"rgvf.environments.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'rgvf.environments' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__]
