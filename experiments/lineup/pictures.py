"""The five pictures of the line-up, as SVG, from the kept results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import altair as alt
import polars as pl

from results import PARTS, Results

#: The palette of the other charts (python/incast/_style.py): it also works for colour-blind readers.
BLUE, ORANGE, GREEN, PINK, YELLOW = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00"
PART_COLOURS = [BLUE, "#B07A00", "#F0E442", GREEN, "#00573F", "#D52B00", "#CFCFCF"]

TICKS = [one * ten for ten in (1, 10, 100, 1000) for one in (1, 2, 5)]


def _points(results: Results, series: list[tuple[str, str, str, str]]) -> pl.DataFrame:
    """The mean of each label: `series` are the panel, the name in the legend, the scenario, the configuration."""
    rows = []
    for panel, name, scenario, configuration in series:
        for label in results.labels:
            mean = results.mean(label, scenario, configuration)
            if mean is not None:
                rows.append({"panel": panel, "name": name, "label": label, "value": mean})
    return pl.DataFrame(rows)


def _dots(results: Results, series: list[tuple[str, str, str, str]], order: list[str], title: str, colours: list[str]) -> Any:
    """A row per transport: its numbers as dots on a logarithmic axis, joined by a line; a panel beside the other."""
    points = _points(results, series)
    names = list(dict.fromkeys(one[1] for one in series))
    charts = []
    for at, panel in enumerate(dict.fromkeys(one[0] for one in series)):
        own = points.filter(pl.col("panel") == panel)
        y = alt.Y("label:N", sort=order, title=None, axis=alt.Axis(labels=at == 0, ticks=False, grid=True, labelLimit=0, domain=False))
        x = alt.X("value:Q", title=title).scale(type="log", nice=False, domainMin=0.9).axis(format="~g", values=TICKS, labelOverlap="greedy")
        base = alt.Chart(own).encode(y=y)
        line = base.mark_rule(color="#999999").encode(x=alt.X("min(value):Q").scale(type="log", nice=False, domainMin=0.9), x2="max(value):Q")
        dots = base.mark_point(filled=True, size=42, opacity=1).encode(
            x=x,
            color=alt.Color("name:N", sort=names).scale(domain=names, range=colours[: len(names)]).legend(title=None, orient="top", symbolLimit=0, labelLimit=0),
            shape=alt.Shape("name:N", sort=names).scale(domain=names, range=["circle", "diamond", "square", "triangle-up"][: len(names)]).legend(title=None),
        )
        charts.append((line + dots).properties(title=panel, width=270, height=alt.Step(13)))
    return alt.hconcat(*charts, spacing=14)


def load(results: Results) -> Any:
    """The 99th percentile of the slowdown by load."""
    series = [
        (title, f"load {load}", f"{workload}-{load}", "own")
        for workload, title in (("web_search", "web search"), ("data_mining", "data mining"))
        for load in (0.3, 0.6, 0.8)
    ]
    return _dots(results, series, results.order("web_search-0.6"), "slowdown, 99th percentile", [GREEN, BLUE, ORANGE])


def routing(results: Results) -> Any:
    """Each under its authors' routing, and all on one path per flow."""
    names = (("as its authors", "own"), ("one path per flow", "same"))
    series = [("web search, load 0.6: slowdown, 99th percentile", name, "web_search-0.6", at) for name, at in names]
    series += [("permutation: last flow", name, "permutation", at) for name, at in names]
    return _dots(results, series, results.order("permutation"), "times the least possible", [BLUE, ORANGE])


def incast(results: Results) -> Any:
    """Incasts by fan-in, with both buffers."""
    names = (("buffers of 4 BDP", "own"), ("1 BDP", "small"))
    series = [(f"incast of {fan_in}", name, f"incast-{fan_in}", at) for fan_in in (16, 64, 256) for name, at in names]
    return _dots(results, series, results.order("incast-64"), "last flow, times the least possible", [BLUE, ORANGE])


def uplink(results: Results) -> Any:
    """A permutation on a whole fabric, with a failed and with a slow uplink; and an all-to-all."""
    names = (("all links whole", "permutation"), ("an uplink fails", "failed"), ("an uplink at a quarter of its rate", "slow"))
    series = [("permutation", name, scenario, "own") for name, scenario in names]
    series += [("all to all", "all links whole", "all_to_all", "own")]
    return _dots(results, series, results.order("permutation"), "last flow, times the least possible", [BLUE, ORANGE, PINK])


def breakdown(results: Results) -> Any:
    """Where the mean flow's time goes, of short flows and of all."""
    scenario, names = "web_search-0.6", list(PARTS)
    sums = {one: sum(results.parts(one, scenario).values()) for one in results.order(scenario)}
    order = sorted(sums, key=lambda one: sums[one])
    charts = []
    for title, flows, most in (("flows under 100 KB", "short_", 100), ("all flows", "", 900)):
        rows = [
            {"label": label, "part": part, "at": at, "value": value}
            for label in order
            for at, (part, value) in enumerate(results.parts(label, scenario, flows=flows).items())
        ]
        y = alt.Y("label:N", sort=order, title=None, axis=alt.Axis(labels=not charts, ticks=False, labelLimit=0))
        x = alt.X("sum(value):Q", title="mean completion time, µs").scale(domain=[0, most], nice=False)
        parts = alt.Color("part:N", sort=names).scale(domain=names, range=PART_COLOURS)
        parts = parts.legend(title=None, orient="top", columns=4, symbolLimit=0, labelLimit=0)
        chart = alt.Chart(pl.DataFrame(rows)).mark_bar(clip=True).encode(y=y, x=x, color=parts, order="at:Q")
        charts.append(chart.properties(title=title, width=340, height=alt.Step(13)))
    return alt.hconcat(*charts, spacing=14)


PICTURES = {"load": load, "routing": routing, "breakdown": breakdown, "incast": incast, "uplink": uplink}


def write(results: Results, folder: Path) -> None:
    """Draws all."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, draw in PICTURES.items():
        draw(results).configure_axis(grid=True, gridOpacity=0.4).configure_view(strokeOpacity=0.2).save(folder / f"{name}.svg")
