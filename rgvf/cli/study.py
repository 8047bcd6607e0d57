"""`rgvf study`: run one of the paper's studies."""

from __future__ import annotations

import fnmatch
import itertools
import shlex
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import tyro

from rgvf.cli.errors import CommandError, command_errors
from rgvf.cli.imports import import_modules
from rgvf.cli.parsing import parse

if TYPE_CHECKING:
    from rgvf.studies import Study

Config = TypeVar("Config")
CHOICES = ("--games", "--game", "--agents", "--agent", "--levels", "--level", "--env", "--envs")
"""Options by which some studies are cut down, and others that are like them."""
USAGE = """\
usage: rgvf study NAME [options]       run a study, draw its figures, check its claims
       rgvf study NAME --plan          what it would take, before anything runs
       rgvf study NAME --help          list its options
       rgvf study list                 list the names
       rgvf study merge OUT FOLDER …   put results of several machines into one folder
       --import MODULE, before all else, imports a module of yours that adds studies

The studies:"""

MERGE_USAGE = """\
usage: rgvf study merge OUT FOLDER …

Copy the finished results of a study from each FOLDER to OUT, and draw the figures and check the claims of all of them.
What OUT has already is kept, so a folder can be merged again when it has more."""


@dataclass(frozen=True)
class _Options(Generic[Config]):
    settings: Config
    out: Path
    """Folder of the results. Results of this study that it holds already are kept and used."""
    variants: tyro.conf.UseAppendAction[tuple[str, ...]] = ()
    """Variants to run, by name or pattern ('*.a2c'); all by default."""
    parallel: int | None = None
    """Batches to run at once, each in a process of its own; 0: one after another in this process. By default trials are
    run in as many processes as keep the cores busy, and all other studies in this process."""
    retry_failed: bool = False
    """Run variants again that failed before."""
    plan: bool = False
    """Only say what would be run, and how long it would take here, by a short measurement, and on several machines."""
    machines: int = 10
    """Machines to plan for."""


def study(arguments: list[str]) -> None:
    """Run the command."""
    modules, arguments = import_modules(arguments)
    if not arguments:
        raise CommandError("which study? 'rgvf study list' lists them.")
    name, *options = arguments
    if name in ("-h", "--help"):
        print(USAGE)
        _list()
    elif name == "list":
        if options:
            raise CommandError("'rgvf study list' takes no options.")
        _list()
    elif name == "merge":
        _merge(options)
    else:
        _run(name, options, modules)


def _list() -> None:
    from rgvf.studies import STUDIES

    width = max(map(len, STUDIES))
    for name, (_, summary) in STUDIES.items():
        print(f"{name:{width}}  {summary}")


def _run(name: str, arguments: list[str], modules: tuple[str, ...]) -> None:
    from rgvf.cli.terminal import StudyProgress, print_conclusion
    from rgvf.studies import STUDIES, find_study, run_study

    with command_errors():
        chosen = find_study(name)
        options = study_options(chosen, arguments)
        if options.parallel is not None and not 0 <= options.parallel <= 1024:
            raise CommandError(f"--parallel must be between 0 and 1024, not {options.parallel}.")
        if options.machines < 1:
            raise CommandError(f"--machines must be at least 1, not {options.machines}.")
        print(f"{name}: {STUDIES[name][1]}", flush=True)
        if options.plan:
            _plan(chosen, options, modules)
            return
        with StudyProgress() as progress:
            conclusion = run_study(
                chosen,
                options.settings,
                options.out,
                options.variants,
                progress,
                parallel=options.parallel,
                retry_failed=options.retry_failed,
                imports=modules,
            )
    print_conclusion(conclusion, options.out)
    if conclusion.failed:
        logs = f"logs are in {options.out / 'logs'}; --retry-failed runs what failed again"
        raise CommandError(f"{len(conclusion.failed)} failed; {logs}", status=1)
    if conclusion.unfinished:
        left = f"{len(conclusion.unfinished)} of those to run are not finished"
        raise CommandError(f"{left}; the same command continues them.", status=1)


def study_options(chosen: Study, arguments: list[str]) -> _Options[Any]:
    """The options of a study."""
    from rgvf.studies import STUDIES

    _check_choice(chosen, arguments)
    return parse(
        _Options[chosen.config_type],
        _repeat_option(arguments),
        f"rgvf study {chosen.name}",
        default=_Options(chosen.config_type(), Path("runs") / chosen.name),
        description=f"{STUDIES[chosen.name][1]}.\n\n{chosen.summary}",
        config=(tyro.conf.OmitArgPrefixes,),
    )


def _check_choice(chosen: Study, arguments: list[str]) -> None:
    """CommandError for options such as --games, by which some studies are cut down, where this one has none of them."""
    from rgvf.settings import field_types

    known = {f"--{name.replace('_', '-')}" for name in field_types(chosen.config_type)}
    given: dict[str, list[str]] = {}
    words: list[str] = []
    for argument in arguments:
        if argument.startswith("--"):
            option, _, value = argument.partition("=")
            words = given.setdefault(option, [])
            argument = value
        words += [argument] if argument else []
    foreign = {option: given[option] for option in CHOICES if option in given}
    if foreign and not known & {"--games", "--agents"}:
        what = f"{chosen.name} has no {' and no '.join(foreign)}"
        patterns = [each for each in map(partial(_pattern, chosen), itertools.product(*foreign.values())) if each]
        how = " ".join(map(shlex.quote, patterns)) or shlex.quote(chosen.variants[0])
        raise CommandError(f"{what}; --variants chooses its variants, by name or pattern: --variants {how}")


def _pattern(chosen: Study, words: tuple[str, ...]) -> str:
    """A pattern of the variants with all of these words in their names; empty where there are none."""
    joined = [".".join(each) for each in itertools.permutations(words)]
    patterns = [form.format(name) for form in ("{}", "{}.*", "*.{}", "*.{}.*") for name in joined]
    return next((each for each in patterns if fnmatch.filter(chosen.variants, each)), "")


def _plan(chosen: Study, options: _Options[Any], modules: tuple[str, ...]) -> None:
    from rgvf.cli.terminal import StudyProgress, print_counts, print_hours
    from rgvf.studies import RunsStudy
    from rgvf.studies.plan import PATIENCE, make_plan

    if not isinstance(chosen, RunsStudy):
        raise CommandError(f"{chosen.name} takes minutes, so it has no plan; run it.")
    arguments = chosen, options.settings, options.out, options.variants, options.parallel
    counted = make_plan(*arguments, seconds=0, retry_failed=options.retry_failed)
    print_counts(counted, "" if options.variants else chosen.what(options.settings))
    if not counted.kinds:
        return
    limit = f"about {PATIENCE / 60:.0f} minutes at most"
    print(f"Measuring how fast each kind of agent is: {limit}. Ctrl-C ends it, with a rough answer …", file=sys.stderr)
    with StudyProgress() as progress:
        plan = make_plan(*arguments, progress, retry_failed=options.retry_failed, imports=modules)
    print_hours(plan, options.machines, chosen.not_planned)
    if plan.interrupted:
        raise CommandError("interrupted.", status=130)


def _merge(arguments: list[str]) -> None:
    from rgvf.cli.terminal import print_conclusion
    from rgvf.settings import from_data
    from rgvf.studies import conclude_study, find_study, open_study
    from rgvf.studies.merge import merge, read_settings

    if {"-h", "--help"} & set(arguments):
        print(MERGE_USAGE)
        return
    if len(arguments) < 2 or any(word.startswith("-") for word in arguments):
        raise CommandError("which folders? rgvf study merge OUT FOLDER …")
    out, *folders = map(Path, arguments)
    with command_errors():
        chosen = find_study(read_settings(folders[0])[0])
        merged = merge(out, folders, chosen.config_type().identity())
        print(f"{merged.study}: {len(merged.copied)} results copied to {out}")
        if merged.different:
            print(f"{out} has other results of {', '.join(merged.different)}, and keeps them")
        if merged.damaged:
            print(f"Left out, because they are damaged: {', '.join(merged.damaged)}")
        config = from_data(chosen.config_type, merged.settings)
        folder, _ = open_study(chosen, config, out)
        conclusion = conclude_study(chosen, config, folder)
    print_conclusion(conclusion, out)


def _repeat_option(arguments: list[str]) -> list[str]:
    """`--variants a b` as `--variants a --variants b`, so that both forms work."""
    spread: list[str] = []
    inside = False
    for argument in arguments:
        if argument.startswith("--"):
            inside = argument == "--variants"
            spread += [] if inside else [argument]
        else:
            spread += ["--variants", argument] if inside else [argument]
    return spread
