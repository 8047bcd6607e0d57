"""Films of trained agents, made in Python."""

import jax.numpy as jnp
import numpy as np
import pytest

import rgvf
from rgvf.analysis import agent_film
from rgvf.environments.device_games import DeviceGame
from rgvf.environments.registry import shows_observation


class Lamp:
    """Two buttons; the observation is an image, and the picture of it another one."""

    actions = ("off", "on")
    observation_shape = (4, 4, 1)

    def reset(self, key):
        return jnp.int32(0), jnp.zeros((4, 4, 1))

    def step(self, state, action, key):
        seen = jnp.zeros((4, 4, 1)).at[state % 4, 0, 0].set(action.astype(jnp.float32))
        return state + 1, rgvf.Step(seen, jnp.float32(action), terminal=state == 6, truncated=jnp.bool_(False))

    def render(self, state):
        return np.full((8, 12, 3), 20 * int(state), np.uint8)


@pytest.fixture
def films(monkeypatch):
    """The films that would have been written."""
    kept = []
    monkeypatch.setattr(agent_film, "write_film", lambda out, film, report: kept.append(film))
    return kept


@pytest.mark.medium
def test_an_environment_of_the_program_is_filmed(tmp_path, films, monkeypatch):
    questions = rgvf.tasks.RandomQuestions(depth=1, repeat=2, features=16)
    config = rgvf.preset(Lamp(), questions, frames=80, actors=2, steps=5, hidden=8, dense=(8,))
    agent = rgvf.train(config, tmp_path / "run", progress=False, environment=Lamp())
    fractions = []
    game = rgvf.make_film(agent, tmp_path / "film.gif", steps=5, played_on=2, report=fractions.append)
    assert [int(screen[0, 0, 0]) for screen in game.screens] == [0, 20, 40, 60, 80]
    assert game.screens[0].shape == (8, 12, 3)
    assert fractions == sorted(fractions)
    (film,) = films
    assert len(film.curves) > 1
    assert not any(curve.patches for curve in film.curves)  # the picture is not what the agent sees
    monkeypatch.setattr(agent_film, "shows_observation", lambda name, given: True)
    rgvf.make_film(agent, tmp_path / "film.gif", steps=5, played_on=0)
    assert any(curve.patches for curve in films[1].curves)


@pytest.mark.medium
def test_a_picture_may_be_an_array_of_jax_and_must_be_in_bytes():
    def game(draw):
        lamp = Lamp()
        lamp.render = draw
        made = DeviceGame(lamp, 0)
        made.reset()
        return made

    screen = game(lambda state: jnp.full((8, 12, 3), 7, jnp.uint8)).render()
    np.testing.assert_array_equal(screen, np.full((8, 12, 3), 7, np.uint8), strict=True)
    expected = r"`render` must give a picture in bytes, uint8\[height, width, 3\], not "
    for wrong, given in (
        (jnp.zeros((8, 12, 3)), r"float32\[8, 12, 3\]"),
        (np.zeros((20, 200), np.uint8), r"uint8\[20, 200\]"),
        (np.zeros((8, 12, 4), np.uint8), r"uint8\[8, 12, 4\]"),
        (np.zeros((0, 12, 3), np.uint8), r"uint8\[0, 12, 3\]"),
        (None, "NoneType"),
    ):
        with pytest.raises(ValueError, match=f"{expected}{given}$"):
            game(lambda state, wrong=wrong: wrong).render()


@pytest.mark.unchecked_types
@pytest.mark.parametrize("use", [rgvf.evaluate, rgvf.record, lambda path: rgvf.make_film(path, "film.gif")])
def test_a_folder_is_no_agent(use):
    with pytest.raises(ValueError, match=r"expected a trained agent, such as rgvf.load\(…\) gives, not 'runs/first'"):
        use("runs/first")


@pytest.mark.parametrize(
    ("name", "shows"),
    [
        ("atari/Breakout", True),
        ("minatar/Breakout", True),
        ("doom/basic", True),
        ("xminigrid/MiniGrid-MemoryS8", False),  # the whole room; the agent sees 3×3 cells before it
        ("gym/minigrid:MiniGrid-Empty-5x5-v0", False),
        ("gym/minigrid:MiniGrid-Empty-5x5-v0?wrapper=minigrid.wrappers:ImgObsWrapper", False),
        ("gym/rgvf/Catch-v0", True),
    ],
)
def test_patches_are_marked_only_where_films_show_what_the_agent_sees(name, shows):
    assert shows_observation(name) == shows
