"""How fast the grid studies run: seconds per variant for five seeds, and sparse against dense targets.

    .venv/bin/python benchmarks/grid.py [--frames 200000]

Times are wall-clock on an otherwise idle machine; compare the ratios. Compilation is counted apart.
"""

import argparse
import os
import time

import jax
import jax.numpy as jnp
import numpy as np

from rgvf.questions import random_network, targets
from rgvf.studies import grid_random, grid_touch
from rgvf.studies.grid import run_variant
from rgvf.studies.grid_agents import GridConfig

SEEDS = 5
STUDIES = {"grid-touch": grid_touch.VARIANTS, "grid-random": grid_random.VARIANTS}


def seconds_of(study: str, variant: str, frames: int) -> float:
    """Of training alone: from the first evaluation, which waits for the compiler, to the last."""
    marks: list[float] = []
    config = GridConfig(seeds=SEEDS, frames=frames, evaluations=20)
    run_variant(config, STUDIES[study][variant], lambda fraction: marks.append(time.perf_counter()))
    return (marks[-1] - marks[0]) * 20 / 19


def milliseconds_of(function, *arguments: object, repeats: int = 200) -> float:
    jax.block_until_ready(function(*arguments))
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        jax.block_until_ready(function(*arguments))
        times.append(time.perf_counter() - began)
    return 1e3 * float(np.median(times))


def sparse_against_dense(n: int = 64, batch: tuple[int, int] = (8, 8)) -> tuple[float, float, float]:
    """Milliseconds for the targets of an update of five seeds, both ways, and the largest difference between them."""
    networks = [random_network(n, 4, discount=0.8, depth=4, repeat=n, seed=seed) for seed in range(SEEDS)]
    table = jax.tree.map(lambda *leaves: jnp.stack(leaves), *(network.table for network in networks))
    dense = jnp.stack([jnp.asarray(network.dense, jnp.float32) for network in networks])
    keys = jax.random.split(jax.random.key(0), 3)
    features = jax.random.normal(keys[0], (SEEDS, *batch, n))
    answers = jax.random.normal(keys[1], (SEEDS, *batch, networks[0].n_predictions))
    terminal = jax.random.bernoulli(keys[2], 0.1, (SEEDS, *batch))

    def by_matrix(weights, features, answers, terminal):
        alive = jnp.where(terminal[..., None], 0.0, answers)
        return jnp.concatenate([alive, features], -1) @ weights.T

    sparse, matrix = jax.jit(jax.vmap(targets)), jax.jit(jax.vmap(by_matrix))
    data = features, answers, terminal
    difference = jnp.abs(sparse(table, *data) - matrix(dense, *data)).max()
    return milliseconds_of(sparse, table, *data), milliseconds_of(matrix, dense, *data), float(difference)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--frames", type=int, default=200_000, help="frames of each timed run (default: 200000)")
    frames = parser.parse_args().frames
    print(f"jax {jax.__version__}, {jax.devices()[0].device_kind}, {os.cpu_count()} cores, {SEEDS} seeds\n")
    print("variant                       s per million frames")
    seconds: dict[str, float] = {}
    for study in ("grid-touch", "grid-random"):
        for variant in STUDIES[study]:
            seconds[variant] = seconds_of(study, variant, frames) * 1e6 / frames
            print(f"{study + ' ' + variant:30}{seconds[variant]:8.1f}", flush=True)
    print(f"{'both studies together':30}{sum(seconds.values()) + seconds['tree-4']:8.1f}")
    ratio = seconds["random-64"] / seconds["random-1"]
    print(f"\nrandom-64 costs {ratio:.2f} × random-1 (goal: at most 3)")
    sparse, dense, difference = sparse_against_dense()
    print(f"targets with 64 features: sparse {sparse:.2f} ms, dense {dense:.2f} ms: {dense / sparse:.1f} × faster")
    print(f"largest difference between the two: {difference:.1e}")


if __name__ == "__main__":
    main()
