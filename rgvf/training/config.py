"""Everything that can be set about a training run."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rgvf.agents.config import AgentConfig, require, settle
from rgvf.environments.sources import parse_source


@dataclass(frozen=True)
class RunConfig:
    """The run."""

    env: str
    """atari/GAME for one of the paper's 49 games, minatar/GAME for one of the five of MinAtar, or gym/ID for any
    Gymnasium environment with discrete actions."""
    agent: AgentConfig = field(default_factory=AgentConfig)
    frames: int = 200_000_000
    """Frames of each seed, rounded up to whole updates; an Atari step is 4 frames."""
    seed: int = 0
    """Decides everything; with several seeds, the first of them."""
    seeds: int = 1
    """Independent agents trained side by side, with seeds that follow the first."""
    actors: int = 16
    """Environments of each agent."""
    steps: int = 20
    """Steps of each between two updates."""
    clip_rewards: float = 1.0
    """Rewards are cut to ± this for learning; 0: not at all."""
    log_every: int = 20_000
    """Frames of each seed between two lines of metrics."""
    checkpoint_every: int = 2_000_000
    """Frames of each seed between two checkpoints."""
    processes: int = 0
    """Worker processes that run the environments (not of MinAtar); 0: one for each core."""
    wandb: bool = False
    """Log to Weights & Biases too (needs the extra rgvf[wandb])."""

    def __post_init__(self) -> None:
        if not isinstance(self.agent, AgentConfig):
            raise ValueError(f"agent must be an AgentConfig, not {self.agent!r}")
        settle(self)
        whole = ("frames", "seeds", "actors", "steps", "log_every", "checkpoint_every")
        require(self, "at least 1", lambda x: x >= 1, *whole)
        require(self, "at least 0", lambda x: x >= 0, "seed", "processes", "clip_rewards")
        if self.seed + self.seeds > 2**31:
            raise ValueError(f"seed must be below 2^31, not {self.seed}")
        parse_source(self.env)

    def to_json(self) -> str:
        return json.dumps(dataclasses.asdict(self), indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> RunConfig:
        """The configuration that `to_json` wrote; ValueError where the text is anything else."""
        try:
            data = json.loads(text)
            return cls(**{**data, "agent": AgentConfig(**data["agent"])})
        except (TypeError, KeyError, AttributeError) as error:
            raise ValueError(f"not the configuration of a run: {error}") from None


def differences(a: RunConfig, b: RunConfig) -> dict[str, tuple[Any, Any]]:
    """The fields in which two configurations differ."""
    flat_a, flat_b = _flat(dataclasses.asdict(a)), _flat(dataclasses.asdict(b))
    return {name: (flat_a[name], flat_b[name]) for name in flat_a if flat_a[name] != flat_b[name]}


def _flat(data: Mapping[str, Any]) -> dict[str, Any]:
    nested = {name: value for name, value in data.items() if name != "agent"}
    return {**nested, "agent": data["agent"]["name"], **{k: v for k, v in data["agent"].items() if k != "name"}}
