"""The robustness study and the search for learning rates."""

import dataclasses
import json
import math

import numpy as np
import pytest

from rgvf.agents import make_learner, question_networks
from rgvf.auxiliary import GVFTask
from rgvf.environments.sources import parse_source
from rgvf.studies import find_study, run_study, runs
from rgvf.studies.folder import StudyFolder
from rgvf.studies.minatar import AGENTS, TUNED, MinAtarConfig, final_returns
from rgvf.studies.minatar_robustness import RANGES, VARIANTS, RobustnessConfig, check, samples
from rgvf.studies.minatar_tuning import VARIANTS as TRIED
from rgvf.studies.minatar_tuning import TuningConfig, best, tried
from rgvf.studies.runs import Curves
from rgvf.training.worlds import world_of_source


def test_twenty_samples_of_each_hyperparameter_in_networks_of_one_shape():
    study = find_study("minatar-robustness")
    assert len(study.variants) == 4 * 20 + 1
    configs = RobustnessConfig().runs(study.variants)
    world = world_of_source(parse_source("minatar/Breakout"))
    shapes = set()
    for variant, (name, _, value) in VARIANTS.items():
        config = configs[variant]
        assert (config.frames, config.seeds) == (5_000_000, 3)
        assert config.agent.stop_gradient
        assert RANGES[name].low <= value <= RANGES[name].high
        defaults = {"question_discount": 0.95, "depth": 8, "repeat": 16, "features": 16}
        asked = {field: getattr(config.agent, field) for field in defaults}
        assert asked == {**defaults, RANGES[name].field: value}
        network = question_networks(config.agent, world, config.seed)["rgvf"]
        assert network.n_predictions <= config.agent.pad_predictions
        shapes.add((config.agent.pad_predictions, config.agent.pad_features))
        assert config.agent.program == configs["depth.00"].agent.program
    assert len(shapes) == 1
    task = make_learner(configs["features.00"].agent, world, 0).tasks[1].task
    assert isinstance(task, GVFTask)
    assert task.questions.table.condition.shape == (next(iter(shapes))[0],)
    for name in RANGES:
        seeds = [configs[variant].seed for variant, (of, _, _) in VARIANTS.items() if of == name]
        assert len(set(seeds)) == 20
        assert min(np.diff(sorted(seeds))) >= 3
    assert configs["a2c"].agent.name == "a2c"


def made_up(slope):
    rng = np.random.default_rng(0)
    finals = {variant: 50 + slope * value + rng.normal(0, 0.5, 3) for variant, (_, _, value) in VARIANTS.items()}
    return finals | {"a2c": np.array([20.0, 21, 22])}


def test_claims_of_robustness_follow_the_data():
    assert [claim.holds for claim in check(made_up(3.0))] == [True, True, True]
    assert [claim.holds for claim in check(made_up(-3.0))] == [False, False, False]
    assert [claim.holds for claim in check({"a2c": np.ones(3)})] == [None, None, None]
    values, scores = samples(made_up(2.0), "depth")
    np.testing.assert_allclose(np.polyfit(values, scores, 1), [2, 50], rtol=0.05)


def test_a_small_study_of_robustness(tmp_path):
    tiny = RobustnessConfig(seeds=2, frames=2_000, hidden=8, points=4, checkpoints=1)
    conclusion = run_study(find_study("minatar-robustness"), tiny, tmp_path, ("features.01", "a2c"))
    assert [row[0] for row in conclusion.table] == ["hyperparameter", "features", "a2c"]
    assert conclusion.pictures[0].stat().st_size > 1000
    lines = (tmp_path / "scores.csv").read_text().splitlines()
    assert len(lines) == 1 + 2
    assert json.loads((tmp_path / "agents/features.01/config.json").read_text())["agent"]["pad_features"] > 16


def test_the_search_tries_as_much_for_every_agent_and_takes_the_best():
    assert {agent for agent, _ in TRIED.values()} == set(AGENTS) == set(TUNED)
    for agent, tuning in TUNED.items():
        rates = [each.learning_rate for each in tried(agent) if each.feature_scale == 8]
        assert tuning.learning_rate in rates[1:-1]  # the best is not at an edge
        assert rates[:4] == [7e-4, 2e-3, 4e-3, 8e-3]
        assert len(tried(agent)) - len(rates) == (2 if agent.startswith("rgvf") else 0)
    configs = TuningConfig().runs(list(TRIED))
    assert {config.seed for config in configs.values()} == {1000}
    curves = {
        variant: Curves([1], np.full((3, 1), -abs(math.log(tuning.learning_rate / 2e-3)) - tuning.feature_scale))
        for variant, (_, tuning) in TRIED.items()
    }
    found = best(curves)
    assert found["a2c"] == (2e-3, 8.0)
    assert found["rgvf"] == (2e-3, 2.0)


def test_on_a_gpu_all_agents_of_a_game_are_one_batch(monkeypatch):
    study = find_study("minatar")
    assert [names for _, names in study.batches(study.variants[:2])] == [(name,) for name in study.variants[:2]]
    monkeypatch.setattr(runs, "seeds_are_listed", lambda: False)
    batches = list(study.batches(study.variants))
    assert [name for name, _ in batches] == ["Asterix", "Breakout", "Freeway", "Seaquest", "SpaceInvaders"]
    assert {len(names) for _, names in batches} == {12}
    assert list(study.batches([])) == []


def test_a_stopped_study_leaves_a_checkpoint_where_it_stopped(tmp_path):
    """Not only at the last of its checkpoints on the way."""
    tiny = RobustnessConfig(seeds=1, frames=8_000, hidden=8, points=8, checkpoints=1)

    class Impatient:
        def found(self, variants): ...

        def begin(self, batch): ...

        def progress(self, fraction):
            if fraction > 0.3:
                raise KeyboardInterrupt

        def finish(self, batch, seconds): ...

    with pytest.raises(KeyboardInterrupt):
        run_study(find_study("minatar-robustness"), tiny, tmp_path, ("a2c",), Impatient())
    newest = max((tmp_path / "agents/a2c/checkpoints").iterdir())
    assert 0.3 < int(newest.stem) / 8_000 < 0.7


def test_results_of_another_agent_are_not_taken_for_this_one_s():
    study = find_study("minatar")
    config = MinAtarConfig(seeds=2, frames=100)
    run = config.runs(["Breakout.a2c"])["Breakout.a2c"]
    result = json.loads(json.dumps(runs.result_of(run, Curves([100], np.zeros((2, 1))))))
    assert study.is_whole(config, "Breakout.a2c", result)
    assert not study.is_whole(config, "Breakout.rgvf", result)
    slower = MinAtarConfig(seeds=2, frames=100, learning_rate=1e-4)
    assert not study.is_whole(slower, "Breakout.a2c", result)


def test_a_game_in_which_a2c_never_scored_is_no_unit():
    curves = {f"{game}.{agent}": Curves([1], np.ones((2, 1))) for game in ("Breakout", "Freeway") for agent in AGENTS}
    curves["Freeway.a2c"] = Curves([1], np.zeros((2, 1)))
    assert final_returns(curves)["rgvf"].shape == (1, 2)
    curves["Breakout.a2c"] = curves["Freeway.a2c"]
    assert final_returns(curves) == {}


def test_what_another_process_has_finished_meanwhile_is_concluded_too(tmp_path):
    study = find_study("minatar-robustness")
    config = RobustnessConfig(seeds=1, frames=320, hidden=8, points=1, checkpoints=1)
    other = config.runs(["depth.00"])["depth.00"]

    class Other:
        def found(self, variants): ...

        def begin(self, batch):
            curves = Curves([320], np.ones((1, 1)), other.seed)
            StudyFolder(tmp_path, study.name, dataclasses.asdict(config)).save_result(
                "depth.00", runs.result_of(other, curves)
            )

        def progress(self, fraction): ...

        def finish(self, batch, seconds): ...

    conclusion = run_study(study, config, tmp_path, ("a2c",), Other())
    assert [row[0] for row in conclusion.table] == ["hyperparameter", "depth", "a2c"]
