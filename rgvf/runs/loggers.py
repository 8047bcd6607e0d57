"""Loggers besides metrics.jsonl: TensorBoard always, Weights & Biases on request."""

from __future__ import annotations

import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rgvf.runs.config import RunConfig
from rgvf.runs.folder import RunError


class Loggers:
    """Log lines of metrics under `seed-N/NAME`, or just `NAME` where there is one seed."""

    def __init__(self, folder: Path, config: RunConfig, frames: int) -> None:
        from tensorboard.compat.proto import event_pb2, summary_pb2
        from tensorboard.summary.writer.event_file_writer import EventFileWriter

        events: Any = event_pb2  # generated at run time: type checkers see nothing in them
        summaries: Any = summary_pb2
        self._event, self._summary = events.Event, summaries.Summary
        self._file = EventFileWriter(str(folder / "tensorboard"))
        # TensorBoard then drops what an interrupted session wrote after the checkpoint.
        start = events.SessionLog(status=events.SessionLog.START)
        self._file.add_event(self._event(step=frames, wall_time=time.time(), session_log=start))
        self._several_seeds = config.seeds > 1
        self._wandb = _wandb_run(folder, config) if config.wandb else None

    def log(self, lines: list[dict[str, Any]]) -> None:
        """Log the newest line of each seed."""
        for line in lines:
            prefix = f"seed-{line['seed']}/" if self._several_seeds else ""
            values = {f"{prefix}{name}": value for name, value in line.items() if _is_plotted(name, value)}
            summary = self._summary(value=[self._summary.Value(tag=tag, simple_value=v) for tag, v in values.items()])
            self._file.add_event(self._event(step=line["frames"], wall_time=time.time(), summary=summary))
            if self._wandb is not None:
                self._wandb.log({**values, "frames": line["frames"]})
        self._file.flush()

    def close(self) -> None:
        """Write what is buffered."""
        self._file.close()
        if self._wandb is not None:
            self._wandb.finish()


def _is_plotted(name: str, value: object) -> bool:
    return name not in ("seed", "frames") and value is not None


def check_loggers(config: RunConfig) -> None:
    """RunError where a requested logger is not installed."""
    if config.wandb and find_spec("wandb") is None:
        raise RunError("logging to Weights & Biases needs the extra: pip install 'rgvf[wandb]'")


def _wandb_run(folder: Path, config: RunConfig) -> Any:
    check_loggers(config)
    import wandb  # pyright: ignore[reportMissingImports]

    identity = folder.resolve().name
    return wandb.init(project="rgvf", id=identity, resume="allow", dir=folder, config=config.to_data())
