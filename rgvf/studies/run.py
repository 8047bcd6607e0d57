"""Running a study: what its folder has no results of yet, then the figures and the claims."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rgvf.messages import SILENT
from rgvf.studies.failures import failed_variants, failure_file
from rgvf.studies.folder import StudyFolder
from rgvf.studies.pool import leave_memory, run_in_processes
from rgvf.studies.study import (
    Conclusion,
    Study,
    StudyListener,
    choose,
    open_study,
    run_batch,
    sentences,
    some_of,
    stored_results,
)


def run_study(
    study: Study,
    config: Any,
    out: Path,
    variants: Sequence[str] = (),
    listener: StudyListener = SILENT,
    *,
    parallel: int | None = None,
    retry_failed: bool = False,
    imports: Sequence[str] = (),
) -> Conclusion:
    """Run what the folder has no results of yet, then draw and check all results in it.

    Args:
        variants: the ones to run, by name or pattern ("Breakout.*"); all by default. Other results in the folder are
            kept and used.
        parallel: how many batches to run at once, each in a process of its own. 0: one after another in this process;
            by default as the study prefers. In processes of their own, a batch that fails does not stop the others.
        retry_failed: run variants again that failed before.
        imports: modules that each process imports first.

    Raises:
        ValueError: an unknown variant, or what the environments need is not installed.
        FolderError: `out` cannot be used.
    """
    if parallel != 0:
        leave_memory()
    try:
        is_old = (out / "config.json").exists()
    except OSError:  # such as a name that is too long: opening it says so
        is_old = False
    if not is_old:
        study.check_ready(config, choose(study, config, variants))  # before anything is written
    folder, names = open_study(study, config, out, variants)
    results = stored_results(study, config, folder)
    if results:
        listener.found(list(results))
    wanted = [name for name in names if name not in results]
    if is_old:
        study.check_ready(config, wanted)
    n = study.default_parallel(config) if parallel is None else parallel
    if n:
        run_in_processes(study, config, wanted, folder, listener, n, retry_failed, imports)
    else:
        for batch, members in study.batches(wanted):
            began = time.monotonic()
            listener.begin(batch)
            for name in members:
                failure_file(folder, name).unlink(missing_ok=True)
            run_batch(study, config, members, listener, folder)
            listener.finish(batch, time.monotonic() - began)
    return conclude_study(study, config, folder, wanted)


def conclude_study(study: Study, config: Any, folder: StudyFolder, wanted: Sequence[str] = ()) -> Conclusion:
    """Draw and check all results in the folder; other processes may have added some.

    Args:
        wanted: variants that should have results now. Those that have none are named beside the claims.
    """
    done = stored_results(study, config, folder)
    failed = failed_variants(folder, wanted)
    unfinished = [name for name in wanted if name not in done and name not in failed]
    conclusion = study.conclude(config, done, folder)
    notes = [
        f"{len(names)} {how}, and are not in it: {some_of(names)}." if names else ""
        for how, names in (("failed", failed), ("are not finished", unfinished))
    ]
    caution = sentences(conclusion.caution, *notes)
    if conclusion.claims:
        claims = [claim.to_data() for claim in conclusion.claims]
        folder.write_json("claims.json", {"study": study.name, "caution": caution, "claims": claims}, indent=1)
    return dataclasses.replace(conclusion, caution=caution, failed=tuple(failed), unfinished=tuple(unfinished))
