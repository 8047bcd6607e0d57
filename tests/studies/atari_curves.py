"""Made-up curves of Atari trials, with known scores."""

import numpy as np

from rgvf.analysis import ATARI_SCORES
from rgvf.environments import ATARI_GAMES
from rgvf.studies.curves import Curves
from rgvf.studies.folder import StudyFolder

EIGHT = ATARI_GAMES[:8]
STOPPED = "rgvf-stop-gradient"


def score(game, level):
    """The return whose human-normalised score is `level`."""
    random, human, _ = ATARI_SCORES[game]
    return random + level * (human - random)


def flat(value, seed=0):
    """A curve that ends at a value, after a beginning that does not count."""
    return Curves([100 * n for n in range(1, 11)], np.array([[0.0] * 9 + [value]]), seed)


def trials(levels, games=EIGHT, seeds=4, spread=0.05):
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
