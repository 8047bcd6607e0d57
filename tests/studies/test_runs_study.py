"""Studies whose variants are runs: reports, curves read from metrics, and results of older versions."""

import json

import numpy as np
import pytest

from rgvf.agents import AgentConfig
from rgvf.runs import RunConfig, RunError
from rgvf.settings import to_data
from rgvf.studies import FolderError, run_study, runs
from rgvf.studies.curves import Curves
from rgvf.studies.folder import StudyFolder
from rgvf.studies.minatar import STUDY, MinAtarConfig
from rgvf.studies.runs import read_curves, train_runs

RUN = RunConfig("minatar/Breakout", AgentConfig("a2c"), frames=250, seeds=2)


class Recorder:
    """A listener that keeps what it is told, and stops the study at a fraction."""

    def __init__(self, stop_at=2.0):
        self.fractions, self.warnings, self.stop_at = [], [], stop_at

    def found(self, variants): ...

    def begin(self, batch): ...

    def progress(self, fraction):
        self.fractions.append(fraction)
        if fraction >= self.stop_at:
            raise KeyboardInterrupt

    def warn(self, message):
        self.warnings.append(message)

    def finish(self, batch, seconds): ...


def made_up_training(configs, *, progress, should_stop):
    """Stands for `train_together`: reports like it, and trains nothing."""
    progress.warn("something")
    for frames in (50, 100):
        progress.progress(frames, 100, 1.0, [])
    return not should_stop()


def test_reports_of_runs_are_passed_on(tmp_path, monkeypatch):
    monkeypatch.setattr(runs, "train_together", made_up_training)
    monkeypatch.setattr(runs, "read_curves", lambda path, config: Curves([250], np.zeros((2, 1))))
    listener = Recorder()
    assert train_runs({"a": RUN, "b": RUN}, listener, tmp_path).keys() == {"a", "b"}
    assert listener.fractions == [0.5, 1.0]
    assert listener.warnings == ["something"]
    with pytest.raises(KeyboardInterrupt):
        train_runs({"a": RUN, "b": RUN}, Recorder(stop_at=0.5), tmp_path)


def metrics(path, frames, seeds=(0, 1)):
    path.mkdir(exist_ok=True)
    lines = [{"frames": f, "seed": s, "return": None if f == 100 else f + s} for f in frames for s in seeds]
    (path / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_curves_are_read_from_metrics(tmp_path):
    """Before the first game of a seed has ended there is no return, not 0; the last line may come sooner."""
    curves = read_curves(metrics(tmp_path, [100, 200, 250]), RUN)
    assert curves.frames == [100, 200, 250]
    np.testing.assert_array_equal(curves.values, [[np.nan, 200, 250], [np.nan, 201, 251]])
    text = json.dumps(curves.to_data(), allow_nan=False)
    np.testing.assert_array_equal(Curves.from_data(json.loads(text)).values, curves.values)


@pytest.mark.parametrize("frames", [[200, 300, 350], [100, 300, 350], [100, 200, 400], []])
def test_metrics_with_gaps_are_refused(tmp_path, frames):
    with pytest.raises(RunError, match="has lost lines or was changed; delete .* and run the study again"):
        read_curves(metrics(tmp_path, frames), RUN)


def test_metrics_without_one_of_the_seeds_are_refused(tmp_path):
    with pytest.raises(RunError, match="has lost lines"):
        read_curves(metrics(tmp_path, [100, 200], seeds=[0]), RUN)


def result(config, variant, **changed):
    identity = {**STUDY.identity(config, variant), **changed}
    return {"identity": identity, **Curves([100], np.ones((2, 1))).to_data()}


def test_a_result_that_is_older_than_a_setting_is_used(tmp_path):
    """The setting had its default then."""
    config = MinAtarConfig(seeds=2, frames=100)
    agent = STUDY.identity(config, "Breakout.rgvf")["agent"]
    del agent["rms_decay"], agent["tasks"][0]["feature_rms"]
    folder = StudyFolder(tmp_path, STUDY.name, to_data(config))
    folder.save_result("Breakout.rgvf", result(config, "Breakout.rgvf", agent=agent))
    for i, wrong in enumerate(({"agent": None}, {"agent": {}}, {"env": "minatar/Freeway"}, {"seed": 1})):
        variant = STUDY.variants[i]
        folder.save_result(variant, result(config, variant, **wrong))
    conclusion = run_study(STUDY, config, tmp_path, ["Breakout.rgvf"])
    assert [row[:2] for row in conclusion.table] == [("agent", "Breakout"), ("rgvf", "1.00 ± 0.00")]


def test_a_result_from_before_the_rules_changed_is_not_used():
    config = MinAtarConfig(seeds=2, frames=100)
    for game, still_good in (("Breakout", True), ("Seaquest", False)):
        identity = STUDY.identity(config, f"{game}.rgvf")
        assert STUDY.is_result_of(config, f"{game}.rgvf", identity)
        identity["rules"] = 1
        assert STUDY.is_result_of(config, f"{game}.rgvf", identity) is still_good


def test_a_folder_that_is_older_than_a_setting_is_used(tmp_path):
    StudyFolder(tmp_path, "minatar", {"seeds": 2})
    StudyFolder(tmp_path, "minatar", {"seeds": 2, "new": 1.0}, defaults={"seeds": 10, "new": 1.0})
    with pytest.raises(FolderError, match="new = 1.0, not 2.0"):
        StudyFolder(tmp_path, "minatar", {"seeds": 2, "new": 2.0}, defaults={"seeds": 10, "new": 1.0})


def test_variants_without_a_game_that_ended_are_left_out_and_named(tmp_path):
    """They have no return; 0 would be a score."""
    nothing, late = np.full((2, 10), np.nan), np.ones((2, 10))
    half = late.copy()
    late[:, :5], half[1] = np.nan, np.nan
    values = {"a2c": late, "rgvf": nothing, "reward": half}
    curves = {f"Breakout.{agent}": Curves([10 * i for i in range(1, 11)], each) for agent, each in values.items()}
    folder = StudyFolder(tmp_path, STUDY.name, {})
    found = STUDY.conclude(MinAtarConfig(seeds=2, frames=100), curves, folder)
    assert [row[:2] for row in found.table] == [("agent", "Breakout"), ("a2c", "1.00 ± 0.00")]
    left_out = "Left out, because no game had ended by the last tenth of training: "
    assert f"{left_out}Breakout.rgvf, Breakout.reward (in 1 of 2 seeds)." in found.caution
    written = json.loads((tmp_path / "curves.json").read_text(), parse_constant=pytest.fail)["variants"]
    assert {name: each["values"][0] for name, each in written.items()} == {"Breakout.a2c": [None] * 5 + [1.0] * 5}
    only = {name: each for name, each in curves.items() if name != "Breakout.a2c"}
    assert len(STUDY.conclude(MinAtarConfig(seeds=2, frames=100), only, folder).table) == 1
