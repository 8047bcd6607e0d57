"""A small real study of Atari: killed, continued, with a trial that fails, and merged from two folders."""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

GAMES, AGENTS, SEEDS, FRAMES = ("Breakout", "Pong"), ("a2c", "rgvf-stop-gradient"), 2, 40_000
PATIENCE = 900


def command(out, *games, retry=False):
    words = ["study", "atari-49", "--out", str(out), "--games", *games, "--agents", *AGENTS, "--seeds", str(SEEDS)]
    words += ["--frames", str(FRAMES), "--preset", "fast", "--parallel", "2", *["--retry-failed"] * retry]
    return [sys.executable, "-m", "rgvf", *words]


def start(out, *games, retry=False):
    environment = os.environ | {"JAX_PLATFORMS": "cpu"}
    return subprocess.Popen(
        command(out, *games, retry=retry), env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def results(out):
    """The curves of all finished trials, as they are stored."""
    return {path.stem: json.loads(path.read_text()) for path in sorted((Path(out) / "results").glob("*.json"))}


def workers_of(out):
    """Numbers of the processes that train in a folder: they have it open."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if b"rgvf.studies.worker" in (path / "cmdline").read_bytes():
                opened = [str(each.readlink()) for each in (path / "fd").iterdir()]
                found += [int(path.name)] if any(str(out) in each for each in opened) else []
        except OSError:
            continue
    return found


def kill(study, out, *, everything):
    """Kill a study without warning, alone or with the processes that it has started."""
    victims = [study.pid, *(workers_of(out) if everything else [])]
    for number in victims:
        with contextlib.suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)
    study.communicate()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    out = tmp_path_factory.mktemp("undisturbed") / "study"
    study = start(out, *GAMES)
    said, _ = study.communicate(timeout=PATIENCE)
    assert study.returncode == 0, said
    assert len(results(out)) == len(GAMES) * len(AGENTS) * SEEDS
    return out


def test_killed_continued_failed_and_merged_it_is_the_same_study(undisturbed, tmp_path):
    rng = random.Random(0)
    finished_at = {}
    for game in GAMES:
        out = tmp_path / game
        failing = f"{game}.a2c.1"
        kills = 0
        for attempt in range(12):
            study = start(out, game)
            if attempt == 0:  # a file where the folder of a run should be
                while not (out / "config.json").exists():
                    time.sleep(0.01)
                (out / "agents").mkdir(exist_ok=True)
                (out / "agents" / failing).write_text("in the way")
            try:
                if attempt == 1:  # not before something is finished
                    until = time.monotonic() + PATIENCE
                    while not results(out) and study.poll() is None and time.monotonic() < until:
                        time.sleep(0.05)
                said, _ = study.communicate(timeout=rng.uniform(*{0: (5, 15), 1: (0, 1)}.get(attempt, (5, 45))))
            except subprocess.TimeoutExpired:
                kill(study, out, everything=attempt % 2 == 0)
                kills += 1
                for path in (out / "results").glob("*.json"):
                    finished_at.setdefault(path, path.stat().st_mtime_ns)
                continue
            assert study.returncode == 1, said  # one has failed
            break
        else:
            pytest.fail("it never ended")
        assert kills >= 2
        assert any(path.is_relative_to(out) for path in finished_at)
        assert results(out).keys() == {f"{game}.{a}.{s}" for a in AGENTS for s in range(SEEDS)} - {failing}
        failure = json.loads((out / "failed" / f"{failing}.json").read_text())
        assert failing in failure["error"]
        assert (out / failure["log"]).read_text().strip()
        (out / "agents" / failing).unlink()
        study = start(out, game)
        said, _ = study.communicate(timeout=PATIENCE)
        assert f"will not run again without --retry-failed: {failing}" in " ".join(said.split())
        study = start(out, game, retry=True)
        said, _ = study.communicate(timeout=PATIENCE)
        assert study.returncode == 0, said
        assert not list((out / "failed").iterdir())
        for path in (out / "results").glob("*.json"):
            assert path.stat().st_mtime_ns == finished_at.get(path, path.stat().st_mtime_ns)  # not run twice
        for path in out.glob("agents/*/metrics.jsonl"):
            frames = [json.loads(line)["frames"] for line in path.read_text().splitlines()]
            assert frames == sorted(set(frames))
            assert frames[-1] >= FRAMES
    words = ["study", "merge", str(tmp_path / "all"), *(str(tmp_path / game) for game in GAMES)]
    merged = subprocess.run([sys.executable, "-m", "rgvf", *words], capture_output=True, text=True, check=True)
    assert "8 results copied" in merged.stdout
    assert results(tmp_path / "all") == results(undisturbed)
    assert json.loads((tmp_path / "all" / "claims.json").read_text())["study"] == "atari-49"
