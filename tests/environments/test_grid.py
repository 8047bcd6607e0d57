import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rgvf.environments import GridWorld


def slow_step(size, goal, row, column, action):
    """The rules of the room, plainly."""
    moves = {"up": (-1, 0), "right": (0, 1), "down": (1, 0), "left": (0, -1)}
    new_row, new_column = row + moves[action][0], column + moves[action][1]
    blocked = not (0 <= new_row < size and 0 <= new_column < size)
    if blocked:
        new_row, new_column = row, column
    return new_row, new_column, float((new_row, new_column) == goal), blocked


@pytest.mark.parametrize(("size", "goal"), [(7, (0, 1)), (3, (2, 2)), (1, (0, 0))])
def test_step_mdp_and_view_follow_the_rules(size, goal):
    room = GridWorld(size, goal)
    mdp = room.mdp()
    step = jax.jit(room.step)
    key = jax.random.key(0)
    for row in range(size):
        for column in range(size):
            for a, name in enumerate(room.actions):
                new_row, new_column, reward, blocked = slow_step(size, goal, row, column, name)
                here, there = row * size + column, new_row * size + new_column
                cell, seen = step(jnp.asarray(here), jnp.asarray(a), key)
                assert (int(cell), float(seen.reward)) == (there, reward)
                assert not bool(seen.terminal)
                assert not bool(seen.truncated)
                assert mdp.transition[here, a, there] == 1
                assert np.broadcast_to(mdp.features["touch"], mdp.transition.shape)[here, a, there] == blocked
                view = np.zeros((size + 2, size + 2, 2))
                view[[0, -1], :, 0] = view[:, [0, -1], 0] = 1
                view[new_row + 1, new_column + 1, 1] = 1
                np.testing.assert_array_equal(seen.observation, view)


def test_values_solve_the_bellman_equation_by_iteration():
    size, goal, discount = 7, (0, 1), 0.98
    values = np.zeros((size, size))
    for _ in range(1500):
        new = np.zeros_like(values)
        for row in range(size):
            for column in range(size):
                for action in ("up", "right", "down", "left"):
                    r, c, reward, _ = slow_step(size, goal, row, column, action)
                    new[row, column] += 0.25 * (reward + discount * values[r, c])
        values = new
    learned = GridWorld(size, goal).values(discount).reshape(size, size)
    np.testing.assert_allclose(learned, values, atol=1e-9)
    # The variance of the true values, with which errors are compared, settles where the goal is.
    assert abs(learned.var() - 0.33) < 0.005


def test_a_bump_against_the_wall_in_the_goal_cell_is_rewarded():
    room = GridWorld(7, (0, 1))
    cell, seen = room.step(jnp.asarray(1), jnp.asarray(0), jax.random.key(0))
    assert (int(cell), float(seen.reward)) == (1, 1.0)


def test_reset_is_uniform():
    cells, _ = jax.vmap(GridWorld(3, (0, 0)).reset)(jax.random.split(jax.random.key(0), 9000))
    counts = np.bincount(cells, minlength=9)
    assert abs(counts - 1000).max() < 150


@pytest.mark.unchecked_types
@pytest.mark.parametrize(
    ("size", "goal"), [(0, (0, 0)), (-1, (0, 0)), (3, (0, 3)), (3, (-1, 0)), (3, (0,)), (3, (0.5, 1))]
)
def test_impossible_rooms_are_refused(size, goal):
    with pytest.raises(ValueError, match=r"size|goal"):
        GridWorld(size, goal)
