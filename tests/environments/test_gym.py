import os

import gymnasium
import numpy as np
import pytest

from rgvf.environments.game import GameError
from rgvf.environments.gymnasium import GymGame
from rgvf.environments.picture import picture_of
from rgvf.spec import EnvironmentSpec

ODD = "tests.environments.odd_gym:Odd"


def assert_same(one, other):
    np.testing.assert_array_equal(one.observation, other.observation, strict=True)
    assert one[1:] == other[1:]


def balance(observation):
    """A policy that keeps the pole up: push towards where it falls."""
    return int(observation[2] + observation[3] > 0)


def test_a_fallen_pole_is_terminal_and_the_next_step_is_a_reset_step():
    game = GymGame("CartPole-v1", 0)
    step = game.reset()
    assert step.first
    steps = 0
    while not step.terminal:
        step = game.step(1)
        steps += 1
        assert step.reward == 1.0
        assert step.game_return == step.game_length == steps
    assert not step.truncated
    assert step.game_over
    following = game.step(1)
    assert following.first
    assert following[1:4] == (0.0, False, False)
    assert (following.game_over, following.game_return, following.game_length) == (False, 0.0, 0)
    assert game.step(0).game_length == 1


def test_a_pole_that_stands_is_truncated():
    game = GymGame("CartPole-v1", 0)
    step = game.reset()
    for _ in range(500):
        assert not step.truncated
        step = game.step(balance(step.observation))
    assert step.truncated
    assert not step.terminal
    assert step.game_over
    assert step.game_return == 500
    assert game.step(0).first


def test_each_episode_is_the_environment_with_a_new_seed():
    game, env = GymGame("CartPole-v1", 3), gymnasium.make("CartPole-v1")
    starts = []
    for _ in range(3):
        step = game.reset()
        starts.append(step.observation)
        observation, _ = env.reset(seed=game._episode_seed)
        for action in (0, 1, 1, 0):
            np.testing.assert_array_equal(step.observation, observation)
            step, observation = game.step(action), env.step(action)[0]
    assert len({start.tobytes() for start in starts}) == 3
    np.testing.assert_array_equal(GymGame("CartPole-v1", 3).reset().observation, starts[0])


def test_a_restored_game_continues_exactly():
    actions = np.random.default_rng(0).integers(2, size=200).tolist()
    game = GymGame("CartPole-v1", 5)
    for action in actions[:77]:
        game.step(action)
    other = GymGame("CartPole-v1", 6)
    other.restore(game.save())
    assert_same(game.current(), other.current())
    for action in actions[77:]:
        assert_same(game.step(action), other.step(action))


def test_an_environment_that_is_not_deterministic_is_not_restored_silently():
    game = GymGame(f"{ODD}/Forgetful-v0", 0)
    game.reset()
    with pytest.raises(ValueError, match="it went differently"):
        game.restore(game.save())


def test_garbage_is_refused():
    game = GymGame("CartPole-v1", 0)
    with pytest.raises(ValueError, match="not the saved state"):
        game.restore(b"garbage")
    game.reset()
    with pytest.raises(ValueError, match="state of CartPole-v1; expected CartPole-v0"):
        GymGame("CartPole-v0", 0).restore(game.save())


def test_images_stay_bytes_and_actions_may_start_anywhere():
    game = GymGame(f"{ODD}/Odd-v0", 0)
    assert game.spec.observation_shape == (6, 5, 3)
    assert game.spec.observation_dtype == "uint8"
    assert game.spec.actions == ("2", "3", "4")
    game.reset()
    assert game.step(1).observation[0, 0, 0] == 3
    with pytest.raises(ValueError, match="actions 0 to 2, not 3"):
        game.step(3)


def test_of_what_cannot_draw_itself_the_observation_is_drawn():
    image = GymGame(f"{ODD}/Odd-v0", 0)
    seen = image.reset().observation
    np.testing.assert_array_equal(image.render(), seen.repeat(16, axis=0).repeat(16, axis=1))  # small: enlarged
    pole = GymGame("CartPole-v1", 0)
    seen = pole.reset().observation
    picture = pole.render()
    assert picture.shape == (16, 64, 3)
    for i, value in enumerate(seen):
        cell = picture[:, 16 * i : 16 * (i + 1)]
        assert (cell == int(255 * max(0.0, value))).all()


def test_observations_of_all_kinds_are_pictures():
    bright = picture_of(np.full((20, 20, 4), 128, np.uint8))
    assert bright.shape == (160, 160, 3)
    assert 0 < bright.max() < 255
    for n in (1, 5, 33, 1000):
        picture = picture_of(np.ones(n, np.float32))
        assert 0 < min(picture.shape[:2]) <= max(picture.shape[:2]) <= 512
        assert (picture == 255).all(-1).mean() == pytest.approx(n / (min(n, 32) * -(-n // min(n, 32))))


def test_an_error_is_told_with_its_place():
    game = GymGame(f"{ODD}/Fails-v0", 0)
    game.reset()
    for _ in range(2):
        game.step(0)
    with pytest.raises(GameError, match=r"FileNotFoundError: the level is not there \(odd_gym.py:\d+, in step\)"):
        game.step(0)


RECORDED = "?wrapper=gymnasium.wrappers:RecordEpisodeStatistics"


@pytest.mark.parametrize(
    ("id", "message"),
    [
        ("OldReset-v0", r"OldReset-v0 failed: reset must give \(observation, info\)$"),
        (f"OldReset-v0{RECORDED}", r"to unpack \(expected 2\S*; reset must give \(observation, info\)$"),
        ("OldStep-v0", "OldStep-v0 failed: step must give five values: observation, reward, terminated, trunc"),
        (f"OldStep-v0{RECORDED}", r"to unpack \(expected 5, got 4\); step must give five values: observation, reward"),
        ("Wider-v0", r"Wider-v0 failed: the observation has the shape \(9,\), its observation_space says \(5,\)"),
    ],
)
def test_values_of_another_form_are_refused_with_the_right_one(id, message):
    game = GymGame(f"{ODD}/{id}", 0)
    with pytest.raises(GameError, match=message):
        _ = game.reset(), game.step(0)


WRAPPED = "?wrapper=gymnasium.wrappers:OrderEnforcing&wrapper=gymnasium.wrappers:RecordEpisodeStatistics"


@pytest.mark.parametrize("wrappers", ["", WRAPPED])
@pytest.mark.parametrize("name", ["Drawn", "Function"])
def test_environments_are_drawn_by_what_they_are_not_by_how_they_are_registered(name, wrappers):
    game = GymGame(f"{ODD}/{name}-v0{wrappers}", 0, render=True)
    game.reset()
    np.testing.assert_array_equal(game.render(), np.full((4, 4, 3), 7))


def test_the_pole_is_drawn():
    game = GymGame("CartPole-v1", 0, render=True)
    game.reset()
    screen = game.render()
    assert (screen.shape, len(np.unique(screen)) > 2) == ((400, 600, 3), True)


@pytest.mark.parametrize("render", [False, True])
def test_a_constructor_needs_no_render_mode(render):
    game = GymGame(f"{ODD}/Odd-v0", 0, render=render)
    assert game.reset().first


def test_nested_observations_are_flattened_and_numbers_become_one_hot():
    game = GymGame(f"{ODD}/Nested-v0", 0)
    assert game.spec.observation_shape == (7,)
    first, second = game.reset().observation, game.step(0).observation  # action 0 is number 2
    np.testing.assert_array_equal(first, [1, 0, 0.5, -0.5, 1, 0, 0])  # a Dict is in the order of its names
    np.testing.assert_array_equal(second, [1, 0, 0.5, -0.5, 0, 0, 1])


def test_numbers_alone_become_one_hot():
    game = GymGame("FrozenLake-v1", 0)
    assert game.spec.observation_shape == (16,)
    np.testing.assert_array_equal(game.reset().observation, np.eye(16)[0])


def test_other_observations_become_float32():
    game = GymGame("Acrobot-v1", 0)
    assert game.spec.observation_dtype == "float32"
    assert game.reset().observation.dtype == np.float32


@pytest.mark.parametrize(
    ("id", "message"),
    [
        ("CartPol-v1", r"no Gymnasium environment 'CartPol-v1'; did you mean CartPole-v1"),
        ("CartPole-v7", r"no Gymnasium environment 'CartPole-v7'; did you mean CartPole-v1"),
        ("Zzz", "no Gymnasium environment 'Zzz'"),
        ("no_such_module:Env-v0", "No module named 'no_such_module'"),
        (f"{ODD}/Missing-v0", "No module named 'no_such_package'"),
        (f"{ODD}/Continuous-v0", "Box actions; only Discrete"),
        (f"{ODD}/Words-v0", "observations of type Text are not supported"),
        (f"{ODD}/Broken-v0", "cannot be made: ZeroDivisionError: no level was found"),
        (f"{ODD}/Quits-v0", "cannot be made: SystemExit: 5"),
        (f"{ODD}/Strange-v0", "cannot be made: Unusual"),
        (f"{ODD}/NoSpaces-v0", "the spaces of .* cannot be read: AttributeError"),
        (".:x-v0", "cannot be made|cannot be imported"),
    ],
)
def test_what_cannot_be_played_is_explained(id, message):
    with pytest.raises(ValueError, match=message) as error:
        GymGame(id, 0)
    assert "\n" not in str(error.value)


def test_catch_follows_its_rules():
    """A player that follows the ball scores 5; one that flees from it nearly always misses the first ball."""
    game = GymGame("rgvf/Catch-v0", 0, render=True)
    assert game.spec == EnvironmentSpec((10, 10, 2), "uint8", ("left", "stay", "right"))
    scores = {"follows": [], "flees": []}
    for episode in range(200):
        step = game.reset()
        paddle = np.flatnonzero(step.observation[-1, :, 1])
        middle = int(paddle.mean()) if len(paddle) == 3 else 9 * int(paddle[0] > 0)
        balls, row = 0, 0
        player = "flees" if episode % 2 else "follows"
        while not step.terminal:
            seen = np.argwhere(np.asarray(step.observation)[..., 0])
            assert len(seen) == 1
            assert seen[0, 0] == row
            column = int(seen[0, 1])
            action = 1 + int(np.sign(column - middle)) * (1 if player == "follows" else -1)
            middle = min(max(middle + action - 1, 0), 9)
            step = game.step(action)
            row = (row + 1) % 10
            caught = abs(column - middle) <= 1
            if row == 9:
                balls += caught
                assert step.reward == (1.0 if caught else -1.0)
                assert step.terminal == (not caught or balls == 5)
            else:
                assert (step.reward, step.terminal) == (0.0, False)
        scores[player].append(step.game_return)
    assert set(scores["follows"]) == {5.0}
    assert np.mean(scores["flees"]) < -0.8
    assert game.render().shape == (160, 160, 3)


@pytest.mark.parametrize(("mine", "found"), [(None, "dummy"), ("x11", "x11")])
def test_drawing_needs_no_window_unless_the_user_wants_one(monkeypatch, mine, found):
    monkeypatch.delenv("SDL_VIDEODRIVER", raising=False)
    monkeypatch.delenv("PYGAME_HIDE_SUPPORT_PROMPT", raising=False)
    if mine:
        monkeypatch.setenv("SDL_VIDEODRIVER", mine)
    GymGame("rgvf/Catch-v0", 0, render=True).close()
    assert os.environ["SDL_VIDEODRIVER"] == found
    assert os.environ["PYGAME_HIDE_SUPPORT_PROMPT"] == "1"
