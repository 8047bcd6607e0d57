"""Representations and heads."""

from rgvf.networks.layers import MLP, Dense, Head
from rgvf.networks.representation import DenseRepresentation, Representation

__all__ = ["MLP", "Dense", "DenseRepresentation", "Head", "Representation"]
