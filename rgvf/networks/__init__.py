"""Representations and heads."""

from rgvf.networks.conv import ConvRepresentation, ConvSize, Deconv
from rgvf.networks.layers import MLP, Dense, Head
from rgvf.networks.representation import DenseRepresentation, Representation

__all__ = ["MLP", "ConvRepresentation", "ConvSize", "Deconv", "Dense", "DenseRepresentation", "Head", "Representation"]
