"""Representations and heads."""

from rgvf.networks.conv import ConvRepresentation, ConvSize
from rgvf.networks.layers import MLP, Dense, Head
from rgvf.networks.representation import DenseRepresentation, Representation

__all__ = ["MLP", "ConvRepresentation", "ConvSize", "Dense", "DenseRepresentation", "Head", "Representation"]
