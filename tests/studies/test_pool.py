"""Batches in processes of their own: failures, stops, and folders of several machines."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from rgvf.settings import to_data
from rgvf.studies import FolderError, find_study, run_study
from rgvf.studies.curves import Curves
from rgvf.studies.failures import failed_together, failure_file
from rgvf.studies.folder import StudyFolder
from rgvf.studies.merge import merge
from rgvf.studies.minatar import STUDY, MinAtarConfig
from rgvf.studies.plan import make_plan
from rgvf.studies.pool import share_cores
from rgvf.studies.worker import Job, say

PREALLOCATE = "XLA_PYTHON_CLIENT_PREALLOCATE"
SMALL = MinAtarConfig(seeds=1, frames=640, hidden=8, points=2, checkpoints=2)


@pytest.mark.parametrize(("cores", "n", "size"), [(2, 1, 2), (2, 2, 2), (16, 4, 8), (16, 5, 7), (3, 2, 3), (2, 5, 1)])
def test_shares_of_the_cores_have_one_size_and_each_core_is_in_about_two(cores, n, size):
    shares = share_cores(list(range(cores)), n)
    assert [len(set(share)) for share in shares] == [size] * n
    in_shares = [sum(core in share for share in shares) for core in range(cores)]
    assert min(in_shares) >= 1
    assert max(in_shares) - min(in_shares) <= 1


def test_a_job_is_what_it_was_after_a_pipe():
    job = Job("rgvf.studies.minatar", SMALL, "runs/x", ("Breakout.a2c",), ("json",), 2.5)
    assert Job.from_json(job.to_json()) == (job, STUDY)


def test_what_a_library_prints_without_an_end_of_line_hides_nothing(capsys):
    print("Loading … ", end="")
    say(ready=True)
    assert '{"ready": true}' in capsys.readouterr().out.splitlines()


def test_a_study_that_a_script_imports_is_found_by_its_module():
    """Multiprocessing gives the script a second name; a process cannot import it by either."""
    lines = [
        "import sys",
        "sys.modules['__mp_main__'] = sys.modules['__main__']",
        "from rgvf.studies.minatar import STUDY",
        "from rgvf.studies.pool import module_of",
        "print(module_of(STUDY))",
    ]
    done = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "rgvf.studies.minatar"


class Recorder:
    """A listener that keeps warnings."""

    def __init__(self):
        self.warnings, self.known = [], []

    def found(self, variants):
        self.known = list(variants)

    def begin(self, batch): ...

    def progress(self, fraction): ...

    def warn(self, message):
        self.warnings.append(message)

    def finish(self, batch, seconds): ...


@pytest.mark.slow
def test_a_batch_that_fails_does_not_stop_the_others(tmp_path):
    """The folder of one run cannot be made, because a file is in its place."""
    StudyFolder(tmp_path, STUDY.name, SMALL.identity())
    (tmp_path / "agents").mkdir()
    obstacle = tmp_path / "agents" / "Breakout.a2c"
    obstacle.write_text("in the way")
    names = ["Breakout.a2c", "Freeway.a2c"]
    listener = Recorder()
    conclusion = run_study(STUDY, SMALL, tmp_path, names, listener, parallel=2)
    assert conclusion.failed == ("Breakout.a2c",)
    assert "1 failed, and are not in it: Breakout.a2c." in conclusion.caution
    assert json.loads((tmp_path / "claims.json").read_text())["caution"] == conclusion.caution
    assert len(listener.warnings) == 1
    assert listener.warnings[0].startswith("Breakout.a2c failed: ")
    failure = json.loads((tmp_path / "failed" / "Breakout.a2c.json").read_text())
    assert "Breakout.a2c" in failure["error"]
    assert failure["error"] in (tmp_path / failure["log"]).read_text()
    assert sorted(path.name for path in (tmp_path / "results").iterdir()) == ["Freeway.a2c.json"]
    obstacle.unlink()
    listener = Recorder()
    run_study(STUDY, SMALL, tmp_path, names, listener, parallel=2)
    assert listener.known == ["Freeway.a2c"]
    assert "without --retry-failed: Breakout.a2c" in listener.warnings[0]
    assert not (tmp_path / "results" / "Breakout.a2c.json").exists()
    listener = Recorder()
    run_study(STUDY, SMALL, tmp_path, names, listener, parallel=1, retry_failed=True)
    assert listener.warnings == []
    assert (tmp_path / "results" / "Breakout.a2c.json").exists()
    assert not list((tmp_path / "failed").iterdir())


def command(out, *options):
    words = ["study", "minatar", "--out", str(out), "--frames", "3000000", "--seeds", "1", "--hidden", "8"]
    words += ["--variants", "Breakout.a2c", "--parallel", "1", *options]
    return [sys.executable, "-m", "rgvf", *words]


def workers():
    """The processes that run batches, by their process number."""
    found = {}
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if any(b"rgvf.studies.worker" in word for word in words):
            found[int(path.parent.name)] = words
    return found


@pytest.mark.medium
@pytest.mark.parametrize(
    "number", [pytest.param(signal.SIGTERM, marks=pytest.mark.slow), signal.SIGKILL], ids=["stopped", "killed"]
)
def test_no_process_outlives_the_study_and_a_checkpoint_is_kept(tmp_path, number):
    before = set(workers())
    out = tmp_path / "study"
    study = subprocess.Popen(command(out), env=os.environ | {"JAX_PLATFORMS": "cpu"}, stderr=subprocess.DEVNULL)
    metrics = out / "agents" / "Breakout.a2c" / "metrics.jsonl"
    until = time.monotonic() + 120
    while not (metrics.exists() and metrics.stat().st_size) and time.monotonic() < until:
        assert study.poll() is None
        time.sleep(0.1)
    checkpoints = out / "agents" / "Breakout.a2c" / "checkpoints"
    had = set(checkpoints.iterdir())
    study.send_signal(number)
    study.wait(60)
    while (left := set(workers()) - before) and time.monotonic() < until:
        time.sleep(0.1)
    assert not left
    assert set(checkpoints.iterdir()) - had  # written after the signal
    assert not (out / "failed").exists()


def folder_with(path, config, **results):
    folder = StudyFolder(path, STUDY.name, to_data(config))
    for name, value in results.items():
        folder.save_result(name, {"identity": {}, **Curves([1], np.full((1, 1), value)).to_data()})
    return folder


def test_folders_are_merged(tmp_path):
    config = MinAtarConfig(seeds=1)
    first = folder_with(tmp_path / "a", config, x=1.0, y=2.0)
    second = folder_with(tmp_path / "b", config, y=2.0, z=3.0)
    third = folder_with(tmp_path / "c", config, x=9.0, w=4.0)
    (third.path / "results" / "w.json").write_text('{"sha256": "wrong"}')
    merged = merge(tmp_path / "all", [first.path, second.path, third.path])
    assert (merged.study, sorted(merged.copied), merged.different) == ("minatar", ["x", "y", "z"], ["x"])
    assert [Path(each).name for each in merged.damaged] == ["w.json"]
    together = StudyFolder(tmp_path / "all", STUDY.name, to_data(config))
    values = {name: (together.result(name) or {}).get("values") for name in "xyz"}
    assert values == {"x": [[1]], "y": [[2]], "z": [[3]]}
    assert merge(tmp_path / "all", [first.path]).copied == []


def test_folders_that_do_not_compare_are_not_merged(tmp_path):
    first = folder_with(tmp_path / "a", MinAtarConfig(), x=1.0)
    other = folder_with(tmp_path / "b", MinAtarConfig(frames=7), y=2.0)
    grid = StudyFolder(tmp_path / "c", "grid-touch", {})
    for folders, message in (
        ([first.path, other.path], "frames = 7, and .*a 5000000: their results do not compare"),
        ([first.path, grid.path], "holds the study grid-touch, and .*a the study minatar"),
        ([first.path, tmp_path], "is not the folder of a study"),
        ([], "nothing to merge"),
    ):
        with pytest.raises(FolderError, match=message):
            merge(tmp_path / "all", folders)
    assert not (tmp_path / "all").exists()


def test_a_study_is_found_by_its_name():
    assert find_study("minatar") is STUDY


def test_the_memory_of_a_gpu_is_left_to_the_processes_before_jax_is_used(monkeypatch, tmp_path):
    """JAX reads the variable once, when a device is first used: to make an environment uses it."""
    monkeypatch.delenv(PREALLOCATE, raising=False)

    def check_ready(config, variants):
        seen.append(os.environ.get(PREALLOCATE))
        raise ValueError("seen")

    seen = []
    monkeypatch.setattr(STUDY, "check_ready", check_ready)
    with pytest.raises(ValueError, match="seen"):
        run_study(STUDY, SMALL, tmp_path / "study", ["Breakout.a2c"], parallel=1)
    assert not (tmp_path / "study").exists()  # where nothing can run, nothing is written
    monkeypatch.delenv(PREALLOCATE)
    make_plan(STUDY, SMALL, tmp_path / "plan", ["Breakout.a2c"], 1)
    assert seen == ["false", "false"]


def test_what_failed_together_is_known_by_its_log(tmp_path):
    folder = StudyFolder(tmp_path, STUDY.name, SMALL.identity())
    (tmp_path / "failed").mkdir()
    for name, log in (("a", "logs/1.log"), ("b", "logs/2.log"), ("c", "logs/1.log")):
        failure_file(folder, name).write_text(json.dumps({"log": log}))
    failure_file(folder, "d").write_text("{ half a fil")
    assert failed_together(folder, ["a", "b", "c", "d", "e"]) == [["a", "c"], ["b"], ["d"]]


@pytest.mark.medium
def test_what_failed_before_and_succeeds_in_this_process_has_not_failed(tmp_path):
    folder = StudyFolder(tmp_path, STUDY.name, SMALL.identity())
    failure_file(folder, "Breakout.a2c").parent.mkdir()
    failure_file(folder, "Breakout.a2c").write_text("{}")
    conclusion = run_study(STUDY, SMALL, tmp_path, ["Breakout.a2c"], parallel=0)
    assert (conclusion.failed, conclusion.unfinished) == ((), ())
    assert not failure_file(folder, "Breakout.a2c").exists()


def test_what_was_interrupted_is_named(monkeypatch, tmp_path):
    """A process that the kernel killed for its memory leaves no result and no failure."""
    monkeypatch.setattr("rgvf.studies.run.run_in_processes", lambda *arguments: None)
    conclusion = run_study(STUDY, SMALL, tmp_path, ["Breakout.a2c", "Freeway.a2c"], parallel=2)
    assert conclusion.unfinished == ("Breakout.a2c", "Freeway.a2c")
    assert "2 are not finished, and are not in it: Breakout.a2c, Freeway.a2c." in conclusion.caution
