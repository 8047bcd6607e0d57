"""Resets that are computed only where an episode has ended.

Under `vmap` both sides of a choice are computed. So an environment would be reset at every step of every actor, and the
result thrown away: where a reset is costly, that is most of the work. Here resets are computed only
in steps in which an episode has ended, some at a time until there are as many as episodes that have ended. Each has its
own key, so what it gives does not depend on what is beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.custom_batching import custom_vmap
from jaxtyping import Array, Bool, Key

AT_ONCE = 8
"""Resets that are computed together; more take several turns of a loop."""


def reset_where(
    reset: Callable[[Key[Array, ""]], Any], ended: Bool[Array, ""], key: Key[Array, ""], otherwise: Any
) -> Any:
    """`reset(key)` where an episode has ended, else `otherwise`, which has the same form. To be vmapped."""

    @custom_vmap
    def one(ended: Any, key: Any, otherwise: Any) -> Any:
        return jax.lax.cond(ended, lambda: reset(key), lambda: otherwise)

    @one.def_vmap
    def _(n: int, batched: list[Any], *arguments: Any) -> tuple[Any, Any]:
        ended, keys, otherwise = _broadcast(n, batched, arguments)
        result = _reset_some(reset)(ended, keys, otherwise)
        return result, jax.tree.map(lambda _: True, result)

    return one(ended, key, otherwise)


def _reset_some(reset: Callable[[Any], Any]) -> Callable[[Any, Any, Any], Any]:
    """The same for n environments along the first axis."""

    @custom_vmap
    def some(ended: Bool[Array, " n"], keys: Key[Array, " n"], otherwise: Any) -> Any:
        n = len(ended)

        def next_ones(carry: tuple[Any, Any]) -> tuple[Any, Any]:
            waiting, result = carry
            (place,) = jnp.nonzero(waiting, size=min(n, AT_ONCE), fill_value=n)  # n is no place: dropped below
            new = jax.vmap(reset)(keys[jnp.minimum(place, n - 1)])
            result = jax.tree.map(lambda old, each: old.at[place].set(each, mode="drop"), result, new)
            return waiting.at[place].set(False, mode="drop"), result

        return jax.lax.while_loop(lambda carry: carry[0].any(), next_ones, (ended, otherwise))[1]

    @some.def_vmap
    def _(m: int, batched: list[Any], *arguments: Any) -> tuple[Any, Any]:
        """Several seeds: all their environments as one axis."""
        n = arguments[0].shape[-1]
        flat = jax.tree.map(lambda leaf: leaf.reshape(m * n, *leaf.shape[2:]), _broadcast(m, batched, arguments))
        result = jax.tree.map(lambda leaf: leaf.reshape(m, n, *leaf.shape[1:]), some(*flat))
        return result, jax.tree.map(lambda _: True, result)

    return some


def _broadcast(n: int, batched: list[Any], arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments with a first axis of n, also those that had none."""
    return jax.tree.map(
        lambda leaf, has_axis: leaf if has_axis else jnp.broadcast_to(leaf, (n, *leaf.shape)), arguments, tuple(batched)
    )
