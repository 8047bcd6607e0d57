"""Studies that are made of trials: an agent in a game with one seed, each an ordinary run in a process of its own.

They are too large for one machine, so their settings choose a part: games, agents, seeds. Results of any parts can
share a folder, and folders of several machines can be merged.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from rgvf.agents import STOPPED
from rgvf.environments.workers import available_cores
from rgvf.messages import unknown
from rgvf.runs import PRESETS, RunConfig, preset
from rgvf.settings import require
from rgvf.studies import Curves, StudyConfig, StudyFolder, StudyListener, some_of
from rgvf.studies.runs import RunsStudy, train_runs
from rgvf.tasks import TaskSettings

CORES_PER_TRIAL = 4
"""Emulators of one agent keep about so many cores busy."""


@dataclass(frozen=True)
class TrialsConfig(StudyConfig):
    """Settings of a study of trials."""

    CHOICES: ClassVar[tuple[str, ...]] = ("games", "agents", "seeds")
    PRESETS: ClassVar[tuple[str, ...]] = ("paper", "fast")

    games: tuple[str, ...] = ()
    """Games to train in; by default those of the full study."""
    agents: tuple[str, ...] = ()
    """Agents to train; by default those of the full study."""
    seeds: int = 5
    """Number of trials of each agent in each game."""
    frames: int = 0
    """Frames to train each agent for; 0: as many as the preset has."""
    preset: str = "paper"
    """paper, or fast: settings that learn more in 10 million frames."""
    points: int = 100
    """Points of a learning curve."""
    checkpoints: int = 20
    """Checkpoints of a run."""

    def __post_init__(self) -> None:
        if self.preset not in self.PRESETS:
            raise ValueError(unknown("preset of this study", str(self.preset), self.PRESETS))
        super().__post_init__()
        require(self, "at least 1", lambda x: x >= 1, "points", "checkpoints")

    @property
    def length(self) -> int:
        """Frames that each agent is trained for."""
        return self.frames or PRESETS[self.preset].settings.get("frames", RunConfig("atari/Breakout").frames)


class Trial(NamedTuple):
    """What is trained: its name is GAME.AGENT.SEED."""

    game: str
    agent: str
    seed: int

    def __str__(self) -> str:
        return f"{self.game}.{self.agent}.{self.seed}"

    @classmethod
    def parse(cls, name: str) -> Trial:
        """The trial of this name."""
        game, agent, seed = name.split(".")
        return cls(game, agent, int(seed))


class TrialsStudy(RunsStudy):
    """A study of agents in games, with one trial for each seed."""

    config_type = TrialsConfig
    suite: str = "atari"
    games: Sequence[str]
    agents: Sequence[str]
    """Those of the full study."""
    more_agents: Sequence[str] = ()
    """Others that can be chosen."""
    more_games: Sequence[str] = ()
    """Others that can be chosen."""

    @property
    def variants(self) -> Sequence[str]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The trials of the full study."""
        return self.chosen(self.full)

    @property
    def summary(self) -> str:
        """Its games and agents."""
        games, agents = (f", or {', '.join(each)}" if each else "" for each in (self.more_games, self.more_agents))
        names = f"Games: {', '.join(self.games)}{games}.\n\nAgents: {some_of(self.agents)}{agents}."
        return f"{names}\n\nA variant is a trial: GAME.AGENT.SEED."

    @property
    def full(self) -> TrialsConfig:
        """The settings of the full study."""
        config = self.config_type()
        assert isinstance(config, TrialsConfig)
        return config

    def chosen(self, config: TrialsConfig) -> Sequence[str]:
        """The trials of the chosen games, agents and seeds."""
        games = _known("game", config.games, self.all_games) or self.games
        agents = _known("agent of this study", config.agents, self.all_agents) or self.agents
        pairs = [(game, agent) for game in games for agent in agents]
        return [str(Trial(*each, seed)) for each in pairs for seed in self.trial_seeds(config, each[1])]

    @property
    def all_games(self) -> Sequence[str]:
        """Those of the full study, and the others."""
        return (*self.games, *self.more_games)

    @property
    def all_agents(self) -> Sequence[str]:
        """Those of the full study, and the others."""
        return (*self.agents, *self.more_agents)

    def trial_seeds(self, config: TrialsConfig, agent: str) -> Sequence[int]:
        """The seeds of an agent in a game."""
        del agent
        return range(config.seeds)

    def tasks(self, agent: str) -> str | TaskSettings:
        """The auxiliary tasks of an agent, as `AgentConfig` takes them."""
        return agent.removesuffix(STOPPED)

    def is_stopped(self, agent: str) -> bool:
        """Whether an agent's representation is trained by the auxiliary tasks only."""
        return agent.endswith(STOPPED)

    def known(self, names: Sequence[str]) -> list[str]:
        """Trials of its games and agents, also with other seeds than those of the full study."""
        games = {game: i for i, game in enumerate(self.all_games)}
        agents = {agent: i for i, agent in enumerate(self.all_agents)}
        found = [Trial.parse(name) for name in names if re.fullmatch(r"[^.]+\.[^.]+\.\d+", name)]
        mine = [trial for trial in found if trial.game in games and trial.agent in agents]
        return [str(each) for each in sorted(mine, key=lambda t: (games[t.game], agents[t.agent], t.seed))]

    def run_config(self, config: TrialsConfig, variant: str) -> RunConfig:
        """An agent in a game, by the preset."""
        trial = Trial.parse(variant)
        return preset(
            f"{self.suite}/{trial.game}",
            self.tasks(trial.agent),
            config.preset,
            stop_gradient=self.is_stopped(trial.agent),
            frames=config.length,
            seed=trial.seed,
            log_every=max(1, config.length // config.points),
            checkpoint_every=max(1, config.length // config.checkpoints),
            keep_checkpoints=2,
        )

    def batch(self, variant: str) -> str:
        """The agent in its game."""
        return variant.rpartition(".")[0]

    def batches(self, variants: Sequence[str]) -> Iterable[tuple[str, Sequence[str]]]:
        """On a GPU the trials of an agent in a game whose seeds follow each other; on a CPU each trial is alone."""
        together = [_following(group) for _, group in super().batches(variants)]
        return ((run_name(group), [str(trial) for trial in group]) for groups in together for group in groups)

    def retries(self, variants: Sequence[str]) -> Iterable[tuple[str, Sequence[str]]]:
        """As they failed: trials of one run have one checkpoint."""
        return self.batches(variants)

    def run(
        self, config: Any, variants: Sequence[str], listener: StudyListener, folder: StudyFolder
    ) -> dict[str, Curves]:
        """Train the trials of a batch as one run: then one learner serves the emulators of all."""
        trials = [Trial.parse(variant) for variant in variants]
        run = dataclasses.replace(self.run_config(config, variants[0]), seeds=len(trials))
        name = run_name(trials)
        curves = train_runs({name: run}, listener, folder.path)[name]
        return {
            variant: Curves(curves.frames, curves.values[i : i + 1], trial.seed)
            for i, (variant, trial) in enumerate(zip(variants, trials, strict=True))
        }

    def what(self, config: TrialsConfig) -> str:
        """Games, agents and seeds, and how many trials these are."""
        trials = [Trial.parse(variant) for variant in self.chosen(config)]
        games, agents = len({each.game for each in trials}), len({each.agent for each in trials})
        parts = f"{count(games, 'game')} × {count(agents, 'agent')} × {count(config.seeds, 'seed')}"
        how = f"{parts} = " if games * agents * config.seeds == len(trials) else ""
        return f"{how}{count(len(trials), 'trial')} × {config.length:,} frames"

    def kind(self, config: Any, variant: str) -> str:
        """The agent: games are about as fast as each other."""
        del config
        return Trial.parse(variant).agent

    def seeds(self, config: Any, variant: str) -> int:
        """One for each trial."""
        del config, variant
        return 1

    def default_parallel(self, config: Any) -> int:
        """As many batches at once as keep the cores busy with emulators."""
        trials = self.chosen(config)
        in_a_batch = len(trials) / max(1, len(list(self.batches(trials))))
        return max(1, round(len(available_cores()) / (CORES_PER_TRIAL * in_a_batch)))

    def by_agent(self, curves: Mapping[str, Curves]) -> dict[str, Curves]:
        """The trials of an agent in a game together, by GAME.AGENT: seeds in order, as many as there are."""
        together: dict[str, list[Curves]] = {}
        for variant, each in curves.items():
            trial = Trial.parse(variant)
            together.setdefault(f"{trial.game}.{trial.agent}", []).append(each)
        return {name: _join(each) for name, each in together.items()}

    def caution(self, config: TrialsConfig, curves: Mapping[str, Curves]) -> str:
        """What of the full study is missing in the results; empty where nothing is."""
        full = self.full
        if config.identity() == full.identity() and set(self.variants) <= curves.keys():
            return ""
        found = [Trial.parse(variant) for variant in curves]
        games = _in_order(self.all_games, (trial.game for trial in found))
        agents = len({trial.agent for trial in found})
        seeds = len({trial.seed for trial in found})
        here = f"{count(len(games), 'game')}, {count(agents, 'agent')}, {count(seeds, 'seed')}"
        whole = f"{count(len(self.games), 'game')}, {count(len(self.agents), 'agent')}, {count(full.seeds, 'seed')}"
        names = f" Games: {', '.join(games)}." if games and games != list(self.games) else ""
        return (
            f"This has {here}, {config.length:,} frames by the preset {config.preset}; the full study has {whole}, "
            f"{full.length:,} frames by the preset {full.preset}, and its claims may come out otherwise.{names}"
        )


def run_name(trials: Sequence[Trial]) -> str:
    """The name of a run of trials with seeds that follow each other: GAME.AGENT.0, or GAME.AGENT.0-4."""
    return str(trials[0]) + (f"-{trials[-1].seed}" if len(trials) > 1 else "")


def _following(variants: Sequence[str]) -> list[list[Trial]]:
    """Trials of one agent in one game, divided where a seed is left out."""
    trials = [Trial.parse(variant) for variant in variants]
    groups = itertools.groupby(enumerate(trials), lambda each: each[1].seed - each[0])
    return [[trial for _, trial in group] for _, group in groups]


def count(n: int, what: str) -> str:
    """So many of something: 1 game, 2,205 trials."""
    return f"{n:,} {what}{'s' * (n != 1)}"


def _join(curves: Sequence[Curves]) -> Curves:
    """The curves of several trials, over the points that all of them have."""
    points = min(len(each.frames) for each in curves)
    values = np.concatenate([each.values[:, :points] for each in curves])
    return Curves(curves[0].frames[:points], values, curves[0].first_seed)


def _in_order(known: Sequence[str], names: Iterable[str]) -> list[str]:
    found = set(names)
    return [name for name in known if name in found]


def _known(kind: str, names: Sequence[str], known: Sequence[str]) -> list[str]:
    """The names, in the order of those known. ValueError where one is not."""
    spelling = {each.lower(): each for each in known}
    for name in names:
        if name.lower() not in spelling:
            raise ValueError(unknown(kind, name, known))
    return _in_order(known, (spelling[name.lower()] for name in names))
