"""What random actions get in whole games, to compare a trained agent with.

    .venv/bin/python benchmarks/random_play.py doom/health_gathering [--games 100] [--repeat 1]

Actions have equal probabilities, and each is taken --repeat times in a row.
"""

import argparse

import numpy as np

from rgvf.environments import find_spec
from rgvf.environments.device_games import game_to_film
from rgvf.evaluation.evaluate import MAX_STEPS


def random_returns(env: str, games: int, repeat: int) -> np.ndarray:
    """Unclipped returns of whole games."""
    rng, game, returns = np.random.default_rng(0), game_to_film(env, 0), []
    actions = len(find_spec(env).actions)
    game.reset()
    taken = action = 0
    while len(returns) < games:
        if taken % repeat == 0:
            action = int(rng.integers(actions))
        taken += 1
        step = game.step(action)
        if step.game_length > MAX_STEPS:
            raise SystemExit(f"a game of {env} has not ended after {MAX_STEPS:,} steps")
        if step.game_over:
            returns.append(step.game_return)
            game.step(0)  # the reset step
            taken = 0
    game.close()
    return np.array(returns)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("env", help="the name of an environment, as in rgvf train --env")
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--repeat", type=int, default=1)
    arguments = parser.parse_args()
    if arguments.games < 2 or arguments.repeat < 1:
        parser.error("--games must be at least 2, and --repeat at least 1")
    returns = random_returns(arguments.env, arguments.games, arguments.repeat)
    mean, error = returns.mean(), returns.std(ddof=1) / len(returns) ** 0.5
    print(f"{arguments.env}: {mean:.4g} ± {error:.2g} (mean return ± standard error, {len(returns)} games)")


if __name__ == "__main__":
    main()
