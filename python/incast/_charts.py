"""Charts of results as Altair charts. `chart.save("x.svg")` and `.png` need no network."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import altair as alt
import polars as pl

from . import _incast
from . import _style as style
from ._errors import RunError

if TYPE_CHECKING:
    from ._results import Results, Run

#: What a chart is; each can be changed, combined and saved.
Chart: TypeAlias = alt.Chart | alt.LayerChart | alt.FacetChart

#: Flows of at least this many bytes are long (KB = 1000).
LONG_FLOW_BYTES = 100_000
#: Most lines of a chart over time.
LINES = 8

#: Parts of the completion time: column without `_ps`, what it is, colour.
PARTS = _incast.parts()


class Charts:
    """The charts of the report. Each is an Altair chart, to be changed, combined and saved."""

    def __init__(self, results: Results) -> None:
        self._results = results

    # -- flows

    def _flows(self) -> tuple[pl.DataFrame, list[str]]:
        """Measured, completed flows with the line to which each belongs, and all lines in order."""
        flows = self._results.flows.filter(~pl.col("warmup"))
        lines = flows.select("run", "transport").unique(maintain_order=True)
        mixed = lines.height > lines["run"].n_unique()
        name = pl.col("run")
        if mixed:
            alone = lines["run"].n_unique() == 1
            name = pl.col("transport") if alone else pl.format("{}: {}", "run", "transport")
        flows = flows.with_columns(name.alias("line"))
        order = flows["line"].unique(maintain_order=True).to_list()
        done = flows.filter(pl.col("fct_ps").is_not_null())
        if done.is_empty():
            raise RunError("no measured flow is complete: there is nothing to draw")
        return done, order

    def _by_size(self, column: str, title: str, what: str) -> Chart:
        flows, order = self._flows()
        bins = pl.concat(
            pl.DataFrame(_incast.by_size(*(own[name].to_list() for name in ("size_bytes", "fct_ns", "slowdown"))))
            .select(pl.lit(line).alias("line"), pl.all())
            for line in order
            if (own := flows.filter(pl.col("line") == line)).height > 0
        )
        axis = style.times(bins[column]) if column == "fct_ns" else style.plain(bins[column])
        y = alt.Y(f"{column}:Q").scale(type="log", nice=False).title(title).axis(axis)
        tooltip = ["line", "percentile", "flows", "size_bytes", column, f"{column}_low", f"{column}_high"]
        return style.by_size(
            bins,
            order,
            "line",
            y,
            between=(f"{column}_low", f"{column}_high"),
            tooltip=tooltip,
            facets={"column": alt.Column("percentile:N").sort(style.PERCENTILES).title(None)},
            title=alt.Title(f"{title[0].upper()}{title[1:]} by flow size", subtitle=[what, style.HOLLOW]),
        )

    def slowdown_by_size(self) -> Chart:
        """Slowdown by size of the flow, as in the report: medians beside 99th percentiles, in bins of a factor of two,
        with 95 % confidence intervals. Below 100 flows in a bin the 99th percentile is the slowest flow: hollow."""
        return self._by_size("slowdown", "slowdown", "1 is the time alone on an empty network")

    def fct_by_size(self) -> Chart:
        """Completion time by size of the flow, likewise."""
        return self._by_size("fct_ns", "flow completion time", "from its start to the arrival of its last byte")

    def _distribution(self, column: str, title: str) -> Chart:
        flows, order = self._flows()
        shares = [*range(0, 990, 5), *range(990, 1001)]
        points = pl.concat(
            pl.DataFrame({column: _incast.percentiles(own[column].to_list(), shares)}).with_columns(
                pl.lit(name).alias("line"), pl.Series("share", shares) / 10
            )
            for (name,), own in flows.group_by("line", maintain_order=True)
        )
        values = points[column]
        axis = style.times(values) if column == "fct_ns" else style.plain(values)
        chart: Chart = (
            alt.Chart(points)
            .mark_line(strokeWidth=2)
            .encode(
                x=alt.X(f"{column}:Q").scale(type="log", nice=False).axis(axis).title(title),
                y=alt.Y("share:Q").scale(domain=[0, 100]).title("share of flows (%)"),
                color=style.colour("line:N", order),
                strokeDash=style.dash("line:N", order),
                order="share:Q",
                tooltip=["line", "share", column],
            )
            .properties(title=f"Distribution of the {title}", width=480, height=300)
        )
        return chart

    def slowdown_distribution(self) -> Chart:
        """Share of completed flows with at most this slowdown."""
        return self._distribution("slowdown", "slowdown")

    def fct_distribution(self) -> Chart:
        """Share of completed flows with at most this completion time."""
        return self._distribution("fct_ns", "flow completion time")

    def breakdown(self, *, long: bool = False) -> Chart:
        """Mean completion time of short flows (under 100 KB), or of long ones, in its parts: what the
        byte that came last waited for."""
        flows, order = self._flows()
        chosen = flows.filter((pl.col("size_bytes") >= LONG_FLOW_BYTES) == long)
        names = [f"{column}_ps" for column, _, _ in PARTS]
        own = {line: chosen.filter(pl.col("line") == line) for line in order if line in chosen["line"]}
        bars = [(line, [flows[name].to_list() for name in names]) for line, flows in own.items()]
        found = _incast.breakdown(bars, long)
        if found is None:
            raise RunError(f"no {'long' if long else 'short'} flow is complete: there is nothing to draw")
        title, label, table = found
        bar = pl.col("y").cast(pl.Int64).replace_strict(dict(enumerate(own)), return_dtype=pl.String)
        points = pl.DataFrame(table).select(bar.alias("line"), pl.col("line").alias("part"), pl.col("x").alias("time"))
        shown = [(text, colour) for _, text, colour in PARTS if text in points["part"]]
        at = {text: place for place, (_, text, _) in enumerate(PARTS)}
        chart: Chart = (
            alt.Chart(points.with_columns(pl.col("part").replace_strict(at).alias("at")))
            .mark_bar(stroke="#444444", strokeWidth=0.3)
            .encode(
                x=alt.X("time:Q").title(label),
                y=alt.Y("line:N").sort(order).title(None),
                color=alt.Color("part:N")
                .scale(domain=[text for text, _ in shown], range=[colour for _, colour in shown])
                .legend(**style.legend([text for text, _ in shown])),
                order="at:Q",
                tooltip=["line", "part", "time"],
            )
            .properties(
                title=title,
                width=480,
                height=alt.Step(34),
            )
        )
        return chart

    # -- over time

    def queues(self) -> Chart:
        """Largest backlog over time: at the fullest ports of one run, or the fullest of each."""
        runs = list(self._results)[:LINES]
        count = 5 if len(runs) == 1 else 1
        parts = []
        for run in runs:
            ports = run.ports.select("port", "name", "tier", "time_ns", "backlog_max_bytes")
            nics = (ports["tier"] == "nic").to_list()
            for port in _incast.fullest(ports["port"].to_list(), nics, ports["backlog_max_bytes"].to_list(), count):
                own = ports.filter(pl.col("port") == port)
                name = own["name"][0]
                line = name if len(runs) == 1 else f"{run.label}: {name}"
                kilobytes = (pl.col("backlog_max_bytes") / 1e3).alias("value")
                parts.append(_over_time(run, own.select("time_ns", kilobytes), line, largest=True))
        return _time_chart(parts, "largest backlog (KB)", "Queues over time")

    def throughput(self) -> Chart:
        """Charged bytes on all links to the hosts over time."""
        parts = []
        for run in list(self._results)[:LINES]:
            down = run.ports.filter(pl.col("tier") == "edge", ~pl.col("upward"))
            rates = down.select("time_ns", pl.col("throughput_gbps").alias("value"))
            parts.append(_over_time(run, rates, run.label))
        return _time_chart(parts, "throughput (Gb/s)", "Traffic to the hosts over time")

    def shares(self, label: str | None = None) -> Chart:
        """Payload delivered by the flows of each transport over time, in a run with several.

        Args:
            label: the run. None: the first one.
        """
        run = self._results[0 if label is None else label]
        parts = [
            _over_time(run, one.select("time_ns", pl.col("throughput_gbps").alias("value")), name)
            for (name,), one in run.fairness.group_by("transport", maintain_order=True)
        ]
        return _time_chart(parts, "throughput (Gb/s)", f"Throughput of transports over time: {run.label}")

    def series(self, label: str | None = None) -> Chart:
        """Throughput of single flows over time, of those that were recorded (`run.watch`).

        Args:
            label: the run. None: the first one.
        """
        run = self._results[0 if label is None else label]
        rate = (pl.col("delivered_bytes") * 8 / pl.col("interval_ns")).alias("value")
        ends = {row["flow_id"]: row for row in run.flows.select("flow_id", "src", "dst").to_dicts()}
        parts = []
        for (flow,), one in list(run.series.group_by("flow_id", maintain_order=True))[:LINES]:
            line = f"flow {flow}: {ends[flow]['src']} to {ends[flow]['dst']}"
            parts.append(_over_time(run, one.select("time_ns", rate), line))
        return _time_chart(parts, "throughput (Gb/s)", f"Throughput of flows over time: {run.label}")

    def all(self) -> dict[str, Chart]:
        """Every chart for which there is data, by name."""
        makers: dict[str, Callable[[], Chart]] = {
            "slowdown_by_size": self.slowdown_by_size,
            "fct_by_size": self.fct_by_size,
            "time_of_short_flows": self.breakdown,
            "time_of_long_flows": lambda: self.breakdown(long=True),
            "throughput_over_time": self.throughput,
            "queues_over_time": self.queues,
            "slowdown_distribution": self.slowdown_distribution,
            "fct_distribution": self.fct_distribution,
        }
        found: dict[str, Chart] = {}
        for name, make in makers.items():
            try:
                found[name] = make()
            except RunError:
                continue
        return found


def _over_time(run: Run, values: pl.DataFrame, line: str, *, largest: bool = False) -> pl.DataFrame:
    """A line over time, as in the report: rows of one interval are added up, or the largest counts."""
    lengths = run.ports["interval_ns"] if run.ports.height else run.fairness["interval_ns"]
    span = (float(run.manifest["series_start_ns"]), float(lengths.max()), float(run.summary["ended_ns"]))  # type: ignore[arg-type]
    times, joined = _incast.over_time(values["time_ns"].to_list(), values["value"].to_list(), span, largest)
    return pl.DataFrame({"time_ns": times, "value": joined}).select(pl.lit(line).alias("line"), "time_ns", "value")


def _time_chart(parts: list[pl.DataFrame], title: str, heading: str) -> Chart:
    if not parts:
        raise RunError("nothing was recorded over time: there is nothing to draw")
    points = pl.concat(parts)
    order = points["line"].unique(maintain_order=True).to_list()
    unit, length = _incast.display_unit("ns", float(points["time_ns"].max() or 0.0))  # type: ignore[arg-type]
    chart: Chart = (
        alt.Chart(points.with_columns((pl.col("time_ns") / length).alias("time")))
        .mark_line(strokeWidth=1.6)
        .encode(
            x=alt.X("time:Q").title(f"time since the start of the run ({unit})"),
            y=alt.Y("value:Q").title(title),
            color=style.colour("line:N", order),
            strokeDash=style.dash("line:N", order),
            order="time:Q",
            tooltip=["line", "time", "value"],
        )
        .properties(title=heading, width=560, height=260)
    )
    return chart
