"""Features: scalar functions f(O_t, A_t, O_{t+1}) of a transition, which questions are about."""

from rgvf.features.basic import Constant, Reward, Touch
from rgvf.features.feature import Feature, Features, Paddable, Selected
from rgvf.features.normalised import Normalised, can_be_padded
from rgvf.features.pixels import PixelChange
from rgvf.features.random import RandomLinear, RandomPatches
from rgvf.features.registry import KINDS, make_features, patch_of, random_kind

__all__ = [
    "KINDS",
    "Constant",
    "Feature",
    "Features",
    "Normalised",
    "Paddable",
    "PixelChange",
    "RandomLinear",
    "RandomPatches",
    "Reward",
    "Selected",
    "Touch",
    "can_be_padded",
    "make_features",
    "patch_of",
    "random_kind",
]
