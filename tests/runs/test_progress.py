"""What people see of a run."""

import io
import json
import re

import jax.numpy as jnp
import numpy as np
import pytest
from rich.console import Console

from rgvf.loops import Progress
from rgvf.runs import RunProgress
from rgvf.runs.metrics import RunningMetrics

LINES = [{"return": 1.5, "a2c/entropy": 0.5}]


def test_the_last_line_is_printed_where_the_output_is_a_file():
    output = io.StringIO()
    with RunProgress(Console(file=output), every=1e9) as progress:
        progress.progress(2000, 3000, 100.0, LINES)
        progress.progress(3400, 3000, 100.0, LINES)
    lines = output.getvalue().splitlines()
    assert [line.split(" ")[0] for line in lines] == ["3k/3k"]
    assert "0:00 left" in lines[-1]  # frames are rounded up, and time is never negative


def test_a_reader_that_has_gone_does_not_end_a_run():
    class Gone(io.StringIO):
        def write(self, text):
            raise BrokenPipeError

    with RunProgress(Console(file=Gone()), every=0.0) as progress:
        progress.progress(1000, 3000, 100.0, LINES)
        progress.warn("still here")
        progress.progress(2000, 3000, 100.0, LINES)


def shown(width, lines):
    output = io.StringIO()
    with RunProgress(Console(file=output, force_terminal=True, width=width)) as progress:
        progress.progress(123_456_789, 200_000_000, 12_345.0, lines)
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", output.getvalue())
    return [line.strip() for line in re.split(r"[\r\n]+", plain) if line.strip()][-2:]


def test_how_well_several_tasks_are_answered_is_seen_in_80_columns():
    names = [f"{task}/{name}" for task in ("action-values", "rgvf") for name in ("loss", "relative_error")]
    losses = dict.fromkeys([*names, "a2c/entropy", "a2c/policy_loss", "a2c/value_loss"], 1234.5678)
    below = shown(80, [{"return": 1.0} | losses])[1]
    assert "action-values relative error 1.23e+03  rgvf relative error 1.23e+03" in below


@pytest.mark.parametrize("width", [80, 60, 40])
def test_the_least_important_goes_first_where_a_terminal_is_narrow(width):
    losses = ("a2c/entropy", "a2c/policy_loss", "a2c/value_loss", "rgvf/loss", "rgvf/relative_error")
    lines = [{"return": 1234.5} | dict.fromkeys(losses, 0.12345)]
    assert "policy loss" in shown(160, lines)[1]
    assert "frames/s" in shown(160, lines)[0]
    status, below = shown(width, lines)
    assert max(len(status), len(below)) <= width
    assert "…" not in status + below
    assert "frames" in status
    assert "rgvf relative error 0.123" in below
    assert ("return 1234.5" in status, "policy loss" in below) == (width >= 80, False)


def test_agents_with_other_losses_are_shown_together():
    lines = [{"return": 1.0, "a2c/entropy": 0.5}, {"return": 3.0, "a2c/entropy": 0.7, "rgvf/relative_error": None}]
    status, below = shown(120, lines)
    assert "return 2.0" in status
    assert below == "entropy 0.6"


def updates(**metrics):
    values = {name: jnp.array([each], jnp.float32) for name, each in metrics.items()}
    return Progress(len(next(iter(metrics.values()))), values, [[]], [0])


def test_what_has_no_value_is_not_a_number_in_the_log():
    metrics = RunningMetrics([0])
    metrics.add(updates(loss=[1.0, 3.0], relative_error=[np.nan, 0.5], other_relative_error=[np.nan, np.nan]))
    restored = RunningMetrics([0])
    restored.restore(json.loads(json.dumps(metrics.to_json(), allow_nan=False)))
    for each in (metrics, restored):
        (line,) = each.report()
        assert (line["loss"], line["relative_error"], line["other_relative_error"]) == (2.0, 0.5, None)
        assert each.first_bad is None
    metrics.add(updates(loss=[1.0], relative_error=[1.5], other_relative_error=[2.5]))
    assert metrics.report()[0]["other_relative_error"] == 2.5


@pytest.mark.parametrize(
    "bad", [{"loss": np.nan}, {"loss": np.inf}, {"relative_error": np.inf}, {"gradient_norm": np.nan}]
)
def test_only_relative_errors_may_lack_a_value_and_nothing_may_be_infinite(bad):
    metrics = RunningMetrics([0])
    metrics.add(updates(**{name: [value] for name, value in ({"loss": 1.0, "relative_error": 1.0} | bad).items()}))
    metrics.report()
    assert metrics.first_bad is not None
    assert metrics.first_bad[0] in bad
