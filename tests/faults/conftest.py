import shutil

import pytest

from rgvf.runs.train import train
from tests.helpers import stop_after
from tests.runs.small_runs import CARTPOLE


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    """A run that was stopped on its way, and the same run at its end."""
    folder = tmp_path_factory.mktemp("faults")
    train(CARTPOLE, folder / "whole", progress=False)
    train(CARTPOLE, folder / "stopped", progress=False, should_stop=stop_after(20))
    shutil.rmtree(folder / "stopped/tensorboard")
    return folder / "stopped", folder / "whole"
