import numpy as np
import pytest
from ale_py import roms

from rgvf.environments.atari import AtariGame
from rgvf.environments.game_names import ATARI_GAMES, find_atari, rom_name
from rgvf.environments.snapshots import pack
from tests.environments.plain_atari import PlainAtari


def noops_of(seed):
    rng = np.random.Generator(np.random.PCG64(int(np.random.SeedSequence(seed).generate_state(2)[0])))
    while True:
        yield int(rng.integers(1, 31))


def actions_of(game, count, seed=0):
    return np.random.default_rng(seed).integers(len(game.spec.actions), size=count).tolist()


def assert_same(one, other):
    np.testing.assert_array_equal(one.observation, other.observation, strict=True)
    assert one[1:] == other[1:]


def compare_with_plain_rules(name, seed, steps, frame_cap=108_000):
    """Play both; returns the time steps."""
    game, plain = AtariGame(name, seed, frame_cap=frame_cap), PlainAtari(name, noops_of(seed), frame_cap)
    seen = []
    for action in [0, *actions_of(game, steps)]:
        step = game.step(action) if seen else game.reset()
        observation, *expected = plain.step(action)
        np.testing.assert_array_equal(step.observation, observation, strict=True)
        assert [*step[1:], game.lives] == expected
        seen.append(step)
    return seen


@pytest.mark.parametrize(
    ("name", "steps", "lives"),
    [
        ("Breakout", 600, 12), ("Pong", 900, 0), ("Qbert", 700, 4), ("SpaceInvaders", 700, 3), ("Seaquest", 700, 4),
        ("BeamRider", 700, 1), ("Freeway", 300, 0), ("MsPacman", 700, 3),
    ],
)  # fmt: skip
def test_a_game_follows_the_plain_rules_over_gymnasiums_preprocessing(name, steps, lives):
    seen = compare_with_plain_rules(name, seed=7, steps=steps)
    assert sum(step.terminal for step in seen) >= lives


def test_a_game_is_truncated_at_the_cap_and_the_next_one_begins():
    seen = compare_with_plain_rules("Pong", seed=1, steps=300, frame_cap=500)
    ends = [index for index, step in enumerate(seen) if step.truncated]
    assert len(ends) == 2
    for index in ends:
        last, following = seen[index], seen[index + 1]
        assert last.game_over
        assert not last.terminal
        assert following.first
        assert following.game_length == 0


def test_the_cap_counts_frames_of_the_emulator():
    game = AtariGame("Breakout", 0, frame_cap=120, episodic_life=False)
    step = game.reset()
    opening = next(noops_of(0)) + 8
    while not step.truncated:
        step = game.step(0)
    assert step.game_length == -(-(120 - opening) // 4)


def test_a_game_that_ends_while_the_next_life_is_started_is_not_lost():
    game = AtariGame("Breakout", 3)
    actions = actions_of(game, 400)
    game.reset()
    played = next(index for index, action in enumerate(actions) if game.step(action).terminal)
    cap = game._console.ale.getEpisodeFrameNumber() + 6  # reached by the second of the three steps before the next life

    seen = compare_with_plain_rules("Breakout", seed=3, steps=played + 40, frame_cap=cap)
    end, following, after = seen[played + 1 : played + 4]
    assert end.terminal
    assert not end.game_over
    assert following.first
    assert following.game_over
    assert (following.game_return, following.game_length) == (end.game_return, end.game_length)
    assert (after.game_length, after.game_over) == (1, False)


def test_without_episodic_life_only_the_end_of_the_game_is_terminal():
    game = AtariGame("Breakout", 5, episodic_life=False)
    game.reset()
    ends = [step for step in map(game.step, actions_of(game, 600)) if step.terminal]
    assert ends
    assert all(step.game_over for step in ends)


def test_a_game_is_decided_by_its_seed():
    def play(seed):
        game = AtariGame("SpaceInvaders", seed)
        return np.stack([game.step(action).observation for action in actions_of(game, 60)])

    np.testing.assert_array_equal(play(4), play(4))
    assert not np.array_equal(play(4), play(5))


def test_sticky_actions_change_a_game_and_are_decided_by_the_seed():
    def play(sticky):
        game = AtariGame("Breakout", 2, sticky=sticky)
        return np.stack([game.step(action).observation for action in actions_of(game, 60)])

    np.testing.assert_array_equal(play(0.25), play(0.25))
    assert not np.array_equal(play(0.0), play(0.25))


# Qbert repaints half of its screen at a time; Assault begins differently after another game.
@pytest.mark.parametrize(("name", "sticky"), [("Qbert", 0.0), ("Assault", 0.0), ("Breakout", 0.25)])
def test_a_restored_game_continues_exactly(name, sticky):
    game = AtariGame(name, 11, sticky=sticky, frame_cap=900)
    actions = actions_of(game, 800)
    for action in actions[:430]:
        game.step(action)
    saved = game.save()
    other = AtariGame(name, 12, sticky=sticky, frame_cap=900)
    other.restore(saved)
    assert_same(game.current(), other.current())
    assert other.save() == saved
    np.testing.assert_array_equal(game.render(), other.render())
    games = 0
    for action in actions[430:]:
        step = game.step(action)
        assert_same(step, other.step(action))
        games += step.game_over
    assert games >= 1


def test_every_kind_of_time_step_can_be_restored():
    game, other = AtariGame("Breakout", 3, frame_cap=400), AtariGame("Breakout", 4, frame_cap=400)
    kinds = set()
    for action in actions_of(game, 250):
        step = game.step(action)
        kind = step[2:6]
        if kind not in kinds:
            kinds.add(kind)
            other.restore(game.save())
            assert_same(step, other.current())
    assert len(kinds) >= 4


def test_what_is_not_a_saved_state_is_refused():
    game = AtariGame("Pong", 0)
    game.reset()
    saved = game.save()
    damaged = bytearray(saved)
    damaged[-10] ^= 1
    for garbage in (b"", b"garbage" * 100, saved[:-1], saved[:20], bytes(damaged), pack("gym", {}, {})):
        with pytest.raises(ValueError, match="saved state"):
            game.restore(garbage)
    with pytest.raises(ValueError, match="state of Pong; expected Breakout"):
        AtariGame("Breakout", 0).restore(saved)
    with pytest.raises(ValueError, match="did not repeat itself"):
        AtariGame("Pong", 0).restore(_with_another_screen(game))


def _with_another_screen(game):
    game._console.newest[0, 0] ^= 1
    return game.save()


def test_spec_and_screen():
    game = AtariGame("Breakout", 0)
    step = game.reset()
    assert game.spec.actions == ("NOOP", "FIRE", "RIGHT", "LEFT")
    assert (game.spec.frames_per_step, game.spec.stack) == (4, 4)
    assert game.spec.observation_shape == (84, 84, 4)
    assert step.observation.shape == game.spec.frame_shape == (84, 84)
    assert step.observation.dtype == game.spec.observation_dtype == "uint8"
    assert game.render().shape == (210, 160, 3)


def test_wrong_use_is_explained():
    with pytest.raises(ValueError, match="sticky"):
        AtariGame("Pong", 0, sticky=2.0)
    with pytest.raises(ValueError, match="frame_cap"):
        AtariGame("Pong", 0, frame_cap=10)
    game = AtariGame("Pong", 0)
    with pytest.raises(RuntimeError, match="reset first"):
        game.save()
    game.reset()
    with pytest.raises(ValueError, match="actions 0 to 5, not 6"):
        game.step(6)


def test_there_are_49_games_and_a_rom_for_each():
    assert len(set(ATARI_GAMES)) == 49
    assert {rom_name(game) for game in ATARI_GAMES} <= set(roms.get_all_rom_ids())


def test_games_are_found_by_name():
    assert find_atari("breakout") == "Breakout"
    assert find_atari("space_invaders") == "SpaceInvaders"
    with pytest.raises(ValueError, match=r"there is no Atari game 'Brekout'; did you mean Breakout\?"):
        find_atari("Brekout")
    with pytest.raises(ValueError, match="choose from Alien"):
        find_atari("xyz")


def test_what_is_done_ahead_of_time_cannot_be_seen():
    """Neither in what a game gives nor in what it saves."""
    prompt, early = AtariGame("Breakout", 6, frame_cap=500), AtariGame("Breakout", 6, frame_cap=500)
    rng = np.random.default_rng(0)
    games = 0
    for action in actions_of(prompt, 500):
        if rng.random() < 0.1:
            early.prepare()
        step = prompt.step(action)
        assert_same(step, early.step(action))
        games += step.game_over
        if rng.random() < 0.05:
            early.prepare()
            assert prompt.save() == early.save()
    assert games >= 3
    other = AtariGame("Breakout", 7, frame_cap=500)
    other.restore(early.save())
    for action in actions_of(prompt, 200, seed=1):
        assert_same(prompt.step(action), other.step(action))


def test_the_last_observation_of_a_game_is_its_last_screen():
    """Breakout's screen changes when the last ball is lost: features of change see it."""
    game = AtariGame("Breakout", 0)
    changes, before = [], game.reset()
    for action in actions_of(game, 2000):
        step = game.step(action)
        if step.terminal and step.game_over:
            changes.append(np.abs(step.observation.astype(int) - before.observation).max())
            if len(changes) == 3:
                break
        before = step
    assert len(changes) == 3
    assert min(changes) > 0
