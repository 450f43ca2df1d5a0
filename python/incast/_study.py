"""Studies: one scenario at many points, in a folder that survives anything."""

from __future__ import annotations

import functools
import json
import os
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from . import _incast
from ._control import Control, controls, named
from ._errors import RunError, RunWarning, some
from ._progress import Shown
from ._session import sets_of

if TYPE_CHECKING:
    import polars

    from ._commands import AnyScenario, Sets
    from ._study_charts import StudyCharts


class Future(Protocol):
    """What an executor gives for a point."""

    def done(self) -> bool: ...
    def result(self) -> Any: ...


class Executor(Protocol):
    """Anything that runs functions elsewhere: `concurrent.futures`, Dask, submitit."""

    def submit(self, function: Any, /, *arguments: Any) -> Any: ...


class Study:
    """A scenario with what is varied. `run` runs what is missing in its folder; everything else reads
    the folder."""

    def __init__(
        self, study: _incast.Study, out: Path, own: Sequence[type[Control]] = ()
    ) -> None:
        self._study = study
        self._out = out
        #: Controls that it names.
        self._own = own

    @property
    def name(self) -> str:
        """What it is called."""
        return self._study.name

    @property
    def labels(self) -> list[str]:
        """Transports and variants, in order."""
        return self._study.labels

    @property
    def keys(self) -> list[str]:
        """The varied keys, which are columns of `frame`."""
        return self._study.keys

    @property
    def titles(self) -> dict[str, str]:
        """Titles of the varied keys, by key: what charts call them."""
        return dict(zip(self.keys, self._study.key_titles, strict=True))

    @property
    def units(self) -> dict[str, str]:
        """Units of the varied keys in `frame`, by key; empty for plain numbers and texts."""
        return dict(zip(self.keys, self._study.key_units, strict=True))

    @property
    def seeds(self) -> list[int]:
        """The seeds; with `repeat_until` the first ones."""
        return self._study.seeds

    @property
    def baseline(self) -> str:
        """The transport or variant with which others are compared."""
        return self._study.baseline

    @property
    def out(self) -> Path:
        """Its folder."""
        return self._out

    def __len__(self) -> int:
        """Number of points; with `repeat_until` the least."""
        return len(self._study)

    def estimate(self, threads: int | None = None) -> dict[str, float]:
        """What the rest will cost, from a short probe: points, to_run, cpu_seconds, wall_seconds,
        memory_bytes, disk_bytes. The command is `incast study --dry-run`.

        Args:
            threads: points that run at a time. None: one per core.
        """
        with controls(*self._own):
            told = self._study.estimate(os.fspath(self._out), threads)
        found: dict[str, float] = json.loads(told)
        return found

    def run(
        self,
        executor: Executor | None = None,
        *,
        threads: int | None = None,
        retry_failed: bool = False,
        at_once: int | None = None,
        patience: float | None = None,
        progress: bool | None = None,
    ) -> Study:
        """Runs the points that its folder lacks, and returns the study. Ctrl-C keeps what is done;
        another call goes on from there. A point that fails is a row with its error, and a `RunWarning` names it.

        Args:
            executor: what runs the points: any object whose `submit` returns something with `done()` and
                `result()`. None: the cores of this machine.
            threads: without an executor, points that run at a time. None: one per core.
            retry_failed: run points again that have failed before.
            at_once: points at most that an executor has at a time. None: twice its workers, or 64.
            patience: seconds after which a point without an answer is taken for lost. None: never.
            progress: show progress. None: where a person sees it.

        Raises:
            ExecutorError: the executor broke, or lost the same points again and again.
        """
        shown = Shown(None, progress)
        told = shown.told_of("study")
        try:
            with controls(*self._own):
                if executor is not None:
                    from ._executor import run_on

                    more: dict[str, Any] = {"at_once": at_once, "patience": patience}
                    out = os.fspath(self._out)
                    driver = functools.partial(self._study.driver, out, retry_failed)
                    ended = run_on(driver, executor, told, self._own, **more)
                else:
                    out = os.fspath(self._out)
                    text, raised = self._study.run(out, threads, retry_failed, told)
                    if raised is not None:
                        raise raised
                    ended = json.loads(text)
        finally:
            shown.close()
            for name in ("frame", "times", "charts"):
                self.__dict__.pop(name, None)
        if ended["failed"]:
            count = f"{len(ended['failed'])} of {ended['points']} points failed"
            again = "retry_failed=True runs them again"
            warnings.warn(f"{count}: {some(ended['failed'])}; {again}", RunWarning, stacklevel=2)
        return self

    def search(
        self,
        key: str,
        *,
        low: float | str,
        high: float | str,
        until: str,
        tolerance: float | str | None = None,
        threads: int | None = None,
        progress: bool | None = None,
    ) -> polars.DataFrame:
        """The highest value of a key up to which a condition holds, for every transport and variant; what
        is tried is kept in the study's folder. See `incast.search`."""
        import polars

        ask = (key, str(low), str(high), until, None if tolerance is None else str(tolerance))
        shown = Shown(None, progress)
        told = shown.told_of("study")
        try:
            with controls(*self._own):
                found, raised = self._study.search(ask, os.fspath(self._out), threads, told)
        finally:
            shown.close()
        if raised is not None:
            raise raised
        answers = json.loads(found)
        if answers is None:
            raise RunError("points were not run; the same search again runs them")
        rows = []
        for answer in answers:
            name: Any = answer["found"]
            inner: dict[str, float | None] = {}
            if isinstance(name, dict):
                ((name, inner),) = name.items()
            numbers = {one: inner.get(one) for one in ("value", "low", "high")}
            tried = [one["value"] for one in answer["tried"]]
            rows.append({"label": answer["label"], "found": name, **numbers, "tried": tried})
        floats = {one: polars.Float64 for one in ("value", "low", "high")}
        return polars.DataFrame(rows, schema_overrides=floats, infer_schema_length=None)

    def _read(self, name: str) -> polars.DataFrame:
        import polars

        path = self._out / name
        if not path.is_file():
            raise RunError("there is no table yet: `run` makes it", file=str(path))
        return polars.read_parquet(path)

    @functools.cached_property
    def frame(self) -> polars.DataFrame:
        """One row per point under one transport or variant: its label, seed and varied keys, and the
        numbers of its summary, such as `slowdown_p99` and `short_fct_mean_ns`."""
        return self._read("study.parquet")

    @functools.cached_property
    def times(self) -> polars.DataFrame:
        """Wall-clock and CPU time of each row."""
        return self._read("study-times.parquet")

    def curves(self, number: str = "slowdown_p99") -> polars.DataFrame:
        """A number over its seeds: one row per label and combination of varied keys, with `mean`, `low`
        and `high` of its 95 % confidence interval (Student's t; null with one seed), and `seeds`.

        Args:
            number: a column of `frame`.
        """
        import polars as pl

        frame = self.frame
        if number not in frame.columns:
            from difflib import get_close_matches

            near = get_close_matches(number, frame.columns, 1)
            raise RunError(
                "no such column of the study's table",
                key=number,
                suggestion=near[0] if near else None,
            )
        groups = frame.group_by(["label", *self.keys], maintain_order=True).agg(
            pl.col(number).drop_nulls().alias("values")
        )
        found = [_incast.interval(values) for values in groups["values"].to_list()]
        seeds = pl.col("values").list.len().alias("seeds")
        return groups.hstack(within(found)).select("label", *self.keys, "mean", "low", "high", seeds)

    @functools.cached_property
    def charts(self) -> StudyCharts:
        """Charts of the study, as Altair charts."""
        from ._study_charts import StudyCharts

        return StudyCharts(self)

    @property
    def report(self) -> Path:
        """Its page, which needs no network."""
        return self._out / "study.html"

    def __repr__(self) -> str:
        return f"<incast.Study {self.name}: {len(self)} points in {self._out}>"

    def _repr_html_(self) -> str:
        from html import escape

        head = f"<p>{escape(repr(self)[1:-1])}</p>"
        try:
            return head + str(self.curves()._repr_html_())
        except RunError:
            return head


def within(found: Sequence[tuple[float | None, float | None, float | None]]) -> polars.DataFrame:
    """Means with the ends of their intervals, of the engine."""
    import polars as pl

    return pl.DataFrame(found, dict.fromkeys(("mean", "low", "high"), pl.Float64), orient="row")


def study(
    scenario: AnyScenario = None,
    *,
    vary: Mapping[str, Any] | None = None,
    seeds: int | Sequence[int] | None = None,
    variants: Mapping[str, Mapping[str, Any]] | None = None,
    zip: Sequence[Sequence[str]] | None = None,
    when: Mapping[str, Mapping[str, Any]] | None = None,
    repeat_until: Mapping[str, Any] | None = None,
    baseline: str | None = None,
    reports: bool | None = None,
    yes: bool = False,
    set: Sets = None,
    out: str | os.PathLike[str] | None = None,
    **flags: Any,
) -> Study:
    """A study: one scenario at many points. The command is `incast study`; `run` of the result runs it.

    Args:
        scenario: as for `incast.run`; a file may have a `[study]` of its own. None: the keywords of
            `incast.compare`, such as `transports`, `topology`, `workload` and `flows`.
        vary: keys with the values that they take, such as `{"traffic.0.load": [0.2, 0.4]}`, or a range:
            `{"from": 0.1, "to": 0.9, "step": 0.1}`.
        seeds: how many, from `run.seed` on, or which.
        variants: transports with other parameters beside those of the scenario, by name:
            `{"ren: any": {"transport": "ren", "spend": "any"}}`.
        zip: groups of keys of `vary` that advance together; all else is combined.
        when: conditions under which a key is varied:
            `{"fabric.buffer": {"transport": "dctcp", "traffic.0.load": [0.8, 0.9]}}`.
        repeat_until: repeat with more seeds until an interval is small:
            `{"metric": "slowdown_p99", "half_width": "5%", "most": 40}`.
        baseline: the transport or variant with which others are compared.
        reports: keep the files of every point.
        yes: take more than 100,000 points.
        set: overrides, as for `incast.run`.
        out: its folder, which is continued if it is there. None: `results/study-NAME`.
        flags: keywords of `incast.compare`, without a scenario.

    Raises:
        ScenarioError: something given is not valid.
    """
    section: dict[str, Any] = {
        "vary": vary,
        "seeds": seeds,
        "variants": variants,
        "zip": zip,
        "when": when,
        "repeat_until": repeat_until,
        "baseline": baseline,
        "output": None if reports is None else {"reports": reports},
    }
    text = isinstance(scenario, str) and "\n" in scenario
    own: list[type[Control]] = []
    scenario, flags, section = (named(value, own) for value in (scenario, flags, section))
    with controls(*own):
        made = _incast.study(scenario, text, flags, sets_of(set), section, yes)
    name = made.name if made.name == "study" else f"study-{made.name}"
    return Study(made, Path("results") / name if out is None else Path(out), own)


def search(
    scenario: AnyScenario = None,
    *,
    key: str,
    low: float | str,
    high: float | str,
    until: str,
    tolerance: float | str | None = None,
    seeds: int | Sequence[int] | None = 3,
    variants: Mapping[str, Mapping[str, Any]] | None = None,
    repeat_until: Mapping[str, Any] | None = None,
    set: Sets = None,
    out: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    progress: bool | None = None,
    **flags: Any,
) -> polars.DataFrame:
    """The highest value of a key up to which a condition holds, by bisection, for every transport. The
    command is `incast search`.

    Args:
        scenario: as for `incast.study`. None: the keywords of `incast.compare`.
        key: the key that is searched, such as `traffic.0.load`. The condition is to be monotone in it.
        low: lower end of the range; a number, or text with a unit.
        high: upper end of the range.
        until: the condition, such as `slowdown_p99 < 5`; several are joined by `and`.
        tolerance: distance of the values that are tried. None: a round number near a fiftieth of the
            range.
        seeds: how many, or which; not with `repeat_until`.
        variants: transports with other parameters, as for `incast.study`.
        repeat_until: more seeds where the answer is not sure, as for `incast.study`.
        set: overrides, as for `incast.run`.
        out: a folder that keeps what is tried. None: as for `incast.study`.
        threads: points that run at a time. None: one per core.
        progress: show progress. None: where a person sees it.
        flags: keywords of `incast.compare`, without a scenario.

    Returns:
        One row per label: `found` (`up_to`, `everywhere`, `nowhere`), the `value` up to which the condition
        holds for the mean, `low` up to which and `high` from which it surely does and does not (95 %), and
        the values `tried`.

    Raises:
        ScenarioError: something given is not valid.
    """
    if repeat_until is not None:
        seeds = None
    made = study(
        scenario,
        seeds=seeds,
        variants=variants,
        repeat_until=repeat_until,
        set=set,
        out=out,
        **flags,
    )
    ask: dict[str, Any] = {"low": low, "high": high, "until": until, "tolerance": tolerance}
    return made.search(key, **ask, threads=threads, progress=progress)


def study_in(folder: Path) -> Study:
    """The study of a study's folder."""
    return Study(_incast.study_in(os.fspath(folder)), folder)
