"""Everything that can be set about a training run. The defaults are the paper's for Atari; `presets` has others."""

from __future__ import annotations

import dataclasses
import json
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rgvf.agents import AgentConfig
from rgvf.environments.registry import canonical_name, needed_modules
from rgvf.loops import Rewards
from rgvf.settings import check_types, flat_settings, from_data, not_negative, positive, require, to_data

FORMAT = 2
"""Of config.json."""
MADE_WITH = "made_with"
"""In config.json: versions, commit, date and device."""
MAX_SEED = 2**31
MAX_AGENTS = 4096
"""Seeds of one run."""
MAX_ACTORS = 65_536


@dataclass(frozen=True)
class RunConfig:
    """The run."""

    env: str
    """Environment: atari/GAME for one of the paper's 49 games, minatar/GAME for one of the five of MinAtar, dmlab/LEVEL
    for one of 12 levels of DeepMind Lab, doom/SCENARIO for one of ViZDoom's, xminigrid/ROOM, craftax/VIEW, cue/STEPS
    for a test of memory, gym/ID for any Gymnasium environment with discrete actions; 'rgvf environments' lists them by
    suite."""
    agent: AgentConfig = field(default_factory=AgentConfig)
    frames: int = 200_000_000
    """Frames to train each seed for, rounded up to whole updates; a step of Atari, ViZDoom
    or DeepMind Lab is 4 frames."""
    seed: int = 0
    """Random seed; with --seeds N the first of N."""
    seeds: int = 1
    """Number of independent agents to train, with consecutive seeds."""
    actors: int = 16
    """Environments of each agent."""
    steps: int = 20
    """Steps of each environment between two updates."""
    reward_scale: float = 1.0
    """Multiply rewards by this for learning, before they are clipped."""
    clip_rewards: float = 1.0
    """Clip rewards to ± this for learning; 0: do not clip."""
    log_every: int = 0
    """Frames of each seed between two lines of metrics; 0: a hundredth of the run, at most 50,000."""
    checkpoint_every: int = 0
    """Frames of each seed between two checkpoints; 0: a twentieth of the run, at most 2,000,000."""
    keep_checkpoints: int = 10
    """Checkpoints to keep; older ones are deleted."""
    processes: int = 0
    """Worker processes for environments that are not in JAX; 0: one for each core (DeepMind Lab: for each actor)."""
    imports: tuple[str, ...] = ()
    """Python modules to import first: they may register environments and tasks."""
    wandb: bool = False
    """Also log to Weights & Biases (needs the extra rgvf[wandb])."""

    def __post_init__(self) -> None:
        check_types(self)
        require(
            self,
            "at least 1",
            lambda x: x >= 1,
            *("frames", "seeds", "actors", "steps", "keep_checkpoints"),
        )
        require(self, "at least 0", not_negative, "seed", "processes", "clip_rewards", "log_every", "checkpoint_every")
        require(self, "positive", positive, "reward_scale")
        require(self, f"at most {MAX_AGENTS:,}: each agent needs its own memory", lambda x: x <= MAX_AGENTS, "seeds")
        require(self, f"at most {MAX_ACTORS:,}", lambda x: x <= MAX_ACTORS, "actors", "steps", "processes")
        require(self, "at most 10^15", lambda x: x <= 10**15, "frames", "log_every", "checkpoint_every")
        if self.seed + self.seeds > MAX_SEED:
            raise ValueError(f"the seeds of a run must be below 2^31, not {self.seed + self.seeds - 1}")
        object.__setattr__(self, "env", canonical_name(self.env))

    def with_intervals(self, of: RunConfig | None = None) -> RunConfig:
        """The same with intervals that are not 0: those of another run, or by the length of this one."""
        log_every = max(1, min(50_000, self.frames // 100)) if of is None else of.log_every
        checkpoint_every = max(1, min(2_000_000, self.frames // 20)) if of is None else of.checkpoint_every
        return dataclasses.replace(
            self, log_every=self.log_every or log_every, checkpoint_every=self.checkpoint_every or checkpoint_every
        )

    @property
    def modules(self) -> tuple[str, ...]:
        """The modules outside of rgvf that it needs: `--import MODULE` for each loads the run again."""
        return tuple(dict.fromkeys([*self.imports, *needed_modules(self.env)]))

    def command(self, command: str, folder: Path) -> str:
        """What to type to give a command this run's folder: rgvf evaluate FOLDER --import MODULE."""
        words = ["rgvf", *command.split(), str(folder)]
        return shlex.join([*words, *(word for module in self.modules for word in ("--import", module))])

    @property
    def rewards(self) -> Rewards:
        """The rewards that its agents learn from."""
        return Rewards(self.reward_scale, self.clip_rewards)

    @property
    def all_seeds(self) -> range:
        """The seeds of all agents."""
        return range(self.seed, self.seed + self.seeds)

    def to_data(self) -> dict[str, Any]:
        """The configuration as JSON can hold it."""
        return {**to_data(self), "agent": self.agent.to_data()}

    def to_json(self, made_with: Any = None) -> str:
        """The text of config.json; `made_with` is kept there for people to read."""
        return json.dumps({"format": FORMAT, **self.to_data(), MADE_WITH: made_with}, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> RunConfig:
        """The configuration that `to_json` wrote; ValueError where the text is anything else."""
        data = json.loads(text)
        if isinstance(data, Mapping) and "format" not in data and "env" in data:
            raise ValueError("it was made by rgvf 0.1, and this version cannot resume or load it")
        if isinstance(data, Mapping) and "study" in data:
            raise ValueError("it is the folder of a study; its runs, if it has any, are in the folder agents inside")
        if not isinstance(data, Mapping) or data.get("format") != FORMAT:
            raise ValueError(f"config.json is not of format {FORMAT}")
        _check_imports(data.get("env"), data.get("imports"))
        return cls.from_data({name: value for name, value in data.items() if name not in ("format", MADE_WITH)})

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> RunConfig:
        """The configuration that `to_data` wrote; ValueError where the data is anything else."""
        try:
            return from_data(cls, {**data, "agent": AgentConfig.from_data(data["agent"])})
        except (TypeError, KeyError, AttributeError) as error:
            raise ValueError(f"config.json is not the configuration of a run: {error}") from None


class MissingModuleError(ValueError):
    """A run needs modules that are not imported."""


def _check_imports(env: Any, imports: Any) -> None:
    """MissingModuleError where the run needs modules that are not imported: a file must not decide what code runs."""
    imports = [] if imports is None else imports
    if not isinstance(imports, list) or not all(isinstance(each, str) for each in imports):
        raise ValueError(f"imports must be a list of names, not {str(imports)[:40]}")
    wanted = [*imports, *(needed_modules(env) if isinstance(env, str) else ())]
    missing = [each for each in wanted if each not in sys.modules]
    if missing:
        options = " ".join(f"--import {each}" for each in dict.fromkeys(missing))
        how = f"if you trust them, add {options} (in Python: import them)"
        raise MissingModuleError(f"it needs code of other modules; {how}")


MAY_CHANGE = {"frames", "keep_checkpoints", "processes", "wandb"}
"""Settings that may differ when a run is resumed."""
WHAT_MAY_CHANGE = "it can only be made longer, and keep_checkpoints, processes and wandb may be changed"
"""`MAY_CHANGE` in words."""


def differences(a: RunConfig, b: RunConfig) -> dict[str, tuple[Any, Any]]:
    """The settings in which two configurations differ."""
    flat_a, flat_b = flat_settings(a.to_data()), flat_settings(b.to_data())
    names = [*flat_a, *(name for name in flat_b if name not in flat_a)]
    return {name: (flat_a.get(name), flat_b.get(name)) for name in names if flat_a.get(name) != flat_b.get(name)}
