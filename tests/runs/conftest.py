import pytest

from rgvf.runs import train
from tests.runs.small_runs import BREAKOUT, CARTPOLE


def whole_run(config, tmp_path_factory):
    path = tmp_path_factory.mktemp("runs") / "whole"
    assert train(config, path, progress=False).frames == config.frames
    return path


@pytest.fixture(scope="session")
def cartpole(tmp_path_factory):
    """The folder of a run that was never interrupted."""
    return whole_run(CARTPOLE, tmp_path_factory)


@pytest.fixture(scope="session")
def breakout(tmp_path_factory):
    """The same in an Atari game."""
    return whole_run(BREAKOUT, tmp_path_factory)
