import jax.numpy as jnp
import numpy as np
import pytest

from rgvf.features import RandomLinear, RandomPatches
from rgvf.tasks import DiscountedSums, NoActions, RandomQuestions, Shallow, question_arrays
from tests.helpers import ATARI, SMALL_IMAGE, VECTOR


@pytest.mark.parametrize(
    ("settings", "n_features", "n_predictions", "trained"),
    [
        (RandomQuestions(), 16, 16 + 8 * 16 * 4, 16 + 8 * 16),
        (NoActions(), 16, 16 + 8 * 16 * 4, 16 + 8 * 16 * 4),
        (Shallow(), 128, 128 * 4, 128),
        (DiscountedSums(), 16 + 8 * 16 * 4, 16 + 8 * 16 * 4, 16 + 8 * 16 * 4),
    ],
)
def test_the_paper_s_questions_for_atari(settings, n_features, n_predictions, trained):
    network = settings.make_network(ATARI, 0)
    features = settings.make_features(network, ATARI, 0)
    assert (network.n_features, network.n_predictions) == (n_features, n_predictions)
    assert features.names == network.features
    assert isinstance(features, RandomPatches)
    assert features.weight.shape == (-(-n_features // 16), 441)
    np.testing.assert_allclose(jnp.linalg.norm(features.weight, axis=1), 8.0, rtol=1e-5)
    assert question_arrays(network, features).gradient_scale == pytest.approx(trained**-0.5)


@pytest.mark.parametrize(
    ("spec", "kind", "feature"),
    [
        (SMALL_IMAGE, "auto", RandomPatches),
        (SMALL_IMAGE, "linear", RandomLinear),
        (SMALL_IMAGE, "patches", RandomPatches),
        (VECTOR, "auto", RandomLinear),
    ],
)
def test_the_kind_of_random_features(spec, kind, feature):
    settings = RandomQuestions(depth=2, repeat=3, features=4, feature_kind=kind)
    features = settings.make_features(settings.make_network(spec, 0), spec, 0)
    assert isinstance(features, feature)
    assert len(features.names) == 4


def test_more_questions_than_a_layer_can_have_are_refused_or_capped():
    with pytest.raises(ValueError, match=r"repeat 33 is too large: .* 32, or cap_repeat=True \(--TASK.cap-repeat\)"):
        RandomQuestions(repeat=33).make_network(ATARI, 0)
    assert RandomQuestions(repeat=33, cap_repeat=True).make_network(ATARI, 0).n_predictions == 16 + (32 + 7 * 33) * 4
