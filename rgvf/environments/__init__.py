"""The worlds that agents live in, behind one protocol."""

from rgvf.environments.grid import GridWorld
from rgvf.environments.protocol import Environment, Step

__all__ = ["Environment", "GridWorld", "Step"]
