import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rgvf.agents import AgentConfig
from rgvf.features import PixelChange
from rgvf.networks import DenseRepresentation
from rgvf.spec import EnvironmentSpec
from rgvf.tasks import PixelControlTask, View
from rgvf.tasks.pixel_control import PixelControlSettings, PixelQ
from rgvf.trajectory import Past, Trajectory, Transition
from tests.helpers import ATARI, learner_of

LAB = EnvironmentSpec((72, 96, 3), "uint8", ("left", "forward", "right", "fire"))

ACTIONS = 3


def test_the_paper_s_layers():
    """2592 → 32×9×9 → |A|×20×20 on Atari; from 32×8×9 to 18×20 on DeepMind Lab."""
    for spec, hidden, cells in ((ATARI, (2592, 9, 9), (20, 20)), (LAB, (2304, 8, 9), (18, 20))):
        learner = learner_of(AgentConfig("pixel-control"), spec)
        agent = eqx.filter_eval_shape(learner.init, jax.random.key(0))
        head = agent.modules["pixel-control"]
        assert head.hidden.weight.shape == (agent.modules["representation"].size, hidden[0])
        assert (head.rows, head.columns) == hidden[1:]
        assert head.advantage.weight.shape == (4, 4, 32, 4)
        assert head.value.weight.shape == (4, 4, 32, 1)
        states = jax.ShapeDtypeStruct((2, 5, head.hidden.weight.shape[0]), jnp.float32)
        assert eqx.filter_eval_shape(head, states).shape == (2, 5, cells[0] * cells[1], 4)


def test_action_values_are_the_dueling_combination_of_two_deconvolutions():
    head = PixelQ(jax.random.key(0), inputs=5, rows=2, columns=3, n_actions=ACTIONS)
    head = eqx.tree_at(lambda h: h.advantage.bias, head, jnp.array([0.3, -0.2, 0.5]))
    states = jax.random.normal(jax.random.key(1), (1, 1, 5))
    got = np.asarray(head(states)).reshape(6, 8, ACTIONS)

    hidden = np.maximum(np.asarray(states[0, 0] @ head.hidden.weight + head.hidden.bias), 0).reshape(2, 3, 32)

    def deconvolved(layer):
        weight = np.asarray(layer.weight, np.float64)
        out = np.zeros((6, 8, weight.shape[-1])) + np.asarray(layer.bias)
        for i in range(2):
            for j in range(3):
                for y in range(4):
                    for x in range(4):
                        # conv_transpose correlates: the kernel lies upside down
                        out[2 * i + y, 2 * j + x] += hidden[i, j] @ weight[3 - y, 3 - x]
        return out

    advantage = deconvolved(head.advantage)
    expected = deconvolved(head.value) + advantage - advantage.mean(-1, keepdims=True)
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5)


def test_features_are_the_mean_absolute_change_of_the_newest_frame_in_each_cell():
    cells = PixelChange((84, 84, 4), newest_only=True)
    assert (cells.cell, cells.rows, cells.columns) == (4, 20, 20)
    rng = np.random.default_rng(0)
    before, after = rng.integers(0, 256, size=(2, 84, 84, 4)).astype(np.uint8)
    moved = Transition(jnp.asarray(before), jnp.array(0), jnp.array(0.0), jnp.asarray(after))
    got = np.asarray(cells(moved)).reshape(20, 20)
    for row, column in ((0, 0), (3, 17), (19, 19)):
        y, x = 2 + 4 * row, 2 + 4 * column
        patch = np.abs(after[y : y + 4, x : x + 4, 3] / 255.0 - before[y : y + 4, x : x + 4, 3] / 255.0)
        np.testing.assert_allclose(got[row, column], patch.mean(), rtol=1e-5)


@pytest.mark.parametrize(
    ("shape", "cell", "rows", "columns"),
    [((72, 96, 3), 4, 18, 20), ((10, 10, 4), 1, 10, 10), ((210, 160, 3), 8, 20, 20), ((64, 64, 3), 3, 20, 20)],
)
def test_cells_by_the_size_of_the_image(shape, cell, rows, columns):
    cells = PixelChange(shape)
    assert (cells.cell, cells.rows, cells.columns) == (cell, rows, columns)
    assert len(cells.names) == rows * columns


@settings(max_examples=25, deadline=None)
@given(st.integers(4, 130), st.integers(4, 130), st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_images_of_any_shape_by_plain_loops(height, width, channels, seed):
    """Square cells about the middle, as many as fit, an even number each way: the mean change of each, pixel by pixel.

    And the action values have as many cells.
    """
    spec = EnvironmentSpec((height, width, channels), "uint8", ("a", "b"))
    task = PixelControlSettings().make(spec, 0, 8)
    size, rows, columns = task.cells.cell, task.cells.rows, task.cells.columns
    assert rows % 2 == columns % 2 == 0
    assert all(4 <= n <= 20 and n * size <= side for n, side in ((rows, height), (columns, width)))
    assert all(n == 20 or (n + 2) * size > side for n, side in ((rows, height), (columns, width)))
    before, after = np.random.default_rng(seed).integers(256, size=(2, *spec.observation_shape), dtype=np.uint8)
    transition = Transition(jnp.asarray(before), jnp.int32(0), jnp.float32(0), jnp.asarray(after))
    found = np.asarray(task.cells(transition)).reshape(rows, columns)
    top, left = (height - rows * size) // 2, (width - columns * size) // 2
    for row in (0, rows // 2, rows - 1):
        for column in (0, columns - 1):
            total = 0.0
            for y in range(top + row * size, top + (row + 1) * size):
                for x in range(left + column * size, left + (column + 1) * size):
                    total += sum(abs(int(b) - int(a)) / 255 for a, b in zip(before[y, x], after[y, x], strict=True))
            assert found[row, column] == pytest.approx(total / (size * size * channels), rel=1e-4)
    representation = DenseRepresentation(jax.random.key(0), (4,), (8,))
    shape = jax.eval_shape(lambda: task.init(jax.random.key(0), representation)[0](jnp.zeros((1, 1, 8)))).shape
    assert shape == (1, 1, rows * columns, 2)


def test_the_loss_by_hand():
    """An episode of two steps, a reset step, and two steps of the next episode."""
    discount = 0.5
    task = PixelControlTask(PixelControlSettings(discount), PixelChange((4, 4, 1)), n_actions=2)
    representation = DenseRepresentation(jax.random.key(0), (4, 4, 1), (3,))
    head, _ = task.init(jax.random.key(1), representation)
    # Q is the same everywhere: V = 1, A = (0.5, −0.1) → Q = 1 + A − 0.2 = (1.3, 0.7).
    head = jax.tree.map(jnp.zeros_like, head)
    head = eqx.tree_at(lambda h: (h.value.bias, h.advantage.bias), head, (jnp.array([1.0]), jnp.array([0.5, -0.1])))
    observation = np.zeros((6, 1, 4, 4, 1), np.float32)
    # Changes of cell (0, 0): 2, 3, (reset), 0, 4; no other cell ever changes.
    observation[:, 0, 0, 0, 0] = [0, 2, 5, 1, 1, 5]
    first = np.array([0, 0, 0, 1, 0, 0], bool)[:, None]
    terminal = np.array([0, 1, 0, 0, 0], bool)[:, None]
    action = np.array([0, 1, 0, 0, 1], np.int32)[:, None]
    reward = np.full((5, 1), 7.0, np.float32)  # not used
    trajectory = Trajectory._make([*map(jnp.asarray, (observation, action, reward, terminal, first)), Past()])
    view = View.of(trajectory, representation)

    loss, _, _ = task.loss(head, None, view, jax.random.key(0))

    best = 1.3
    last = 4 + discount * best
    changing = [2 + discount * 3, 3.0, None, 0 + discount * last, last]
    still = [0.0, 0.0, None, discount * discount * best, discount * best]
    taken = [1.3, 0.7, None, 1.3, 0.7]
    total = 0.0
    for g_changing, g_still, q in zip(changing, still, taken, strict=True):
        if q is not None:
            total += 0.5 * (g_changing - q) ** 2 + 15 * 0.5 * (g_still - q) ** 2
    np.testing.assert_allclose(loss, total / 5, rtol=1e-5)
