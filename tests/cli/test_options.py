"""The options of `rgvf train`: a group for each task, and how they become a configuration."""

import dataclasses
import re

import pytest

from rgvf.agents import AgentConfig
from rgvf.cli.errors import CommandError
from rgvf.cli.options import changed_config, config_of, option_type, options_of
from rgvf.cli.parsing import parse
from rgvf.questions import reward_prediction
from rgvf.runs import RunConfig
from rgvf.settings import field_docs
from rgvf.tasks import (
    TASKS,
    ActionValuesNoActions,
    ActorCriticSettings,
    CURLSettings,
    GivenQuestions,
    MultiHorizonValues,
    PixelControlSettings,
    RandomAndActionValues,
    RandomQuestions,
    Shallow,
)
from tests.cli.command import run, words

ENV = ["--env", "minatar/Breakout"]


def config_from(*arguments):
    return config_of(parse(option_type(), [*ENV, *arguments], "rgvf train"))


@pytest.mark.parametrize(
    ("arguments", "tasks"),
    [
        (["--rgvf.depth", "2"], [RandomQuestions(depth=2)]),
        (["--agent", "rgvf-shallow", "--rgvf.depth", "2"], [Shallow(depth=2)]),
        (["--agent", "mhvp", "--mhvp.horizons", "3"], [MultiHorizonValues(3)]),
        (["--agent", "random-and-action-values"], [RandomAndActionValues(feature_rms=8.0)]),
        (
            ["--agent", "random-and-action-values", "--random-and-action-values.depth", "2"],
            [RandomAndActionValues(depth=2)],
        ),
        (
            ["--agent", "action-values-no-actions", "--action-values.feature-rms", "None"],
            [ActionValuesNoActions(feature_rms=None)],
        ),
        (
            ["--agent", "random-and-action-values", "--random-and-action-values.feature-rms", "none"],
            [RandomAndActionValues(feature_rms=None)],
        ),
        (["--rgvf.feature-scale", "2"], [RandomQuestions(feature_scale=2.0)]),
        (
            ["--agent", "curl+pixel-control", "--curl.layer-norm", "--pixel-control.discount", "0.5"],
            [CURLSettings(layer_norm=True), PixelControlSettings(0.5)],
        ),
        (["--agent", "a2c"], []),
    ],
)
def test_options_of_a_task_become_its_settings(arguments, tasks):
    assert config_from(*arguments) == RunConfig("minatar/Breakout", AgentConfig(tasks))


def test_other_options_belong_to_the_run_the_agent_and_the_actor_critic():
    agent = AgentConfig("rgvf", actor_critic=ActorCriticSettings(discount=0.9), learning_rate=0.1)
    arguments = ["--discount", "0.9", "--learning-rate", "0.1", "--seeds", "3"]
    assert config_from(*arguments) == RunConfig("minatar/Breakout", agent, seeds=3)


@pytest.mark.parametrize("agent", ["a2c", *TASKS, "rgvf+pixel-control"])
def test_a_configuration_and_its_options_are_the_same_thing(agent):
    config = RunConfig("minatar/Breakout", AgentConfig(agent, c=(0.5,), hidden=7), frames=99)
    assert config_of(options_of(config)) == config


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--curl.margin", "2"], "options --curl.… are for the task curl, and the agent rgvf lacks it"),
        (
            ["--agent", "mhvp", "--rgvf.depth", "2"],
            "options --rgvf.… are for the task rgvf, and the agent mhvp lacks it",
        ),
        (["--agent", "a2c", "--questions.network", "x.json"], "--questions.… are for the task questions"),
        (["--agent", "questions"], "the task `questions` needs a question network (--questions.network FILE.json)"),
        (
            ["--agent", "questions", "--questions.network", "x.json"],
            "the question network cannot be read: No such file",
        ),
        (["--rgvf.depth", "0"], "--rgvf.depth must be between 1 and 100,000, not 0"),
        (["--rgvf.depth", "x"], "--rgvf.depth must be a whole number, not 'x'"),
        (["--rgvf.feature-rms", "x"], "--rgvf.feature-rms must be a number or none, not 'x'"),
        (["--rgvf.feature-kind", "patch"], "Expected one of ('auto', 'patches', 'linear')"),
        (["--depth", "2"], "did you mean --rgvf.depth or --action-values.depth?"),
        (["--frames", "1.5"], "--frames must be a whole number, not '1.5'"),
        (["--frames", "9" * 400], "frames must be a number below 10^308"),
        (["--frames", "9" * 40], "frames must be at most 10^15"),
        (["--seed", str(2**63)], f"the seeds of a run must be below 2^31, not {2**63}"),
        (["--seeds", "100000"], "seeds must be at most 4,096: each agent needs its own memory, not 100000"),
        (["--hidden", "1e9"], "rgvf: --hidden must be between 1 and 65,536, not 1000000000"),
        (["--actors", "1e9"], "actors must be at most 65,536, not 1000000000"),
        (["--learning-rate", "inf"], "--learning-rate must be positive, not inf"),
        (["--rgvf.features", "2000000000"], "--rgvf.features must be between 1 and 100,000, not 2000000000"),
        (["--rgvf.depth", "1000000000"], "--rgvf.depth must be between 1 and 100,000, not 1000000000"),
        (["--rgvf.depth", "1e5", "--rgvf.repeat", "9"], "their weights alone would take about 10 GiB"),
        (["--agent", "mhvp", "--mhvp.horizons", "1e12"], "--mhvp.horizons must be between 1 and 100,000"),
        (
            ["--agent", "curl", "--curl.margin", str(2**63)],
            "margin must be smaller than the image, 10 pixels, not 9223",
        ),
        (["--agent", "a2c", "--stop-gradient"], "rgvf: --stop-gradient needs an auxiliary task: nothing would train"),
        (["--learn-balance"], "rgvf: --learn-balance is for several tasks that answer questions, and rgvf has 1"),
        (["--agent", "curl", "--curl.outputs", "1e12"], "--curl.outputs must be between 1 and 65,536"),
    ],
)
def test_a_wrong_option_is_refused_in_one_sentence(capsys, tmp_path, monkeypatch, arguments, sentence):
    monkeypatch.chdir(tmp_path)
    status, printed = run(capsys, "train", *ENV, *arguments)
    assert status == 2
    *header, error = printed.err.splitlines()
    assert sentence in words(error)
    assert len(header) <= 1  # what would have been trained
    assert list(tmp_path.iterdir()) == []


def test_a_folder_whose_name_is_too_long_is_refused_in_a_sentence(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for arguments in (["train", *ENV, "--agent", "a2c"], ["study", "grid-touch"]):
        status, printed = run(capsys, *arguments, "--out", "x" * 300)
        assert status == 1
        assert "cannot write to the folder" in printed.err.splitlines()[-1]
        assert "File name too long" in printed.err.splitlines()[-1]
        assert list(tmp_path.iterdir()) == []


def test_whole_numbers_are_read_as_people_write_them():
    config = config_from("--frames", "1e5", "--rgvf.depth", "2e0", "--seeds", "3")
    assert (config.frames, config.seeds, config.agent.auxiliary) == (100_000, 3, (RandomQuestions(depth=2),))


def test_a_question_network_is_read_from_its_file_once(tmp_path):
    file = reward_prediction().save(tmp_path / "network.json")
    config = config_from("--agent", "questions", "--questions.network", str(file))
    assert config.agent.auxiliary == (GivenQuestions.of(reward_prediction()),)
    file.unlink()
    assert config_of(options_of(config)) == config


def test_a_resumed_run_keeps_settings_that_options_cannot_express():
    """Two tasks of one group have different settings here; the command line has one group for both."""
    tasks = [RandomQuestions(depth=2), Shallow(depth=3)]
    saved = RunConfig("minatar/Breakout", AgentConfig(tasks), frames=100)
    options = dataclasses.replace(options_of(saved), frames=200)
    assert changed_config(saved, options) == dataclasses.replace(saved, frames=200)


def test_a_resumed_run_keeps_its_agent():
    saved = RunConfig("minatar/Breakout", AgentConfig(RandomQuestions(depth=2)))
    with pytest.raises(CommandError, match="the run has agent = rgvf, not a2c"):
        changed_config(saved, dataclasses.replace(options_of(saved), agent="a2c"))


@pytest.fixture
def printed_help(capsys):
    """What `rgvf train --help` prints, on one line."""
    status, printed = run(capsys, "train", "--help")
    assert status == 0
    return words(printed.out)


SHARED = {"rgvf-no-actions", "rgvf-shallow", "rgvf-discounted-sum", "action-values-no-actions"}
"""Ablations, which have the options of what they are ablations of."""


def documented_options():
    """The text of each option, from the settings that it belongs to."""
    texts = {}
    for settings in (RunConfig, AgentConfig, ActorCriticSettings):
        texts |= {name: text for name, text in field_docs(settings).items() if name != "tasks"}
    for name, settings in TASKS.items():
        if name not in SHARED:
            texts |= {f"{name}.{field}": text for field, text in field_docs(settings).items()}
    return {name.replace("_", "-"): text for name, text in texts.items()}


@pytest.mark.parametrize(
    ("option", "default"),
    [
        *(("agent", "rgvf"), ("learning-rate", "0.0007"), ("rms-epsilon", "1e-05"), ("c", "1.0"), ("entropy", "0.01")),
        *(("discount", "0.99"), ("actors", "16"), ("steps", "20"), ("frames", "200000000"), ("clip-norm", "0.5")),
        *(("rgvf.depth", "8"), ("rgvf.repeat", "16"), ("rgvf.features", "16"), ("rgvf.discount", "0.95")),
        *(("out", "none"), ("rgvf.feature-rms", "none"), ("random-and-action-values.feature-rms", "8.0")),
        *(("mhvp.horizons", "10"), ("pixel-control.discount", "0.9"), ("curl.outputs", "128")),
    ],
)
def test_help_names_every_hyperparameter_with_its_default(printed_help, option, default):
    after = printed_help.partition(f" --{option} ")[2]
    assert after.partition("(default: ")[2].startswith(f"{default})")


def test_every_option_has_a_help_text_that_stands_on_its_own(printed_help):
    options = set(re.findall(r"(?<= --)[a-z][a-z.-]*(?=[ ,])", f" {printed_help}"))
    options = {option for option in options if not re.search(r"(^|\.)no-", option)}  # --no-wandb, beside --wandb
    texts = documented_options()
    others = {"help", "agent", "out", "resume", "preset", "import", "env-kwargs", "wrappers"}
    assert options - others == set(texts) - {"imports"}
    assert " --agent STR a2c, or auxiliary tasks joined by +: rgvf," in printed_help
    assert " --out none|PATH Folder of the run; runs/ENV-AGENT-SEED by default." in printed_help
    for option, text in texts.items():
        assert text in printed_help or option == "imports", option
        assert text.endswith("."), option
        assert text[0].isupper(), option
        assert len(text.split()) >= 3, option
        assert not re.match(r"(Of|The same|As|See|And|Or|Its|Their|It|They)\b", text), option
