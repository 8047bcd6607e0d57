"""Folders of runs with made-up metrics."""

import json

from rgvf.agents import AgentConfig
from rgvf.runs import RunConfig


def make_run(path, returns, agent="rgvf", env="gym/CartPole-v1", seed=0, every=100, settings=None, **config):
    """A run's folder. `returns`: of each seed, a list of the returns at each point."""
    made = AgentConfig(agent, **(settings or {}))
    run = RunConfig(env, made, frames=every * len(returns[0]), seed=seed, seeds=len(returns), **config)
    path.mkdir(parents=True)
    (path / "config.json").write_text(run.to_json())
    lines = [
        {
            "frames": every * (i + 1),
            "seed": run.all_seeds[k],
            "return": value,
            "length": 3.0,
            f"{agent}/loss": 0.5 / (i + 1),
        }
        for i in range(len(returns[0]))
        for k, value in enumerate(each[i] for each in returns)
    ]
    (path / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def evaluate_run(path, results):
    """An evaluation.json; `results`: (seed, sticky, greedy, frames, returns)."""
    names = ("seed", "sticky", "greedy", "frames", "returns")
    data = [dict(zip(names, each, strict=True)) | {"games_seed": 0} for each in results]
    (path / "evaluation.json").write_text(json.dumps({"env": "gym/CartPole-v1", "results": data}))
