"""The grid-world experiment of two studies: does learning answers make a state that values can be learned from?

An agent watches a uniformly random policy in an empty room. It learns the policy's value function on a representation
that is trained by its questions only. All seeds of a variant are one compiled program.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from rgvf.agents import REPRESENTATION, Agent
from rgvf.analysis import Line, estimate, learning_panels, show, styles
from rgvf.loops import DeviceLoop, StackedSeeds, start, uniform_policy
from rgvf.studies import Claim, Conclusion, Curves, Study, StudyFolder, StudyListener
from rgvf.studies.grid_agents import GridConfig, GridVariant, learner
from rgvf.studies.merged_states import merged_states_error

LEGEND = (
    "MSE: mean squared error of the learned values, over all cells. With states merged: the error that remains, by "
    "computation, if cells with the same answers share one value. Both are means over seeds."
)


def run_variant(config: GridConfig, variant: GridVariant, report: Callable[[float], None]) -> Curves:
    """Train all seeds of a variant; the measure is the error of the learned values, averaged over all states."""
    frames, values = learned_values(config, variant, report)
    errors = ((values.astype(np.float64) - config.room.values(config.discount)) ** 2).mean(-1)
    return Curves(frames, errors, arrays={"values": values[:, -1]})


def learned_values(
    config: GridConfig, variant: GridVariant, report: Callable[[float], None]
) -> tuple[list[int], np.ndarray]:
    """Train all seeds of a variant: the frames at each evaluation, and the values then: [seeds, points, states]."""
    room, seeds = config.room, StackedSeeds(range(config.seeds))
    learners = [learner(config, variant, seed) for seed in seeds.seeds]
    policy = uniform_policy(len(room.actions))
    loop = DeviceLoop(room, learners, seeds, config.actors, config.steps, policy=policy)
    views = jnp.asarray(room.views)

    @jax.jit
    @jax.vmap
    def values_of(agent: Agent) -> Float[Array, " states"]:
        return agent.modules["value"](agent.modules[REPRESENTATION](views))[:, 0]

    state: Any = start(loop)
    evaluated = np.unique(np.linspace(0, config.updates, config.evaluations + 1).round().astype(int))
    values = [np.asarray(values_of(state.agent))]
    for before, after in itertools.pairwise(evaluated):
        done = before
        while done < after:
            state, progress = loop.advance(state, int(after - done))
            done += progress.updates
        values.append(np.asarray(values_of(state.agent)))
        report(after / config.updates)
    return (evaluated * loop.frames_per_update).tolist(), np.stack(values, 1)


class GridStudy(Study):
    """A study of the grid world: some variants, the claims about them, and the figures."""

    config_type = GridConfig
    measure = "mse"

    def __init__(
        self,
        name: str,
        grid_variants: Mapping[str, GridVariant],
        claims: Callable[[GridConfig, Mapping[str, Curves]], list[Claim]],
        draw: Callable[[GridConfig, Mapping[str, Curves], Path], list[Path]],
    ) -> None:
        self.name, self.grid_variants = name, grid_variants
        self.claims, self.draw = claims, draw
        self.variants: Sequence[str] = tuple(grid_variants)

    def run(
        self, config: GridConfig, variants: Sequence[str], listener: StudyListener, folder: StudyFolder
    ) -> dict[str, Curves]:
        """Train a batch."""
        del folder
        return {name: run_variant(config, self.grid_variants[name], listener.progress) for name in variants}

    def identity(self, config: GridConfig, variant: str) -> dict[str, Any]:
        """The variant's name: the rest is in the study's settings."""
        del config
        return {"variant": variant}

    def is_complete(self, config: GridConfig, curves: Curves) -> bool:
        """The values that were learned in the end: [seeds, states]."""
        return curves.arrays["values"].shape == (config.seeds, config.room.n_states)

    def judge(self, config: GridConfig, curves: Mapping[str, Curves], folder: StudyFolder) -> Conclusion:
        """Table, claims, figures and drawings of the question networks."""
        figures = self.draw(config, curves, folder.path)
        for name in curves:
            figures += _draw_questions(config, self.grid_variants[name], folder.path / "questions", name)
        table = [("variant", "MSE", "± standard error", "with states merged")]
        for name, each in curves.items():
            mean, error = estimate(each.final)
            table.append((name, show(mean, 4), show(error, 4), _with_states_merged(config, self.grid_variants[name])))
        return Conclusion(table, self.claims(config, curves), figures, LEGEND, config.caution)


def draw_curves(path: Path, variants: Mapping[str, GridVariant], curves: Mapping[str, Curves], title: str) -> Path:
    """Learning curves, in the order of the variants."""
    labels = {name: variants[name].label for name in variants if name in curves}
    looks = styles({label: label for label in labels.values()})
    lines = [Line(label, curves[name].frames, curves[name].values, looks[label]) for name, label in labels.items()]
    return learning_panels([path], {"": lines}, "MSE over all states", title, log=True)[0]


def _with_states_merged(config: GridConfig, variant: GridVariant) -> str:
    """The mean over seeds, whose questions may differ; empty where there are no questions."""
    if variant.questions is None:
        return ""
    errors = [merged_states_error(config, *variant.questions(config, seed)) for seed in range(config.seeds)]
    return f"{np.mean(errors):.4f}"


def _draw_questions(config: GridConfig, variant: GridVariant, folder: Path, name: str) -> list[Path]:
    """Save every seed's question network and draw the first seed's."""
    if variant.questions is None:
        return []
    folder.mkdir(exist_ok=True)
    networks = [variant.questions(config, seed)[0] for seed in range(config.seeds)]
    if all(network == networks[0] for network in networks):
        networks[0].save(folder / f"{name}.json")
    else:
        for seed, network in enumerate(networks):
            network.save(folder / f"{name}.seed-{seed}.json")
    return [networks[0].draw(folder / f"{name}.svg")]
