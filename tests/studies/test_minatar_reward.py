"""The study of questions about reward: what it runs, its search and its claims."""

import json

import numpy as np
import pytest

from rgvf.agents import STOPPED
from rgvf.studies import find_study, run_study
from rgvf.studies.curves import Curves
from rgvf.studies.minatar_reward import SEARCH, SEARCH_GAMES, STUDY, TUNED, RewardConfig, best, check, search_table
from rgvf.studies.minatar_tuning import FIRST_SEED as OTHER_SEARCH
from rgvf.studies.relative_scores import RelativeScores
from rgvf.studies.reward_agents import (
    ABLATIONS,
    AGENTS,
    BEYOND,
    CAVEAT,
    COMBINATION,
    SEARCHED,
    Setting,
    agent_config,
    score,
    settings_of,
)
from rgvf.studies.runs import RunsConfig
from rgvf.tasks import ActionValues, ActionValuesNoActions, RandomAndActionValues, RandomQuestions

GAMES = ("Asterix", "Breakout", "Freeway", "Seaquest", "SpaceInvaders")


def test_what_is_run():
    assert find_study("minatar-reward") is STUDY
    assert len(SEARCH) == 2 * (8 * 8 + 4)
    assert len(STUDY.variants) == len(SEARCH) + 5 * 11
    config = RewardConfig()
    assert (config.seeds, config.frames) == (10, 5_000_000)
    seeds = {"search": set(), "study": set()}
    for variant in STUDY.variants:
        run = STUDY.run_config(config, variant)
        assert run.frames == 5_000_000
        assert run.clip_rewards == 0
        seeds["search" if variant in SEARCH else "study"] |= set(run.all_seeds)
    assert len(seeds["study"]) == 10
    assert seeds["study"].isdisjoint(seeds["search"] | set(range(10)) | {OTHER_SEARCH + i for i in range(10)})


def test_a_plan_measures_narrow_and_wide_agents_apart():
    narrow, slower, wide = (
        STUDY.kind(RewardConfig(), f"search.Breakout.a2c.{each}")
        for each in ("narrow-0.001", "narrow-0.002", "wide-0.001")
    )
    assert narrow == slower != wide == STUDY.kind(RewardConfig(), "Breakout.a2c")


def test_every_agent_has_the_same_search():
    tried = {agent: set() for agent in SEARCHED}
    for game, agent, setting in SEARCH.values():
        tried[agent].add((game, setting))
    beyond = {agent: {(game, s) for game in SEARCH_GAMES for s in settings} for agent, settings in BEYOND.items()}
    assert len({frozenset(each - beyond.get(agent, set())) for agent, each in tried.items()}) == 1
    assert {game for game, _ in tried["a2c"]} == {"Breakout", "Freeway"}
    assert "a2c" in SEARCHED
    assert TUNED.keys() == set(SEARCHED)


def test_the_best_rates_are_inside_of_those_that_were_tried():
    for agent, chosen in TUNED.items():
        rates = [setting.learning_rate for setting in settings_of(agent) if setting.size == chosen.size]
        assert min(rates) < chosen.learning_rate < max(rates), agent


def test_agents():
    setting = Setting("wide", 2e-3)
    combined = agent_config(COMBINATION, setting)
    assert combined.auxiliary == (RandomQuestions(feature_rms=None), ActionValues(depth=8, feature_rms=8.0))
    assert (combined.kernels, combined.dense, combined.hidden) == ((32,), (512,), 512)
    assert combined.stop_gradient
    one_network = agent_config(f"random-and-action-values{STOPPED}", setting)
    assert one_network.auxiliary == (RandomAndActionValues(feature_rms=8.0),)
    changed = [agent_config(agent, setting).auxiliary[1] for agent in ABLATIONS]
    assert changed == [ActionValuesNoActions(), ActionValues(depth=0), ActionValues(depth=1)]
    for agent in AGENTS:
        assert agent_config(agent, setting).stop_gradient == agent.endswith(STOPPED)
    for agent in ABLATIONS:  # an ablation is the combination but for its questions about reward
        variant = STUDY.run_config(RewardConfig(), f"Asterix.{agent}")
        like = STUDY.run_config(RewardConfig(), f"Asterix.{COMBINATION}")
        assert variant.agent.learning_rate == like.agent.learning_rate
        assert variant.agent.kernels == like.agent.kernels


def searched(returns):
    """Curves of a whole search; `returns`: of (game, agent, setting)."""
    return {variant: Curves([1, 2], np.full((3, 2), float(returns(*each))), 2000) for variant, each in SEARCH.items()}


def test_the_best_setting_is_the_best_of_both_games_together():
    narrow, wide = Setting("narrow", 2e-3), Setting("wide", 8e-3)

    def returns(game, agent, setting):
        if setting == narrow:
            return 100 if game == "Breakout" else 1
        return 20 if setting == wide else 5

    curves = searched(returns)
    assert best(curves) == dict.fromkeys(SEARCHED, wide)  # √(20 · 20) is more than √(100 · 1)
    assert score([100, 1]) == pytest.approx(10)
    assert score([0, 50]) < 0.01
    table = search_table(curves)
    assert len(table) == 1 + 2 * len(SEARCHED)
    assert table[1][:3] == ("a2c", "Breakout", "5.0 ± 0.0")
    partly = {variant: each for variant, each in curves.items() if "Freeway.rgvf-stop" not in variant}
    assert f"rgvf{STOPPED}" not in best(partly)


def found(factors, spread=0.05):
    """Scores where each agent has this multiple of A2C's return in each game."""
    rng = np.random.default_rng(0)
    curves = {}
    for i, game in enumerate(GAMES):
        for agent in AGENTS:
            level = 10 ** (i % 3) * np.broadcast_to(factors.get(agent, 0.5), 5)[i]
            values = level * (1 + spread * rng.normal(size=(10, 1)))
            curves[f"{game}.{agent}"] = Curves([1], values)
    return RelativeScores(curves, STUDY.comparison)


def test_the_claims():
    claims = check(found({"a2c": 1.0, COMBINATION: 1.5, ABLATIONS[1]: 1.5}))
    goal, against_a2c, *_ = claims
    assert goal.holds
    assert goal.figures["ratio"] == pytest.approx(1.5, rel=0.05)
    assert set(goal.figures["ratio of mean returns by game"]) == set(GAMES)
    low, high = goal.figures["ratio, 95 % interval"]
    assert 1.4 < low < goal.figures["ratio"] < high < 1.6
    assert against_a2c.holds
    by_game = against_a2c.figures["difference of mean returns by game, 95 % interval"]
    assert by_game["Breakout"][0] == pytest.approx(5, rel=0.3)
    depth_0 = next(each for each in claims if "after actions matter" in each.claim)
    assert depth_0.holds is False


@pytest.mark.parametrize(
    "factors",
    [1.2, [0.9, 1.5, 1.5, 1.5, 1.5]],
    ids=["not much better", "worse in one game"],
)
def test_the_goal_is_missed(factors):
    goal, against_a2c, *_ = check(found({"a2c": 1.0, COMBINATION: factors}))
    assert goal.holds is False
    assert against_a2c.holds


def test_nothing_is_claimed_of_what_was_not_run():
    assert {claim.holds for claim in check(RelativeScores({}, STUDY.comparison))} == {None}


@pytest.mark.parametrize("level", [None, 0.0], ids=["a game is missing", "A2C has nothing in a game"])
def test_the_goal_needs_all_games(level):
    curves = {
        f"{game}.{agent}": Curves([1], np.linspace(1, 2, 10)[:, None] * (3 if agent == COMBINATION else 1))
        for game in GAMES
        for agent in AGENTS
    }
    for agent in AGENTS:
        if level is None:
            del curves[f"Freeway.{agent}"]
        else:
            curves[f"Freeway.{agent}"] = Curves([1], np.full((10, 1), level))
    scores = RelativeScores(curves, STUDY.comparison)
    goal, against_a2c, *_ = check(scores)
    assert goal.holds is None
    assert against_a2c.holds
    assert scores.missing() == "Only Asterix, Breakout, Seaquest, SpaceInvaders."


@pytest.mark.slow
def test_a_small_part_of_it(tmp_path):
    config = RewardConfig(seeds=2, search_seeds=1, frames=640, points=2, checkpoints=1)
    some = ("search.Breakout.a2c.narrow-0.001", "Breakout.a2c", f"Breakout.{COMBINATION}")
    conclusion = run_study(STUDY, config, tmp_path, some)
    assert [row[0] for row in conclusion.table] == ["agent", "a2c", COMBINATION]
    assert list(json.loads((tmp_path / "search.json").read_text())["variants"]) == ["search.Breakout.a2c.narrow-0.001"]
    again = run_study(STUDY, config, tmp_path, some)  # both numbers of seeds are found complete
    assert again.table == conclusion.table
    assert isinstance(config, RunsConfig)
    assert CAVEAT in json.loads((tmp_path / "claims.json").read_text())["caution"]
    assert {path.name for path in conclusion.figures} >= {"curves.png", "aggregate.png"}
