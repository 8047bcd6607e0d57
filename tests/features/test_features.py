import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rgvf.features import Constant, Features, RandomLinear, RandomPatches, Reward, Touch, make_features, patch_of
from rgvf.spec import EnvironmentSpec
from rgvf.trajectory import Transition


def transition(before, after, reward=0.0):
    before, after = jnp.asarray(before)[None], jnp.asarray(after)[None]
    return Transition(before, jnp.zeros(1, int), jnp.full(1, reward), after)


def test_touch_is_one_exactly_where_nothing_moved():
    here = np.zeros((2, 2, 1), np.float32)
    there = here.copy()
    there[0, 1] = 1
    assert Touch()(transition(here, here)) == 1
    assert Touch()(transition(here, there)) == 0


def test_reward_and_constant_side_by_side():
    both = Features([Reward(), Constant()])
    assert both.names == ("reward", "constant")
    np.testing.assert_array_equal(both(transition(np.zeros((1, 1, 1)), np.ones((1, 1, 1)), reward=3.5)), [[3.5, 1.0]])


def test_random_linear_is_the_absolute_change_of_standard_normal_maps():
    feature = RandomLinear(jax.random.key(0), (9, 9, 2), 500)
    weight = np.asarray(feature.weight)
    assert abs(weight.mean()) < 0.02
    assert abs(weight.std() - 1) < 0.02
    rng = np.random.default_rng(0)
    before, after = rng.normal(size=(2, 9, 9, 2)).astype(np.float32)
    expected = np.abs(after.ravel() @ weight - before.ravel() @ weight)
    np.testing.assert_allclose(feature(transition(before, after))[0], expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize(
    ("shape", "patch", "newest", "scale", "pixels"),
    [((84, 84, 4), (21, 21), True, 8.0, 441), ((72, 96, 3), (18, 24), False, 1.0, 18 * 24 * 3)],
)
def test_random_patches_on_the_shapes_of_atari_and_deepmind_lab(shape, patch, newest, scale, pixels):
    feature = RandomPatches(jax.random.key(1), shape, patch, scale=scale, newest_only=newest)
    assert feature.names == tuple(f"random-patches/{k}" for k in range(16))
    assert feature.weight.shape == (1, pixels)
    np.testing.assert_allclose(np.linalg.norm(feature.weight), scale, rtol=1e-5)
    rng = np.random.default_rng(0)
    before, after = rng.integers(0, 256, size=(2, *shape), dtype=np.uint8)
    values = feature(transition(before, after))[0]
    # By hand: patch (i, j), all its pixels in order, times the one shared vector.
    change = after.astype(float) / 255 - before.astype(float) / 255
    change = change[..., -1:] if newest else change
    for k in range(16):
        i, j = divmod(k, 4)
        rows, columns = slice(i * patch[0], (i + 1) * patch[0]), slice(j * patch[1], (j + 1) * patch[1])
        expected = abs(change[rows, columns].ravel() @ np.asarray(feature.weight[0]))
        np.testing.assert_allclose(values[k], expected, rtol=1e-3, atol=1e-4)


def test_more_features_are_more_maps_over_the_same_patches():
    feature = RandomPatches(jax.random.key(2), (4, 4, 1), (2, 2), n=6)
    assert feature.weight.shape == (2, 4)
    frame = np.zeros((4, 4, 1), np.float32)
    frame[:2, :2] = 1  # changes patch 0 alone: feature 0 of the first map and feature 4, patch 0 of the second
    values = np.asarray(feature(transition(np.zeros_like(frame), frame))[0])
    np.testing.assert_allclose(values[[0, 4]], np.abs(np.asarray(feature.weight).sum(1)), rtol=1e-5)
    np.testing.assert_array_equal(values[[1, 2, 3, 5]], 0)


def test_any_leading_axes():
    feature = RandomPatches(jax.random.key(3), (4, 4, 1), (2, 2))
    frames = jnp.arange(2 * 3 * 16, dtype=jnp.float32).reshape(2, 3, 4, 4, 1) ** 2
    moved = Transition(frames, jnp.zeros((2, 3), int), jnp.zeros((2, 3)), frames[::-1])
    single = feature(Transition(frames[1, 2], jnp.zeros((), int), jnp.zeros(()), frames[0, 2]))
    np.testing.assert_allclose(feature(moved)[1, 2], single, rtol=1e-5)


def test_wrong_sizes_are_refused():
    with pytest.raises(ValueError, match="do not tile"):
        RandomPatches(jax.random.key(0), (84, 84, 1), (20, 21))
    with pytest.raises(ValueError, match="at least 1"):
        RandomPatches(jax.random.key(0), (84, 84, 1), (21, 21), n=0)
    with pytest.raises(ValueError, match="at least 1"):
        RandomLinear(jax.random.key(0), (3,), 0)


@pytest.mark.parametrize("shape", [(84, 84, 4), (10, 10, 3), (12, 9, 1)])
def test_a_feature_sees_changes_in_its_patch_only(shape):
    spec = EnvironmentSpec(shape, "float32", ("left",))
    names = [f"random-patches/{k}" for k in range(20)]
    features = make_features(names, spec, seed=0)
    height, width, _ = shape
    for k in (0, 1, 6, 19):
        patch = patch_of(names[k], spec)
        assert patch is not None
        left, top, wide, high = (round(part * size) for part, size in zip(patch, (width, height) * 2, strict=True))
        inside = np.zeros(shape, np.float32)
        inside[top : top + high, left : left + wide] = np.random.default_rng(k).random((high, wide, shape[-1]))
        outside = np.random.default_rng(k).random(shape).astype(np.float32)
        outside[top : top + high, left : left + wide] = 0
        nothing = np.zeros(shape, np.float32)
        assert features(transition(nothing, inside))[0, k] > 0
        assert features(transition(nothing, outside))[0, k] == 0
    assert patch_of("reward", spec) is None
    assert patch_of("random-linear/3", spec) is None
