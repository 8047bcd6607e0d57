"""Representations and heads."""

from rgvf.networks.conv import ConvRepresentation, ConvSize, Deconv
from rgvf.networks.layers import MLP, Dense, Head, initial_weight
from rgvf.networks.recurrent import GRU, Recurrent
from rgvf.networks.registry import REPRESENTATIONS, Sizes, has_memory, make_representation
from rgvf.networks.representation import DenseRepresentation, FeedForward, Representation

__all__ = [
    "GRU",
    "MLP",
    "REPRESENTATIONS",
    "ConvRepresentation",
    "ConvSize",
    "Deconv",
    "Dense",
    "DenseRepresentation",
    "FeedForward",
    "Head",
    "Recurrent",
    "Representation",
    "Sizes",
    "has_memory",
    "initial_weight",
    "make_representation",
]
