"""The robustness study, the search for learning rates, and the study of balances."""

import json
import math

import equinox as eqx
import jax
import numpy as np
import pytest

import rgvf
from rgvf.agents import make_networks
from rgvf.environments import find_spec
from rgvf.loops.padding import common_sizes, pad_agent
from rgvf.settings import to_data
from rgvf.studies import find_study, run_study
from rgvf.studies.curves import Curves
from rgvf.studies.folder import StudyFolder
from rgvf.studies.hyperparameters import RANGES, check, samples
from rgvf.studies.hyperparameters import SAMPLED as VARIANTS
from rgvf.studies.minatar import AGENTS, TUNED
from rgvf.studies.minatar_balance import STUDY as BALANCE
from rgvf.studies.minatar_balance import BalanceConfig
from rgvf.studies.minatar_balance import check as check_balance
from rgvf.studies.minatar_robustness import STUDY, RobustnessConfig
from rgvf.studies.minatar_tuning import STUDY as TUNING
from rgvf.studies.minatar_tuning import VARIANTS as TRIED
from rgvf.studies.minatar_tuning import TuningConfig, best, tried
from tests.helpers import learner_of


class Listener:
    """A listener that ignores every report."""

    def found(self, variants): ...

    def begin(self, batch): ...

    def progress(self, fraction): ...

    def warn(self, message): ...

    def finish(self, batch, seconds): ...


def test_twenty_samples_of_each_hyperparameter():
    assert find_study("minatar-robustness") is STUDY
    assert len(STUDY.variants) == 4 * 20 + 1
    configs = {variant: STUDY.run_config(RobustnessConfig(), variant) for variant in STUDY.variants}
    for variant, (name, _, value) in VARIANTS.items():
        config = configs[variant]
        assert (config.frames, config.seeds) == (5_000_000, 3)
        assert config.agent.stop_gradient
        assert RANGES[name].low <= value <= RANGES[name].high
        defaults = {"discount": 0.95, "depth": 8, "repeat": 16, "features": 16}
        (questions,) = config.agent.auxiliary
        assert questions.name == "rgvf"
        assert {field: getattr(questions, field) for field in defaults} == {**defaults, name: value}
        assert config.agent.program == configs["depth.00"].agent.program
    for name in RANGES:
        seeds = [configs[variant].seed for variant, (of, _, _) in VARIANTS.items() if of == name]
        assert len(set(seeds)) == 20
        assert min(np.diff(sorted(seeds))) >= 3
    assert configs["a2c"].agent.name == "a2c"


@pytest.mark.medium
def test_all_samples_are_padded_to_networks_of_one_size():
    """Then they are one batch of a joint loop: the smallest and the largest have the same arrays."""
    spec = find_spec("minatar/Breakout")
    configs = {variant: STUDY.run_config(RobustnessConfig(hidden=8), variant) for variant in VARIANTS}
    size = {}
    for variant, config in configs.items():
        network = make_networks(config.agent, spec, config.seed)["rgvf"]
        size[variant] = network.n_predictions, network.n_features
    extremes = {choose(size, key=lambda v, i=i: size[v][i]) for choose in (min, max) for i in (0, 1)}
    learners = [learner_of(configs[variant].agent, spec, configs[variant].seed) for variant in sorted(extremes)]
    agents = [eqx.filter_eval_shape(learner.init, jax.random.key(0)) for learner in learners]
    largest = max(n for n, _ in size.values()), max(n for _, n in size.values())
    sizes = common_sizes(agents)
    assert sizes == {"rgvf": largest}
    padded = [eqx.filter_eval_shape(pad_agent, agent, sizes) for agent in agents]
    shapes = {tuple(leaf.shape for leaf in jax.tree.leaves(agent)) for agent in padded}
    assert len(shapes) == 1
    assert padded[0].task_states["rgvf"].table.condition.shape == largest[:1]


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


@pytest.mark.slow
def test_a_small_study_of_robustness(tmp_path):
    tiny = RobustnessConfig(seeds=2, frames=2_000, hidden=8, points=4, checkpoints=1)
    conclusion = run_study(STUDY, tiny, tmp_path, ("features.01", "a2c"))
    assert [row[0] for row in conclusion.table] == ["hyperparameter", "features", "a2c"]
    assert conclusion.figures[0].stat().st_size > 1000
    curves = json.loads((tmp_path / "curves.json").read_text())
    assert curves["samples"] == {"features.01": VARIANTS["features.01"][2]}
    assert curves["variants"]["features.01"]["seeds"] == [2, 3]
    assert curves["variants"]["a2c"]["seeds"] == [0, 1]
    agent = rgvf.load(tmp_path / "agents/features.01")
    assert agent.networks["rgvf"].n_features == VARIANTS["features.01"][2]  # without padding


def test_the_search_tries_as_much_for_every_agent_and_takes_the_best():
    assert {agent for agent, _ in TRIED.values()} == set(AGENTS) == set(TUNED)
    for agent, tuning in TUNED.items():
        rates = [each.learning_rate for each in tried(agent) if each.feature_scale == 8]
        assert tuning.learning_rate in rates[1:-1]  # the best is not at an edge
        assert rates[:4] == [7e-4, 2e-3, 4e-3, 8e-3]
        assert len(tried(agent)) - len(rates) == (2 if agent.startswith("rgvf") else 0)
    for variant, (agent, tuning) in TRIED.items():
        config = TUNING.run_config(TuningConfig(), variant)
        assert config.seed == 1000
        assert config.agent.learning_rate == tuning.learning_rate
        if agent.startswith("rgvf"):
            assert getattr(config.agent.auxiliary[0], "feature_scale") == tuning.feature_scale  # noqa: B009
    curves = {
        variant: Curves([1], np.full((3, 1), -abs(math.log(tuning.learning_rate / 2e-3)) - tuning.feature_scale))
        for variant, (_, tuning) in TRIED.items()
    }
    found = best(curves)
    assert found["a2c"] == (2e-3, 8.0)
    assert found["rgvf"] == (2e-3, 2.0)


@pytest.mark.medium
def test_a_stopped_study_leaves_a_checkpoint_where_it_stopped(tmp_path):
    """Not only where a checkpoint was due."""
    tiny = RobustnessConfig(seeds=1, frames=8_000, hidden=8, points=8, checkpoints=1)

    class Stop(Listener):
        def progress(self, fraction):
            if fraction > 0.3:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_study(STUDY, tiny, tmp_path, ("a2c",), Stop())
    newest = max((tmp_path / "agents/a2c/checkpoints").iterdir())
    assert 0.3 < int(newest.stem) / 8_000 < 0.7


@pytest.mark.medium
def test_what_another_process_has_finished_meanwhile_is_concluded_too(tmp_path):
    config = RobustnessConfig(seeds=1, frames=320, hidden=8, points=1, checkpoints=1)
    first_seed = STUDY.run_config(config, "depth.00").seed

    class Other(Listener):
        def begin(self, batch):
            result = {"identity": STUDY.identity(config, "depth.00")}
            result |= Curves([320], np.ones((1, 1)), first_seed).to_data()
            StudyFolder(tmp_path, STUDY.name, to_data(config)).save_result("depth.00", result)

    conclusion = run_study(STUDY, config, tmp_path, ("a2c",), Other())
    assert [row[0] for row in conclusion.table] == ["hyperparameter", "depth", "a2c"]


def balance_curves(better=1.0, other=1.0, seeds=10):
    """So many seeds of each variant: the mean is 100 less the distance from 2 : 1, and 97.1 where it is learned."""
    found = {}
    for variant in BALANCE.variants:
        game, _, name = variant.partition(".")
        if name == "learned":
            mean = 97.1 * (better if game in ("Breakout", "Freeway") else other)
        else:
            mean = 100.0 - abs(int(name.removeprefix("fixed")) - 1)
        found[variant] = Curves(
            [100, 200], np.linspace(mean - 1, mean + 1, seeds)[:, None] + np.zeros((seeds, 2)), 4000
        )
    return found


def test_a_learned_balance_is_compared_with_the_best_fixed_one_and_elsewhere_with_equal_weights():
    assert len(BALANCE.variants) == 2 * 8 + 3 * 2
    here, elsewhere = check_balance(balance_curves())
    assert here.holds
    assert elsewhere.holds
    assert here.figures["Breakout"]["fixed"] == "fixed+1"
    assert here.figures["Breakout"]["learned / fixed"] == pytest.approx(0.971)
    assert elsewhere.figures["Asterix"]["learned / fixed"] == pytest.approx(97.1 / 99)
    low, high = here.figures["Freeway"]["95 % interval"]
    assert 0.96 < low < 0.971 < high < 0.98
    assert not check_balance(balance_curves(better=0.97))[0].holds
    assert check_balance(balance_curves(better=0.97))[1].holds
    assert not check_balance(balance_curves(other=0.96))[1].holds
    incomplete = {variant: each for variant, each in balance_curves().items() if variant != "Freeway.fixed-3"}
    assert check_balance(incomplete)[0].holds is None


def test_few_seeds_decide_no_claim_about_balances():
    for seeds, decided in ((2, False), (3, False), (4, True)):
        claims = check_balance(balance_curves(seeds=seeds))
        assert [claim.holds for claim in claims] == [True if decided else None] * 2
        assert all("means decide, not the intervals, with at least 4 seeds" in claim.check for claim in claims)


def test_balances_are_shown_as_ratios(tmp_path):
    folder = StudyFolder(tmp_path, BALANCE.name, {})
    conclusion = BALANCE.judge(BalanceConfig(), balance_curves(), folder)
    ratios = ["8 : 1", "4 : 1", "2 : 1", "1 : 1", "1 : 2", "1 : 4", "1 : 8"]
    assert [row[0] for row in conclusion.table] == ["random : reward", *(f"fixed {each}" for each in ratios), "learned"]
    assert conclusion.table[4][1:] == ("99.0 ± 0.2",) * 5
    assert conclusion.table[3][1:] == ("", "98.0 ± 0.2", "98.0 ± 0.2", "", "")
    assert [path.name for path in conclusion.figures] == ["curves.png"]
