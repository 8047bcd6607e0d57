"""Settings that every study has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from rgvf.runs.config import MAX_AGENTS
from rgvf.settings import check_types, require, to_data

_SAID = ("frames", "seeds", "points", "checkpoints")
"""Settings that are said otherwise, or change no result."""


@dataclass(frozen=True)
class StudyConfig:
    """Settings of a study; the defaults are the full study."""

    CHOICES: ClassVar[tuple[str, ...]] = ()
    """Settings that only choose what to run. Results with other choices may share a folder."""

    seeds: int = 5
    """Number of independent agents for each variant."""
    frames: int = 1_000_000
    """Frames to train each agent for."""

    def __post_init__(self) -> None:
        check_types(self)
        require(self, "at least 1", lambda x: x >= 1, "seeds", *(["frames"] if self.length < 1 else []))
        require(self, f"at most {MAX_AGENTS:,}: each agent needs its own memory", lambda x: x <= MAX_AGENTS, "seeds")
        require(self, "at most 10^15", lambda x: x <= 10**15, "frames")

    @property
    def length(self) -> int:
        """Frames that each agent is trained for."""
        return self.frames

    def identity(self) -> dict[str, Any]:
        """The settings that all results in a folder have in common, as JSON can hold them."""
        settings = {name: value for name, value in to_data(self).items() if name not in self.CHOICES}
        return settings | {"frames": self.length}

    @property
    def caution(self) -> str:
        """What to say beside claims where less or something else was run than the full study."""
        full = type(self)()
        seeds = f"{self.seeds} seed{'s' * (self.seeds > 1)}"
        ran, whole = [f"{self.frames:,} frames and {seeds}"], [f"{full.frames:,} and {full.seeds}"]
        if self.frames >= full.frames and self.seeds >= full.seeds:
            ran, whole = [], []
        own, usual = to_data(self), to_data(full)
        for name in own:
            if name not in _SAID and own[name] != usual[name]:
                ran.append(f"{name} = {own[name]}")
                whole.append(f"{name} = {usual[name]}")
        if not ran:
            return ""
        return (
            f"This ran {', '.join(ran)}; the full study has {', '.join(whole)}, and its claims may come out otherwise."
        )
