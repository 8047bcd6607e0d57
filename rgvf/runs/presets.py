"""Presets: settings that suit a kind of environment. A new one is a line in `PRESETS`."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from rgvf.agents import MAIN, STOPPED, AgentConfig
from rgvf.environments import Environment, find_spec
from rgvf.environments.gym_names import is_classic_control, is_minigrid, parse_gym_name
from rgvf.environments.registry import canonical_name, own_name
from rgvf.messages import suggestion, unknown
from rgvf.runs.config import RunConfig
from rgvf.tasks import TASKS, ActorCriticSettings, TaskSettings

AUTO = "auto"
"""The name that chooses a preset by the environment."""
MINATAR_RATES = {
    "a2c": 4e-3,
    "rgvf-stop-gradient": 8e-3,
    "rgvf": 8e-3,
    "mhvp-stop-gradient": 4e-3,
    "mhvp": 4e-3,
    "pixel-control-stop-gradient": 8e-3,
    "pixel-control": 8e-3,
    "curl-stop-gradient": 8e-3,
    "curl": 8e-3,
    "rgvf-no-actions-stop-gradient": 4e-3,
    "rgvf-shallow-stop-gradient": 8e-3,
    "rgvf-discounted-sum-stop-gradient": 2e-3,
}
"""The best learning rate of each agent on Breakout, by `rgvf study minatar-tuning`: docs/results/minatar.md."""

MINATAR_WIDE_RATES = {
    "a2c": 8e-3,
    "rgvf-stop-gradient": 4e-3,
    "mhvp-stop-gradient": 4e-3,
    "action-values-stop-gradient": 4e-3,
    "rgvf+action-values-stop-gradient": 2e-3,
    "random-and-action-values-stop-gradient": 4e-3,
    "rgvf+action-values": 1e-3,
    "random-and-action-values": 4e-3,
}
"""The best with 512 units on Breakout and Freeway, by `rgvf study minatar-reward`: docs/results/minatar-reward.md."""

_ABLATIONS = {
    **dict.fromkeys(("rgvf-no-actions", "rgvf-shallow", "rgvf-discounted-sum"), "rgvf"),
    "action-values-no-actions": "action-values",
}
"""What they are ablations of."""


@dataclass(frozen=True)
class Preset:
    """Settings that differ from the defaults, by the names of `RunConfig`, `AgentConfig` and `ActorCriticSettings`."""

    summary: str
    settings: Mapping[str, Any]
    by_agent: Mapping[str, Mapping[str, Any]] = dataclasses.field(default_factory=dict)
    """Settings that single agents have besides, by `AgentConfig.label`."""
    by_suite: Mapping[str, Mapping[str, Any]] = dataclasses.field(default_factory=dict)
    """Settings that environments of a suite have besides."""

    def settings_for(self, agent: AgentConfig, env: str) -> dict[str, Any]:
        """The settings for an agent in an environment."""
        suite = env.partition("/")[0]
        memory = {"representation": "gru"} if suite in WITH_MEMORY else {}
        return {**memory, **self.settings, **self.by_suite.get(suite, {}), **self._own(agent)}

    def _own(self, agent: AgentConfig) -> Mapping[str, Any]:
        """Those of an agent, whatever the order of its tasks. An ablation without any has those of what it ablates."""
        known = {
            frozenset(label.removesuffix(STOPPED).split("+")): settings
            for label, settings in self.by_agent.items()
            if label.endswith(STOPPED) == agent.stop_gradient
        }
        tasks = frozenset(agent.task_names or (MAIN,))
        whole = frozenset(_ABLATIONS.get(task, task) for task in tasks)
        return known.get(tasks) or known.get(whole if len(whole) == len(tasks) else tasks, {})


def _rates(rates: Mapping[str, float], **settings: Any) -> dict[str, dict[str, Any]]:
    """Settings by agent: its learning rate, and these."""
    return {agent: {"learning_rate": rate, **settings} for agent, rate in rates.items()}


_LAB = {
    "actors": 32,
    "learning_rate": 3e-4,
    "rms_epsilon": 1e-8,
    "entropy": 0.003,
}
"""The paper's settings for DeepMind Lab."""
WITH_MEMORY = ("dmlab", "doom", "xminigrid", "craftax")
"""Suites where one observation is not enough: agents have a memory there, whatever the preset."""
FEATURE_SCALES = {"dmlab": 1.0, "doom": 1.0}
"""Length of the random vectors that are applied to image patches, by suite, where it is not the tasks' own."""
_REWARD_RATES = {
    "action-values": MINATAR_WIDE_RATES["action-values-stop-gradient"],  # end to end it was not searched
    **{agent: rate for agent, rate in MINATAR_WIDE_RATES.items() if "action-values" in agent},
}
_VECTORS = {"actors": 32, "steps": 10, "learning_rate": 2e-3, "clip_rewards": 0.0, "hidden": 128}
PRESETS: Mapping[str, Preset] = {
    "paper": Preset("Atari and DeepMind Lab as published: 200 million frames", {}, by_suite={"dmlab": _LAB}),
    "fast": Preset(
        "Atari and other large images in 10 million frames: segments of 5 steps, a small RMSProp epsilon",
        {"frames": 10_000_000, "steps": 5, "rms_epsilon": 1e-10},
    ),
    "doom": Preset("ViZDoom with the settings of DeepMind Lab: 10 million frames", {**_LAB, "frames": 10_000_000}),
    "minatar": Preset(
        "MinAtar as in its studies (with questions about reward: wider networks), and the rooms of xminigrid",
        {"frames": 5_000_000, "hidden": 128, "clip_rewards": 0.0, "learning_rate": 4e-3},
        {**_rates(MINATAR_RATES), **_rates(_REWARD_RATES, kernels=(32,), dense=(512,), hidden=512)},
    ),
    "craftax": Preset(
        "Craftax as in its study: sizes and learning rates of MinAtar, and a memory",
        {
            "frames": 20_000_000,
            "representation": "gru",
            "dense": (512,),
            "memory": 512,
            "hidden": 512,
            "clip_rewards": 0.0,
            "learning_rate": 4e-3,
        },
        _rates(MINATAR_WIDE_RATES),
    ),
    "small-images": Preset(
        "images below 36×36",
        {"frames": 200_000, "steps": 10, "learning_rate": 2e-3, "rms_epsilon": 1e-7, "clip_rewards": 0.0},
    ),
    "vectors": Preset("observations that are vectors", {**_VECTORS, "frames": 1_000_000}),
    "classic-control": Preset(
        "vectors with rewards × 0.1: CartPole, Acrobot, MountainCar and LunarLander, whose returns reach hundreds",
        {**_VECTORS, "frames": 1_000_000, "reward_scale": 0.1},
    ),
    "cue": Preset(
        "the test of memory, with segments that reach from cue to junction up to cue/15",
        {**_VECTORS, "frames": 300_000, "steps": 20, "rms_epsilon": 1e-7},
    ),
    "minigrid": Preset("MiniGrid, where the only reward is that of the goal", {**_VECTORS, "frames": 300_000}),
}
"""The presets, by name."""


def choose_preset(env: str, environment: Environment | None = None) -> str:
    """The name of the preset for an environment. Of a Gymnasium environment, one is made to look at it."""
    suite = canonical_name(env).partition("/")[0]
    if suite in ("atari", "dmlab"):
        return "paper"
    if suite in ("doom", "craftax", "cue"):
        return suite
    if suite in ("minatar", "minatar-pgx", "xminigrid"):
        return "minatar"
    spec = find_spec(env, environment)
    if spec.is_image:
        return "small-images" if spec.is_small_image else "fast"
    gym_id = parse_gym_name(env.removeprefix("gym/")).id if suite == "gym" else ""
    return "minigrid" if is_minigrid(gym_id) else "classic-control" if is_classic_control(gym_id) else "vectors"


def find_preset(env: str, name: str = AUTO, environment: Environment | None = None) -> str:
    """The name of a preset, where "auto" chooses one for the environment. ValueError where it is not known."""
    if name == AUTO:
        return choose_preset(env, environment)
    if name not in PRESETS:
        raise ValueError(unknown("preset", name, [AUTO, *PRESETS]))
    return name


def preset(
    env: str | Environment,
    agent: str | TaskSettings | Sequence[str | TaskSettings] = "rgvf",
    name: str = AUTO,
    **settings: Any,
) -> RunConfig:
    """The configuration of a run by a preset.

    Args:
        env: the environment: its name, or an object in JAX, which is named own/CLASS.
        agent: a2c, or auxiliary tasks, as `AgentConfig` takes them. Their random features have the scale that suits the
            environment, unless they have one of their own.
        name: of the preset: one of `PRESETS`, such as paper or minatar; "auto": chosen by the environment.
        settings: any settings of `RunConfig`, `AgentConfig` and `ActorCriticSettings`, instead of the preset's.

    Raises:
        ValueError: there is no such environment, preset or setting, or a setting is wrong.
    """
    environment = None if isinstance(env, str) else env
    env = canonical_name(env) if isinstance(env, str) else own_name(env)
    plain = AgentConfig(agent, stop_gradient=settings.get("stop_gradient", False))
    values = PRESETS[find_preset(env, name, environment)].settings_for(plain, env) | settings
    if settings.get("representation", "gru") != "gru" and "memory" not in settings:
        values.pop("memory", None)  # the preset's, of a representation that is not used
    nested = {"tasks", "actor_critic", "agent", "env"}
    names = {
        cls: {field.name for field in dataclasses.fields(cls)} - nested
        for cls in (RunConfig, AgentConfig, ActorCriticSettings)
    }
    wrong = values.keys() - set.union(*names.values())
    if wrong:
        raise ValueError(_no_setting(min(wrong), values, set.union(*names.values()), plain))
    run, own, critic = ({each: values[each] for each in mine & values.keys()} for mine in names.values())
    tasks = [_scaled(task, env) for task in plain.auxiliary]
    return RunConfig(env, AgentConfig(tasks, actor_critic=ActorCriticSettings(**critic), **own), **run)


def _scaled(task: TaskSettings, env: str) -> TaskSettings:
    """The same task, with the feature scale of the suite where it has none of its own."""
    scale = FEATURE_SCALES.get(env.partition("/")[0])
    if scale is None or getattr(task, "feature_scale", scale) is not None:
        return task
    return dataclasses.replace(cast(Any, task), feature_scale=scale)


def _no_setting(name: str, values: Mapping[str, Any], known: set[str], agent: AgentConfig) -> str:
    """A sentence for a setting that runs do not have: it may be one of a task."""

    def has_it(task: TaskSettings | type[TaskSettings]) -> bool:
        return name in {field.name for field in dataclasses.fields(cast(Any, task))}

    tasks = agent.auxiliary
    if not any(map(has_it, tasks)):
        others = [] if suggestion(name, known) else [cast(Any, task)() for task in TASKS.values() if has_it(task)]
        tasks = tuple(others[:1])
    found = [task.name for task in tasks if has_it(task)]
    if not found:
        return unknown("setting", name, sorted(known))
    how = [_as_python(task, {name: values[name]} if has_it(task) else {}) for task in tasks]
    which = f"task{'s' * (len(found) > 1)} {' and '.join(found)}"
    shown = how[0] if len(how) == 1 else f"[{', '.join(how)}]"
    return f"{name} is a setting of the {which}; set it there: rgvf.preset(…, agent={shown})"


def _as_python(task: TaskSettings, settings: Mapping[str, Any]) -> str:
    """How a program writes the task with other settings: its name alone where it has none but the defaults."""
    fields = dataclasses.fields(cast(Any, task))
    own = {field.name: getattr(task, field.name) for field in fields if getattr(task, field.name) != field.default}
    given = ", ".join(f"{name}={value!r}" for name, value in {**own, **settings}.items())
    package = "rgvf.tasks." if type(task).__module__.startswith("rgvf.tasks.") else ""
    return f"{package}{type(task).__name__}({given})" if given else repr(task.name)
