"""The auxiliary tasks by name: what an agent can learn beside acting. A new one is a line here."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from rgvf.agents.asked import NETWORKS, make_questions
from rgvf.agents.world import World
from rgvf.auxiliary import CURLTask, GVFTask, PixelControlTask, Task, pad_questions, questions
from rgvf.features import PixelChange
from rgvf.questions import QuestionNetwork

if TYPE_CHECKING:
    from rgvf.agents.config import AgentConfig

SMALL_IMAGE = 36
"""Pixels of a side, below which an image is too small for the paper's convolutions."""


def _answers(task: str) -> Callable[[AgentConfig, World, int], Task]:
    def make(config: AgentConfig, world: World, seed: int) -> Task:
        network, features = make_questions(config, world, seed, task)
        asked = questions(network, features, gradient_scale(network))
        if config.pad_predictions or config.pad_features:
            sizes = config.pad_predictions or network.n_predictions, config.pad_features or network.n_features
            asked = pad_questions(asked, *sizes)
        return GVFTask(asked, config.hidden)

    return make


def _pixel_control(config: AgentConfig, world: World, seed: int) -> Task:
    del seed
    cells = PixelChange(world.image_shape("pixel-control"), world.stacked)
    return PixelControlTask(cells, len(world.actions), config.pixel_discount)


def _curl(config: AgentConfig, world: World, seed: int) -> Task:
    del seed
    shortest = min(world.image_shape("curl")[:2])
    margin = config.curl_margin or (4 if shortest >= SMALL_IMAGE else 2)
    if margin >= shortest:
        raise ValueError(f"curl_margin must be smaller than the image, {shortest} pixels, not {margin}")
    return CURLTask(
        margin,
        config.hidden,
        config.curl_outputs,
        config.curl_step,
        config.curl_layer_norm,
        config.curl_logit_scale,
    )


TASKS: dict[str, Callable[[AgentConfig, World, int], Task]] = {
    **{name: _answers(name) for name in NETWORKS},
    "pixel-control": _pixel_control,
    "curl": _curl,
}
"""What makes each task, from the configuration, the world and the seed."""


CARRY_QUESTIONS = frozenset(TASKS)
"""Tasks of which all that the configuration says about questions and features is carried by the agent, as arrays."""


def gradient_scale(network: QuestionNetwork) -> float:
    """1/√(predictions trained at a step): the unconditioned ones, and those of one action."""
    conditioned = sum(condition is not None for condition in network.conditions)
    return 1 / math.sqrt(network.n_predictions - conditioned + conditioned / max(1, len(network.actions)))
