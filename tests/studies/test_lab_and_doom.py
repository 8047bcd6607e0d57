"""The studies of DeepMind Lab and ViZDoom: what they train, and what they conclude from made-up curves."""

import importlib.util
import json

import numpy as np
import pytest

import rgvf
from rgvf.analysis import DMLAB_SCORES
from rgvf.cli.terminal import print_counts, print_hours
from rgvf.environments import DMLAB_LEVELS, DOOM_SCENARIOS
from rgvf.studies import find_study, run_study
from rgvf.studies.dmlab_12 import STUDY as LAB
from rgvf.studies.dmlab_12 import LabConfig, check, table
from rgvf.studies.doom import STUDY as DOOM
from rgvf.studies.doom import DoomConfig
from rgvf.studies.normalised_scores import DMLAB, NormalisedScores
from rgvf.studies.plan import make_plan
from tests.cli.command import words
from tests.studies.atari_curves import STOPPED, conclude, flat

LIKE_THE_PAPER = {
    "a2c": 0.6,
    STOPPED: 0.6,
    "rgvf": 0.8,
    "mhvp-stop-gradient": 0.3,
    "mhvp": 0.5,
    "pixel-control-stop-gradient": 0.2,
    "pixel-control": 0.4,
}


def trials(levels, games, score, seeds=4, spread=0.01):
    rng = np.random.default_rng(0)
    return {
        f"{game}.{agent}.{seed}": flat(score(game, level + spread * rng.normal()), seed)
        for game in games
        for agent, level in levels.items()
        for seed in range(seeds)
    }


def lab_score(level, value):
    random, human, _ = DMLAB_SCORES[level]
    return random + value * (human - random)


@pytest.mark.parametrize(("study", "count", "frames"), [(LAB, 12 * 7 * 5, 200_000_000), (DOOM, 2 * 8 * 5, 10_000_000)])
def test_the_plan_of_a_full_study(study, count, frames, tmp_path, capsys):
    assert find_study(study.name) is study
    plan = make_plan(study, study.full, tmp_path / "new", seconds=0)
    assert (plan.agents, plan.frames) == (count, count * frames)
    print_hours(plan, 2, study.not_planned)
    assert ("Not counted: maps" in capsys.readouterr().out) == (study is LAB)
    print_hours(plan._replace(interrupted=True), 2, study.not_planned)
    assert words(capsys.readouterr().out) == "How long it takes is unknown: nothing was measured yet."


@pytest.mark.parametrize(
    ("stacked", "gib", "batches"), [(False, 1024, 16), (False, 64, 5), (False, 8, 1), (True, 96, 1)]
)
def test_as_many_engines_run_as_the_memory_holds(monkeypatch, stacked, gib, batches):
    """32 engines of 200 MiB for each trial, and on a GPU five trials in a batch; half of the memory is theirs."""
    monkeypatch.setattr("rgvf.studies.trials.available_cores", lambda: list(range(64)))
    monkeypatch.setattr("rgvf.studies.runs.stacking_is_faster", lambda: stacked)
    monkeypatch.setattr("rgvf.studies.dmlab_12.memory_bytes", lambda: gib * 2**30)
    assert LAB.default_parallel(LAB.full) == batches


@pytest.mark.skipif(importlib.util.find_spec("deepmind_lab") is not None, reason="DeepMind Lab is installed")
def test_without_the_module_no_trial_is_started(tmp_path, capsys):
    with pytest.raises(ValueError, match=r"deepmind_lab, which is not installed"):
        run_study(LAB, LabConfig(seeds=1), tmp_path / "study")
    assert not list(tmp_path.rglob("failed"))
    plan = make_plan(LAB, LAB.full, tmp_path / "new")
    print_counts(plan, LAB.what(LAB.full))
    print_hours(plan, 2, LAB.not_planned)
    said = " ".join(capsys.readouterr().out.split())
    assert "To train: 420 agents, 84,000,000,000 frames in all. How long it takes cannot be measured here" in said


@pytest.mark.parametrize("agent", [*LAB.agents, *LAB.more_agents])
def test_agents_of_deepmind_lab_are_the_papers(agent):
    run = LAB.run_config(LabConfig(), f"explore_goal_locations_small.{agent}.3")
    assert (run.env, run.seed, run.frames) == ("dmlab/explore_goal_locations_small", 3, 200_000_000)
    assert (run.actors, run.steps, run.clip_rewards) == (32, 20, 1.0)
    own, critic = run.agent, run.agent.actor_critic
    assert (own.learning_rate, own.rms_decay, own.rms_epsilon, own.clip_norm) == (3e-4, 0.99, 1e-8, 0.5)
    assert (own.hidden, own.c, critic.discount, critic.entropy) == (512, (1.0,), 0.99, 0.003)
    assert own.label == agent
    for task in own.auxiliary:
        if task.name == "rgvf":
            assert task == rgvf.tasks.RandomQuestions(depth=8, repeat=16, features=16, discount=0.95, feature_scale=1.0)


def test_the_capped_mean_calculated_again():
    curves = trials({"a2c": 0.9, "rgvf": 1.3}, DMLAB_LEVELS, lab_score, seeds=3, spread=0.4)
    rows = table(NormalisedScores(LAB.by_agent(curves), DMLAB), LAB.agents)
    assert [row[:3] for row in rows[1:]] == [("a2c", "12", "3"), ("rgvf", "12", "3")]
    for agent, *cells in rows[1:]:
        capped = []
        for level in DMLAB_LEVELS:
            random, human, _ = DMLAB_SCORES[level]
            returns = [curves[f"{level}.{agent}.{seed}"].values[0, -1] for seed in range(3)]
            capped += [min(1.0, (each - random) / (human - random)) for each in returns]
        assert float(cells[2].split()[0]) == pytest.approx(sum(capped) / 36, abs=6e-4)


def test_claims_about_deepmind_lab_follow_the_scores(tmp_path):
    curves = trials(LIKE_THE_PAPER, DMLAB_LEVELS, lab_score)
    conclusion = conclude(LAB, curves, tmp_path)
    assert [claim.holds for claim in conclusion.claims] == [True] * 5
    assert {path.name for path in conclusion.figures} == {"curves.png", "aggregate.png"}
    assert "12 levels" not in conclusion.caution
    assert json.loads((tmp_path / "study/curves.json").read_text())
    worse = {**LIKE_THE_PAPER, STOPPED: 0.1, "rgvf": 0.1}
    found = NormalisedScores(LAB.by_agent(trials(worse, DMLAB_LEVELS, lab_score)), DMLAB)
    assert [claim.holds for claim in check(found)] == [False] * 5
    few = NormalisedScores(LAB.by_agent(trials({"a2c": 0.5}, DMLAB_LEVELS[:2], lab_score)), DMLAB)
    assert [claim.holds for claim in check(few)] == [None] * 5


def test_scores_above_the_cap_do_not_decide():
    """Far above people in all levels, no agent is better than another by the capped mean."""
    levels = {STOPPED: 9.0, "mhvp-stop-gradient": 3.0, "rgvf": 9.0, "mhvp": 3.0}
    found = NormalisedScores(LAB.by_agent(trials(levels, DMLAB_LEVELS, lab_score)), DMLAB)
    assert [claim.holds for claim in check(found)[1:3]] == [False, False]


def test_every_scenario_can_be_chosen():
    assert set(DOOM.all_games) == set(DOOM_SCENARIOS)
    config = DoomConfig(games=("basic", "My_Way_Home"), agents=("a2c",), seeds=1)
    assert DOOM.chosen(config) == ["my_way_home.a2c.0", "basic.a2c.0"]
    run = DOOM.run_config(config, "basic.rgvf+action-values-stop-gradient.2")
    assert (run.env, run.agent.label, run.seed) == ("doom/basic", "rgvf+action-values-stop-gradient", 2)
    assert run.agent == rgvf.preset("doom/basic", "rgvf+action-values", stop_gradient=True).agent
    for study, wrong in ((LabConfig, "fast"), (DoomConfig, "paper")):
        with pytest.raises(ValueError, match="no preset of this study"):
            study(preset=wrong)


def test_claims_about_doom_follow_the_returns(tmp_path):
    levels = {"a2c": 0.5, STOPPED: 0.3, "rgvf": 0.8, "rgvf+action-values-stop-gradient": 0.7}
    levels |= {"mhvp-stop-gradient": 0.1, "mhvp": 0.5, "pixel-control-stop-gradient": 0.6, "pixel-control": 0.4}
    curves = trials(levels, ("my_way_home", "health_gathering", "basic"), lambda game, value: value)
    conclusion = conclude(DOOM, curves, tmp_path)
    assert [claim.holds for claim in conclusion.claims] == [False, True, True, True, True, False] * 3
    assert conclusion.table[0] == ("agent", "my_way_home", "health_gathering", "basic")
    assert {row[0] for row in conclusion.table[1:]} == set(DOOM.agents) == levels.keys()
    for seeds in (1, 2, 3):
        few = {name: each for name, each in curves.items() if int(name.rpartition(".")[2]) < seeds}
        assert {claim.holds for claim in conclude(DOOM, few, tmp_path / str(seeds)).claims} == {None}
