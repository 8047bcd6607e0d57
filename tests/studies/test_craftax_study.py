"""The study of Craftax: what it runs, and its claims."""

import dataclasses
import json

import numpy as np
import pytest

import rgvf
from rgvf.studies import find_study, run_study
from rgvf.studies.craftax import AGENTS, STUDY, CraftaxConfig, check
from rgvf.studies.curves import Curves
from rgvf.studies.minatar_reward import STUDY as ON_MINATAR
from rgvf.studies.minatar_reward import RewardConfig
from rgvf.studies.relative_scores import RelativeScores
from rgvf.studies.reward_agents import COMBINATION, TWO_TASKS


def test_what_is_run():
    assert find_study("craftax") is STUDY
    config = CraftaxConfig()
    assert (config.seeds, config.frames) == (10, 20_000_000)
    runs = [STUDY.run_config(config, variant) for variant in STUDY.variants]
    assert [run.agent.label for run in runs] == list(AGENTS)
    assert {(run.env, run.clip_rewards, run.actors, run.steps) for run in runs} == {
        ("craftax/Classic-Symbolic", 0, 16, 20)
    }
    assert {STUDY.batch(variant) for variant in STUDY.variants} == {"Classic"}


@pytest.mark.parametrize("agent", AGENTS)
def test_settings_are_those_of_minatar(agent):
    ours = STUDY.run_config(CraftaxConfig(), f"Classic.{agent}")
    there = ON_MINATAR.run_config(RewardConfig(), f"Breakout.{'rgvf-stop-gradient' if agent == 'rgvf' else agent}")
    memory = {"representation": "gru", "memory": 512}
    assert dataclasses.replace(there.agent, kernels=(), stop_gradient=ours.agent.stop_gradient, **memory) == ours.agent
    assert (there.actors, there.steps, there.clip_rewards) == (ours.actors, ours.steps, ours.clip_rewards)
    assert not set(ours.all_seeds) & set(there.all_seeds)


@pytest.mark.parametrize("agent", AGENTS)
def test_the_preset_is_as_in_the_study(agent):
    studied = STUDY.run_config(CraftaxConfig(), f"Classic.{agent}")
    name = agent.removesuffix("-stop-gradient")
    ours = rgvf.preset("craftax/Classic-Symbolic", name, stop_gradient=name != agent)
    assert ours.agent == studied.agent
    for field in ("env", "frames", "actors", "steps", "clip_rewards"):
        assert getattr(ours, field) == getattr(studied, field)


def test_all_agents_can_have_one_learning_rate(tmp_path):
    config = CraftaxConfig(learning_rate=1e-3)
    rates = [STUDY.run_config(config, variant).agent.learning_rate for variant in STUDY.variants]
    own = [STUDY.run_config(CraftaxConfig(), variant).agent.learning_rate for variant in STUDY.variants]
    assert (rates, own) == ([1e-3] * 5, [8e-3, 4e-3, 4e-3, 2e-3, 1e-3])
    assert "learning_rate" in config.caution
    with pytest.raises(ValueError, match="learning_rate must be positive"):
        CraftaxConfig(learning_rate=-1.0)


@pytest.mark.unchecked_types
def test_view_and_representation_are_settings():
    config = CraftaxConfig(view="Pixels", representation="conv")
    run = STUDY.run_config(config, f"Classic.{COMBINATION}")
    assert (run.env, run.agent.representation) == ("craftax/Classic-Pixels", "conv")
    with pytest.raises(ValueError, match="there is no representation 'convv'; did you mean conv"):
        CraftaxConfig(representation="convv")
    with pytest.raises(ValueError, match="view"):
        CraftaxConfig(view="Text")  # pyright: ignore[reportArgumentType]


def found(means):
    """Scores of ten seeds, where these agents have these means, and all others 5."""
    spread = np.linspace(-0.3, 0.3, 10)[:, None]
    curves = {f"Classic.{agent}": Curves([1], means.get(agent, 5.0) + spread) for agent in AGENTS}
    return RelativeScores(curves, STUDY.comparison)


def test_the_claims():
    claims = check(found({COMBINATION: 6.0, TWO_TASKS: 5.05}))
    assert [claim.holds for claim in claims] == [True, False, False, False, True]
    low, high = claims[0].figures["difference of mean returns by game, 95 % interval"]["Classic"]
    assert 0.7 < low < 1.0 < high < 1.3
    assert [claim.holds for claim in check(RelativeScores({}, STUDY.comparison))] == [None] * 5


def test_what_is_missing_is_said_in_words():
    nobody_scores = {f"Classic.{agent}": Curves([1], np.zeros((4, 1))) for agent in AGENTS}
    missing = RelativeScores(nobody_scores, STUDY.comparison).missing()
    assert missing == "No game has returns of all these agents and a mean return of A2C above 0."
    del nobody_scores["Classic.a2c"]
    assert RelativeScores(nobody_scores, STUDY.comparison).missing() == "This has 4 of 5 agents."


def test_other_settings_than_those_of_the_study_stand_beside_its_claims():
    assert CraftaxConfig().caution == CraftaxConfig(points=5, seeds=12).caution == ""
    assert CraftaxConfig(view="Pixels", representation="conv").caution == (
        "This ran view = Pixels, representation = conv; the full study has view = Symbolic, representation = gru, "
        "and its claims may come out otherwise."
    )
    assert "20,000,000 and 10, view = Symbolic" in CraftaxConfig(view="Pixels", frames=10).caution


@pytest.mark.slow
def test_a_short_study(tmp_path):
    config = CraftaxConfig(seeds=2, frames=640, points=2, checkpoints=1)
    conclusion = run_study(STUDY, config, tmp_path)
    assert {path.stem.removesuffix(".json") for path in (tmp_path / "results").iterdir()} == set(STUDY.variants)
    assert "20,000,000" in conclusion.caution
    curves = json.loads((tmp_path / "curves.json").read_text())["variants"]
    assert [row[0] for row in conclusion.table[1:]] == [variant.removeprefix("Classic.") for variant in curves]
    assert "Left out, because no game had ended" in conclusion.caution  # in 40 steps
    assert all(variant in curves or variant in conclusion.caution for variant in STUDY.variants)
