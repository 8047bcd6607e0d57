"""Print the tables of the pages in docs/results from the learning curves that are kept there.

python benchmarks/results.py                       # all of them
python benchmarks/results.py minatar atari-tasks   # of these folders
"""

import itertools
import json
import sys
from pathlib import Path

import numpy as np

from rgvf.analysis import (
    bootstrap,
    compare_by_game,
    interquartile_mean,
    interval,
    line_of_best_fit,
    normalised,
    show_estimate,
)
from rgvf.studies import Curves, craftax, doom, hyperparameters, minatar, minatar_reward
from rgvf.studies.comparison import game_table
from rgvf.studies.relative_scores import RelativeScores

RESULTS = Path(__file__).parents[1] / "docs/results"
TWO_TASKS = "rgvf+action-values-stop-gradient"


def kept(name):
    """The content of a file in docs/results."""
    return json.loads((RESULTS / name).read_text(encoding="utf-8"))


def curves_of(folder):
    """The learning curves of a folder, by variant."""
    variants = kept(f"{folder}/curves.json")["variants"]
    return {name: Curves(each["frames"], np.array(each["values"])) for name, each in variants.items()}


def last_million(curves):
    """Of each seed: the mean of the last million frames."""
    return curves.values[:, np.array(curves.frames) > curves.frames[-1] - 1e6].mean(1)


def geometric_mean(scores):
    """Over games, of mean scores over seeds: [..., games, seeds] → [...]."""
    return np.exp(np.log(scores.mean(-1)).mean(-1))


def minatar_table(curves):
    """Agents by game; and by seed, where the mean hides much."""
    yield from RelativeScores(curves, minatar.STUDY.comparison).table()
    for agent in ("a2c", "rgvf"):
        seeds = np.sort(curves[f"Seaquest.{agent}"].final)
        yield f"Seaquest, {agent}: by seed", *seeds.round(1), f"median {np.median(seeds):.1f}"


def reward_table(curves):
    """Agents by game; another unit, end-to-end training, and the learned balance; the search."""
    found = RelativeScores(curves, minatar_reward.STUDY.comparison)
    yield from found.table()
    before = curves_of("minatar")
    unit = [max(each[f"{game}.a2c"].final.mean() for each in (curves, before)) for game in found.compared]
    two = found.final(TWO_TASKS, found.compared) / np.c_[unit]
    yield "two tasks / the better A2C of both studies", f"{interquartile_mean(two):.2f}"
    ratios = found.final(TWO_TASKS, found.compared) / np.c_[found.final("a2c", found.compared).mean(1)]
    middle = np.argsort(ratios, axis=None)[ratios.size // 4 : -(ratios.size // 4)] // ratios.shape[1]
    counts = ", ".join(f"{(middle == i).sum()} of {game}" for i, game in enumerate(found.compared))
    yield "two tasks / a2c, the middle half of all results", counts
    returns = {agent: found.final(agent, found.compared) for agent in (TWO_TASKS, "a2c")}
    ratios, *_ = bootstrap(returns, geometric_mean, "a2c").values()
    two, a2c = map(geometric_mean, returns.values())
    low, high = interval(ratios)
    yield "two tasks / a2c, geometric mean over games, 95 %", f"{two / a2c:.2f} ({low:.2f} to {high:.2f})"
    for agent in ("rgvf+action-values", "random-and-action-values"):
        low, high = interval(found.samples[f"{agent}-stop-gradient"] - found.samples[agent])
        yield f"{agent}: stop-gradient minus end-to-end, 95 %", f"{low:.2f} to {high:.2f}"
    for run in kept("minatar-balance/first.json")["runs"]:
        last = f"weights {run['weights']}, relative errors {run['errors']} (random, reward; at the end)"
        yield run["game"], run["balance"], show_estimate(np.array(run["returns"])), last
    finals = kept("minatar-reward/search.json")["variants"]
    searched = {name: Curves([0], np.c_[seeds]) for name, seeds in finals.items()}
    header, *rows = minatar_reward.search_table(searched)
    yield "search", "game", *(each.replace("-", " ", 1) for each in header[2:])
    yield from ((*row, best.replace("-", " ", 1)) for *row, best in rows)


def craftax_table(curves):
    """Agents; and after a million steps, beside those that were trained for a million steps on a CPU."""
    yield from RelativeScores(curves, craftax.STUDY.comparison).table()
    on_cpu, million = curves_of("craftax-million"), 1_000_000
    for name, each in curves.items():
        here = show_estimate(each.values[:, each.frames.index(million)], 2)
        there = f", on a CPU {show_estimate(on_cpu[name].values[:, -1], 2)}" if name in on_cpu else ""
        yield f"{name}: last tenth {show_estimate(each.final, 2)}", f"after {million:,} frames {here}{there}"
    for end in (3, 6, 9):
        for name, each in (curves | curves_of("craftax-rate")).items():
            millions = np.array(each.frames) / 1e6
            seeds = each.values[:, (millions > end - 0.4) & (millions <= end)].mean(1)
            yield (
                f"{name}: from {end - 0.4:g} to {end} million frames",
                f"{show_estimate(seeds, 2)} ({len(seeds)} seeds)",
            )


def robustness_table(curves):
    """How the return depends on each hyperparameter."""
    finals = {name: each.final for name, each in curves.items()}
    level = finals["a2c"]
    yield "hyperparameter", "slope of the line of best fit", f"samples above a2c ({show_estimate(level)})"
    for name in hyperparameters.RANGES:
        x, y = hyperparameters.samples(finals, name)
        yield name, f"{line_of_best_fit(x, y)[0]:+.2f}", f"{(y > level.mean()).sum()} of {len(x)}"


def variants_table(curves):
    """A row for each variant."""
    yield from ((name, show_estimate(each.final)) for name, each in curves.items())


def grid_table(curves):
    """Errors, and how they differ from those of the first variant."""
    reference = next(iter(curves))
    yield "variant", "MSE over the last tenth of training", f"difference to {reference}, seed by seed"
    for name, each in curves.items():
        difference = each.final - curves[reference].final
        yield name, show_estimate(each.final, 4), show_estimate(difference, 4)


def catch_table(curves):
    """The return of each agent in the end."""
    yield "agent", "frames", "return, mean of the last five points"
    yield from ((name, f"{each.frames[-1]:,}", f"{each.values[0, -5:].mean():.2f}") for name, each in curves.items())


def gym_table(curves):
    """The return in each environment in the end."""
    yield "environment", "frames", "return, mean of the last tenth of training ± standard error over seeds"
    yield from ((name, f"{each.frames[-1]:,}", show_estimate(each.final, 2)) for name, each in curves.items())


def tasks_table(curves):
    """Losses."""
    yield "task", "loss: first point", "first quarter", "last quarter"
    for name, each in curves.items():
        (loss,) = each.values
        yield name, *(f"{part.mean():#.3g}" for part in (loss[:1], *np.array_split(loss, 4)[::3]))


def pilot_table(curves):
    """The return in each game, half-way and in the end."""
    yield "game", "frames", "return at half of them", "at the end"
    for name, each in curves.items():
        late = each.values[0, np.array(each.frames) >= each.frames[-1] / 2]
        yield name, f"{each.frames[-1]:,}", f"{late[0]:,.1f}", f"{late[-1]:,.1f}"


def games_table(curves):
    """Mean of the last million frames by game and agent, human-normalised too, and agents compared over games."""
    games, agents = (list(dict.fromkeys(names)) for names in zip(*(name.split(".") for name in curves), strict=True))
    scores = {agent: np.array([last_million(curves[f"{game}.{agent}"]) for game in games]) for agent in agents}
    normal = {agent: normalised(each, games) for agent, each in scores.items()}
    yield "return; human-normalised", *agents
    for i, game in enumerate(games):
        yield game, *(f"{scores[agent][i, 0]:,.1f}; {normal[agent][i, 0]:.2f}" for agent in agents)
    yield "compared with", "better in", "p, sign test", "mean difference of human-normalised scores, 95 %"
    for agent, other in itertools.combinations(agents[::-1], 2):
        found = compare_by_game(normal[agent], normal[other])
        ends = f"{found.difference.value:+.2f} ({found.difference.low:+.2f} to {found.difference.high:+.2f})"
        yield f"{agent} with {other}", f"{found.better} of {len(games)}", f"{found.p_value:.2f}", ends


def atari_table(curves):
    """The return of each seed in the end."""
    yield "agent", "frames", "return, mean of the last million frames, by seed"
    for name, each in curves.items():
        yield name, f"{each.frames[-1]:,}", *(f"{seed:,.1f}" for seed in last_million(each))


TABLES = {
    **dict.fromkeys(("atari-breakout", "atari-fast", "atari-kungfumaster"), atari_table),
    "atari-games": games_table,
    "atari-pilot": pilot_table,
    "atari-tasks": tasks_table,
    "catch": catch_table,
    "craftax": craftax_table,
    "doom": lambda curves: game_table(curves, doom.GAMES, doom.STUDY.agents),
    **dict.fromkeys(("grid-random", "grid-random-20-seeds", "grid-touch"), grid_table),
    **dict.fromkeys(("grid-rate-decay", "grid-rate-decay-20-seeds"), grid_table),
    "gym": gym_table,
    "minatar": minatar_table,
    **dict.fromkeys(("minatar-balance", "minatar-tuning"), variants_table),
    "minatar-reward": reward_table,
    "minatar-robustness": robustness_table,
}

for folder in sys.argv[1:] or sorted(TABLES):
    print(f"\n{folder}")
    for row in TABLES[folder](curves_of(folder)):
        print(*row, sep=" | ")
    for path in (RESULTS / folder).glob("claims.json"):
        for claim in json.loads(path.read_text(encoding="utf-8"), parse_float=lambda x: round(float(x), 4))["claims"]:
            print(f"{claim['claim']} {claim['verdict'].upper()} {claim['figures']}")
