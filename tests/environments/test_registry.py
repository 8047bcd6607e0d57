import pytest

from rgvf.environments import MinAtar, PgxMinAtar, find_environment, find_spec, make_game
from rgvf.environments.registry import SUITES, canonical_name, takes_option


def test_names_of_environments():
    for name in ("atari/Breakout", "atari/breakout", "minatar/space_invaders", "gym/ALE/Pong-v5", "own/Anything"):
        canonical_name(name)
    for name in ("NoSuchThing", "own/", "lab/level"):
        with pytest.raises(ValueError, match="expected atari/NAME"):
            canonical_name(name)
    for find in (find_environment, find_spec, lambda name: make_game(name, 0)):
        for name, problem in (("grid/7", "'grid/7' is no environment"), ("atari", "atari is a suite of environments")):
            with pytest.raises(ValueError, match=problem):
                find(name)
    with pytest.raises(ValueError, match="did you mean Breakout"):
        canonical_name("atari/Brekout")
    assert canonical_name("cue/010") == "cue/10"
    for steps in ("-1", "ten", "1e3", "10001", "9" * 5000, "²"):
        with pytest.raises(ValueError, match="cue/STEPS needs a whole number of steps from 0 to 10,000"):
            canonical_name(f"cue/{steps}")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("CartPole-v1", "gym/CartPole-v1"),
        ("CartPole-v0", "gym/CartPole-v0"),
        ("cartpole", "gym/CartPole-v1"),
        ("rgvf/Catch-v0", "gym/rgvf/Catch-v0"),
        ("ALE/Breakout-v5", "atari/Breakout or minatar/Breakout"),
        ("breakout", "atari/Breakout or minatar/Breakout"),
        ("PongNoFrameskip-v4", "atari/Pong"),
        ("MinAtar/SpaceInvaders-v1", "atari/SpaceInvaders or minatar/SpaceInvaders"),
        ("Brekout", "atari/Breakout or minatar/Breakout"),
        ("mintar/breakout", "minatar/Breakout"),
        ("dom/my_way_home", "doom/my_way_home"),
    ],
)
def test_a_name_without_its_suite(name, meant):
    with pytest.raises(ValueError, match=f"{name!r} is no environment; did you mean {meant}\\?"):
        canonical_name(name)


@pytest.mark.parametrize("suite", SUITES)
def test_a_suite_is_no_environment(suite):
    for name in (suite, f"{suite}/", suite.upper()):
        with pytest.raises(ValueError, match=f"is a suite of environments; 'rgvf environments {suite}' lists"):
            canonical_name(name)


def test_games_and_environments_are_found_by_name():
    assert find_environment("atari/Pong") is None
    assert find_spec("atari/Pong").observation_shape == (84, 84, 4)
    assert find_spec("atari/Pong").frame_shape == (84, 84)
    assert find_spec("atari/space_invaders") == make_game("atari/SpaceInvaders", 0).spec
    assert isinstance(find_environment("minatar/space_invaders"), MinAtar)
    assert isinstance(find_environment("minatar-pgx/space_invaders"), PgxMinAtar)
    assert find_spec("minatar/Seaquest") == find_spec("minatar-pgx/Seaquest")
    assert find_spec("minatar/Breakout").observation_shape == (10, 10, 4)
    assert find_spec("minatar/Breakout").observation_dtype == "bool"


def test_options_of_a_suite():
    assert takes_option("atari/Pong", "sticky")
    assert takes_option("minatar/Breakout", "sticky")
    assert takes_option("minatar-pgx/Breakout", "sticky")
    assert not takes_option("gym/CartPole-v1", "sticky")
    with pytest.raises(ValueError, match="gym/CartPole-v1 has no option sticky"):
        make_game("gym/CartPole-v1", 0, sticky=0.5)
    with pytest.raises(ValueError, match="minatar/Breakout has no option frame_cap"):
        find_environment("minatar/Breakout", frame_cap=100)
    for name in ("minatar/Breakout", "own/Walk"):
        with pytest.raises(ValueError, match=f"{name} runs inside the compiled program, not on the host"):
            make_game(name, 0)
