"""The paper's three Atari studies: what they train, and what they conclude from made-up curves with known answers."""

import json

import numpy as np
import pytest

import rgvf
from rgvf.analysis import ATARI_SCORES
from rgvf.environments import ATARI_GAMES
from rgvf.studies import find_study, run_study
from rgvf.studies.atari_49 import STUDY as ALL
from rgvf.studies.atari_49 import check, left_out, table
from rgvf.studies.atari_ablation import STUDY as ABLATION
from rgvf.studies.atari_robustness import STUDY as ROBUSTNESS
from rgvf.studies.atari_robustness import AtariRobustnessConfig
from rgvf.studies.atari_scores import MEASURES, Scores, does_not_outperform, outperforms
from rgvf.studies.curves import Curves
from rgvf.studies.folder import StudyFolder
from rgvf.studies.hyperparameters import RANGES, SAMPLED
from rgvf.studies.study import stored_results
from rgvf.studies.trials import Trial, TrialsConfig
from rgvf.tasks import RandomQuestions

EIGHT = ATARI_GAMES[:8]
STOPPED = "rgvf-stop-gradient"
RIVALS = ("mhvp", "pixel-control", "curl")
LIKE_THE_PAPER = {
    "a2c": 1.0,
    STOPPED: 1.2,
    "rgvf": 1.4,
    **dict.fromkeys(RIVALS, 0.8),
    **{f"{rival}-stop-gradient": 0.5 for rival in RIVALS},
}
"""Human-normalised scores."""


def score(game, level):
    """The return whose human-normalised score is `level`."""
    random, human, _ = ATARI_SCORES[game]
    return random + level * (human - random)


def record_of(reference):
    assert reference.record is not None
    return reference.record


def flat(value, seed=0):
    """A curve that ends at a value, after a beginning that does not count."""
    return Curves([100 * n for n in range(1, 11)], np.array([[0.0] * 9 + [value]]), seed)


def trials(levels, games=EIGHT, seeds=3, spread=0.05):
    """Trials by name: each seed is off its agent's level by a little, another little in every game."""
    rng = np.random.default_rng(0)
    return {
        f"{game}.{agent}.{seed}": flat(score(game, level + spread * rng.normal()), seed)
        for game in games
        for agent, level in levels.items()
        for seed in range(seeds)
    }


def conclude(study, curves, tmp_path, config=None):
    config = config or study.config_type()
    return study.conclude(config, curves, StudyFolder(tmp_path / "study", study.name, config.identity()))


def scores_of(levels, **options):
    return Scores(ALL.by_agent(trials(levels, **options)))


# What is trained


def test_the_full_studies_have_the_papers_numbers_of_trials():
    for study, count in ((ALL, 49 * 9 * 5), (ABLATION, 6 * 4 * 5), (ROBUSTNESS, 3 * (4 * 20 + 5))):
        assert find_study(study.name) is study
        names = study.chosen(TrialsConfig())
        assert len(set(names)) == len(names) == count
        assert list(study.variants) == list(names)
        assert all(str(Trial.parse(name)) == name for name in names)


def test_a_part_can_be_chosen():
    config = TrialsConfig(games=("pong", "Alien"), agents=("rgvf+action-values", "a2c"), seeds=1)
    expected = [f"{game}.{agent}.0" for game in ("Alien", "Pong") for agent in ("a2c", "rgvf+action-values")]
    assert ALL.chosen(config) == expected
    part = AtariRobustnessConfig(games=("Breakout",), agents=("depth-03", "a2c"), seeds=2)
    assert ROBUSTNESS.chosen(part) == ["Breakout.depth-03.3", "Breakout.a2c.0", "Breakout.a2c.1"]


@pytest.mark.parametrize("agent", [*ALL.agents, *ALL.more_agents, *ABLATION.agents])
def test_agents_are_those_of_the_preset(agent):
    run = ALL.run_config(TrialsConfig(), f"Qbert.{agent}.3")
    task = agent.removesuffix("-stop-gradient")
    assert run.agent == rgvf.preset("atari/Qbert", task, "paper", stop_gradient=agent != task).agent
    assert (run.env, run.seed, run.seeds, run.frames) == ("atari/Qbert", 3, 1, 200_000_000)
    assert (run.actors, run.steps, run.clip_rewards) == (16, 20, 1.0)
    own, critic = run.agent, run.agent.actor_critic
    assert (own.learning_rate, own.rms_decay, own.rms_epsilon, own.clip_norm) == (7e-4, 0.99, 1e-5, 0.5)
    assert (own.hidden, own.c, critic.discount, critic.entropy) == (512, (1.0,), 0.99, 0.01)
    assert own.label == agent


def test_the_fast_preset_is_one_of_ten_million_frames():
    run = ALL.run_config(TrialsConfig(preset="fast"), f"Pong.{STOPPED}.0")
    fast = rgvf.preset("atari/Pong", "rgvf", "fast", stop_gradient=True)
    assert (run.agent, run.frames, run.steps) == (fast.agent, 10_000_000, fast.steps)


def test_samples_of_hyperparameters_change_one_of_them():
    usual = {"discount": 0.95, "depth": 8, "repeat": 16, "features": 16}
    for game in ("Breakout", "BeamRider", "SpaceInvaders"):
        used = {name: [] for name in RANGES}
        for name, sample in SAMPLED.items():
            run = ROBUSTNESS.run_config(TrialsConfig(), f"{game}.{name.replace('.', '-')}.{sample.number}")
            (questions,) = run.agent.auxiliary
            expected = RandomQuestions(cap_repeat=True, **{**usual, RANGES[sample.name].field: sample.value})
            assert questions == expected
            assert run.agent.stop_gradient
            assert run.agent.learning_rate == 7e-4
            assert RANGES[sample.name].low <= sample.value <= RANGES[sample.name].high
            used[sample.name].append(run.seed)
        assert all(sorted(seeds) == list(range(20)) for seeds in used.values())
        baseline = ROBUSTNESS.run_config(TrialsConfig(), f"{game}.a2c.4")
        assert baseline.agent == rgvf.preset(f"atari/{game}", "a2c").agent
        assert baseline.seed == 4


# 49 games


def test_aggregates_are_the_papers():
    """Eight games and three seeds, calculated again in plain loops."""
    curves = trials({"a2c": 0.7, "rgvf": 1.1}, spread=0.6)
    rows = table(Scores(ALL.by_agent(curves)), ALL.agents)
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
    found = Scores(ALL.by_agent(curves))
    rows = [(*row[:3], row[3].partition(" ")[0]) for row in table(found, ALL.agents)[1:]]
    assert rows[:2] == [("a2c", "20", "3", "9.000"), ("rgvf", "8", "3", "0.800")]
    assert rows[2][0] == "in the same 8 games:"
    assert rows[3:] == [("a2c", "8", "3", "0.500"), ("rgvf", "8", "3", "0.800")]
    assert ", ".join(EIGHT) in left_out(found, ALL.agents)
    claim = outperforms(found, "", "rgvf", "a2c")
    assert claim.holds
    assert claim.figures["only"] == list(EIGHT)
    assert claim.figures["interquartile mean"]["difference"] == pytest.approx(0.3)


def test_an_agent_that_has_just_begun_does_not_take_the_games_from_the_others():
    curves = trials({"a2c": 0.5, "rgvf": 0.8, "mhvp": 0.6}) | trials({"curl": 0.3}, games=EIGHT[:1])
    found = Scores(ALL.by_agent(curves))
    assert found.compared(ALL.agents) == (["a2c", "rgvf", "mhvp"], list(EIGHT))
    assert "without curl (games: 1)" in left_out(found, ALL.agents)
    assert [row[0] for row in table(found, ALL.agents)].count("curl") == 1
    apart = Scores(ALL.by_agent(trials({"a2c": 0.5}) | trials({"rgvf": 0.8}, games=ATARI_GAMES[8:10])))
    assert apart.compared(ALL.agents) == (["a2c", "rgvf"], [])
    assert left_out(apart, ALL.agents) == "No game has all agents."
    assert outperforms(apart, "", "rgvf", "a2c").holds is None
    alone = scores_of({"rgvf": 0.5})
    assert alone.compared(ALL.agents) == (["rgvf"], list(EIGHT))
    assert left_out(alone, ALL.agents) == ""


def test_as_many_seeds_count_as_every_game_has():
    curves = trials({"a2c": 0.5}, spread=0)
    curves |= {f"Alien.a2c.{seed}": flat(score("Alien", 50.0), seed) for seed in (1, 2)}
    for seed in (1, 2):
        del curves[f"Amidar.a2c.{seed}"]
    found = Scores(ALL.by_agent(curves))
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


def test_a_claim_reports_its_evidence():
    curves = trials({"a2c": 0.7, "rgvf": 0.8}, seeds=5, spread=0.2)
    figures = outperforms(Scores(ALL.by_agent(curves)), "", "rgvf", "a2c").figures
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
    return Scores(ALL.by_agent(curves))


def test_one_seed_is_judged_by_a_sign_test_over_games():
    clear = outperforms(with_one_seed([0.1] * 9 + [-0.1]), "", "rgvf", "a2c")
    assert clear.holds
    assert clear.figures["game by game, human-normalised"]["p of the sign test"] == pytest.approx(22 / 1024)
    assert clear.figures["interquartile mean"]["95 % interval"] is None
    assert clear.figures["game by game, human-normalised"]["95 % interval (games resampled)"][1] <= 0.1 + 1e-9
    unclear = with_one_seed([0.1] * 8 + [-0.1] * 2)
    assert outperforms(unclear, "", "rgvf", "a2c").holds is False
    assert does_not_outperform(unclear, "", "rgvf", "a2c").holds
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


@pytest.mark.parametrize(
    ("study", "agents"), [(ALL, ("a2c", STOPPED)), (ABLATION, (STOPPED,)), (ROBUSTNESS, ("a2c", "discount-07"))]
)
def test_stored_results_are_found_and_concluded(study, agents, tmp_path):
    config = study.config_type(games=("Breakout",), agents=agents, seeds=2, frames=1000)
    folder = StudyFolder(tmp_path, study.name, config.identity())
    for name in study.chosen(config):
        folder.save_result(
            name, {"identity": study.identity(config, name), **flat(9.0, Trial.parse(name).seed).to_data()}
        )
    conclusion = run_study(study, config, tmp_path, parallel=0)  # nothing is left to train
    assert len(conclusion.table) == 1 + len(agents)
    assert "1,000 frames" in conclusion.caution
    assert json.loads((tmp_path / "claims.json").read_text())["study"] == study.name


@pytest.mark.parametrize("study", [ALL, ABLATION, ROBUSTNESS])
def test_no_results_at_all(study, tmp_path):
    conclusion = conclude(study, {}, tmp_path)
    assert len(conclusion.table) == 1
    assert conclusion.figures == []
    assert {claim.holds for claim in conclusion.claims} == {None}
    assert conclusion.caution


@pytest.mark.medium
@pytest.mark.slow
def test_the_full_study_of_49_games_needs_no_caution(tmp_path):
    conclusion = conclude(ALL, trials(LIKE_THE_PAPER, games=ATARI_GAMES, seeds=5), tmp_path)
    assert conclusion.caution == ""
    assert len(conclusion.figures) == 5
    assert [row[1:3] for row in conclusion.table[1:]] == [("49", "5")] * 9
    assert all(claim.holds and "only" not in claim.figures for claim in conclusion.claims)


# Ablation

KINDS = {STOPPED: 1.0, "rgvf-no-actions-stop-gradient": 0.7, "rgvf-shallow-stop-gradient": 0.3}
SUMS = "rgvf-discounted-sum-stop-gradient"


def ablation(sums, seeds=5, kinds=KINDS):
    """Trials in six games; `sums` are the levels of discounted sums in each."""
    curves = trials(kinds, games=ABLATION.games, seeds=seeds, spread=0.02)
    for game, level in zip(ABLATION.games, sums, strict=True):
        curves |= trials({SUMS: level}, games=(game,), seeds=seeds, spread=0.02)
    return curves


def test_the_ablation_like_the_papers(tmp_path):
    """Discounted sums: worse in three games, better in one."""
    conclusion = conclude(ABLATION, ablation([0.5, 0.8, 1.0, 0.8, 1.0, 1.3]), tmp_path)
    assert conclusion.caution == ""
    assert [figure.stem for figure in conclusion.figures] == ["curves"]
    assert [row[0] for row in conclusion.table[1:]] == list(ABLATION.agents)
    assert float(conclusion.table[1][-1]) == pytest.approx(1.0, abs=0.02)
    assert len(conclusion.claims) == 3 + 6 + 6 + 1
    verdicts = {claim.claim: claim.holds for claim in conclusion.claims}
    assert all(verdicts.values())
    half = conclusion.claims[-1]
    assert (half.figures["better"], half.figures["worse"]) == (3, 1)


def test_the_ablation_otherwise(tmp_path):
    claims = conclude(ABLATION, ablation([0.2, 0.8, 1.0, 0.8, 1.3, 1.3]), tmp_path).claims
    failed = {claim.claim for claim in claims if not claim.holds}
    assert "BeamRider: shallow questions perform worst." in failed
    assert claims[-1].claim in failed  # worse in two games
    equal = conclude(ABLATION, ablation([1.0] * 6, kinds=dict.fromkeys(KINDS, 1.0)), tmp_path).claims
    assert sum(claim.holds is True for claim in equal) <= 2  # by chance


def test_an_incomplete_ablation(tmp_path):
    one_seed = conclude(ABLATION, ablation([0.5] * 6, seeds=1), tmp_path, TrialsConfig(seeds=1))
    assert [claim.holds for claim in one_seed.claims] == [True] * 3 + [None] * 13  # all six games agree
    some = {name: each for name, each in ablation([0.5] * 6).items() if not name.startswith(f"Pong.{SUMS}")}
    conclusion = conclude(ABLATION, some, tmp_path)
    verdicts = {claim.claim: claim.holds for claim in conclusion.claims}
    assert verdicts["Pong: shallow questions perform worst."] is None
    assert verdicts["Pong: questions about actions outperform those without."]
    assert conclusion.claims[-1].holds is None
    assert "BeamRider, Breakout, Qbert, Seaquest, SpaceInvaders." in conclusion.caution
    assert conclusion.table[4][3] == ""


# Robustness


def sampled(slope, games=ROBUSTNESS.games, baseline=20.0):
    rng = np.random.default_rng(0)
    curves = {}
    for game in games:
        for name, sample in SAMPLED.items():
            value = 50 + slope * sample.value + 0.1 * rng.normal()
            curves[f"{game}.{name.replace('.', '-')}.{sample.number}"] = flat(value, sample.number)
        curves |= {f"{game}.a2c.{seed}": flat(baseline + seed, seed) for seed in range(5)}
    return curves


def test_hyperparameters_that_matter(tmp_path):
    conclusion = conclude(ROBUSTNESS, sampled(3.0), tmp_path)
    assert conclusion.caution == ""
    assert [figure.name for figure in conclusion.figures] == [f"scatter-{game}.png" for game in ROBUSTNESS.games]
    assert [claim.holds for claim in conclusion.claims] == [True] * 9
    assert conclusion.claims[0].claim.startswith("Breakout: ")
    assert conclusion.claims[1].figures["slope"] == pytest.approx(3.0, abs=0.05)
    assert conclusion.claims[2].figures["A2C"] == 22.0
    assert len(conclusion.table) == 1 + 3 * 5
    kept = json.loads((tmp_path / "study/curves.json").read_text())
    assert kept["samples"]["depth-07"] == SAMPLED["depth.07"].value


def test_hyperparameters_that_do_not_help(tmp_path):
    claims = conclude(ROBUSTNESS, sampled(-3.0, baseline=60.0), tmp_path).claims
    assert [claim.holds for claim in claims] == [False] * 9


def test_incomplete_samples_are_not_judged(tmp_path):
    whole = sampled(3.0, games=("BeamRider",))
    some = {"Breakout.depth-03.3": flat(5.0, 3), "SpaceInvaders.a2c.0": flat(7.0)}
    conclusion = conclude(ROBUSTNESS, whole | some, tmp_path)
    assert [claim.holds for claim in conclusion.claims] == [None] * 3 + [True] * 3 + [None] * 3
    assert [figure.stem for figure in conclusion.figures] == ["scatter-Breakout", "scatter-BeamRider"]
    expected = "Breakout 1 samples and 0 trials of A2C, BeamRider 80 samples and 5 trials of A2C"
    assert expected in conclusion.caution
    without = {name: each for name, each in whole.items() if ".a2c." not in name}
    assert [claim.holds for claim in conclude(ROBUSTNESS, without, tmp_path).claims[3:6]] == [True, True, None]


def test_what_one_seed_cannot_tell_is_null_in_json():
    (claim,) = [each for each in check(with_one_seed([0.1] * 9)) if each.holds is not None]
    data = json.loads(json.dumps(claim.to_data(), allow_nan=False))
    assert data["figures"]["probability of improvement"] == {"value": 1.0, "95 % interval": None}


def test_trials_in_which_no_game_has_ended_are_left_out_and_named(tmp_path):
    """A return of 0 would be a good score in Pong."""
    curves = trials({"a2c": 0.5}, games=("Breakout", "Pong"), seeds=2)
    curves["Pong.a2c.1"] = flat(np.nan, 1)
    found = conclude(ALL, curves, tmp_path)
    assert "no game ended in the last tenth of training: Pong.a2c.1." in found.caution
    assert found.table[1][:3] == ("a2c", "2", "1–2")
    del curves["Pong.a2c.0"]
    assert conclude(ALL, curves, tmp_path / "other").table[1][:3] == ("a2c", "1", "2")


def test_results_of_all_seeds_and_agents_count_whatever_was_chosen_last(tmp_path):
    folder = StudyFolder(tmp_path / "study", ALL.name, TrialsConfig().identity())
    names = [f"{game}.{agent}.{seed}" for game in ("Alien", "Pong") for agent in ("a2c", "curl") for seed in range(12)]
    names += [f"Alien.rgvf+action-values.{seed}" for seed in range(2)]
    for name in reversed(names):
        seed = int(name.rpartition(".")[2])
        result = Curves([200_000_000], np.ones((1, 1)), seed).to_data()
        folder.save_result(name, {"identity": ALL.identity(TrialsConfig(), name), **result})
    (folder.path / "results" / "Alien.nobody.0.json").write_text("{}")
    (folder.path / "results" / "other.json").write_text("{}")
    chosen = TrialsConfig(games=("Pong",), agents=("a2c",), seeds=1)
    found = list(stored_results(ALL, chosen, folder))
    in_order = [*names[:12], *names[12:24], *names[48:], *names[24:48]]
    assert found == in_order
