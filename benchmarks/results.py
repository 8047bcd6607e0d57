"""Print the tables of the pages in docs/results from the learning curves that are kept there.

python benchmarks/results.py                       # all of them
python benchmarks/results.py minatar atari-tasks   # of these folders
"""

import itertools
import json
import sys
from pathlib import Path

import numpy as np

from rgvf.analysis import bootstrap, compare_by_game, interval, normalised
from rgvf.analysis import interquartile_mean as middle_mean

RESULTS = Path(__file__).parents[1] / "docs/results"


def estimate(samples: np.ndarray, digits: int) -> str:
    """Mean ± standard error over seeds."""
    return f"{samples.mean():.{digits}f} ± {samples.std(ddof=1) / len(samples) ** 0.5:.{digits}f}"


def interquartile_mean(samples: np.ndarray) -> float:
    """Mean of the middle half; samples on its borders are weighted so that it is exactly half."""
    edges = np.linspace(0, 1, samples.size + 1)
    weights = np.clip(np.minimum(edges[1:], 0.75) - np.maximum(edges[:-1], 0.25), 0, None)
    return float(np.average(np.sort(samples.ravel()), weights=weights))


def rows(folder, frames, values, finals, samples):
    """The table's rows. By variant: frames [points], values [seeds, points], finals [seeds]."""
    if folder in ("minatar", "minatar-reward"):
        games, agents = (dict.fromkeys(names) for names in zip(*(name.split(".") for name in finals), strict=True))
        yield "agent", *games, "interquartile mean / a2c"
        for agent in agents:
            mine = [finals[f"{game}.{agent}"] for game in games]
            scaled = np.array([each / finals[f"{game}.a2c"].mean() for game, each in zip(games, mine, strict=True)])
            yield agent, *(estimate(each, 1) for each in mine), f"{interquartile_mean(scaled):.2f}"
        for agent in ("a2c", "rgvf") if folder == "minatar" else ():
            seeds = np.sort(finals[f"Seaquest.{agent}"])
            yield f"Seaquest, {agent}: by seed", *seeds.round(1), f"median {np.median(seeds):.1f}"
        if folder == "minatar-reward":
            yield from more_of_reward(finals)
            yield from search()
    elif folder == "minatar-robustness":
        yield "hyperparameter", "slope of the line of best fit", f"samples above a2c ({estimate(finals['a2c'], 1)})"
        for name, x in samples.items():
            y = np.array([finals[f"{name}.{i:02}"].mean() for i in range(len(x))])
            yield name, f"{np.polyfit(x, y, 1)[0]:+.2f}", f"{(y > finals['a2c'].mean()).sum()} of {len(x)}"
    elif folder in ("minatar-tuning", "minatar-balance"):
        yield from ((name, estimate(each, 1)) for name, each in finals.items())
    elif folder.startswith("grid"):
        reference = next(iter(finals))
        yield "variant", "MSE over the last tenth of training", f"difference to {reference}, seed by seed"
        yield from ((name, estimate(each, 4), estimate(each - finals[reference], 4)) for name, each in finals.items())
    elif folder == "catch":
        yield "agent", "frames", "return, mean of the last five points"
        yield from ((name, f"{frames[name][-1]:,}", f"{each[0, -5:].mean():.2f}") for name, each in values.items())
    elif folder == "gym":
        yield "environment", "frames", "return, mean of the last tenth of training ± standard error over seeds"
        yield from ((name, f"{frames[name][-1]:,}", estimate(each, 2)) for name, each in finals.items())
    elif folder == "atari-tasks":
        yield "task", "loss: first point", "first quarter", "last quarter"
        for name, (each,) in values.items():
            yield name, *(f"{part.mean():#.3g}" for part in (each[:1], *np.array_split(each, 4)[::3]))
    elif folder == "atari-pilot":
        yield "game", "frames", "return at half of them", "at the end"
        for name, (each,) in values.items():
            late = each[frames[name] >= frames[name][-1] / 2]
            yield name, f"{frames[name][-1]:,}", f"{late[0]:,.1f}", f"{late[-1]:,.1f}"
    elif folder == "atari-games":
        yield from atari_games(frames, values)
    else:
        yield "agent", "frames", "return, mean of the last million frames, by seed"
        for name, each in values.items():
            late = each[:, frames[name] > frames[name][-1] - 1e6]
            yield name, f"{frames[name][-1]:,}", *(f"{seed:,.1f}" for seed in late.mean(1))


def atari_games(frames, values):
    """Mean of the last million frames by game and agent, human-normalised too, and agents compared over games."""
    games, agents = (list(dict.fromkeys(names)) for names in zip(*(name.split(".") for name in values), strict=True))
    late = {name: each[:, frames[name] > frames[name][-1] - 1e6].mean(1) for name, each in values.items()}
    scores = {agent: np.array([late[f"{game}.{agent}"] for game in games]) for agent in agents}
    normal = {agent: normalised(each, games) for agent, each in scores.items()}
    yield "return; human-normalised", *agents
    for i, game in enumerate(games):
        yield game, *(f"{scores[agent][i, 0]:,.1f}; {normal[agent][i, 0]:.2f}" for agent in agents)
    yield "compared with", "better in", "p, sign test", "mean difference of human-normalised scores, 95 %"
    for agent, other in itertools.combinations(agents[::-1], 2):
        found = compare_by_game(normal[agent], normal[other])
        ends = f"{found.difference.value:+.2f} ({found.difference.low:+.2f} to {found.difference.high:+.2f})"
        yield f"{agent} with {other}", f"{found.better} of {len(games)}", f"{found.p_value:.2f}", ends


def more_of_reward(finals):
    """Numbers of the page beside its tables: another unit, end-to-end training, and the learned balance."""
    games = dict.fromkeys(name.split(".")[0] for name in finals)
    scores = {name.split(".")[1]: None for name in finals}
    scores = {agent: np.array([finals[f"{game}.{agent}"] for game in games]) for agent in scores}
    before = json.loads((RESULTS / "minatar/curves.json").read_text(encoding="utf-8"))["variants"]
    unit = [
        max(finals[f"{game}.a2c"].mean(), np.array(before[f"{game}.a2c"]["values"])[:, -2:].mean()) for game in games
    ]
    two = scores["rgvf+action-values-stop-gradient"]
    yield (
        "two tasks / the better A2C of both studies",
        f"{interquartile_mean(two / np.c_[unit]):.2f}",
    )
    resampled = bootstrap(scores, middle_mean, "a2c")
    for agent in ("rgvf+action-values", "rgvf-action-values"):
        low, high = interval(resampled[f"{agent}-stop-gradient"] - resampled[agent])
        yield f"{agent}: stop-gradient minus end-to-end, 95 %", f"{low:.2f} to {high:.2f}"
    first = json.loads((RESULTS / "minatar-balance/first.json").read_text(encoding="utf-8"))
    for run in first["runs"]:
        last = f"weights {run['weights']}, relative errors {run['errors']} (random, reward; at the end)"
        yield run["game"], run["balance"], estimate(np.array(run["returns"]), 1), last


def search():
    """The search of minatar-reward: a row for each agent and game."""
    found = json.loads((RESULTS / "minatar-reward/search.json").read_text(encoding="utf-8"))["variants"]
    cells = {}
    for name, seeds in found.items():
        _, game, agent, setting = name.split(".", 3)
        size, rate = setting.split("-", 1)
        cells.setdefault(agent, {}).setdefault(game, {})[size, float(rate)] = np.array(seeds)
    settings = sorted({each for games in cells.values() for tried in games.values() for each in tried})
    yield "search", "game", *(f"{size} {rate:g}" for size, rate in settings), "best of both games"
    for agent, games in cells.items():
        scores = {each: sum(np.log(tried[each].mean()) for tried in games.values()) for each in games["Breakout"]}
        best = "{} {:g}".format(*max(scores, key=lambda each: scores[each]))
        for game, tried in games.items():
            yield agent, game, *(estimate(tried[each], 1) if each in tried else "" for each in settings), best


for folder in sys.argv[1:] or sorted(path.parent.name for path in RESULTS.glob("*/curves.json")):
    data = json.loads((RESULTS / folder / "curves.json").read_text(encoding="utf-8"))
    frames = {name: np.array(each["frames"]) for name, each in data["variants"].items()}
    values = {name: np.array(each["values"]) for name, each in data["variants"].items()}
    finals = {name: each[:, -max(1, each.shape[1] // 10) :].mean(1) for name, each in values.items()}
    print(f"\n{folder}")
    for row in rows(folder, frames, values, finals, data.get("samples")):
        print(*row, sep=" | ")
    for path in (RESULTS / folder).glob("claims.json"):
        for claim in json.loads(path.read_text(encoding="utf-8"), parse_float=lambda x: round(float(x), 4))["claims"]:
            print(f"{claim['claim']} {claim['verdict'].upper()} {claim['figures']}")
