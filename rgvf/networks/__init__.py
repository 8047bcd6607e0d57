"""Representations and heads."""

from rgvf.networks.conv import ConvRepresentation, ConvSize, Deconv
from rgvf.networks.layers import MLP, Dense, Head, initial_weight
from rgvf.networks.registry import REPRESENTATIONS, Sizes, make_representation
from rgvf.networks.representation import DenseRepresentation, Representation

__all__ = [
    "MLP",
    "REPRESENTATIONS",
    "ConvRepresentation",
    "ConvSize",
    "Deconv",
    "Dense",
    "DenseRepresentation",
    "Head",
    "Representation",
    "Sizes",
    "initial_weight",
    "make_representation",
]
