import jax
import pytest

# Optax mixes types on purpose, so what calls it cannot be strict.
CALLS_OPTAX = (
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
    strict = not request.module.__name__.startswith(CALLS_OPTAX)
    with jax.numpy_dtype_promotion("strict" if strict else "standard"):
        yield
