"""The paper's three Atari studies: what they train; what all conclude; the ablation and the robustness study."""

import json

import numpy as np
import pytest

import rgvf
from rgvf.messages import SILENT
from rgvf.studies import find_study, run_study
from rgvf.studies.atari_49 import STUDY as ALL
from rgvf.studies.atari_ablation import STUDY as ABLATION
from rgvf.studies.atari_robustness import STUDY as ROBUSTNESS
from rgvf.studies.atari_robustness import AtariRobustnessConfig
from rgvf.studies.curves import Curves
from rgvf.studies.folder import StudyFolder
from rgvf.studies.hyperparameters import RANGES, SAMPLED
from rgvf.studies.plan import make_plan
from rgvf.studies.pool import batches_to_run
from rgvf.studies.study import stored_results
from rgvf.studies.trials import Trial, TrialsConfig
from rgvf.tasks import RandomQuestions
from tests.studies.atari_curves import STOPPED, conclude, flat, trials


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
            expected = RandomQuestions(cap_repeat=True, **{**usual, sample.name: sample.value})
            assert questions == expected
            assert run.agent.stop_gradient
            assert run.agent.learning_rate == 7e-4
            assert RANGES[sample.name].low <= sample.value <= RANGES[sample.name].high
            used[sample.name].append(run.seed)
        assert all(sorted(seeds) == list(range(20)) for seeds in used.values())
        baseline = ROBUSTNESS.run_config(TrialsConfig(), f"{game}.a2c.4")
        assert baseline.agent == rgvf.preset(f"atari/{game}", "a2c").agent
        assert baseline.seed == 4


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


def test_trials_in_which_no_game_has_ended_are_left_out_and_named(tmp_path):
    """A return of 0 would be a good score in Pong."""
    curves = trials({"a2c": 0.5}, games=("Breakout", "Pong"), seeds=2)
    curves["Pong.a2c.1"] = flat(np.nan, 1)
    found = conclude(ALL, curves, tmp_path)
    assert "no game had ended by the last tenth of training: Pong.a2c.1." in found.caution
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


@pytest.mark.parametrize(
    ("study", "what", "trials"),
    [
        (ALL, "49 games × 9 agents × 5 seeds = 2,205 trials × 200,000,000 frames", 2205),
        (ABLATION, "6 games × 4 agents × 5 seeds = 120 trials × 200,000,000 frames", 120),
        (ROBUSTNESS, "255 trials × 200,000,000 frames", 255),
    ],
)
def test_the_plan_of_a_full_study(study, what, trials, tmp_path):
    assert study.what(study.full) == what
    plan = make_plan(study, study.full, tmp_path / "new", seconds=0)
    assert (plan.agents, plan.frames, plan.done) == (trials, trials * 200_000_000, 0)


def test_on_a_gpu_seeds_that_follow_each_other_are_one_batch(monkeypatch):
    chosen = [f"Pong.a2c.{seed}" for seed in (0, 1, 3)] + ["Pong.rgvf.4", "Qbert.rgvf.5"]
    assert dict(ALL.batches(chosen)) == {variant: [variant] for variant in chosen}
    monkeypatch.setattr("rgvf.studies.runs.stacking_is_faster", lambda: True)
    together = {"Pong.a2c.0-1": chosen[:2], "Pong.a2c.3": chosen[2:3], "Pong.rgvf.4": chosen[3:4]}
    assert dict(ALL.batches(chosen)) == {**together, "Qbert.rgvf.5": chosen[4:]}


def test_trials_that_failed_together_are_retried_together_from_their_checkpoint(monkeypatch):
    monkeypatch.setattr("rgvf.studies.runs.stacking_is_faster", lambda: True)
    trials = [f"Pong.a2c.{seed}" for seed in range(3)]
    new = [("Qbert.a2c.0", ["Qbert.a2c.0"])]
    assert batches_to_run(ALL, [*trials, "Qbert.a2c.0"], [trials], False) == new
    assert batches_to_run(ALL, [*trials, "Qbert.a2c.0"], [trials], True) == [*new, ("Pong.a2c.0-2", trials)]
    parts = [("Pong.a2c.0-1", trials[:2]), ("Pong.a2c.2", trials[2:])]  # these failed one after the other
    assert batches_to_run(ALL, [*trials, "Qbert.a2c.0"], [trials[:2], trials[2:]], True) == [*new, *parts]


def test_as_many_batches_run_at_once_as_keep_the_cores_busy(monkeypatch):
    monkeypatch.setattr("rgvf.studies.trials.available_cores", lambda: list(range(16)))
    assert ALL.default_parallel(ALL.full) == 4
    monkeypatch.setattr("rgvf.studies.runs.stacking_is_faster", lambda: True)
    assert ALL.default_parallel(ALL.full) == 1  # five agents with sixteen emulators each
    assert ROBUSTNESS.default_parallel(ROBUSTNESS.full) == 4  # most of its trials are alone


@pytest.mark.slow
def test_trials_that_share_a_learner_give_what_each_gives_alone(tmp_path):
    config = TrialsConfig(games=("Breakout",), agents=("a2c",), seeds=2, preset="fast", frames=1280, points=2)
    variants = list(ALL.chosen(config))
    folders = [StudyFolder(tmp_path / name, ALL.name, config.identity()) for name in ("together", "alone")]
    together = ALL.run(config, variants, SILENT, folders[0])
    for variant in variants:
        (alone,) = ALL.run(config, [variant], SILENT, folders[1]).values()
        assert together[variant].to_data() == alone.to_data()
    losses = []
    for folder in folders:
        text = "".join(path.read_text() for path in folder.path.glob("agents/*/metrics.jsonl"))
        lines = map(json.loads, text.splitlines())
        losses.append(sorted((line["seed"], line["frames"], line["a2c/value_loss"]) for line in lines))
    assert losses[0] == losses[1]
