"""Batches in processes of their own: failures, stops, plans, and folders of several machines."""

import itertools
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from rgvf.settings import to_data
from rgvf.signals import GracefulStop
from rgvf.studies import FolderError, find_study, pool, run_study
from rgvf.studies.curves import Curves
from rgvf.studies.failures import failed_together, failure_file
from rgvf.studies.folder import StudyFolder
from rgvf.studies.merge import merge
from rgvf.studies.minatar import STUDY, MinAtarConfig
from rgvf.studies.plan import Kind, StudyPlan, make_plan
from rgvf.studies.pool import share_cores
from rgvf.studies.worker import Job, Stopwatch, say

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


def test_a_stopwatch_measures_from_when_all_are_ready(monkeypatch, capsys):
    now, start = [100.0], threading.Event()
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    watch = Stopwatch(seconds=5, frames=1_000_000, start=start, stop=GracefulStop())
    for at, fraction in ((160.0, 0.02), (220.0, 0.08)):  # a minute to compile, and one in which others do
        now[0] = at
        watch.progress(fraction)
        assert capsys.readouterr().out.split("\n") == (["", '{"ready": true}', ""] if at == 160.0 else [""])
    start.set()
    for at, fraction in ((260.0, 0.1), (264.0, 0.14), (265.0, 0.15), (280.0, 0.9)):
        now[0] = at
        watch.progress(fraction)
    assert watch.rate == pytest.approx(0.05 * 1_000_000 / 5)
    assert json.loads(capsys.readouterr().out) == {"rate": watch.rate}


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
    return [sys.executable, "-m", "rgvf.cli", *words]


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


def test_a_plan_counts_what_is_left(tmp_path):
    config = MinAtarConfig(seeds=2, frames=1000)
    names = ["Breakout.*", "Freeway.a2c"]
    plan = make_plan(STUDY, config, tmp_path / "new", names, 3, seconds=0)
    assert not (tmp_path / "new").exists()
    assert (plan.agents, plan.frames, plan.done, plan.parallel) == (26, 26_000, 0, 3)
    folder = StudyFolder(tmp_path / "begun", STUDY.name, config.identity())
    result = Curves([1000], np.ones((2, 1))).to_data()
    folder.save_result("Breakout.a2c", {"identity": STUDY.identity(config, "Breakout.a2c"), **result})
    plan = make_plan(STUDY, config, folder.path, names, 3, seconds=0)
    assert (plan.agents, plan.frames, plan.done) == (24, 24_000, 2)
    assert {kind.name for kind in plan.kinds} >= {"minatar/Breakout rgvf-stop-gradient", "minatar/Freeway a2c"}


def test_hours_are_frames_over_rates_over_what_runs_at_once():
    plan = StudyPlan([Kind("a", 10, 50, 36_000_000, 1000.0), Kind("b", 1, 5, 3_600_000, 500.0)], parallel=4, done=0)
    assert plan.hours() == pytest.approx((10 + 2) / 4)
    assert plan.hours(machines=2) == pytest.approx(2)  # no batch is shorter than it is alone
    assert np.isnan(StudyPlan([Kind("a", 1, 1, 1, 0.0)], 1, 0).hours())
    some = [Kind("a", 1, 1, 3600, 1.0), Kind("b", 1, 1, 7200, 0.0)]  # b counts as if it were as fast
    assert StudyPlan(some, 1, 0).hours() == pytest.approx(3)


def test_a_plan_leaves_out_what_has_failed_unless_it_is_to_be_run_again(tmp_path):
    config = MinAtarConfig(seeds=2, frames=1000)
    folder = StudyFolder(tmp_path, STUDY.name, config.identity())
    folder.write_json("config.json", {"study": STUDY.name, "settings": config.identity()})
    failure_file(folder, "Freeway.a2c").parent.mkdir()
    failure_file(folder, "Freeway.a2c").write_text("{}")
    plans = [make_plan(STUDY, config, tmp_path, ["*.a2c"], 1, seconds=0, retry_failed=again) for again in (False, True)]
    assert [(plan.agents, plan.failed) for plan in plans] == [(8, 2), (10, 0)]


@pytest.mark.slow
def test_a_plan_measures_how_fast_a_run_is(tmp_path):
    plan = make_plan(STUDY, SMALL, tmp_path / "new", ["Breakout.a2c"], 1, seconds=0.5)
    assert 100 < plan.kinds[0].rate < 10_000_000
    assert not (tmp_path / "new").exists()


@pytest.mark.slow
def test_what_is_measured_at_once_runs_at_the_same_time(monkeypatch, tmp_path):
    """Three kinds, two at once: in each round nothing is measured before both are compiled, or ended before both are
    measured.
    """
    happened = []
    listen, kill = pool.Pool._listen, pool._Process.kill

    def note(self):
        listen(self)
        ready, rates = sum(each.is_ready for each in self._running), len(self.rates)
        happened.append((ready, rates, len(self._running)))

    def killed(process):
        happened.append("kill")
        kill(process)

    monkeypatch.setattr(pool.Pool, "_listen", note)
    monkeypatch.setattr(pool._Process, "kill", killed)
    names = ["Breakout.a2c", "Breakout.mhvp", "Freeway.a2c"]
    plan = make_plan(STUDY, SMALL, tmp_path / "new", names, 2, seconds=0.5)
    assert all(100 < kind.rate < 10_000_000 for kind in plan.kinds)
    assert len(plan.kinds) == 3
    while_running = [each for each in happened if each != "kill" and each[2] == 2]
    assert all(rates == 0 or ready == 2 for ready, rates, _ in while_running)
    before_kills = [each[1] for each, after in itertools.pairwise(happened) if after == "kill" != each]
    assert before_kills[:1] + before_kills[-1:] == [2, 2]  # also in the second round, which is filled


@pytest.mark.slow
def test_a_plan_that_is_interrupted_has_what_was_measured_and_leaves_nothing(tmp_path, monkeypatch):
    """After the first of two rounds; the processes of the second are killed while they compile."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    rounds = []

    class Impatient(Recorder):
        def begin(self, batch):
            rounds.append((batch, time.monotonic()))

        def progress(self, fraction):
            if len(rounds) == 2 and time.monotonic() > rounds[1][1] + 1:
                raise KeyboardInterrupt

    began = time.monotonic()
    plan = make_plan(STUDY, SMALL, tmp_path / "new", ["Breakout.a2c", "Freeway.a2c"], 1, Impatient(), seconds=0.5)
    assert [title for title, _ in rounds] == ["measuring 1 of 2", "measuring 2 of 2"]
    assert time.monotonic() < rounds[1][1] + 4 < began + 200
    assert plan.interrupted
    assert [kind.rate > 0 for kind in plan.kinds] == [True, False]
    assert plan.hours() > plan.kinds[0].hours
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_plan_that_is_killed_leaves_nothing(tmp_path):
    """Its process cannot clean up; those that it measures do."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    command = [sys.executable, "-m", "rgvf.cli", "study", "minatar", "--plan", "--parallel", "2"]
    command += ["--variants", "Breakout.a2c", "--variants", "Freeway.a2c", "--out", str(tmp_path / "new")]
    plan = subprocess.Popen(command, env={**os.environ, "TMPDIR": str(scratch)}, stdout=subprocess.DEVNULL)
    until = time.monotonic() + 60
    while len(list(scratch.glob("*/tmp*"))) != 2 and time.monotonic() < until:  # both have begun
        time.sleep(0.1)
    assert len(list(scratch.glob("*/tmp*"))) == 2
    plan.kill()
    plan.wait()
    until = time.monotonic() + 10
    while list(scratch.iterdir()) and time.monotonic() < until:
        time.sleep(0.1)
    assert list(scratch.iterdir()) == []


def test_a_plan_refuses_the_folders_that_a_study_refuses(tmp_path):
    (tmp_path / "file").touch()
    for out, why in ((tmp_path, "holds files that are not a study's"), (tmp_path / "file", "is a file")):
        with pytest.raises(FolderError, match=why):
            make_plan(STUDY, SMALL, out, ["Breakout.a2c"], seconds=0)


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


@pytest.mark.parametrize("parallel", [1, 2, 3, 4, 9, 16])
def test_a_plan_measures_each_kind_once_and_fills_the_last_round(monkeypatch, tmp_path, parallel):
    ran = []

    class Measured:
        def __init__(self, study, config, folder, listener, at_once, imports, measure):
            self.rates, self.at_once = {}, at_once

        def run(self, batches):
            ran.extend(batches)
            self.rates = {name: 1000.0 + len(ran) - len(batches) + i for i, (name, _) in enumerate(batches)}

    monkeypatch.setattr("rgvf.studies.plan.Pool", Measured)
    plan = make_plan(STUDY, SMALL, tmp_path / "plan", ["Breakout.*"], parallel)
    at_once = min(parallel, 12)  # no more than the study would run
    assert len(ran) % at_once == 0
    assert len(ran) - len(plan.kinds) < at_once
    assert [kind.rate for kind in plan.kinds] == [1000.0 + i for i in range(12)]
