"""The MinAtar study: what it runs, resuming, and its claims."""

import json
import shutil

import numpy as np
import pytest

from rgvf.cli import main
from rgvf.runs import train
from rgvf.settings import to_data
from rgvf.studies import find_study, run_study, runs
from rgvf.studies.curves import Curves
from rgvf.studies.folder import StudyFolder
from rgvf.studies.minatar import AGENTS, STUDY, MinAtarConfig, check
from rgvf.studies.relative_scores import RelativeScores
from rgvf.tasks import TASKS

TINY = MinAtarConfig(seeds=2, frames=4_000, hidden=8, points=5, checkpoints=2)
TWO = ("Breakout.a2c", "Breakout.rgvf-stop-gradient")


def test_what_is_run():
    assert find_study("minatar") is STUDY
    assert len(STUDY.variants) == 5 * 12
    configs = {variant: STUDY.run_config(MinAtarConfig(), variant) for variant in STUDY.variants}
    for config in configs.values():
        assert (config.frames, config.seeds, config.clip_rewards) == (5_000_000, 10, 0.0)
        assert config.agent.name == "a2c" or config.agent.name in TASKS
    assert configs["Asterix.curl-stop-gradient"].agent.stop_gradient
    assert not configs["Asterix.curl"].agent.stop_gradient


@pytest.mark.slow
def test_an_interrupted_variant_is_resumed_from_its_checkpoint(tmp_path):
    whole = run_study(STUDY, TINY, tmp_path / "whole", ("Breakout.a2c", "Break*.rgvf-stop*"))
    stops = iter([False, False, True])
    cut = tmp_path / "cut" / "agents" / TWO[1]
    agent = train(STUDY.run_config(TINY, TWO[1]), cut, progress=False, should_stop=lambda: next(stops))
    assert agent.frames < TINY.frames
    (tmp_path / "cut" / "results").mkdir()
    (tmp_path / "cut" / "config.json").write_text((tmp_path / "whole" / "config.json").read_text())
    run_study(STUDY, TINY, tmp_path / "cut", TWO)
    for variant in TWO:
        results = [json.loads((tmp_path / name / f"results/{variant}.json").read_text()) for name in ("whole", "cut")]
        assert results[0] == results[1]
        assert np.shape(results[0]["values"]) == (2, len(results[0]["frames"]))
        assert results[0]["frames"][-1] >= TINY.frames
    assert whole.table[0] == ("agent", "Breakout", "interquartile mean / a2c")
    assert [row[0] for row in whole.table[1:]] == ["a2c", "rgvf-stop-gradient"]
    assert (tmp_path / "whole" / "curves.png").stat().st_size > 1000
    expected = "This ran 4,000 frames and 2 seeds, hidden = 8; the full study has 5,000,000 and 10, hidden = 128, and"
    assert expected in whole.caution
    curves = json.loads((tmp_path / "whole" / "curves.json").read_text())
    assert curves["y"] == "return"
    assert list(curves["variants"]) == list(TWO)
    claims = json.loads((tmp_path / "whole" / "claims.json").read_text())["claims"]
    assert len(claims) == 9
    assert claims[0]["holds"] is claims[1]["holds"] is None
    assert len(claims[0]["figures"]["difference, 95 % interval"]) == 2
    assert not claims[1]["figures"]


@pytest.mark.medium
def test_an_agent_that_lost_metrics_is_named_with_what_to_do(capsys, tmp_path):
    out, run = tmp_path / "study", tmp_path / "study/agents/Breakout.a2c"
    size = ["--seeds", "2", "--frames", "4000", "--hidden", "8", "--points", "5", "--checkpoints", "2"]
    command = ["study", "minatar", *size, "--variants", TWO[0], "--out", str(out)]
    assert main(command) == 0
    result, metrics = (out / "results/Breakout.a2c.json"), run / "metrics.jsonl"
    kept, good = result.read_bytes(), metrics.read_bytes()
    lines = good.splitlines(keepends=True)
    for content in (None, b"", b"".join(lines[:-2]), b"".join(lines[2:]), b"garbage\n", good.replace(b"0", b"1", 1)):
        result.unlink(missing_ok=True)
        metrics.unlink()
        if content is not None:
            metrics.write_bytes(content)
        capsys.readouterr()
        assert main(command) == 1
        error = capsys.readouterr().err.splitlines()[-1]
        assert error == f"rgvf: {metrics} has lost lines or was changed; delete {run} and run the study again"
        metrics.write_bytes(good)
    shutil.rmtree(run)
    assert main(command) == 0
    assert result.read_bytes() == kept


def scores(curves):
    return RelativeScores(curves, STUDY.comparison)


def test_claims_follow_the_data():
    """Made-up returns: rgvf is twice as good as A2C in every game, its ablations as good as A2C."""
    rng = np.random.default_rng(0)
    level = dict.fromkeys(AGENTS, 1.0) | {"rgvf-stop-gradient": 2.0, "rgvf": 0.5}
    curves = {
        f"{game}.{agent}": Curves([1, 2], scale * value * rng.normal(1, 0.05, size=(10, 2)))
        for game, scale in (("Breakout", 10.0), ("Freeway", 50.0))
        for agent, value in level.items()
    }
    found = scores(curves)
    assert (found.compared, found.n_seeds) == (["Breakout", "Freeway"], 10)
    assert found.aggregates["a2c"].value == pytest.approx(1, rel=0.02)
    assert found.aggregates["rgvf-stop-gradient"].value == pytest.approx(2, rel=0.05)
    assert [claim.holds for claim in check(found)] == [True] * 7 + [False] * 2


def made_up(seeds):
    rng = np.random.default_rng(0)
    return {
        f"{game}.{agent}": Curves([1, 2], rng.normal(10, 1, size=(seeds, 2)))
        for game in ("Breakout", "Freeway")
        for agent in AGENTS
    }


def test_one_seed_has_no_standard_error_and_no_interval(tmp_path):
    found = scores(made_up(1))
    header, *rows = found.table()
    assert header[1:3] == ("Breakout", "Freeway")
    assert all(cell.endswith(" ± –") for row in rows for cell in row[1:3])
    assert {claim.holds for claim in check(found)} == {None}
    for path in found.draw(tmp_path):
        assert path.stat().st_size > 1000


def test_ablations_have_a_figure_of_their_own(tmp_path, monkeypatch):
    drawn = {}
    monkeypatch.setattr(
        "rgvf.studies.relative_scores.learning_panels",
        lambda paths, panels, *_: drawn.update({paths[0].name: [line.label for line in panels["Freeway"]]}) or paths,
    )
    curves = made_up(3)
    figures = scores(curves).draw(tmp_path)
    assert [path.name for path in figures] == ["curves.png", "ablations.png", "aggregate.png"]
    assert drawn["curves.png"] == [agent for agent in AGENTS if "rgvf-" not in agent.removesuffix("-stop-gradient")]
    ablations = ["rgvf-no-actions", "rgvf-shallow", "rgvf-discounted-sum"]
    assert drawn["ablations.png"] == ["a2c", *(f"{task}-stop-gradient" for task in ["rgvf", *ablations])]
    only = {name: each for name, each in curves.items() if name.endswith(".rgvf-stop-gradient")}
    assert [path.name for path in scores(only).draw(tmp_path)] == ["curves.png"]


def test_a_game_in_which_a2c_never_scored_has_no_unit():
    curves = {f"{game}.{agent}": Curves([1], np.ones((2, 1))) for game in ("Breakout", "Freeway") for agent in AGENTS}
    curves["Freeway.a2c"] = Curves([1], np.zeros((2, 1)))
    assert scores(curves).compared == ["Breakout"]
    curves["Breakout.a2c"] = curves["Freeway.a2c"]
    assert scores(curves).aggregates == {}


def test_results_of_another_agent_are_not_used(tmp_path):
    """A result is used only where the agent, the environment and the first seed are those of the variant."""
    config = MinAtarConfig(seeds=2, frames=100)
    slower = MinAtarConfig(seeds=2, frames=100, learning_rate=1e-4)
    asked, others = "Breakout.a2c", {"Breakout.rgvf": config, "Breakout.curl": slower, "Freeway.a2c": config}
    folder = StudyFolder(tmp_path, STUDY.name, to_data(config))
    curves = Curves([100], np.ones((2, 1))).to_data()
    folder.save_result(asked, {"identity": STUDY.identity(config, asked), **curves})
    for variant, its in others.items():
        made_for = variant if its is slower else asked
        folder.save_result(variant, {"identity": STUDY.identity(its, made_for), **curves})
    conclusion = run_study(STUDY, config, tmp_path, [asked])
    assert [row[0] for row in conclusion.table] == ["agent", "a2c"]
    assert conclusion.table[0] == ("agent", "Breakout", "interquartile mean / a2c")


def test_on_a_gpu_all_agents_of_a_game_are_one_batch(monkeypatch):
    assert [names for _, names in STUDY.batches(STUDY.variants[:2])] == [(name,) for name in STUDY.variants[:2]]
    monkeypatch.setattr(runs, "stacking_is_faster", lambda: True)
    batches = list(STUDY.batches(STUDY.variants))
    assert [name for name, _ in batches] == ["Asterix", "Breakout", "Freeway", "Seaquest", "SpaceInvaders"]
    assert {len(names) for _, names in batches} == {12}
    assert list(STUDY.batches([])) == []


def test_wrong_settings_are_refused():
    with pytest.raises(ValueError, match="seeds must be at least 1"):
        MinAtarConfig(seeds=0)
    for wrong in (float("inf"), float("nan"), 0.0):
        with pytest.raises(ValueError, match="learning_rate must be positive"):
            MinAtarConfig(learning_rate=wrong)
