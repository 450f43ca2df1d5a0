"""Results of runs: frames, summaries, manifests, charts."""

from __future__ import annotations

import functools
import json
import os
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, overload

from . import _incast
from ._errors import RunError, RunWarning

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    from ._charts import Charts
    from ._explain import Explanation, IterationExplanation, Side


class _Source(Protocol):
    """Where a run's data comes from."""

    label: str

    def table(self, name: str) -> _incast.Table | Path: ...
    def series(self) -> _incast.Table | None: ...
    def summary(self) -> str: ...
    def manifest(self) -> dict[str, Any]: ...
    def warnings(self) -> list[str]: ...
    def complete(self) -> bool: ...


def _polars(table: _incast.Table | Path) -> polars.DataFrame:
    import polars

    if isinstance(table, Path):
        try:
            return polars.read_parquet(table)
        except OSError as error:
            raise RunError(str(error), file=str(table)) from error
    return polars.DataFrame(table)


class Run:
    """One run: a transport (or several that share the network) on the traffic of a scenario."""

    def __init__(self, source: _Source) -> None:
        self._source = source

    @property
    def label(self) -> str:
        """What the run is called: its transport."""
        return self._source.label

    @functools.cached_property
    def flows(self) -> polars.DataFrame:
        """One row per flow, with a breakdown of its completion time (docs/results.md)."""
        return _polars(self._source.table("flows"))

    @functools.cached_property
    def ports(self) -> polars.DataFrame:
        """One row per port and interval in which something happened."""
        return _polars(self._source.table("ports"))

    @functools.cached_property
    def fairness(self) -> polars.DataFrame:
        """One row per transport and interval."""
        return _polars(self._source.table("fairness"))

    @functools.cached_property
    def collectives(self) -> polars.DataFrame:
        """One row per iteration of each collective (traffic of kind `collective`)."""
        if "collectives" not in self.summary:
            raise RunError("the run has no collectives: its scenario has no traffic of kind `collective`")
        return _polars(self._source.table("collectives"))

    @functools.cached_property
    def servers(self) -> polars.DataFrame:
        """One row per server, its NICs together, of networks whose servers have several."""
        if "servers" not in self.summary:
            raise RunError("the run has no servers of several NICs: each host is one")
        return _polars(self._source.table("servers"))

    @functools.cached_property
    def series(self) -> polars.DataFrame:
        """Payload delivered over time by each flow of `run.watch`; only of runs of this process."""
        table = self._source.series()
        if table is None:
            raise RunError("a results folder has no series of single flows: repeat the run with incast.run")
        return _polars(table)

    @functools.cached_property
    def summary(self) -> dict[str, Any]:
        """The run in numbers, as `summary.json`: `summary["all"]["slowdown"]["p99"]`."""
        read: dict[str, Any] = json.loads(self._source.summary())
        return read

    @functools.cached_property
    def manifest(self) -> dict[str, Any]:
        """Everything needed to repeat the run, and where it ran."""
        return self._source.manifest()

    @property
    def warnings(self) -> list[str]:
        """What should be known before the run is trusted."""
        return self._source.warnings()

    @property
    def complete(self) -> bool:
        """Whether the run ended by itself and some flow is complete."""
        return self._source.complete()

    def pyarrow(self, table: str = "flows") -> pyarrow.Table:
        """A table (`flows`, `ports`, `fairness`, `collectives`, `servers`) for pyarrow, with units as metadata of its fields."""
        import pyarrow

        found = self._source.table(table)
        if isinstance(found, Path):
            import pyarrow.parquet

            return pyarrow.parquet.read_table(found)
        return pyarrow.table(found)

    def pandas(self, table: str = "flows") -> pandas.DataFrame:
        """A table (`flows`, `ports`, `fairness`, `collectives`, `servers`) for pandas; needs pandas and pyarrow."""
        frame: pandas.DataFrame = self.pyarrow(table).to_pandas()
        return frame

    def __repr__(self) -> str:
        flows = self.summary["flows"]
        state = "" if self.complete else ", not complete"
        return f"<incast.Run {self.label}: {flows['completed']} of {flows['total']} flows{state}>"


class Results(Sequence[Run]):
    """Runs of one scenario on identical arrivals.

    A sequence of runs; `results["ren"]` is the run of that label, `results.flows` are the rows of all.
    """

    def __init__(self, runs: Sequence[Run], source: _incast.Results | Path) -> None:
        self._runs = list(runs)
        self._source = source

    @classmethod
    def _live(cls, results: _incast.Results) -> Results:
        runs = [Run(_Live(results, at)) for at in range(len(results.labels))]
        return cls(runs, results)

    # -- runs

    @overload
    def __getitem__(self, key: int | str) -> Run: ...
    @overload
    def __getitem__(self, key: slice) -> list[Run]: ...
    def __getitem__(self, key: int | str | slice) -> Run | list[Run]:
        if isinstance(key, str):
            found = [run for run in self._runs if run.label == key]
            if not found:
                raise KeyError(f"no run `{key}`: there are {', '.join(self.labels)}")
            return found[0]
        return self._runs[key]

    def __len__(self) -> int:
        return len(self._runs)

    def __iter__(self) -> Iterator[Run]:
        return iter(self._runs)

    @property
    def labels(self) -> list[str]:
        """What the runs are called, in order."""
        return [run.label for run in self._runs]

    @property
    def complete(self) -> bool:
        """Whether every run that was asked for ran to its end."""
        if isinstance(self._source, Path):
            return bool(self.manifest.get("complete"))
        return self._source.complete

    @property
    def place(self) -> Path | None:
        """The results folder, if there is one."""
        return self._source if isinstance(self._source, Path) else self._source.place

    @property
    def warnings(self) -> list[str]:
        """What should be known before the results are trusted, each with the labels of its runs."""
        found: dict[str, list[str]] = {}
        for run in self._runs:
            for text in run.warnings:
                found.setdefault(text, []).append(run.label)
        return [f"{', '.join(labels)}: {text}" for text, labels in found.items()]

    # -- frames

    def _all(self, frames: Iterator[polars.DataFrame]) -> polars.DataFrame:
        import polars

        labelled = [
            frame.select(polars.lit(run.label).alias("run"), polars.all())
            for run, frame in zip(self._runs, frames, strict=True)
        ]
        # Nothing is copied: the frame has a part per run.
        return polars.concat(labelled, rechunk=False)

    @functools.cached_property
    def flows(self) -> polars.DataFrame:
        """One row per flow of every run; `run` is the run's label (docs/results.md)."""
        return self._all(run.flows for run in self._runs)

    @functools.cached_property
    def ports(self) -> polars.DataFrame:
        """One row per run, port and interval in which something happened."""
        return self._all(run.ports for run in self._runs)

    @functools.cached_property
    def fairness(self) -> polars.DataFrame:
        """One row per run, transport and interval."""
        return self._all(run.fairness for run in self._runs)

    @functools.cached_property
    def collectives(self) -> polars.DataFrame:
        """One row per run, collective and iteration."""
        return self._all(run.collectives for run in self._runs)

    @functools.cached_property
    def servers(self) -> polars.DataFrame:
        """One row per run and server, of networks whose servers have several NICs."""
        return self._all(run.servers for run in self._runs)

    @functools.cached_property
    def summary(self) -> polars.DataFrame:
        """One row per run with the numbers of its summary, such as `slowdown_p99` and
        `short_fct_mean_ns`, as in the table of a study; `run` is the run's label."""
        import polars

        return polars.DataFrame(
            [{"run": run.label, **_numbers(run._source.summary())} for run in self._runs],
            infer_schema_length=None,
        )

    @functools.cached_property
    def manifest(self) -> dict[str, Any]:
        """The scenario with every default, hashes of its input files, and where it ran."""
        if isinstance(self._source, Path):
            return _json(self._source / "manifest.json")
        read: dict[str, Any] = json.loads(self._source.manifest())
        return read

    # -- pictures and pages

    @functools.cached_property
    def charts(self) -> Charts:
        """The charts of the report, as Altair charts."""
        from ._charts import Charts

        return Charts(self)

    def report(self) -> str:
        """The report, one HTML page that needs neither files nor network."""
        if isinstance(self._source, Path):
            return (self._source / "report.html").read_text(encoding="utf-8")
        return self._source.report()

    def explain(
        self,
        *,
        flow: int | Sequence[int] | None = None,
        slowest: int | None = None,
        transport: str | None = None,
        size: str | int | tuple[int, int] | None = None,
        between: tuple[Side, Side] | None = None,
        threads: int | None = None,
    ) -> Explanation:
        """Says why a flow was slow: `incast.explain` of these results."""
        from ._explain import explain

        return explain(
            self,
            flow=flow,
            slowest=slowest,
            transport=transport,
            size=size,
            between=between,
            threads=threads,
        )

    def explain_iteration(
        self, iteration: int, *, collective: int = 0, transport: str | None = None
    ) -> IterationExplanation:
        """Says why an iteration of a collective took as long as it did: `incast.explain_iteration` of these results."""
        from ._explain import explain_iteration

        return explain_iteration(self, iteration, collective=collective, transport=transport)

    def save(self, out: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Writes the results folder that the command writes; `force` replaces one. Returns its path."""
        if isinstance(self._source, Path):
            raise RunError(f"these results are already in {self._source}: copy the folder")
        return self._source.save(os.fspath(out), force)

    def comparison(self, width: int = 120) -> str:
        """The table of all runs as text of at most this many characters per line."""
        return self._compared(width)

    def _compared(self, width: int | None) -> str:
        if isinstance(self._source, Path):
            return _incast.comparison([run._source.summary() for run in self._runs], width)
        return self._source.comparison(width)

    def __repr__(self) -> str:
        state = "" if self.complete else ", not complete"
        return f"<incast.Results of {', '.join(self.labels) or 'no run'}{state}>"

    def __str__(self) -> str:
        return "\n".join([self.comparison(), *(f"warning: {text}" for text in self.warnings)])

    def _repr_html_(self) -> str:
        from html import escape

        style = "<style>.incast .best{font-weight:bold}.incast th{text-align:left}</style>"
        notes = "".join(f"<p>{escape(text)}</p>" for text in self.warnings)
        return f"{style}<div class='incast'>{self._compared(None)}{notes}</div>"


def _numbers(summary: str) -> dict[str, float | None]:
    """The numbers of a summary by name, as in the table of a study."""
    return dict(json.loads(_incast.numbers(summary)))


class _Live:
    """A run of this process."""

    def __init__(self, results: _incast.Results, at: int) -> None:
        self._results, self._at = results, at
        self.label = results.labels[at]

    def table(self, name: str) -> _incast.Table:
        return self._results.table(self._at, name)

    def series(self) -> _incast.Table:
        return self._results.series(self._at)

    def summary(self) -> str:
        return self._results.summary(self._at)

    def manifest(self) -> dict[str, Any]:
        read: dict[str, Any] = json.loads(self._results.run_manifest(self._at))
        return read

    def warnings(self) -> list[str]:
        return self._results.warnings(self._at)

    def complete(self) -> bool:
        return self._results.ended(self._at)


class _Folder:
    """A run in a results folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        read: dict[str, Any] = json.loads(self.summary())
        self.label = str(read["label"])

    def table(self, name: str) -> Path:
        return self._folder / f"{name}.parquet"

    def series(self) -> None:
        return None

    def summary(self) -> str:
        return _text(self._folder / "summary.json")

    def manifest(self) -> dict[str, Any]:
        return _json(self._folder / "manifest.json")

    def warnings(self) -> list[str]:
        return [str(one["text"]) for one in self.manifest().get("warnings", [])]

    def complete(self) -> bool:
        return bool(self.manifest().get("complete"))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise RunError(f"could not read: {error.strerror}", file=str(path)) from error


def _json(path: Path) -> dict[str, Any]:
    try:
        read = json.loads(_text(path))
    except ValueError as error:
        raise RunError(f"not JSON: {error}", file=str(path)) from error
    if not isinstance(read, dict):
        raise RunError("expected a JSON object", file=str(path))
    return read


def load_folder(folder: Path) -> Results:
    """Reads a results folder."""
    manifest = _json(folder / "manifest.json")
    if (folder / "summary.json").is_file():
        return _told([Run(_Folder(folder))], folder)
    names = manifest.get("scenario", {}).get("transport", {}).get("names")
    if not isinstance(names, list):
        raise RunError("the manifest of no results folder: it has no scenario", file=str(folder))
    # A run that was stopped has no folders for the transports that were still to come.
    done = [name for name in names if (folder / name / "summary.json").is_file()]
    if not done:
        again = "`incast run` with the folder repeats it"
        raise RunError(f"the run was ended before it had results: {again}", file=str(folder))
    if lost := [name for name in names if name not in done]:
        text = f"{folder}: no results of {', '.join(lost)}: the run was ended before"
        warnings.warn(text, RunWarning, stacklevel=3)
    return _told([Run(_Folder(folder / name)) for name in done], folder)


def _told(runs: list[Run], folder: Path) -> Results:
    """Results of which it is said which runs did not come to their ends."""
    if partial := [run.label for run in runs if not run.complete]:
        text = f"{folder}: partial results of {', '.join(partial)}: the run did not come to its end"
        warnings.warn(text, RunWarning, stacklevel=4)
    return Results(runs, folder)
