"""What features look at: how an observation changed in a step."""

from __future__ import annotations

from jaxtyping import Array, Float

from rgvf.trajectory import Transition, unit_scale


def change(transition: Transition, newest_only: bool = False) -> Float[Array, "*batch *observation"]:
    """O_{t+1} − O_t; `newest_only`: of the last channel alone, the newest of a stack of frames."""
    before, after = transition.observation, transition.next_observation
    if newest_only:
        before, after = before[..., -1:], after[..., -1:]
    return unit_scale(after) - unit_scale(before)
