"""Every test runs with checked shapes, strict promotion of types and ranks, and warnings as errors."""

import atexit
import os
import shutil
import tempfile

from jaxtyping import config, install_import_hook

import tests.typecheck  # noqa: F401 - the hook looks it up by name

# Before rgvf is imported: each annotated function then checks the types and shapes of its arguments and its result.
install_import_hook("rgvf", "tests.typecheck.check")

if "JAX_COMPILATION_CACHE_DIR" not in os.environ:
    # Many tests compile the same programs: they are compiled once for all of them, in all processes.
    folder = os.environ["JAX_COMPILATION_CACHE_DIR"] = tempfile.mkdtemp(prefix="rgvf-tests-")
    os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0.3"
    atexit.register(shutil.rmtree, folder, ignore_errors=True)

import jax  # noqa: E402
import pytest  # noqa: E402


def pytest_collection_modifyitems(items):
    """Long tests first, so that both processes end at the same time."""
    items.sort(key=lambda item: item.get_closest_marker("medium") is None)


@pytest.fixture(autouse=True)
def strict_promotion(request):
    """Silent conversions hide mistakes: int to float, float64 to float32, [n] to [m, n].

    A test that calls code which converts on purpose (Optax, pgx) is marked `loose_promotion`.
    """
    mode = "standard" if request.node.get_closest_marker("loose_promotion") else "strict"
    ranks = "allow" if mode == "standard" else "raise"
    with jax.numpy_dtype_promotion(mode), jax.numpy_rank_promotion(ranks):
        yield


@pytest.fixture(autouse=True)
def checked_types(request):
    """A test that passes wrong types on purpose, to see what a user is told, is marked `unchecked_types`."""
    config.update("jaxtyping_disable", request.node.get_closest_marker("unchecked_types") is not None)
    yield
    config.update("jaxtyping_disable", False)
