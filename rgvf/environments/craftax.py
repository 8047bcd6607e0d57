"""Craftax-Classic (Matthews et al. 2024) in the compiled program: survive, gather, craft, in a new landscape each time.

The rules are the package's own, without its resets. `tests/environments/test_craftax.py` compares both, step by step.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from craftax.craftax_classic.constants import (
    BLOCK_PIXEL_SIZE_AGENT,
    BLOCK_PIXEL_SIZE_IMG,
    Action,
    load_all_textures_given_size,
)
from craftax.craftax_classic.envs.craftax_symbolic_env import CraftaxClassicSymbolicEnvNoAutoReset
from jaxtyping import Array, Int, Key, Shaped
from numpy.typing import NDArray

from rgvf.environments.environment import Step
from rgvf.environments.flat_copy import flat_copy, is_flat
from rgvf.environments.game_names import find_craftax
from rgvf.environments.libraries import ModuleProxy, as_arrays, loose_promotion, private_copy
from rgvf.environments.packing import Packing
from rgvf.environments.quick_keys import quick_key, wrap_quick_key


class Craftax:
    """Craftax-Classic: 22 achievements, of which each gives 1 when it is first unlocked; a change of health gives 0.1.

    An episode ends with death, and is truncated after 10,000 steps. Symbolic: 1,345 numbers, the kinds of blocks and
    creatures in 7×9 cells around the player, then inventory, health and needs, direction, light and sleep. Pixels: the
    same as an image of 63×63 in bytes.

    Args:
        name: one of `CRAFTAX_VIEWS`.
        flat: compute the same in fewer and larger kernels, which takes longer to compile; none: on a GPU.
    """

    costly_reset = True

    def __init__(self, name: str, flat: bool | None = None) -> None:
        self.name = find_craftax(name)
        self._rules = _Rules.of(is_flat(flat))
        self.actions: tuple[str, ...] = tuple(action.name.lower().replace("_", "-") for action in Action)
        self._game: Any = CraftaxClassicSymbolicEnvNoAutoReset()
        self._params = self._game.default_params
        with loose_promotion():
            self._packing = Packing(jax.eval_shape(lambda key: _compact(self._landscape(key)), jax.random.key(0)))
        self._draw = None if self.name == "Classic-Symbolic" else _renderer(BLOCK_PIXEL_SIZE_AGENT)
        side = 9 * BLOCK_PIXEL_SIZE_AGENT
        symbols: tuple[int, ...] = self._game.observation_space(self._params).shape
        self.observation_shape = symbols if self._draw is None else (side, side, 3)

    def reset(self, key: Key[Array, ""]) -> tuple[tuple[Array, ...], Shaped[Array, "*observation"]]:
        """A new landscape; `unpack` gives its parts."""
        with loose_promotion():
            state = self._landscape(key)
            return self.pack(state), self._observe(state)

    def step(
        self, state: tuple[Array, ...], action: Int[Array, ""], key: Key[Array, ""]
    ) -> tuple[tuple[Array, ...], Step]:
        """One step; where the game is over only because of the time, the episode is truncated."""
        with loose_promotion():
            params = self._params, self._game.static_env_params
            after, reward = self._rules.step(quick_key(key), self.unpack(state), action, *params)
            after = as_arrays(after)
            over = self._game.is_terminal(after, self._params)
            terminal = self._game.is_terminal(after.replace(timestep=0), self._params)
            step = Step(self._observe(after), reward.astype(jnp.float32), terminal, over & ~terminal)
            return self.pack(after), step

    def unpack(self, state: tuple[Array, ...]) -> Any:
        """A state as the package has it: its map, the player's position, inventory, …"""
        kept = self._packing.unpack(state)
        words = jax.lax.bitcast_convert_type(kept.state_rng, jnp.uint32)
        return kept.replace(map=kept.map.astype(jnp.int32), state_rng=wrap_quick_key(words))

    def pack(self, state: Any) -> tuple[Array, ...]:
        """Undo `unpack`."""
        return self._packing.pack(_compact(state))

    def render(self, state: tuple[Array, ...]) -> NDArray[np.uint8]:
        """What the player sees, larger."""
        with loose_promotion():
            return np.asarray(_renderer(BLOCK_PIXEL_SIZE_IMG)(self.unpack(state)))

    def _landscape(self, key: Key[Array, ""]) -> Any:
        return as_arrays(self._rules.landscape(quick_key(key), self._params, self._game.static_env_params))

    def _observe(self, state: Any) -> Shaped[Array, "*observation"]:
        if self._draw is not None:
            return self._draw(state)
        return self._rules.observe(state).astype(jnp.float32)


def _compact(state: Any) -> Any:
    """A state to keep: its blocks in bytes, as a GPU spends much of a step on maps, and its key as two other
    integers, as what reads a checkpoint makes keys of JAX's own kind.
    """
    words = jax.lax.bitcast_convert_type(jax.random.key_data(state.state_rng), jnp.int32)
    return state.replace(map=state.map.astype(jnp.int8), state_rng=words)


class _Rules(NamedTuple):
    """The package's functions."""

    landscape: Callable[..., Any]
    step: Callable[..., tuple[Any, Array]]
    observe: Callable[[Any], Array]

    @classmethod
    @cache
    def of(cls, flat: bool) -> _Rules:
        """As they are, or `flat`.

        The landscape's noise sums over an axis of two numbers. On a CPU, jaxlib 0.10.2 gives wrong sums there for all
        but the first eight of many landscapes, so the two numbers are added instead.
        """
        copy = flat_copy if flat else private_copy
        package = "craftax.craftax_classic"
        noise = private_copy(f"{package}.util.noise")
        noise.jnp = ModuleProxy(jnp, sum=lambda pairs, axis: pairs[..., 0] + pairs[..., 1])
        world = copy(f"{package}.world_gen")
        world.generate_fractal_noise_2d = noise.generate_fractal_noise_2d
        rules, renderer = copy(f"{package}.game_logic"), copy(f"{package}.renderer")
        return cls(world.generate_world, rules.craftax_step, renderer.render_craftax_symbolic)


@cache
def _renderer(pixels: int) -> Callable[[Any], Array]:
    """The package's renderer with blocks of so many pixels, in bytes.

    The package keeps textures of all sizes in a file beside its code, which may be read-only, and prints that it does.
    One size is ready in seconds, so none is kept.
    """
    renderer = private_copy("craftax.craftax_classic.renderer")
    with loose_promotion():
        textures = load_all_textures_given_size(pixels)
    renderer.load_all_textures = lambda: {pixels: textures}
    draw = renderer.make_craftax_pixel_renderer(pixels)
    return jax.jit(lambda state: jnp.round(draw(state)).clip(0, 255).astype(jnp.uint8))
