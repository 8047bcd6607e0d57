import jax
import pytest

# Optax and pgx mix types on purpose, so what calls them cannot be strict.
NOT_STRICT = (
    "tests.environments.test_minatar",
    "tests.agents",
    "tests.training",
    "tests.studies",
    "tests.test_cli",
    "tests.test_docs",
    "tests.test_learning",
)


@pytest.fixture(autouse=True)
def strict_types(request):
    """Silent conversions hide mistakes: an int that becomes a float, float64 that becomes float32."""
    strict = not request.module.__name__.startswith(NOT_STRICT)
    with jax.numpy_dtype_promotion("strict" if strict else "standard"):
        yield
