"""Features: scalar functions f(O_t, A_t, O_{t+1}) of a transition, which questions are about."""

from rgvf.features.basic import Constant, Reward, Touch
from rgvf.features.feature import Feature, Features, Paddable, Selected
from rgvf.features.pixels import PixelChange
from rgvf.features.random import RandomLinear, RandomPatches
from rgvf.features.registry import make_features, patch_of, random_kind

__all__ = [
    "Constant",
    "Feature",
    "Features",
    "Paddable",
    "PixelChange",
    "RandomLinear",
    "RandomPatches",
    "Reward",
    "Selected",
    "Touch",
    "make_features",
    "patch_of",
    "random_kind",
]
