"""Results of runs: frames, summaries, manifests, charts."""

from __future__ import annotations

import functools
import json
import os
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from . import _incast
from ._errors import RunError, RunWarning

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    from ._charts import Charts
    from ._explain import Explanation, IterationExplanation, Side


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

    def __init__(self, source: _incast.Results, at: int) -> None:
        self._source, self._at = source, at

    @property
    def label(self) -> str:
        """What the run is called: its transport."""
        return self._source.labels[self._at]

    @functools.cached_property
    def flows(self) -> polars.DataFrame:
        """One row per flow, with a breakdown of its completion time (docs/results.md)."""
        return _polars(self._source.table(self._at, "flows"))

    @functools.cached_property
    def ports(self) -> polars.DataFrame:
        """One row per port and interval in which something happened."""
        return _polars(self._source.table(self._at, "ports"))

    @functools.cached_property
    def fairness(self) -> polars.DataFrame:
        """One row per transport and interval."""
        return _polars(self._source.table(self._at, "fairness"))

    @functools.cached_property
    def collectives(self) -> polars.DataFrame:
        """One row per iteration of each collective (traffic of kind `collective`)."""
        if "collectives" not in self.summary:
            raise RunError("the run has no collectives: its scenario has no traffic of kind `collective`")
        return _polars(self._source.table(self._at, "collectives"))

    @functools.cached_property
    def ranks(self) -> polars.DataFrame:
        """One row per rank of each program (traffic of kind `program`)."""
        if "programs" not in self.summary:
            raise RunError("the run has no programs: its scenario has no traffic of kind `program`")
        return _polars(self._source.table(self._at, "ranks"))

    @functools.cached_property
    def servers(self) -> polars.DataFrame:
        """One row per server, its NICs together, of networks whose servers have several."""
        if "servers" not in self.summary:
            raise RunError("the run has no servers of several NICs: each host is one")
        return _polars(self._source.table(self._at, "servers"))

    @functools.cached_property
    def series(self) -> polars.DataFrame:
        """Payload delivered over time by each flow of `run.watch`; only of runs of this process."""
        table = self._source.series(self._at)
        if table is None:
            raise RunError("a results folder has no series of single flows: repeat the run with incast.run")
        return _polars(table)

    @functools.cached_property
    def summary(self) -> dict[str, Any]:
        """The run in numbers, as `summary.json`: `summary["all"]["slowdown"]["p99"]`."""
        read: dict[str, Any] = json.loads(self._source.summary(self._at))
        return read

    @functools.cached_property
    def manifest(self) -> dict[str, Any]:
        """Everything needed to repeat the run, and where it ran."""
        read: dict[str, Any] = json.loads(self._source.run_manifest(self._at))
        return read

    @property
    def warnings(self) -> list[str]:
        """What should be known before the run is trusted."""
        return self._source.warnings(self._at)

    @property
    def complete(self) -> bool:
        """Whether the run ended by itself and some flow is complete."""
        return self._source.ended(self._at)

    def pyarrow(self, table: str = "flows") -> pyarrow.Table:
        """A table (`flows`, `ports`, `fairness`, `collectives`, `ranks`, `servers`) for pyarrow, with units as metadata of its fields."""
        import pyarrow

        found = self._source.table(self._at, table)
        if isinstance(found, Path):
            import pyarrow.parquet

            return pyarrow.parquet.read_table(found)
        return pyarrow.table(found)

    def pandas(self, table: str = "flows") -> pandas.DataFrame:
        """A table (`flows`, `ports`, `fairness`, `collectives`, `ranks`, `servers`) for pandas; needs pandas and pyarrow."""
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

    def __init__(self, source: _incast.Results) -> None:
        self._runs = [Run(source, at) for at in range(len(source.labels))]
        self._source = source

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
        return self._source.complete

    @property
    def place(self) -> Path | None:
        """The results folder, if there is one."""
        return self._source.place

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
    def ranks(self) -> polars.DataFrame:
        """One row per run, program and rank."""
        return self._all(run.ranks for run in self._runs)

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
            [{"run": run.label, **dict(json.loads(self._source.numbers(run._at)))} for run in self._runs],
            infer_schema_length=None,
        )

    @functools.cached_property
    def manifest(self) -> dict[str, Any]:
        """The scenario with every default, hashes of its input files, and where it ran."""
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
        self, iteration: int, *, collective: int | None = None, job: str | None = None, transport: str | None = None
    ) -> IterationExplanation:
        """Says why an iteration of a collective or a program took as long as it did: `incast.explain_iteration` of these results."""
        from ._explain import explain_iteration

        return explain_iteration(self, iteration, collective=collective, job=job, transport=transport)

    def save(self, out: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Writes the results folder that the command writes; `force` replaces one. Returns its path."""
        return self._source.save(os.fspath(out), force)

    def comparison(self, width: int = 120) -> str:
        """The table of all runs as text of at most this many characters per line."""
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
        return f"{style}<div class='incast'>{self._source.comparison(None)}{notes}</div>"


def load_folder(folder: Path) -> Results:
    """Reads a results folder."""
    source = _incast.stored(os.fspath(folder))
    for note in source.notes:
        warnings.warn(f"{folder}: {note}", RunWarning, stacklevel=3)
    return Results(source)
