"""xminigrid's rooms beside the package itself."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from xminigrid.registration import make, registered_environments

from rgvf.environments import XMINIGRID_ROOMS, Room, step_or_reset
from rgvf.environments.device_games import DeviceGame
from rgvf.environments.game_names import find_room

pytestmark = pytest.mark.medium

KINDS, COLOURS = 13, 12


def one_hot(view):
    """The package's [..., kind and colour] as planes, on the host."""
    kind, colour = np.moveaxis(np.asarray(view), -1, 0)
    return np.concatenate([np.eye(KINDS, dtype=bool)[kind], np.eye(COLOURS, dtype=bool)[colour]], -1)


@pytest.mark.loose_promotion
@pytest.mark.parametrize(
    "name",
    [
        "MiniGrid-MemoryS8",
        *(pytest.param(f"MiniGrid-{name}", marks=pytest.mark.slow) for name in ("FourRooms", "Unlock")),
    ],
)
def test_rooms_equal_those_of_the_package_step_by_step(name):
    """Twenty rooms side by side, 400 steps; the package is reset by hand, one step after an episode has ended."""
    room, (theirs, params), n = Room(name), make(name), 20

    def their_step(state, ended, action, key):
        return jax.lax.cond(ended, lambda: theirs.reset(params, key), lambda: theirs.step(params, state, action))

    @jax.jit
    def play(key):
        def one(carry, key):
            ours, their, ended = carry
            action = jax.random.randint(key, (n,), 0, 6)
            keys = jax.random.split(key, n)
            ours, step = jax.vmap(partial(step_or_reset, room))(ours, ended, action, keys)
            their = jax.vmap(their_step)(their, ended, action, keys)
            same = jnp.all(ours.state.grid == their.state.grid) & jnp.all(ours.state.step_num == their.state.step_num)
            return (ours, their, step.terminal | step.truncated), (step, their, ended, same)

        keys = jax.random.split(key, n)
        start, first = jax.vmap(room.reset)(keys)
        begun = jax.vmap(partial(theirs.reset, params))(keys)
        return (first, begun), jax.lax.scan(one, (start, begun, jnp.zeros(n, bool)), jax.random.split(key, 400))[1]

    (first, begun), (step, their, reset, same) = play(jax.random.key(3))
    assert first.shape[1:] == room.observation_shape
    np.testing.assert_array_equal(first, one_hot(begun.observation))
    np.testing.assert_array_equal(step.observation, one_hot(their.observation))
    np.testing.assert_array_equal(step.reward, their.reward)
    np.testing.assert_array_equal(step.terminal | step.truncated, their.last())
    np.testing.assert_array_equal(step.terminal, their.discount == 0)
    assert same.all()
    assert not (step.terminal & step.truncated).any()
    np.testing.assert_array_equal(reset[1:], their.last()[:-1])
    np.testing.assert_array_equal(reset, their.first())
    steps = np.asarray(their.state.step_num)
    assert (steps[np.asarray(step.truncated)] == params.max_steps).all()
    if name == "MiniGrid-MemoryS8":
        assert int(step.terminal.sum()) > 10
        assert float(step.reward.sum()) > 1
    if name == "MiniGrid-FourRooms":
        assert int(step.truncated.sum()) >= n


@pytest.mark.parametrize("name", XMINIGRID_ROOMS)
def test_every_room_can_be_made(name):
    room = Room(name)
    state, first = jax.eval_shape(room.reset, jax.random.key(0))
    after, step = jax.eval_shape(room.step, state, jnp.int32(0), jax.random.key(0))
    assert first.shape == step.observation.shape == room.observation_shape
    assert jax.tree.map(str, state) == jax.tree.map(str, after)  # of the same types to the letter


def test_the_list_has_all_rooms_of_the_package_but_the_one_without_a_goal():
    theirs = {name for name in registered_environments() if name.startswith("MiniGrid-")}
    assert set(XMINIGRID_ROOMS) == theirs - {"MiniGrid-Playground"}


def test_a_cue_is_seen_only_from_its_room():
    """In MemoryS16, the object to remember is out of sight at the end of the corridor: the task needs memory."""
    room = Room("MemoryS16")
    state, _ = room.reset(jax.random.key(0))
    cue = tuple(np.asarray(state.state.grid)[2, 1])
    views = {}
    for column in (1, 10):
        there = state.state.agent.replace(position=jnp.array([3, column]), direction=jnp.asarray(0))
        _, step = room.step(state.replace(state=state.state.replace(agent=there)), jnp.int32(5), jax.random.key(0))
        views[column] = np.asarray(step.observation)
    sees = {column: (view[..., cue[0]] & view[..., KINDS + cue[1]]).any() for column, view in views.items()}
    assert sees == {1: True, 10: False}


def test_a_room_can_be_drawn():
    game = DeviceGame(Room("Empty-5x5"), 0)
    game.reset()
    before = game.render()
    game.step(1)
    assert before.shape == (80, 80, 3)
    assert before.dtype == np.uint8
    assert (before != game.render()).any()


def test_names():
    assert (
        find_room("memory_s8")
        == find_room("MiniGrid-MemoryS8")
        == find_room("minigrid-memorys8")
        == "MiniGrid-MemoryS8"
    )
    with pytest.raises(
        ValueError, match=r"there is no environment of xminigrid 'DoorKey-5x6'; did you mean MiniGrid-D"
    ):
        find_room("DoorKey-5x6")
