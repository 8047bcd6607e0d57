"""What a study would take: counted, and measured."""

import itertools
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

from rgvf.cli.terminal import print_hours
from rgvf.signals import GracefulStop
from rgvf.studies import FolderError, pool, process
from rgvf.studies.curves import Curves
from rgvf.studies.failures import failure_file
from rgvf.studies.folder import StudyFolder
from rgvf.studies.minatar import STUDY, MinAtarConfig
from rgvf.studies.minatar_tuning import STUDY as TUNING
from rgvf.studies.minatar_tuning import TuningConfig
from rgvf.studies.plan import Kind, StudyPlan, make_plan
from rgvf.studies.worker import Stopwatch
from tests.cli.command import words
from tests.studies.test_pool import SMALL, Recorder


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
    assert {kind.name for kind in plan.kinds} >= {
        "minatar/Breakout rgvf-stop-gradient (hidden 128)",
        "minatar/Freeway a2c (hidden 128)",
    }


def test_hours_are_frames_over_rates_over_what_runs_at_once():
    plan = StudyPlan([Kind("a", 10, 50, 36_000_000, 1000.0), Kind("b", 1, 5, 3_600_000, 500.0)], parallel=4, done=0)
    assert plan.hours() == pytest.approx((10 + 2) / 4)
    assert plan.hours(machines=2) == pytest.approx(2)  # no batch is shorter than it is alone
    assert np.isnan(StudyPlan([Kind("a", 1, 1, 1, 0.0)], 1, 0).hours())
    some = [Kind("a", 1, 1, 3600, 1.0), Kind("b", 1, 1, 7200, 0.0)]  # b counts as if it were as fast
    assert StudyPlan(some, 1, 0).hours() == pytest.approx(3)


@pytest.mark.parametrize(
    ("ready_after", "sentence"),
    [
        ((31.2, 45.0, 40.0), "start of each batch, above all compiling: it took 31 to 45 s where it was measured."),
        (
            (31.2, 30.9),
            "Not counted: the start of each batch, above all compiling: it took 31 s where it was measured.",
        ),
        ((), "Not counted: the start of each batch, above all compiling."),
    ],
)
def test_a_plan_says_what_compiling_takes_beside_it(capsys, ready_after, sentence):
    """Where there are many short runs it takes longer than they."""
    kinds = [Kind("a", 190, 190, 190 * 1000, 1000.0), Kind("b", 1, 1, 640, 2000.0)]
    print_hours(StudyPlan(kinds, parallel=1, done=0, ready_after=ready_after), 10, "")
    said = words(capsys.readouterr().out)
    assert "a 190 190 1,000 3.2 minutes" in said
    assert "b 1 1 2,000 0.32 seconds" in said
    assert "Here (one at a time, as measured): 3.2 minutes" in said
    assert "On 10 machines like this: 19 seconds" in said
    assert sentence in said


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
    listen, kill = pool.Pool._listen, process.BatchProcess.kill

    def note(self):
        listen(self)
        ready, rates = sum(each.is_ready for each in self._running), len(self.rates)
        happened.append((ready, rates, len(self._running)))

    def killed(process):
        happened.append("kill")
        kill(process)

    monkeypatch.setattr(pool.Pool, "_listen", note)
    monkeypatch.setattr(process.BatchProcess, "kill", killed)
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
    assert [title.partition(":")[0] for title, _ in rounds] == ["measuring 1 of 2", "measuring 2 of 2"]
    assert time.monotonic() < rounds[1][1] + 4 < began + 200
    assert plan.interrupted
    (measured,) = [kind for kind in plan.kinds if kind.rate]
    assert measured.name in rounds[0][0]
    assert plan.hours() > measured.hours
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_plan_that_runs_out_of_patience_has_measured_the_most_frames(tmp_path, monkeypatch):
    config = TuningConfig(seeds=1, frames=640, hidden=8, points=2, checkpoints=2)
    names = [f"{each}.scale-8" for each in ("mhvp.rate-0.002", "a2c.rate-0.002", "a2c.rate-0.004")]
    measured = []

    class Slow(Recorder):
        def finish(self, batch, seconds):
            measured.append(batch)

    clock = SimpleNamespace(monotonic=lambda: time.monotonic() + 1e6 * len(measured))
    monkeypatch.setattr("rgvf.studies.plan.time", clock)
    plan = make_plan(TUNING, config, tmp_path / "new", names, 1, Slow(), seconds=0.5)
    assert sorted(kind.agents for kind in plan.kinds) == [1, 2]
    assert {kind.agents: kind.rate > 0 for kind in plan.kinds} == {1: False, 2: True}
    assert not plan.interrupted
    assert plan.hours() > max(plan.kinds, key=lambda kind: kind.agents).hours


@pytest.mark.slow
def test_a_plan_does_not_wait_for_what_is_still_being_compiled(tmp_path, monkeypatch):
    """One of two is ready when the time is over: it is measured, and the other one is ended."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    look, recorder = pool.Pool._measure_together, Recorder()

    def look_at_one(self):
        """The second says that it is ready, which is not heard; then the time is over."""
        (ready, *others) = self._running
        for each in others:
            each.is_ready = False
        if ready.is_ready:
            self._ready_by = 0.0
        look(self)

    monkeypatch.setattr(pool.Pool, "_measure_together", look_at_one)
    names = ["Breakout.a2c", "Freeway.a2c"]
    plan = make_plan(STUDY, SMALL, tmp_path / "new", names, 2, recorder, seconds=0.5)
    assert [kind.rate > 0 for kind in plan.kinds] == [True, False]
    assert plan.hours() > plan.kinds[0].hours / 2
    assert recorder.warnings == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_plan_without_any_time_measures_nothing(tmp_path, capsys):
    recorder, began = Recorder(), time.monotonic()
    plan = make_plan(STUDY, SMALL, tmp_path / "new", ["Breakout.a2c"], 1, recorder, patience=0)
    assert time.monotonic() < began + 10
    assert np.isnan(plan.hours())
    assert (plan.interrupted, plan.out_of_time, recorder.warnings) == (False, True, [])
    print_hours(plan, 1, "")
    assert "unknown: nothing was measured in the time" in " ".join(capsys.readouterr().out.split())


class Ready:
    """A process that has compiled its program; `killed` when it was ended."""

    def __init__(self, name):
        self.name, self.is_ready, self.is_late, self.killed = name, True, False, False
        self.popen = SimpleNamespace(poll=lambda: None)

    def write(self, line): ...

    def kill(self):
        self.killed = True


def test_a_measurement_does_not_wait_for_a_process_that_hangs(tmp_path, monkeypatch):
    """It ends all once the others are measured and the time of a measurement is long over."""
    clock = iter([100.0, 110.0, 159.0, 161.0, 199.0, 201.0])
    monkeypatch.setattr(pool, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    measuring = pool.Pool(STUDY, SMALL, StudyFolder(tmp_path, STUDY.name, {}), Recorder(), 2, measure=5.0)
    both = measuring._running = [Ready("measured"), Ready("hangs")]  # pyright: ignore[reportAttributeAccessIssue]
    measuring._measure_together()
    measuring.rates["measured"] = 1000.0
    for ended in (False, False, False, False, True):
        measuring._measure_together()
        assert [each.killed for each in both] == [ended, ended]
    assert [each.is_late for each in both] == [False, True]


SCRIPTED = r"""
import json, sys, time
(variant,) = json.loads(sys.stdin.readline())["variants"]
sys.stdout.buffer.write(b"\xff\xfe is no text\n")
if variant == "Asterix.a2c":
    time.sleep(3.5)
print(json.dumps({"ready": True}), flush=True)
sys.stdin.readline()
if variant == "Breakout.a2c":
    print(json.dumps({"rate": 7.0}), flush=True)
time.sleep(60)
"""


@pytest.mark.medium
def test_what_was_not_ready_is_told_from_what_hangs(tmp_path, monkeypatch):
    """One is measured, one gets ready too late, one is ready and hangs. All print bytes that are no text."""
    monkeypatch.setattr(process, "start_command", lambda cores: SCRIPTED)
    recorder, folder = Recorder(), StudyFolder(tmp_path, STUDY.name, {})
    measuring = pool.Pool(STUDY, SMALL, folder, recorder, 3, measure=0.1, ready_by=time.monotonic() + 3)
    measuring._time_to_measure = 1.0
    began = time.monotonic()
    measuring.run([(game, [f"{game}.a2c"]) for game in ("Asterix", "Breakout", "Freeway")])
    assert time.monotonic() < began + 20
    assert measuring.rates == {"Breakout": 7.0}
    assert measuring.not_ready == ["Asterix"]
    assert measuring.ready_after.keys() >= {"Breakout", "Freeway"}
    assert all(0 < seconds < 20 for seconds in measuring.ready_after.values())
    assert recorder.warnings == ["Freeway.a2c could not be measured: it made no progress in 1 s"]


@pytest.mark.parametrize("late", [True, False])
def test_only_what_was_not_ready_was_out_of_time(monkeypatch, tmp_path, capsys, late):
    """Another one failed, which was said when it did."""

    class Measured:
        def __init__(self, *given, **named):
            self.rates, self.ready_after, self.not_ready = {}, {}, []

        def run(self, batches):
            for name, _ in batches:
                if "a2c" in name:
                    self.rates[name] = 1000.0
                elif late:
                    self.not_ready.append(name)

    monkeypatch.setattr("rgvf.studies.plan.Pool", Measured)
    plan = make_plan(STUDY, SMALL, tmp_path / "plan", ["Breakout.a2c", "Breakout.curl"], 1)
    assert sum(kind.rate > 0 for kind in plan.kinds) == 1
    assert plan.out_of_time == late
    print_hours(plan, 1, "")
    assert ("in the time that a plan may take" in " ".join(capsys.readouterr().out.split())) == late


@pytest.mark.slow
def test_a_plan_that_is_killed_leaves_nothing(tmp_path):
    """Its process cannot clean up; those that it measures do."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    command = [sys.executable, "-m", "rgvf", "study", "minatar", "--plan", "--parallel", "2"]
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


@pytest.mark.parametrize("parallel", [1, 2, 3, 4, 9, 16])
def test_a_plan_measures_each_kind_once_and_fills_the_last_round(monkeypatch, tmp_path, parallel):
    ran = []

    class Measured:
        def __init__(self, study, config, folder, listener, at_once, imports, measure, ready_by):
            self.rates, self.ready_after, self.not_ready, self.at_once = {}, {}, [], at_once

        def run(self, batches):
            ran.extend(batches)
            self.rates = {name: 1000.0 + len(ran) - len(batches) + i for i, (name, _) in enumerate(batches)}

    monkeypatch.setattr("rgvf.studies.plan.Pool", Measured)
    plan = make_plan(STUDY, SMALL, tmp_path / "plan", ["Breakout.*"], parallel)
    at_once = min(parallel, 12)  # no more than the study would run
    assert len(ran) % at_once == 0
    assert len(ran) - len(plan.kinds) < at_once
    rates = {kind.name.replace("/", "-"): kind.rate for kind in plan.kinds}
    assert rates == {name.partition("-")[2]: 1000.0 + i for i, (name, _) in enumerate(ran[:12])}
