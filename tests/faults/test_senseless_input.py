"""Question files, command lines and configurations without sense."""

import contextlib
import io
import json
import random
import re
import shutil

import pytest

import rgvf
from rgvf.cli import main
from rgvf.questions import QuestionNetwork, figure_1a, random_network
from rgvf.runs import RunConfig, RunError
from tests.faults.common import SHARE, assert_one_sentence, damage
from tests.runs.small_runs import CARTPOLE

QUESTION_FILES = round(10_000 * SHARE)
COMMANDS = round(1_000 * SHARE)


pytestmark = [pytest.mark.slow, pytest.mark.unchecked_types]


VALUES = [
    None,
    True,
    False,
    0,
    -1,
    1.5,
    1e400,
    10**400,
    *("", "x", "f1", "reward", "\u0000", "é😀"),
    [],
    [[]],
    {},
    {"a": 1},
]


def changed_json(data, rng):
    """The same data with something replaced, removed, repeated or added somewhere."""
    if isinstance(data, dict) and data and rng.random() < 0.9:
        key = rng.choice(list(data))
        kind = rng.random()
        if kind < 0.1:
            return {name: value for name, value in data.items() if name != key}
        if kind < 0.2:
            return {**data, rng.choice(["x", "name", "edges", "version"]): rng.choice(VALUES)}
        return {**data, key: changed_json(data[key], rng)}
    if isinstance(data, list) and data and rng.random() < 0.9:
        i, kind = rng.randrange(len(data)), rng.random()
        if kind < 0.15:
            return [*data[:i], *data[i + 1 :]]
        if kind < 0.3:
            return [*data, data[i]]
        return [*data[:i], changed_json(data[i], rng), *data[i + 1 :]]
    return rng.choice(VALUES) if rng.random() < 0.8 else data


def test_senseless_question_files(tmp_path):
    rng, path = random.Random(3), tmp_path / "questions.json"
    goods = [figure_1a(), random_network(["reward", "f1"], 3, depth=2, repeat=2, seed=0)]
    accepted = 0
    for case in range(QUESTION_FILES):
        text = rng.choice(goods).to_json()
        if case % 2:
            path.write_text(text, encoding="utf-8")
            damage(path, rng)
        else:
            path.write_text(json.dumps(changed_json(json.loads(text), rng)), encoding="utf-8")
        try:
            network = QuestionNetwork.load(path)
        except FileNotFoundError:
            assert not path.exists()
            continue
        except ValueError as error:
            assert_one_sentence(error)
            continue
        accepted += 1
        assert QuestionNetwork.from_json(network.to_json()) == network
        assert network.describe(network.predictions[0])
    assert accepted < 0.5 * QUESTION_FILES


TEXT = """
train evaluate record study list grid-touch minatar --help --version -h -- - --env gym/CartPole-v1 gym/ atari/Pong
minatar/Breakout gym/a?b gym/a?b=1&wrapper=x own/x / --agent rgvf a2c rgvf+curl + a2c+a2c rgvf+rgvf --stop-gradient
--no-stop-gradient --frames --seeds --seed --actors --steps --c --learning-rate --hidden --processes --out
--rgvf.depth --rgvf.repeat --rgvf.feature-kind --curl.margin --questions.network --preset --env-kwargs --wrappers a=1
a = json:loads --import no_such_module json --resume --games --sticky --greedy --predictions --variants tree-1 tree-*
--evaluations --resume=x 0 1 -1 1e3 1.5 nan inf -inf 1e400 x é😀 --x=1 run file empty nowhere run/config.json FILE.json
/dev/null . ~ patches auto None
"""
WORDS = [*TEXT.split(), "", "\n", "a b", "\udc80", "9" * 400]
BEGINNINGS = [
    *(["train", "--env", "gym/CartPole-v1"], ["train", "--resume", "run"], ["train"], ["evaluate", "run"]),
    *(["record", "run"], ["study", "grid-touch"], ["study", "minatar"], ["study"], []),
]


def stand_in(*arguments, **named):
    """Stands for all work that takes time."""
    raise RunError("the options are right")


def test_senseless_command_lines(stopped, tmp_path, monkeypatch):
    rng = random.Random(4)
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("text")
    shutil.copytree(stopped[0], tmp_path / "run")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    monkeypatch.chdir(tmp_path)
    for module, name in (("runs", "train"), ("runs", "resume"), ("runs", "load"), ("studies", "run_study")):
        monkeypatch.setattr(getattr(rgvf, module), name, stand_in)
    for case in range(COMMANDS):
        command = [*rng.choice(BEGINNINGS), *rng.choices(WORDS, k=rng.choice([0, 1, 1, 2, 2, 3, 4, 6]))]
        out, err = io.StringIO(), io.StringIO()
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                status = main(command)
        except SystemExit as stop:  # the option parser's own, for --help
            status = stop.code or 0
        except BaseException as error:
            error.add_note(f"case {case}: {command}")
            raise
        printed = err.getvalue()
        assert status in (0, 1, 2), command
        if status:
            assert re.fullmatch(r"rgvf: .+\n", printed), (command, printed)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_the_configuration_of_a_run_is_read_or_refused_in_a_sentence():
    """As the file of a run, in small: whatever is in config.json."""
    rng = random.Random(5)
    good = json.loads(CARTPOLE.to_json())
    for _ in range(QUESTION_FILES // 10):
        try:
            RunConfig.from_json(json.dumps(changed_json(good, rng)))
        except ValueError as error:
            assert_one_sentence(error)
