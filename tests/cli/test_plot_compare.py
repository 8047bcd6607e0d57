"""`rgvf plot` and `rgvf compare`."""

import subprocess
import sys

import pytest

from tests.analysis.made_runs import evaluate_run, make_run
from tests.cli.command import run, words

pytestmark = pytest.mark.medium


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """Two agents with two seeds each, in the folder `runs` of the current one."""
    monkeypatch.chdir(tmp_path)
    make_run(tmp_path / "runs/a", [[1.0, 2.0, 3.0], [2.0, 3.0, 4.0]], "a2c")
    make_run(tmp_path / "runs/b", [[1.0, 5.0, 9.0]], seed=0)
    make_run(tmp_path / "runs/c", [[2.0, 6.0, 11.0]], seed=1)
    return tmp_path


def test_plot_writes_a_png_and_an_svg(capsys, runs):
    status, printed = run(capsys, "plot", "runs/a", "runs/b", "runs/c")
    assert (status, printed.out) == (0, "curves.png\ncurves.svg\n")
    assert (runs / "curves.png").read_bytes()[:4] == b"\x89PNG"
    drawing = (runs / "curves.svg").read_text()
    for word in ("gym/CartPole-v1", ">a2c<", ">rgvf<", "line: mean of 2 seeds", "band: ± standard error", ">return<"):
        assert word in drawing
    status, printed = run(
        capsys, "plot", "runs", "--metric", "rgvf/loss", "--band", "range", "--out", "figures/loss.svg"
    )
    assert (status, printed.out) == (0, "figures/loss.svg\nWithout rgvf/loss, so left out: a2c.\n")
    drawing = (runs / "figures/loss.svg").read_text()
    assert ">a2c<" not in drawing  # it has no such loss
    assert "band: range" in drawing
    assert run(capsys, "plot", "runs")[1].out == "curves.png (replaced)\ncurves.svg (replaced)\n"
    status, printed = run(capsys, "compare", "runs", "--metric", "rgvf/loss")
    assert printed.out.endswith("Without rgvf/loss, so left out: a2c.\n")


def test_plot_writes_a_pdf_of_the_same_bytes_and_no_other_kind_of_file(capsys, runs, monkeypatch):
    for day, name in enumerate(("a.pdf", "b.PDF")):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", str(86_400 * day))  # Matplotlib's clock
        status, printed = run(capsys, "plot", "runs", "--out", name)
        assert (status, printed.out) == (0, f"{name}\n")
    assert (runs / "a.pdf").read_bytes()[:4] == b"%PDF"
    assert (runs / "a.pdf").read_bytes() == (runs / "b.PDF").read_bytes()
    for suffix in (".jpg", ".txt", ".AVI"):
        status, printed = run(capsys, "plot", "runs", "--out", f"new/a{suffix}")
        assert (status, printed.out) == (2, "")
        assert f"a figure is a .png, an .svg or a .pdf file, not {suffix}" in words(printed.err)
        assert not (runs / "new").exists()
    for name in ("curves-0.5", "minatar.Breakout"):
        assert run(capsys, "plot", "runs", "--out", name)[1].out == f"{name}.png\n{name}.svg\n"


def test_compare_prints_a_table(capsys, runs):
    status, printed = run(capsys, "compare", "runs")
    assert status == 0
    lines = [words(line) for line in printed.out.splitlines()]
    assert lines[1] == "a2c 2 300 3.5 ± 0.5 3.0 to 4.0"
    assert lines[2] == "rgvf 2 300 10.0 ± 1.0 9.0 to 11.0 +6.5 5.0 to 8.0"
    assert "gym/CartPole-v1: return over the last tenth of training" in printed.out
    assert run(capsys, "compare", "runs", "--metric", "length")[0] == 0
    evaluate_run(runs / "runs/b", [(0, 0.0, True, 300, [50.0, 70.0])])
    status, printed = run(capsys, "compare", "runs", "--evaluation")
    assert status == 0
    assert words(printed.out.splitlines()[1]) == "rgvf greedy 1 300 60.0 ± – –"


@pytest.mark.parametrize("command", ["plot", "compare"])
@pytest.mark.parametrize(
    ("arguments", "status", "sentence"),
    [
        ([], 2, "which runs?"),
        (["nope"], 1, "there is no folder nope"),
        (["empty"], 1, "empty has no metrics yet"),
        (["runs", "--metric", "retrun"], 2, "there is no metric 'retrun'; did you mean return?"),
        (["runs", "--metrc", "length"], 2, "did you mean --metric?"),
    ],
)
def test_wrong_input_ends_in_a_sentence(capsys, runs, command, arguments, status, sentence):
    (make_run(runs / "empty", [[1.0]]) / "metrics.jsonl").unlink()
    found, printed = run(capsys, command, *arguments)
    assert (found, printed.out) == (status, "")
    assert sentence in words(printed.err)
    assert len(printed.err.splitlines()) == 1


def test_runs_of_several_environments_have_a_panel_each_but_are_not_compared(capsys, runs):
    make_run(runs / "runs/d", [[1.0]], env="minatar/Breakout")
    assert run(capsys, "plot", "runs")[0] == 0
    assert "minatar/Breakout" in (runs / "curves.svg").read_text()
    status, printed = run(capsys, "compare", "runs")
    assert status == 2
    assert "different environments (gym/CartPole-v1, minatar/Breakout)" in words(printed.err)


def test_two_runs_of_one_seed_are_drawn_and_compared_but_not_as_two_samples(capsys, runs):
    make_run(runs / "runs/int", [[2.0, 6.0]])
    status, printed = run(capsys, "plot", "runs", "runs/int")
    note = "runs/int has the same agent and seed 0 as runs/b, and stands apart: "
    note += "two runs of one seed are not two samples."
    assert (status, printed.out) == (0, f"{note}\ncurves.png\ncurves.svg\n")
    drawing = (runs / "curves.svg").read_text()
    assert ">rgvf (runs/int) (1)<" in drawing
    assert ">rgvf (runs/b, runs/c) (2)<" in drawing
    status, printed = run(capsys, "compare", "runs")
    assert status == 0
    rows = [words(line) for line in printed.out.splitlines()]
    assert rows[0] == note
    assert any(row.startswith("rgvf (runs/b, runs/c) 2 300 10.0 ± 1.0") for row in rows)
    assert any(row.startswith("rgvf (runs/int) 1 200 6.0 ± – –") for row in rows)


def test_plotting_needs_no_jax(runs):
    """So it starts fast, and runs of tasks and environments of other programs can be drawn."""
    code = "import sys; from rgvf.cli import main; sys.exit(main(['plot', 'runs']) or 'jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=runs, check=False).returncode == 0
