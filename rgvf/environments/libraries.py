"""Environments in JAX that other packages bring: what it takes to call them from a strict program."""

from __future__ import annotations

import ast
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import jax
import jax.numpy as jnp

T = TypeVar("T")


@contextmanager
def loose_promotion() -> Iterator[None]:
    """These packages convert types and ranks on purpose, also where the program that calls them forbids that."""
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield


def as_arrays(tree: T) -> T:
    """The same state as arrays of fixed types: a Python number in it would make the program compile twice."""

    def one(leaf: Any) -> jax.Array:
        is_key = jnp.issubdtype(jnp.result_type(leaf), jax.dtypes.prng_key)
        return leaf if is_key else jnp.asarray(leaf, jnp.result_type(leaf))

    return jax.tree.map(one, tree)


def private_copy(module: str, edit: ast.NodeTransformer | None = None, **names: Any) -> Any:
    """A copy of a module, the same at each call, that can be changed while the package itself stays as it is.

    Args:
        module: its name.
        edit: changes its code.
        names: what the changed code may use besides.
    """
    name = f"rgvf.environments._{'edited_' if edit else ''}copy_of_{module.replace('.', '_')}"
    if name not in sys.modules:
        spec = importlib.util.find_spec(module)
        assert spec is not None
        assert spec.origin is not None
        private = importlib.util.spec_from_file_location(name, spec.origin)
        assert private is not None
        code = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
        if edit:
            code = ast.fix_missing_locations(edit.visit(code))
        copy = importlib.util.module_from_spec(private)
        sys.modules[name] = copy
        vars(copy).update(names)
        exec(compile(code, spec.origin, "exec"), vars(copy))
    return sys.modules[name]


class ModuleProxy:
    """A module with some of its names replaced."""

    def __init__(self, module: Any, **replaced: Any) -> None:
        self._module = module
        self.__dict__.update(replaced)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)
