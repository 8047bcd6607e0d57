"""Kills, damaged files and senseless input: every outcome is the right result or one sentence, and nothing is left.

The whole takes about half an hour on two cores. `RGVF_FAULTS=0.1` runs a tenth of the cases.
"""

import contextlib
import io
import itertools
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import jax
import numpy as np
import pytest

import rgvf
from rgvf.cli import main
from rgvf.errors import UserError
from rgvf.questions import QuestionNetwork, figure_1a, random_network
from rgvf.runs import MAY_CHANGE, RunConfig, RunError, RunFolder
from rgvf.runs.config import differences
from rgvf.runs.train import resume, train
from rgvf.studies import run_study
from rgvf.studies.base import Conclusion, Curves, Study, StudyConfig
from rgvf.studies.runs import read_curves
from tests.helpers import Listener, stop_after
from tests.runs.small_runs import CARTPOLE, assert_same

SHARE = float(os.environ.get("RGVF_FAULTS", "1"))
KILLED_RUNS = round(70 * SHARE)
KILLED_STUDIES = round(30 * SHARE)
DAMAGED_RUNS = round(700 * SHARE)
RESUMED_EVERY = 20  # a damaged run is loaded, and one in so many is also trained to its end
DAMAGED_STUDIES = round(300 * SHARE)
QUESTION_FILES = round(10_000 * SHARE)
COMMANDS = round(1_000 * SHARE)

pytestmark = [pytest.mark.slow, pytest.mark.unchecked_types]


# Kills


SIZE = ["--actors", "4", "--steps", "5", "--hidden", "8", "--seeds", "2", "--rgvf.depth", "2", "--rgvf.repeat", "2"]
RUN = [*SIZE, "--frames", "12000", "--log-every", "300", "--checkpoint-every", "700", "--processes", "2"]


def run_command(folder):
    if (folder / "config.json").exists():
        return ["train", "--resume", str(folder)]
    return ["train", "--env", "gym/CartPole-v1", *RUN, "--out", str(folder)]


def study_command(folder):
    size = ["--seeds", "2", "--frames", "40000", "--evaluations", "10"]
    return ["study", "grid-touch", *size, "--variants", "tree-1", "tree-2", "--out", str(folder)]


def processes_of(session):
    """The processes of a session, zombies not counted."""
    found = set()
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            state, _, _, owner = (process / "stat").read_text().rsplit(")", 1)[1].split()[:4]
            if int(owner) == session and state != "Z":
                found.add(int(process.name))
    return found


def shared_memory():
    return {path.name for path in Path("/dev/shm").iterdir() if path.name.startswith(("rgvf", "psm_", "sem."))}


def start(command, cache):
    """Begin a command in a session of its own."""
    variables = {"JAX_COMPILATION_CACHE_DIR": str(cache), "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0"}
    return subprocess.Popen(
        [sys.executable, "-m", "rgvf.cli", *command],
        env={**os.environ, **variables},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def finish(process):
    """Wait for a command, which must succeed and leave no process."""
    _, error = process.communicate()
    assert process.returncode == 0, error
    wait_until_nothing_is_left(process.pid)


def wait_until_nothing_is_left(session):
    deadline = time.monotonic() + 10
    while processes_of(session):
        assert time.monotonic() < deadline, "a process outlives its learner"
        time.sleep(0.05)


def kill_again_and_again(tmp_path, kills, command, compare):
    """Kill a command at random moments until it has been killed so often; every folder must end like the first."""
    rng, before, cache = random.Random(0), shared_memory(), tmp_path / "cache"
    whole = tmp_path / "whole"
    finish(start(command(whole), cache))  # compiles
    shutil.rmtree(whole)
    began = time.monotonic()
    finish(start(command(whole), cache))
    duration = time.monotonic() - began
    killed = tmp_path / "killed"
    left = kills
    while left:
        process = start(command(killed), cache)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(rng.uniform(0.2, 1.0) * duration)
        if process.poll() is None:
            left -= 1
            process.send_signal(signal.SIGKILL)
            _, error = process.communicate()
            assert "Traceback" not in error
            wait_until_nothing_is_left(process.pid)
            continue
        finish(process)
        compare(killed, whole)
        assert_no_temporary_files(killed)
        shutil.rmtree(killed)
    finish(start(command(killed), cache))
    compare(killed, whole)
    assert_no_temporary_files(killed)
    assert shared_memory() == before


def assert_no_temporary_files(folder):
    assert {path.name for path in folder.rglob(".*")} <= {".lock"}


def assert_same_study(a, b):
    """The results are the same bits; the drawings are there."""
    for name in ("curves.json", "claims.json", "results/tree-1.json", "results/tree-2.json"):
        assert (a / name).read_bytes() == (b / name).read_bytes()
    assert {path.relative_to(a) for path in a.rglob("*")} == {path.relative_to(b) for path in b.rglob("*")}


def test_killed_runs_end_bit_for_bit_like_undisturbed_ones(tmp_path):
    kill_again_and_again(tmp_path, KILLED_RUNS, run_command, assert_same)


def test_killed_studies_end_bit_for_bit_like_undisturbed_ones(tmp_path):
    kill_again_and_again(tmp_path, KILLED_STUDIES, study_command, assert_same_study)


# Damaged files


def damage(path, rng):
    """Flip bits, cut, overwrite with garbage, remove lines, empty, or delete a file."""
    data = bytearray(path.read_bytes())
    often = ["flip", "digit", "cut"]
    kind = rng.choice([*often, *often, *often, "flips", "garbage", "lines", "empty", "other", "delete"])
    place = rng.randrange(len(data))
    if kind == "flip":
        data[place] ^= 1 << rng.randrange(8)
    elif kind == "flips":
        for _ in range(rng.randrange(2, 50)):
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    elif kind == "cut":
        del data[place:]
    elif kind == "garbage":
        data[place : place + rng.randrange(1, 200)] = rng.randbytes(rng.randrange(1, 200))
    elif kind == "digit":  # still a number, but another one
        places = [i for i, byte in enumerate(data) if chr(byte).isdigit()]
        place = rng.choice(places)
        data[place] = ord("0") + (data[place] - ord("0") + rng.randrange(1, 10)) % 10
    elif kind == "lines":  # lines in another order, or missing
        lines = bytes(data).splitlines(keepends=True)
        chosen = rng.sample(lines, rng.randrange(len(lines) + 1))
        data = bytearray(b"".join(chosen))
    elif kind == "empty":
        data = bytearray()
    elif kind == "other":
        data = bytearray(rng.choice([b"null", b"[]", b"{}", b"3", b'"text"', b"\x00" * 100, b"[" * 50_000]))
    path.unlink()
    if kind != "delete":
        path.write_bytes(bytes(data))
    return kind


def assert_one_sentence(error, part=""):
    """An error for users: short, on one line, and no leftover of a traceback."""
    text = str(error)
    assert part in text
    assert isinstance(error, UserError | ValueError), repr(error)
    assert text, repr(error)
    assert "\n" not in " ".join(text.split())
    assert "Traceback" not in text
    assert len(text) < 1000, text


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    """A run that was stopped on its way, and the same run at its end."""
    folder = tmp_path_factory.mktemp("faults")
    train(CARTPOLE, folder / "whole", progress=False)
    train(CARTPOLE, folder / "stopped", progress=False, should_stop=stop_after(20))
    shutil.rmtree(folder / "stopped/tensorboard")
    return folder / "stopped", folder / "whole"


def load_quietly(folder):
    """The agent, and whether a warning said that another checkpoint was used."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        return rgvf.load(folder), bool(caught)


def assert_loads_right(folder, good):
    """The agent, its configuration and its questions are right, or a sentence says what is wrong."""
    try:
        agent, warned = load_quietly(folder)
    except (UserError, ValueError) as error:
        return assert_one_sentence(error)
    assert not differences(agent.config, good[0].config).keys() - MAY_CHANGE
    (expected,) = [each for each in good if each.frames == agent.frames]
    newest_is_there = any(path.stem == f"{good[0].frames:012d}" for path in RunFolder(folder).checkpoints())
    assert warned == (newest_is_there and expected is not good[0])
    assert agent.networks == expected.networks
    jax.tree.map(np.testing.assert_array_equal, agent.agent, expected.agent)


def assert_resumes_right(folder, whole):
    """The run ends as it would have, or a sentence says what is wrong; lost or changed metrics are reported."""
    listener = Listener()
    try:
        resume(folder, progress=listener)
    except (UserError, ValueError) as error:
        return assert_one_sentence(error)
    if RunFolder.open(folder)[1].frames != CARTPOLE.frames:
        return None  # `frames` is the user's to change
    if any("metrics.jsonl" in warning for warning in listener.warnings):
        shutil.copy(whole / "metrics.jsonl", folder)
    return assert_same(folder, whole)


def test_damaged_runs(stopped, tmp_path):
    origin, whole = stopped
    rng = random.Random(1)
    newest, older, *_ = [str(path.relative_to(origin)) for path in RunFolder(origin).checkpoints()]
    names = ["config.json", newest, "questions.seed-0.json", "metrics.jsonl", older, "config.json", newest]
    good = [rgvf.load(origin, checkpoint=int(path.stem)) for path in RunFolder(origin).checkpoints()]
    for case in range(DAMAGED_RUNS):
        folder, name = tmp_path / str(case), names[case % len(names)]
        shutil.copytree(origin, folder)
        kind = damage(folder / name, rng)
        try:
            if name == "metrics.jsonl":
                assert_curves_are_right(folder, origin)
            else:
                assert_loads_right(folder, good)
            if case % RESUMED_EVERY == 0:
                assert_resumes_right(folder, whole)
        except BaseException as error:
            error.add_note(f"case {case}: {name}, {kind}")
            raise
        shutil.rmtree(folder)


def assert_curves_are_right(folder, origin):
    """What a study would read from the run."""
    try:
        found = read_curves(folder, CARTPOLE)
    except RunError as error:
        return assert_one_sentence(error, "metrics.jsonl has lost lines or was changed; delete")
    expected = read_curves(origin, CARTPOLE)
    assert found.frames == expected.frames
    return np.testing.assert_array_equal(found.values, expected.values)


class Quick(Study):
    """A study whose results are numbers that cost nothing."""

    name, config_type, variants = "quick", StudyConfig, ("a", "b", "c")

    def run(self, config, variants, listener, folder):
        del listener, folder
        values = {name: np.full((config.seeds, 3), ord(name) / 7) for name in variants}
        return {name: Curves([0, 5, config.frames], each) for name, each in values.items()}

    def identity(self, config, variant):
        del config
        return {"variant": variant}

    def conclude(self, config, curves, folder):
        del config, folder
        return Conclusion([(name, *map(str, each.values.ravel())) for name, each in curves.items()], [], [])


def test_damaged_studies(tmp_path):
    rng, config = random.Random(2), StudyConfig(seeds=2, frames=10)
    right = run_study(Quick(), config, tmp_path / "whole")
    for case, name in zip(range(DAMAGED_STUDIES), itertools.cycle(["results/a.json", "results/c.json", "config.json"])):
        folder = tmp_path / str(case)
        shutil.copytree(tmp_path / "whole", folder)
        kind = damage(folder / name, rng)
        try:
            assert run_study(Quick(), config, folder) == right, f"case {case}: {name}, {kind}"
        except (UserError, ValueError) as error:
            assert_one_sentence(error)
        shutil.rmtree(folder)


# Senseless input


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
