"""What a run says where it starts."""

import pytest

import rgvf
from rgvf.runs.header import memory_note

NO_MEMORY = "what is seen here is needed later, and this agent has no memory: --representation gru gives it one"


@pytest.mark.parametrize(
    ("env", "settings", "note"),
    [
        ("cue/20", {}, NO_MEMORY),
        ("cue/5", {"representation": "mlp"}, NO_MEMORY),
        (
            "cue/20",
            {"representation": "gru"},
            "here an agent must remember for 22 steps, and segments are 20 steps: set --steps",
        ),
        ("cue/20", {"representation": "gru", "steps": 22}, ""),
        ("cue/15", {"representation": "gru"}, ""),
        ("minatar/Breakout", {}, ""),
        ("gym/CartPole-v1", {}, ""),
    ],
)
def test_an_agent_that_cannot_remember_what_it_must(env, settings, note):
    assert memory_note(rgvf.preset(env, "a2c", **settings)) == note


@pytest.mark.medium
def test_a_run_says_so_where_it_starts(tmp_path, capfd):
    config = rgvf.preset("cue/3", "a2c", hidden=8, actors=2, steps=5, frames=10)
    rgvf.train(config, tmp_path / "run")
    said = capfd.readouterr().err
    assert said.index("2 environments for each seed") < said.index(NO_MEMORY) < said.index("starting 2 environments")
