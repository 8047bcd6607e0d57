"""What an agent is shown, wherever its environment runs."""

from __future__ import annotations

from rgvf.agents import World
from rgvf.environments.host import HostSpec
from rgvf.environments.protocol import Environment
from rgvf.environments.sources import Source, environment_of, spec_of


def world_of(spec: HostSpec) -> World:
    """Of a game on the host: a stack of images becomes the channels of one."""
    shape, of_bytes = spec.observation_shape, spec.observation_dtype == "uint8"
    if len(shape) == 2:
        return World((*shape, spec.stack), spec.actions, stacked=spec.stack > 1, of_bytes=of_bytes)
    if spec.stack > 1:
        raise ValueError(f"only images without channels can be stacked, not observations of shape {shape}")
    return World(shape, spec.actions, of_bytes=of_bytes)


def world_of_environment(environment: Environment) -> World:
    """Of an environment inside the compiled program."""
    return World(environment.observation_shape, environment.actions)


def world_of_source(source: Source, own: Environment | None = None) -> World:
    """Of either; `own`: the environment that a program passed itself."""
    compiled = environment_of(source, own)
    return world_of(spec_of(source)) if compiled is None else world_of_environment(compiled)
