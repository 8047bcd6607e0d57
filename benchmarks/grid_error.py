"""What the error of the learned values is made of, at the end of a grid study.

    .venv/bin/python benchmarks/grid_error.py tree-3 end-to-end [--seeds 5] [--value-rate-decay 0.5]

The columns are means over seeds and over the evaluations in the last tenth of training:

    MSE         mean squared error over all states
    level       the part of it that is an offset of all states alike; the rest is the shape
    averaged    MSE of the values averaged over that tenth of training
    common      MSE of the values averaged over that tenth and over seeds
    rewards     correlation of the offset with the mean reward of the last updates, weighted 1, 0.99, 0.99², …,
                over seeds and all evaluations in the last half of training

Then come the claims of both studies, checked on the errors of the averaged values.
"""

import argparse

import jax
import numpy as np

from rgvf.loops import DeviceLoop, StackedSeeds, start, uniform_policy
from rgvf.studies import Curves, grid_random, grid_touch
from rgvf.studies.grid import learned_values
from rgvf.studies.grid_agents import GridConfig, learner

VARIANTS = {**grid_random.VARIANTS, **grid_touch.VARIANTS}
WINDOW = 100
"""Of the weighted mean reward, in updates."""


def recent_rewards(config: GridConfig) -> np.ndarray:
    """The weighted mean reward before each evaluation: [seeds, points]. All variants see the same."""
    seeds = StackedSeeds(range(config.seeds))
    learners = [learner(config, VARIANTS["random"], seed) for seed in seeds.seeds]
    policy = uniform_policy(len(config.room.actions))
    loop = DeviceLoop(config.room, learners, seeds, config.actors, config.steps, policy=policy)

    def one_update(carry, _):
        state, mean = carry
        state, trajectory, _ = loop.play(state)
        mean = mean + (trajectory.reward.mean() - mean) / WINDOW
        return (state, mean), mean

    @jax.jit
    @jax.vmap
    def means(state):
        return jax.lax.scan(one_update, (state, 0.0), None, length=config.updates)[1]

    evaluated = np.unique(np.linspace(0, config.updates, config.evaluations + 1).round().astype(int))
    return np.asarray(means(start(loop)))[:, evaluated[1:] - 1]


def last_tenth(errors: np.ndarray) -> np.ndarray:
    """Of the evaluations: [seeds, points, states]."""
    return errors[:, -max(1, errors.shape[1] // 10) :]


def parts(errors: np.ndarray, rewards: np.ndarray) -> dict[str, float]:
    """The columns above, from errors [seeds, points, states]."""
    last = last_tenth(errors)
    half = errors.shape[1] // 2
    return {
        "MSE": (last**2).mean(),
        "level": (last.mean(-1) ** 2).mean(),
        "averaged": (last.mean(1) ** 2).mean(),
        "common": (last.mean((0, 1)) ** 2).mean(),
        "rewards": np.corrcoef(errors.mean(-1)[:, -half:].ravel(), rewards[:, -half:].ravel())[0, 1],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("variants", nargs="*", default=list(VARIANTS), help="variants of both studies; default: all")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--frames", type=int, default=1_000_000)
    parser.add_argument("--value-rate-decay", type=float, default=0.0)
    parser.add_argument("--answers-rate-decay", type=float, default=0.0)
    options = vars(parser.parse_args())
    names = options.pop("variants")
    config = GridConfig(**options)
    truth, rewards = config.room.values(config.discount), recent_rewards(config)
    averaged: dict[str, Curves] = {}
    for name in names:
        frames, values = learned_values(config, VARIANTS[name], lambda fraction: None)
        errors = values.astype(np.float64) - truth
        averaged[name] = Curves(frames[-1:], (last_tenth(errors).mean(1) ** 2).mean(-1)[:, None])
        found = parts(errors, rewards)
        print(f"{name:16}" + "".join(f"{column} {number:.4f}   " for column, number in found.items()), flush=True)
    for claim in (*grid_touch.claims(config, averaged), *grid_random.claims(config, averaged)):
        if claim.holds is not None:
            print(claim.claim, "HOLDS" if claim.holds else "DOES NOT HOLD", claim.figures)


if __name__ == "__main__":
    main()
