"""Figures of the papers."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from . import _incast
from ._errors import RunWarning, ScenarioError
from ._progress import Shown

if TYPE_CHECKING:
    import polars

    from ._study import Executor


def _names(given: str | Sequence[str]) -> list[str]:
    return given.split(",") if isinstance(given, str) else list(given)


def reproduce(
    name: str,
    *,
    quick: bool = False,
    seed: int | None = None,
    threads: int | None = None,
    assuming: str | Sequence[str] = (),
    runs: str | Sequence[str] = (),
    keep: str | os.PathLike[str] | None = None,
    from_kept: bool = False,
    retry_failed: bool = False,
    clock: Literal["paced", "compensated", "tsc"] | None = None,
    executor: Executor | None = None,
    at_once: int | None = None,
    patience: float | None = None,
    progress: bool | None = None,
) -> polars.DataFrame:
    """Runs figures of a paper again and judges them. The command is `incast reproduce`. With `keep` it is a
    study of the figure's runs: another call runs what is missing, and several processes may share the folder.

    Args:
        name: An experiment such as `ren/fig3`, a paper such as `ren`, or `all`.
        quick: A smoke test: fewer flows, one seed, one assumption set.
        seed: Another seed than the experiment's.
        threads: Runs at a time, without an executor; the last ones get the threads that are left. None: one
            per core.
        assuming: Assumption sets, such as `as_compared`. None given: all.
        runs: Only these runs of the figure, such as `load80`; of the others, what has been kept is judged. None
            given: all.
        keep: A folder of kept tables: what is there is not run again, what is missing is kept.
        from_kept: Run nothing: judge by kept tables, of `keep` or of the clone of the repository that the current
            folder is in.
        retry_failed: Run what has failed before, or was refused in real time, again.
        clock: Run the testbeds in real time, too, under this clock: `paced`, `compensated` or `tsc`; one run
            at a time, without an executor. A run that is not accepted is not judged. None: no such runs.
        executor: What does the runs: as for a study, any object whose `submit` returns something with `done()`
            and `result()`. None: the cores of this machine.
        at_once: Runs at most that an executor has at a time. None: twice its workers, or 64.
        patience: Seconds after which a run without an answer is taken for lost. None: never.
        progress: Show progress. None: where a person sees it.

    Returns:
        One row per claim and assumption set: `experiment`, `claim`, `quote`, `paper`, `accepted`, `set`,
        `measured`, `verdict`, `dataplane` (the same in the data plane: `measured`, `verdict`, `equal`; null if it
        is not judged there), `real_time` (a list: by `clock` what was `measured` and the `verdict`, or why a run
        was `refused`), `sentence`, `deviation`, `headline`, `equation`.

    Raises:
        ScenarioError: something given is not valid.
        ExecutorError: the executor broke, or lost the same runs again and again; kept tables stay.
        KeyboardInterrupt: Ctrl-C; kept tables stay.
    """
    import polars

    if clock is not None and from_kept:
        problem = "no run is made with `from_kept`; kept runs in real time are read without a clock"
        raise ScenarioError(problem, key="clock", value=clock, accepted="None")
    if clock is not None and executor is not None:
        problem = "runs in real time would be in each other's way: expected None with `clock`"
        raise ScenarioError(problem, key="executor", accepted="None")
    if runs and from_kept:
        problem = "no run is made with `from_kept`; all kept runs are judged"
        raise ScenarioError(problem, key="runs", value=str(runs), accepted="()")
    chosen = _names(assuming), _names(runs)
    place = None if keep is None else os.fspath(keep)
    kept = (place, from_kept, retry_failed)
    figures = _incast.reproduction(name, quick, seed, (threads, clock), chosen, kept)
    shown = Shown(None, progress)
    told = shown.told_of(name, "runs")
    try:
        if executor is None or from_kept:
            text, notes, raised = figures.run(told)
            if raised is not None:
                raise raised
        else:
            from ._executor import run_on

            run_on(figures.driver, executor, told, at_once=at_once, patience=patience)
            text, notes = figures.judge()
    finally:
        shown.close()
    for note in notes:
        # That a table was kept is no news.
        if not note.startswith("kept "):
            warnings.warn(note, RunWarning, stacklevel=2)
    verdicts = json.loads(text)
    rows = []
    for verdict in verdicts:
        for one in verdict.pop("sets"):
            of_set = {key: one[key] for key in ("set", "measured", "verdict")}
            beside = {"dataplane": one.get("dataplane"), "real_time": one.get("real_time", [])}
            rows.append({**verdict, **of_set, **beside})
    return polars.DataFrame(rows, infer_schema_length=None)
