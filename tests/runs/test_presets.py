"""Presets: chosen by the environment, overridden by options, written out in config.json."""

import dataclasses
import json
from typing import Any

import numpy as np
import pytest

import rgvf
from rgvf.cli.options import config_of, option_type, preset_options
from rgvf.cli.parsing import parse
from rgvf.runs import PRESETS, find_preset
from rgvf.studies.minatar import STUDY, MinAtarConfig
from rgvf.studies.minatar_reward import SEARCHED, RewardConfig, RewardStudy
from tests.cli.command import run, words


def by_command(*arguments):
    """The configuration of `rgvf train ARGUMENTS`."""
    defaults = preset_options(arguments, parse(option_type(), list(arguments), "rgvf train"))
    return config_of(parse(option_type(), list(arguments), "rgvf train", default=defaults))


@pytest.mark.parametrize(
    ("env", "name"),
    [
        ("atari/Breakout", "paper"),
        ("dmlab/lasertag_one_opponent_small", "paper"),
        ("doom/my_way_home", "doom"),
        ("minatar/Freeway", "minatar"),
        ("minatar-pgx/Seaquest", "minatar"),
        ("gym/CartPole-v1", "classic-control"),
        ("gym/gymnasium.envs.box2d:LunarLander-v3", "classic-control"),
        ("gym/FrozenLake-v1", "vectors"),
        ("gym/CartPole-v1?wrapper=gymnasium.wrappers:RecordEpisodeStatistics", "classic-control"),
        ("gym/CartPole-v1?render_mode=rgb_array&wrapper=gymnasium.wrappers:AddRenderObservation", "fast"),
        ("gym/rgvf/Catch-v0", "small-images"),
        ("gym/minigrid:MiniGrid-Empty-5x5-v0", "minigrid"),
        ("xminigrid/MemoryS8", "minatar"),
        ("craftax/Classic-Symbolic", "craftax"),
    ],
)
def test_the_environment_chooses_the_preset(env, name):
    assert find_preset(env) == name
    assert rgvf.preset(env) == rgvf.preset(env, name=name)


def test_paper_is_as_published():
    config = by_command("--env", "atari/Breakout")
    assert config == rgvf.RunConfig("atari/Breakout")
    assert (config.frames, config.steps, config.actors, config.clip_rewards) == (200_000_000, 20, 16, 1)
    assert (config.agent.learning_rate, config.agent.rms_epsilon, config.agent.clip_norm) == (7e-4, 1e-5, 0.5)


def test_deepmind_lab_is_as_published_and_doom_like_it():
    config = rgvf.preset("dmlab/explore_goal_locations_small", "rgvf+action-values+mhvp")
    assert (config.frames, config.steps, config.actors, config.clip_rewards) == (200_000_000, 20, 32, 1)
    agent = config.agent
    assert (agent.learning_rate, agent.rms_epsilon, agent.clip_norm) == (3e-4, 1e-8, 0.5)
    assert agent.actor_critic.entropy == 0.003
    assert agent.auxiliary[0] == rgvf.tasks.RandomQuestions(feature_scale=1.0)
    doom = rgvf.preset("doom/my_way_home", "rgvf+action-values+mhvp")
    assert (doom.agent, doom.actors, doom.steps) == (agent, config.actors, config.steps)
    given = rgvf.preset("doom/my_way_home", [rgvf.tasks.RandomQuestions(depth=3), "mhvp"])
    assert given.agent.auxiliary[0] == rgvf.tasks.RandomQuestions(depth=3, feature_scale=1.0)
    own = rgvf.preset("doom/my_way_home", rgvf.tasks.RandomQuestions(feature_scale=8.0))  # what is given stays
    assert own.agent.auxiliary == (rgvf.tasks.RandomQuestions(feature_scale=8.0),)
    for tasks in ("rgvf", ["rgvf"], ("rgvf",)):
        assert rgvf.preset("doom/my_way_home", tasks).agent.auxiliary == agent.auxiliary[:1]
    by_words = by_command("--env", "doom/my-way-home", "--agent", "rgvf", "--rgvf.depth", "3")
    assert by_words.agent.auxiliary == (rgvf.tasks.RandomQuestions(depth=3, feature_scale=1.0),)
    assert by_words.env == "doom/my_way_home"
    assert rgvf.preset("doom/my_way_home", "a2c").agent.auxiliary == ()


@pytest.mark.parametrize("name", ["paper", "fast", "doom"])
@pytest.mark.parametrize("env", ["dmlab/explore_goal_locations_small", "doom/my_way_home"])
def test_agents_that_see_in_three_dimensions_have_memory_by_every_preset(env, name):
    assert rgvf.preset(env, "a2c", name=name).agent.representation == "gru"
    assert rgvf.preset(env, "a2c", name=name, representation="auto").agent.representation == "auto"


def test_another_representation_than_the_preset_s_needs_no_memory():
    craftax = "craftax/Classic-Symbolic"
    given = by_command("--env", craftax, "--agent", "a2c", "--representation", "mlp")
    assert given == rgvf.preset(craftax, "a2c", representation="mlp")
    assert (given.agent.memory, rgvf.preset(craftax, "a2c").agent.memory) == (0, 512)
    assert by_command("--env", craftax, "--representation=auto").agent.memory == 0
    elsewhere = rgvf.preset("minatar/Breakout", "a2c", "craftax").agent
    assert (elsewhere.representation, elsewhere.memory) == ("gru", 512)


def test_fast_differs_from_paper_in_three_numbers():
    paper, fast = (rgvf.preset("atari/Breakout", name=name) for name in ("paper", "fast"))
    assert fast.agent == rgvf.AgentConfig("rgvf", rms_epsilon=1e-10)
    assert fast == rgvf.RunConfig("atari/Breakout", fast.agent, frames=10_000_000, steps=5)
    assert fast != paper


@pytest.mark.parametrize("agent", ["a2c", "rgvf-stop-gradient", "rgvf-discounted-sum-stop-gradient", "curl"])
def test_minatar_is_as_in_its_study(agent):
    studied = STUDY.run_config(MinAtarConfig(), f"Breakout.{agent}")
    stopped = agent.endswith("-stop-gradient")
    ours = rgvf.preset("minatar/Breakout", agent.removesuffix("-stop-gradient"), stop_gradient=stopped)
    if agent.startswith("rgvf"):  # the study says the default, 8, which it has tried others beside
        task: Any = ours.agent.auxiliary[0]
        ours = rgvf.preset(ours.env, dataclasses.replace(task, feature_scale=8.0), stop_gradient=stopped)
    assert ours.agent == studied.agent
    for name in ("env", "frames", "actors", "steps", "clip_rewards"):
        assert getattr(ours, name) == getattr(studied, name)


def test_options_override_a_preset_also_with_a_default_value():
    config = by_command("--env", "minatar/Breakout", "--hidden", "512", "--clip-rewards", "1", "--frames", "1e5")
    assert (config.agent.hidden, config.clip_rewards, config.frames) == (512, 1, 100_000)
    assert config.agent.learning_rate == PRESETS["minatar"].by_agent["rgvf"]["learning_rate"]
    assert config == rgvf.preset("minatar/Breakout", hidden=512, clip_rewards=1, frames=100_000)


def test_wrong_names_end_in_a_sentence(capsys):
    status, printed = run(capsys, "train", "--env", "atari/Breakout", "--preset", "fats")
    assert status == 2
    assert "there is no preset 'fats'; did you mean fast?" in words(printed.err)
    with pytest.raises(ValueError, match="no setting 'step'; did you mean steps"):
        rgvf.preset("atari/Breakout", step=5)
    with pytest.raises(ValueError, match=r"depth is a setting of the task rgvf; .*RandomQuestions\(depth=4\)"):
        rgvf.preset("atari/Breakout", depth=4)
    with pytest.raises(ValueError, match=r"margin is a setting of the task curl; .*CURLSettings\(margin=2\)"):
        rgvf.preset("atari/Breakout", "a2c", margin=2)
    both = r"agent=\[rgvf.tasks.RandomQuestions\(depth=4\), rgvf.tasks.ActionValues\(depth=4\)\]"
    with pytest.raises(ValueError, match=f"depth is a setting of the tasks rgvf and action-values; .*{both}"):
        rgvf.preset("minatar/Breakout", "rgvf+action-values", depth=4)
    mine = [rgvf.tasks.RandomQuestions(repeat=2), rgvf.tasks.CURLSettings(outputs=3)]
    kept = r"agent=\[rgvf.tasks.RandomQuestions\(repeat=2, depth=4\), rgvf.tasks.CURLSettings\(outputs=3\)\]"
    with pytest.raises(ValueError, match=f"of the task rgvf; .*{kept}"):
        rgvf.preset("minatar/Breakout", mine, depth=4)
    with pytest.raises(ValueError, match=r"of the task curl; .*agent=\['rgvf', rgvf.tasks.CURLSettings\(margin=2\)\]"):
        rgvf.preset("minatar/Breakout", "rgvf+curl", margin=2)


def test_help_shows_the_presets_and_with_an_environment_their_settings(capsys):
    status, printed = run(capsys, "train", "--help")
    assert status == 0
    for name, preset in PRESETS.items():
        assert f"{name}: {preset.summary}." in words(printed.out)
    status, printed = run(capsys, "train", "--env", "atari/Breakout", "--preset", "fast", "--help")
    assert status == 0
    assert "(default: 1e-10)" in words(printed.out)


@pytest.mark.parametrize("frames", [1_000, 12_345, 1_000_000, 200_000_000])
def test_a_run_of_any_length_has_fifty_lines_and_ten_checkpoints(frames):
    config = rgvf.RunConfig("minatar/Breakout", frames=frames, actors=2, steps=5).with_intervals()
    per_update = 10
    updates = -(-frames // per_update)
    assert updates / round(config.log_every / per_update) >= 50
    assert updates / round(config.checkpoint_every / per_update) >= 10


@pytest.mark.medium
def test_a_run_says_what_it_is_and_keeps_what_it_was_made_with(tmp_path, capfd):
    tiny: dict[str, Any] = {"frames": 600, "actors": 2, "steps": 5, "hidden": 8, "seeds": 2, "processes": 1}
    task = rgvf.tasks.RandomQuestions(depth=1, repeat=2, features=3)
    config = rgvf.preset("gym/CartPole-v1", task, **tiny)
    agent = rgvf.train(config, tmp_path / "run")
    said = capfd.readouterr().err
    assert said.startswith(f"rgvf on gym/CartPole-v1: 600 frames, seeds 0 to 1, folder {tmp_path / 'run'}\n")
    assert "7 questions about 3 features, rewards × 0.1 for learning, 2 environments for each seed, on cpu" in said
    assert said.index("starting 4 environments") < said.index("compiling") < said.index("600/600 frames")
    kept = json.loads((tmp_path / "run/config.json").read_text())
    assert kept["made_with"]["rgvf"] == rgvf.__version__
    assert {"jax", "python", "commit", "date", "device"} <= kept["made_with"].keys()
    assert (kept["log_every"], kept["checkpoint_every"], kept["steps"]) == (6, 30, 5)
    assert len(list((tmp_path / "run/checkpoints").iterdir())) == config.keep_checkpoints
    lines = [json.loads(line) for line in (tmp_path / "run/metrics.jsonl").read_text().splitlines()]
    assert all(line["length"] == line["return"] for line in lines)  # CartPole gives 1 for each step
    seconds = [line["seconds"] for line in lines if line["seed"] == 0]
    assert seconds == sorted(seconds)

    older = rgvf.load(tmp_path / "run", checkpoint=570)
    assert (older.frames, agent.frames) == (570, 600)
    observation = np.zeros(4, np.float32)
    assert not np.array_equal(older.represent(observation), agent.represent(observation))
    with pytest.raises(rgvf.RunError, match="no checkpoint after 571 frames; it has 330, 360, "):
        rgvf.load(tmp_path / "run", checkpoint=571)

    more = rgvf.resume(tmp_path / "run", rgvf.preset("gym/CartPole-v1", task, **{**tiny, "frames": 700}))
    assert more.frames == 700
    said = capfd.readouterr().err
    assert "600 of 700 frames are done: resuming" in said
    again = json.loads((tmp_path / "run/config.json").read_text())
    assert again == {**kept, "frames": 700}
    last = (tmp_path / "run/metrics.jsonl").read_text().splitlines()[-1]
    assert json.loads(last)["seconds"] > seconds[-1]


@pytest.mark.parametrize("agent", [each for each in SEARCHED if "action-values" in each])
def test_agents_with_questions_about_reward_are_those_of_their_study(agent):
    """What `rgvf train --agent NAME` trains in MinAtar is what the results are about."""
    studied = RewardStudy().run_config(RewardConfig(), f"Breakout.{agent}")
    stopped = agent.endswith("-stop-gradient")
    ours = rgvf.preset("minatar/Breakout", agent.removesuffix("-stop-gradient"), stop_gradient=stopped)
    assert ours.agent == studied.agent
    for name in ("env", "frames", "actors", "steps", "clip_rewards"):
        assert getattr(ours, name) == getattr(studied, name)


def test_ablations_and_tasks_in_another_order_have_the_same_sizes_and_rates():
    def found(agent, **mode):
        config = rgvf.preset("minatar/Breakout", agent, **mode).agent
        return config.learning_rate, config.kernels, config.dense, config.hidden

    two = found("rgvf+action-values", stop_gradient=True)
    assert two == (2e-3, (32,), (512,), 512)
    others = "action-values+rgvf", "rgvf+action-values-no-actions", "rgvf-shallow+action-values"
    assert {found(agent, stop_gradient=True) for agent in others} == {two}
    assert found("rgvf+action-values-no-actions") == found("rgvf+action-values") != two
    assert found("action-values-no-actions") == found("action-values")
    assert found("rgvf+rgvf-shallow") == found("rgvf+mhvp") != found("rgvf")  # no ablation of one agent
    assert found("rgvf-no-actions") == found("rgvf")  # of which end-to-end ablations were not searched
    assert found("rgvf-no-actions", stop_gradient=True) == (4e-3, (), (), 128)  # which was
