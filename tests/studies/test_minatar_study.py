import json

import numpy as np
import pytest

from rgvf.agents import TASKS
from rgvf.studies import find_study, run_study
from rgvf.studies.minatar import AGENTS, MinAtarConfig, aggregate, check, final_returns
from rgvf.studies.runs import Curves
from rgvf.training.run import train

TINY = MinAtarConfig(seeds=2, frames=4_000, hidden=8, points=5, checkpoints=2)
TWO = ("Breakout.a2c", "Breakout.rgvf-stop-gradient")


def test_what_is_run():
    study = find_study("minatar")
    assert len(study.variants) == 5 * 12
    runs = MinAtarConfig().runs(study.variants)
    for run in runs.values():
        assert (run.frames, run.seeds, run.clip_rewards) == (5_000_000, 10, 0.0)
        assert run.agent.name == "a2c" or run.agent.name in TASKS
    assert runs["Asterix.curl-stop-gradient"].agent.stop_gradient
    assert not runs["Asterix.curl"].agent.stop_gradient


def test_an_interrupted_variant_goes_on_from_its_checkpoint(tmp_path):
    study = find_study("minatar")
    whole = run_study(study, TINY, tmp_path / "whole", ("Breakout.a2c", "Break*.rgvf-stop*"))
    run = TINY.runs(TWO)[TWO[1]]
    stops = iter([False, False, True])
    assert not train(run, tmp_path / "cut" / "agents" / TWO[1], _Quiet(), lambda: next(stops))
    (tmp_path / "cut" / "results").mkdir()
    (tmp_path / "cut" / "config.json").write_text((tmp_path / "whole" / "config.json").read_text())
    run_study(study, TINY, tmp_path / "cut", TWO)
    for variant in TWO:
        results = [json.loads((tmp_path / name / f"results/{variant}.json").read_text()) for name in ("whole", "cut")]
        assert results[0] == results[1]
        assert np.shape(results[0]["returns"]) == (2, len(results[0]["frames"]))
        assert results[0]["frames"][-1] >= TINY.frames
    assert whole.table[0] == ("agent", "Breakout", "interquartile mean / a2c")
    assert [row[0] for row in whole.table[1:]] == ["a2c", "rgvf-stop-gradient"]
    assert (tmp_path / "whole" / "curves.png").stat().st_size > 1000
    assert "instead of 5,000,000" in whole.caution
    told = json.loads((tmp_path / "whole" / "claims.json").read_text())["claims"]
    assert len(told) == 9
    assert told[0]["holds"] is not None
    assert told[1]["holds"] is None


class _Quiet:
    def warn(self, message):
        raise AssertionError(message)

    def progress(self, frames, total, speed, lines):
        pass


def test_claims_follow_the_data():
    """Made-up returns: rgvf is twice as good as A2C in every game, its ablations as good as A2C."""
    rng = np.random.default_rng(0)
    level = dict.fromkeys(AGENTS, 1.0) | {"rgvf-stop-gradient": 2.0, "rgvf": 0.5}
    curves = {
        f"{game}.{agent}": Curves([1, 2], scale * value * rng.normal(1, 0.05, size=(10, 2)))
        for game, scale in (("Breakout", 10.0), ("Freeway", 50.0))
        for agent, value in level.items()
    }
    scores = final_returns(curves)
    assert scores["a2c"].shape == (2, 10)
    found = aggregate(scores)
    assert found["a2c"].mean == pytest.approx(1, rel=0.02)
    assert found["rgvf-stop-gradient"].mean == pytest.approx(2, rel=0.05)
    held = [claim.holds for claim in check(found)]
    assert held == [True] * 7 + [False] * 2


def test_wrong_settings_are_refused():
    with pytest.raises(ValueError, match="seeds must be at least 1"):
        MinAtarConfig(seeds=0)
