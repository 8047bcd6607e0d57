"""The study of 49 Atari games: what it concludes from made-up curves with known answers."""

import itertools
import json
import re

import numpy as np
import pytest

from rgvf.analysis import ATARI_SCORES, difference_interval
from rgvf.environments import ATARI_GAMES
from rgvf.studies.atari_49 import STUDY as ALL
from rgvf.studies.atari_49 import check, left_out, table
from rgvf.studies.comparison import clearly_above, outperforms
from rgvf.studies.normalised_scores import INTERVALS_CAVEAT, MEASURES, NormalisedScores, does_not_outperform
from rgvf.studies.trials import TrialsConfig
from tests.studies.atari_curves import EIGHT, STOPPED, conclude, flat, score, trials

RIVALS = ("mhvp", "pixel-control", "curl")
LIKE_THE_PAPER = {
    "a2c": 1.0,
    STOPPED: 1.2,
    "rgvf": 1.4,
    **dict.fromkeys(RIVALS, 0.8),
    **{f"{rival}-stop-gradient": 0.5 for rival in RIVALS},
}
"""Human-normalised scores."""


def record_of(reference):
    assert reference.record is not None
    return reference.record


def scores_of(levels, **options):
    return NormalisedScores(ALL.by_agent(trials(levels, **options)))


def test_aggregates_are_the_papers():
    """Eight games and three seeds, calculated again in plain loops."""
    curves = trials({"a2c": 0.7, "rgvf": 1.1}, seeds=3, spread=0.6)
    rows = table(NormalisedScores(ALL.by_agent(curves)), ALL.agents)
    assert [row[:3] for row in rows[1:]] == [("a2c", "8", "3"), ("rgvf", "8", "3")]
    for agent, *cells in (rows[1], rows[2]):
        human, record = [], []
        for seed in range(3):
            returns = [curves[f"{game}.{agent}.{seed}"].values[0, -1] for game in EIGHT]
            pairs = [(x, ATARI_SCORES[game]) for x, game in zip(returns, EIGHT, strict=True)]
            human.append([(x - of.random) / (of.human - of.random) for x, of in pairs])
            record.append([(x - of.random) / (record_of(of) - of.random) for x, of in pairs])
        pooled = sorted(x for each in human for x in each)
        expected = (
            sum((sorted(each)[3] + sorted(each)[4]) / 2 for each in human) / 3,
            sum(sum(each) / 8 for each in record) / 3,
            sum(min(x, 1.0) for x in pooled) / 24,
            sum(pooled[6:18]) / 12,
        )
        for cell, value in zip(cells[2:], expected, strict=True):
            shown, low, high = (float(word.strip("[],")) for word in cell.split())
            assert shown == pytest.approx(value, abs=6e-4)
            assert low < shown < high


def test_one_seed_has_values_without_intervals():
    rows = table(scores_of({"a2c": 0.5}, seeds=1, spread=0), ALL.agents)
    assert rows[1][:4] == ("a2c", "8", "1", "0.500")
    assert rows[1][5:] == ("0.500", "0.500")


def test_agents_are_compared_in_the_games_that_all_have():
    """A2C also has easy games: over its own games it looks better than rgvf, in those of both it is worse."""
    curves = trials({"a2c": 0.5, "rgvf": 0.8}, spread=0)
    curves |= trials({"a2c": 9.0}, games=ATARI_GAMES[8:20], spread=0)
    found = NormalisedScores(ALL.by_agent(curves))
    rows = [(*row[:3], row[3].partition(" ")[0]) for row in table(found, ALL.agents)[1:]]
    assert rows[:2] == [("a2c", "20", "4", "9.000"), ("rgvf", "8", "4", "0.800")]
    assert rows[2][0] == "in the same 8 games:"
    assert rows[3:] == [("a2c", "8", "4", "0.500"), ("rgvf", "8", "4", "0.800")]
    assert ", ".join(EIGHT) in left_out(found, ALL.agents)
    claim = outperforms(found, "", "rgvf", "a2c")
    assert claim.holds
    assert claim.figures["only"] == list(EIGHT)
    assert claim.figures["interquartile mean"]["difference"] == pytest.approx(0.3)


def test_an_agent_that_has_just_begun_does_not_take_the_games_from_the_others():
    curves = trials({"a2c": 0.5, "rgvf": 0.8, "mhvp": 0.6}) | trials({"curl": 0.3}, games=EIGHT[:1])
    found = NormalisedScores(ALL.by_agent(curves))
    assert found.compared(ALL.agents) == (["a2c", "rgvf", "mhvp"], list(EIGHT))
    assert "without curl (games: 1)" in left_out(found, ALL.agents)
    assert [row[0] for row in table(found, ALL.agents)].count("curl") == 1
    apart = NormalisedScores(ALL.by_agent(trials({"a2c": 0.5}) | trials({"rgvf": 0.8}, games=ATARI_GAMES[8:10])))
    assert apart.compared(ALL.agents) == (["a2c", "rgvf"], [])
    assert left_out(apart, ALL.agents) == "No game has all agents."
    assert outperforms(apart, "", "rgvf", "a2c").holds is None
    alone = scores_of({"rgvf": 0.5})
    assert alone.compared(ALL.agents) == (["rgvf"], list(EIGHT))
    assert left_out(alone, ALL.agents) == ""


def test_as_many_seeds_count_as_every_game_has():
    curves = trials({"a2c": 0.5}, seeds=3, spread=0)
    curves |= {f"Alien.a2c.{seed}": flat(score("Alien", 50.0), seed) for seed in (1, 2)}
    for seed in (1, 2):
        del curves[f"Amidar.a2c.{seed}"]
    found = NormalisedScores(ALL.by_agent(curves))
    np.testing.assert_allclose(found.final("a2c", EIGHT), [[score(game, 0.5)] for game in EIGHT])
    assert table(found, ALL.agents)[1][:4] == ("a2c", "8", "1–3", "0.500")
    mean = score("Alien", (0.5 + 50 + 50) / 3)
    np.testing.assert_allclose(found.means("a2c", ["Alien"]), [mean])  # bars show all that there is


def test_the_papers_claims_hold_where_the_data_is_like_the_papers():
    claims = check(scores_of(LIKE_THE_PAPER))
    assert len(claims) == 12
    assert [claim.holds for claim in claims] == [True] * 12
    reverse = check(scores_of({agent: 2 - level for agent, level in LIKE_THE_PAPER.items()}))
    assert [claim.holds for claim in reverse] == [False] * 12
    missing = check(scores_of({agent: level for agent, level in LIKE_THE_PAPER.items() if agent != "a2c"}))
    assert sum(claim.holds is None for claim in missing) == 6
    assert sum(claim.holds is True for claim in missing) == 6


def test_equal_agents_are_not_clearly_better():
    found = scores_of({"a2c": 1.0, "rgvf": 1.0}, spread=0.3)
    assert outperforms(found, "", "rgvf", "a2c").holds is False
    assert outperforms(found, "", "a2c", "rgvf").holds is False


def test_how_often_few_seeds_show_a_difference_that_is_not_there():
    """What legends say: two agents that are the same, normally distributed, in one game; 1,000 times."""
    rng = np.random.default_rng(0)
    (said,) = (int(number) / 100 for number in re.findall(r" (\d+) %", INTERVALS_CAVEAT))
    found = np.mean([difference_interval(a, b)[0] > 0 for a, b in rng.normal(size=(1000, 2, 5))])
    assert found == pytest.approx(said, abs=0.02)


@pytest.mark.parametrize(("seeds", "by_chance"), [(3, 1 / 20), (4, 1 / 70)])
def test_fewer_than_four_seeds_decide_nothing_in_a_game(seeds, by_chance):
    """All seeds of one agent above all of the other: counted over all ways to deal the ranks."""
    ways = list(itertools.combinations(range(2 * seeds), seeds))
    assert sum(min(mine) == seeds for mine in ways) / len(ways) == by_chance
    curves = ALL.by_agent(trials({"a2c": 0.5, "rgvf": 9.0}, games=("Pong",), seeds=seeds))
    claim = clearly_above(curves, "Pong", "", ("rgvf",), "a2c")
    assert claim.holds is (True if by_chance < 0.025 else None)
    assert claim.figures["difference, 95 % interval"]["rgvf"][0] > 0
    assert outperforms(NormalisedScores(curves), "", "rgvf", "a2c").holds is claim.holds


def test_that_nothing_can_be_told_is_no_evidence_that_agents_match():
    def verdict(levels, **options):
        return does_not_outperform(scores_of(levels, **options), "", "rgvf", "a2c").holds

    assert verdict({"a2c": 1.0, "rgvf": 1.0}, spread=0.05) is True  # at most 5 % above
    assert verdict({"a2c": 1.0, "rgvf": 0.5}, spread=0.02) is True
    assert verdict({"a2c": 1.0, "rgvf": 1.3}, spread=0.02) is False
    assert verdict({"a2c": 1.0, "rgvf": 1.02}, spread=0.6) is None
    assert verdict({"a2c": 1.0, "rgvf": 0.9}, games=EIGHT[:2], seeds=2, spread=0.6) is None


def test_a_claim_reports_its_evidence():
    curves = trials({"a2c": 0.7, "rgvf": 0.8}, seeds=5, spread=0.2)
    figures = outperforms(NormalisedScores(ALL.by_agent(curves)), "", "rgvf", "a2c").figures
    assert figures["games"] == 8
    assert figures["seeds in each game"] == {"rgvf": 5, "a2c": 5}
    a, b = (
        [[curves[f"{game}.{agent}.{seed}"].values[0, -1] for seed in range(5)] for game in EIGHT]
        for agent in ("rgvf", "a2c")
    )
    wins = sum((x > y) for one, other in zip(a, b, strict=True) for x in one for y in other)
    assert figures["probability of improvement"]["value"] == pytest.approx(wins / (8 * 25))
    scale = [[ATARI_SCORES[game].human - ATARI_SCORES[game].random] for game in EIGHT]
    difference = ((np.array(a) - np.array(b)) / scale).mean(1)
    by_game = figures["game by game, human-normalised"]
    assert by_game["better"] == (difference > 0).sum()
    assert by_game["mean difference"] == pytest.approx(difference.mean())
    low, high = by_game["95 % interval (games resampled)"]
    rng = np.random.default_rng(7)
    means = [rng.choice(difference, 8).mean() for _ in range(5000)]
    np.testing.assert_allclose([low, high], np.percentile(means, [2.5, 97.5]), atol=0.01)
    record = [[record_of(ATARI_SCORES[game]) - ATARI_SCORES[game].random] for game in EIGHT]
    x, y = np.array(a) / record, np.array(b) / record
    again = [
        np.mean([rng.choice(row, 5).mean() for row in x]) - np.mean([rng.choice(row, 5).mean() for row in y])
        for _ in range(4000)
    ]
    found = figures["mean record-normalised"]
    assert found["difference"] == pytest.approx(x.mean() - y.mean())
    np.testing.assert_allclose(
        found["95 % interval"], np.percentile(again, [2.5, 97.5]), atol=0.1 * float(np.ptp(again))
    )


def with_one_seed(differences):
    """One seed of two agents; how much better rgvf is in each game."""
    games = ATARI_GAMES[: len(differences)]
    curves = {f"{game}.a2c.0": flat(score(game, 0.5)) for game in games}
    curves |= {f"{game}.rgvf.0": flat(score(game, 0.5 + d)) for game, d in zip(games, differences, strict=True)}
    return NormalisedScores(ALL.by_agent(curves))


def test_one_seed_is_judged_by_a_sign_test_over_games():
    clear = outperforms(with_one_seed([0.1] * 9 + [-0.1]), "", "rgvf", "a2c")
    assert clear.holds
    assert clear.figures["game by game, human-normalised"]["p of the sign test"] == pytest.approx(22 / 1024)
    assert clear.figures["interquartile mean"]["95 % interval"] is None
    assert clear.figures["game by game, human-normalised"]["95 % interval (games resampled)"][1] <= 0.1 + 1e-9
    unclear = with_one_seed([0.1] * 8 + [-0.1] * 2)
    assert outperforms(unclear, "", "rgvf", "a2c").holds is False
    assert does_not_outperform(unclear, "", "rgvf", "a2c").holds is None
    assert does_not_outperform(with_one_seed([-0.1] * 9 + [0.1]), "", "rgvf", "a2c").holds
    assert does_not_outperform(with_one_seed([0.1] * 9 + [-0.1]), "", "rgvf", "a2c").holds is False
    assert outperforms(with_one_seed([0.1] * 6), "", "rgvf", "a2c").holds
    too_few = with_one_seed([0.1] * 5)  # p = 1/16 at best
    assert outperforms(too_few, "", "rgvf", "a2c").holds is None
    assert does_not_outperform(too_few, "", "rgvf", "a2c").holds is None


def test_a_whole_conclusion_of_a_part(tmp_path):
    config = TrialsConfig(games=EIGHT, seeds=2, preset="fast")
    conclusion = conclude(ALL, trials(LIKE_THE_PAPER, seeds=2), tmp_path, config)
    names = ["curves", "aggregate", "profiles", f"improvement-{STOPPED}", "improvement-rgvf"]
    assert [figure.stem for figure in conclusion.figures] == names
    assert all(figure.stat().st_size > 5000 for figure in conclusion.figures)
    assert "preset fast" in conclusion.caution
    assert ", ".join(EIGHT) in conclusion.caution
    assert len(conclusion.table) == 10
    assert all(len(row) == 3 + len(MEASURES) for row in conclusion.table)
    json.dumps([claim.to_data() for claim in conclusion.claims], allow_nan=False)
    kept = json.loads((tmp_path / "study/curves.json").read_text())["variants"]
    assert len(kept) == 8 * 9 * 2
    assert kept["Alien.rgvf.1"]["seeds"] == [1]


def test_results_of_a_single_trial_are_shown(tmp_path):
    conclusion = conclude(ALL, {"Pong.a2c.0": flat(14.6)}, tmp_path)
    assert conclusion.table[1] == ("a2c", "1", "1", "1.000", f"{35.3 / 41.7:.3f}", "1.000", "1.000")
    assert [figure.stem for figure in conclusion.figures] == ["curves", "aggregate", "profiles"]
    assert {claim.holds for claim in conclusion.claims} == {None}
    assert "Pong" in conclusion.caution


@pytest.mark.slow
def test_the_full_study_of_49_games_needs_no_caution(tmp_path):
    conclusion = conclude(ALL, trials(LIKE_THE_PAPER, games=ATARI_GAMES, seeds=5), tmp_path)
    assert conclusion.caution == ""
    assert len(conclusion.figures) == 5
    assert [row[1:3] for row in conclusion.table[1:]] == [("49", "5")] * 9
    assert all(claim.holds and "only" not in claim.figures for claim in conclusion.claims)


def test_what_one_seed_cannot_tell_is_null_in_json():
    (claim,) = [each for each in check(with_one_seed([0.1] * 9)) if each.holds is not None]
    data = json.loads(json.dumps(claim.to_data(), allow_nan=False))
    assert data["figures"]["probability of improvement"] == {"value": 1.0, "95 % interval": None}
