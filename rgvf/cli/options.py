"""The options of `rgvf train`, made from the settings of runs, agents and tasks."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import tyro

from rgvf.agents import MAIN, AgentConfig
from rgvf.cli.errors import CommandError
from rgvf.environments import gym_name
from rgvf.environments.gym_names import parse_value
from rgvf.messages import os_error
from rgvf.questions import QuestionNetwork
from rgvf.runs import AUTO, MAY_CHANGE, PRESETS, WHAT_MAY_CHANGE, RunConfig, find_preset, preset
from rgvf.settings import SettingError, field_docs, field_types
from rgvf.tasks import TASKS, ActorCriticSettings, GivenQuestions, TaskSettings

_NESTED = {"agent", "tasks", "actor_critic"}
_FLAT = (RunConfig, AgentConfig, ActorCriticSettings)  # their settings are options without a prefix
_NEW_RUNS = ("preset", "out", "env_kwargs", "wrappers")  # options that are not settings of a run
_PRESET_HELP = "Settings to start from; other options override them. " + " ".join(
    f"{name}: {each.summary}." for name, each in PRESETS.items()
)


def option_type() -> type:
    """A dataclass with a field for each option; the settings of a task are options --TASK.NAME."""
    return _option_type(tuple(TASKS))


@functools.cache
def _option_type(tasks: tuple[str, ...]) -> type:
    del tasks  # a new task brings new options
    fields: list[Any] = [
        ("env", _described(str, field_docs(RunConfig)["env"])),
        ("agent", _described(str, f"{MAIN}, or auxiliary tasks joined by +: {', '.join(TASKS)}."), "rgvf"),
        ("preset", _described(str, _PRESET_HELP), AUTO),
        ("out", _described(Path | None, "Folder of the run; runs/ENV-AGENT-SEED by default."), None),
        ("env_kwargs", _described(tuple[str, ...], "Arguments of a Gymnasium environment: NAME=VALUE …"), ()),
        ("wrappers", _described(tuple[str, ...], "Wrappers of a Gymnasium environment: MODULE:CLASS …"), ()),
    ]
    for cls in _FLAT:
        for field in dataclasses.fields(cls):
            if field.name not in _NESTED | {"env", "imports"}:
                kind = _described(field_types(cls)[field.name], field_docs(cls)[field.name])
                fields.append((field.name, kind, dataclasses.field(default=field.default)))
    for name, settings in _groups().items():
        if dataclasses.fields(settings):
            group = dataclasses.field(default=settings())
            fields.append((_identifier(name), Annotated[settings, tyro.conf.arg(name=name)], group))
    return dataclasses.make_dataclass("TrainOptions", fields, frozen=True)


def options_of(config: RunConfig) -> Any:
    """The options that a configuration stands for."""
    values = {"env": config.env, "agent": config.agent.name}
    for settings in (config, config.agent, config.agent.actor_critic):
        own = {field.name for field in dataclasses.fields(settings)} - _NESTED - {"imports"}
        values |= {name: getattr(settings, name) for name in own}
    for task in config.agent.auxiliary:
        group = _group_of(type(task))
        if dataclasses.fields(group):
            values[_identifier(group.name)] = group(**_shared_fields(task, group))
    return option_type()(**values)


def preset_options(arguments: Sequence[str], options: Any) -> Any:
    """The options of the preset for the environment, agent and representation that the arguments name."""
    given = names_in(arguments)
    own = {name: getattr(options, name) for name in ("stop_gradient", "representation") if name in given}
    config = preset(_full_name(options), options.agent, options.preset, **own)
    return dataclasses.replace(options_of(config), env=options.env, preset=find_preset(config.env, options.preset))


def names_in(arguments: Sequence[str]) -> list[str]:
    """The options that are given, as settings are called: learning_rate for --learning-rate=1e-3."""
    words = [each.partition("=")[0] for each in arguments if each.startswith("--")]
    return [word.removeprefix("--").removeprefix("no-").replace("-", "_") for word in words]


@contextmanager
def named_as_options() -> Iterator[None]:
    """Errors about settings name options: --learning-rate for learning_rate. Those of tasks do already."""
    try:
        yield
    except SettingError as error:
        if any(error.field in field_types(cls) for cls in _FLAT):
            raise CommandError(f"--{error.field.replace('_', '-')} {error.what}") from None
        raise


def _full_name(options: Any) -> str:
    """The environment with the arguments of its constructor and its wrappers."""
    if not (options.env_kwargs or options.wrappers):
        return options.env
    suite, _, id = options.env.partition("/")
    if suite != "gym":
        raise CommandError(f"--env-kwargs and --wrappers are for Gymnasium environments, gym/ID, not {options.env}")
    fields = [each.partition("=") for each in options.env_kwargs]
    for name, equals, value in fields:
        if not (name and equals):
            raise CommandError(f"--env-kwargs takes NAME=VALUE, such as map_name=8x8, not {name + value!r}")
    return gym_name(id, {name: parse_value(value) for name, _, value in fields}, options.wrappers)


def config_of(options: Any, imports: Sequence[str] = ()) -> RunConfig:
    """The configuration that the options stand for. ValueError where an option is for a task that the agent lacks."""
    names = [] if options.agent == MAIN else options.agent.split("+")
    AgentConfig(options.agent)  # all tasks are known
    used = {_group_of(TASKS[name]).name for name in names}
    for name, settings in _groups().items():
        parsed = getattr(options, _identifier(name), None)
        if name not in used and parsed is not None and parsed != settings():
            raise CommandError(f"options --{name}.… are for the task {name}, and the agent {options.agent} lacks it")
    tasks = []
    for name in names:
        group = _group_of(TASKS[name])
        parsed = getattr(options, _identifier(group.name), None)
        fields = {} if parsed is None else _shared_fields(parsed, group)
        tasks.append(_with_network_text(TASKS[name](**fields)))
    critic = {field.name: getattr(options, field.name) for field in dataclasses.fields(ActorCriticSettings)}
    agent = {f.name: getattr(options, f.name) for f in dataclasses.fields(AgentConfig) if f.name not in _NESTED}
    own = _NESTED | {"env", "imports"}
    run = {f.name: getattr(options, f.name) for f in dataclasses.fields(RunConfig) if f.name not in own}
    config = AgentConfig(tasks, actor_critic=ActorCriticSettings(**critic), **agent)
    return RunConfig(_full_name(options), agent=config, imports=tuple(imports), **run)


def changed_config(saved: RunConfig, options: Any) -> RunConfig:
    """The configuration of a run that is resumed with these options."""
    if options.agent != saved.agent.name:
        raise CommandError(f"the run has agent = {saved.agent.name}, not {options.agent}; {WHAT_MAY_CHANGE}")
    if options.out is not None:
        raise CommandError("--out is for new runs; a run is resumed in its own folder")
    for name in _NEW_RUNS:
        if getattr(options, name) != getattr(options_of(saved), name):
            raise CommandError(f"--{name.replace('_', '-')} is for new runs; this run has its settings already")
    may_change = {name: getattr(options, name) for name in MAY_CHANGE}
    same = dataclasses.replace(options, **{name: getattr(saved, name) for name in MAY_CHANGE})
    return dataclasses.replace(saved, **may_change) if same == options_of(saved) else config_of(options, saved.imports)


def _with_network_text(settings: TaskSettings) -> TaskSettings:
    """Files are read here: a question network's file becomes its text."""
    if not isinstance(settings, GivenQuestions) or not settings.network or settings.network.lstrip().startswith("{"):
        return settings
    try:
        network = QuestionNetwork.load(settings.network)
    except OSError as error:
        raise CommandError(f"the question network cannot be read: {os_error(error)}") from None
    return dataclasses.replace(settings, network=network.to_json())


def _groups() -> dict[str, Any]:
    """The tasks that have their own options."""
    return {name: settings for name, settings in TASKS.items() if _group_of(settings) is settings}


def _group_of(settings: Any) -> Any:
    """The first registered task that a task's settings are derived from without a change; it shares its options."""
    known: list[Any] = list(TASKS.values())
    return next(each for each in known if issubclass(settings, each) and _defaults(settings) == _defaults(each))


def _defaults(settings: Any) -> dict[str, Any]:
    return {field.name: field.default for field in dataclasses.fields(settings)}


def _shared_fields(settings: Any, group: Any) -> dict[str, Any]:
    return {field.name: getattr(settings, field.name) for field in dataclasses.fields(group)}


def _described(kind: Any, text: str) -> Any:
    return Annotated[kind, tyro.conf.arg(help=text)]


def _identifier(name: str) -> str:
    return name.replace("-", "_")
