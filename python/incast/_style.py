"""One look for all charts: it also works in print, in grey and for colour-blind readers."""

from __future__ import annotations

from typing import Any

import altair as alt
import polars as pl

from . import _incast

if alt.renderers.active == "default":
    # The default loads a library from the network. A picture needs none, and shows wherever the notebook does.
    alt.renderers.enable("svg")

SHAPES = ["circle", "square", "diamond", "triangle-up", "cross", "triangle-down", "triangle-right"]
DASHES = [[1, 0], [7, 3], [2, 2], [9, 3, 2, 3], [4, 4], [12, 4], [1, 3]]


def _turned(values: list[Any], order: list[str], shift: int = 0) -> list[Any]:
    """A value per line; after a full turn they are shifted, so that no combination repeats for long."""
    _, looks = _incast.looks(order)
    return [values[(at + shift * (at // len(values))) % len(values)] for at in looks]


def legend(names: list[str]) -> dict[str, Any]:
    """A legend of all its names. A picture is as wide as they are in the font it is laid out with; they may be an eighth
    wider in that of the viewer, which only has the space between."""
    space = max(map(len, names), default=0)
    return {"title": None, "symbolLimit": 0, "labelLimit": 0, "offset": 4, "padding": 10 + space}


def colour(field: str, order: list[str]) -> alt.Color:
    """Colours of lines in a fixed order."""
    scale = alt.Scale(domain=order, range=_turned(_incast.looks([])[0], order))
    return alt.Color(field).scale(scale).legend(**legend(order))


def shape(field: str, order: list[str]) -> alt.Shape:
    """Markers of lines in the same order."""
    scale = alt.Scale(domain=order, range=_turned(SHAPES, order, 1))
    return alt.Shape(field).scale(scale).legend(**legend(order))


def dash(field: str, order: list[str]) -> alt.StrokeDash:
    """Dashes of lines in the same order."""
    scale = alt.Scale(domain=order, range=_turned(DASHES, order, 1))
    return alt.StrokeDash(field).scale(scale).legend(**legend(order))


_SIZE = (
    "datum.value >= 1e9 ? format(datum.value / 1e9, '~g') + ' GB' : "
    "datum.value >= 1e6 ? format(datum.value / 1e6, '~g') + ' MB' : "
    "datum.value >= 1e3 ? format(datum.value / 1e3, '~g') + ' KB' : format(datum.value, '~g') + ' B'"
)
_TIME = (
    "datum.value >= 1e9 ? format(datum.value / 1e9, '~g') + ' s' : "
    "datum.value >= 1e6 ? format(datum.value / 1e6, '~g') + ' ms' : "
    "datum.value >= 1e3 ? format(datum.value / 1e3, '~g') + ' µs' : format(datum.value, '~g') + ' ns'"
)


#: Labels of ticks never touch: those that would are left out.
APART: dict[str, Any] = {"labelOverlap": "greedy", "labelSeparation": 8}

#: Most values of a key that each have a tick.
MOST_TICKS = 12


def numbers(values: pl.Series) -> alt.Axis:
    """An axis of plain numbers: a tick for each value if there are few."""
    distinct = sorted(set(values.drop_nulls().to_list()))
    if len(distinct) <= MOST_TICKS:
        return alt.Axis(format=".4~r", values=distinct, **APART)
    return alt.Axis(format=".4~r", **APART)


def ticks(values: pl.Series) -> list[float]:
    """Ticks of a logarithmic axis, as in the report."""
    return _incast.ticks(values.drop_nulls().to_list())


def plain(values: pl.Series) -> alt.Axis:
    """A logarithmic axis with plain numbers: 1, 10, 100."""
    return alt.Axis(format="~g", values=ticks(values), **APART)


def sizes(values: pl.Series) -> alt.Axis:
    """A logarithmic axis of bytes (KB = 1000)."""
    return alt.Axis(labelExpr=_SIZE, values=ticks(values), **APART)


def times(values: pl.Series) -> alt.Axis:
    """A logarithmic axis of times, of values in nanoseconds."""
    return alt.Axis(labelExpr=_TIME, values=ticks(values), **APART)


#: The small multiples of charts by size.
PERCENTILES = ["median", "99th percentile"]
#: Flows of a bin below which its 99th percentile is the slowest of them.
FEW = 100
HOLLOW = f"hollow: fewer than {FEW} flows, so the 99th percentile is the slowest"


def by_size(
    points: pl.DataFrame,
    order: list[str],
    name: str,
    y: alt.Y,
    *,
    tooltip: list[str],
    facets: dict[str, Any],
    title: alt.Title,
    between: tuple[str, str] | None = None,
) -> alt.FacetChart:
    """Small multiples by `size_bytes`: a line per `name`, over points that the engine has made."""
    field = f"{name}:N"
    x = alt.X("size_bytes:Q").scale(type="log", nice=False).axis(sizes(points["size_bytes"]))
    hollow = f"datum.flows < {FEW} && datum.percentile != '{PERCENTILES[0]}'"
    base = alt.Chart().encode(x=x.title("flow size (payload)"), color=colour(field, order))
    layers: list[Any] = [
        base.mark_line(strokeWidth=1.8).encode(y=y),
        base.transform_filter(f"!({hollow})")
        .mark_point(filled=True, size=45, opacity=1)
        .encode(y=y, shape=shape(field, order), tooltip=tooltip),
        base.transform_filter(hollow)
        .mark_point(fill="white", size=38, strokeWidth=1.6, opacity=1)
        .encode(y=y, shape=shape(field, order), tooltip=tooltip),
    ]
    if between:
        low, high = between
        ends = f"isValid(datum.{low}) && isValid(datum.{high})"
        rule = base.transform_filter(ends).mark_rule(strokeWidth=1)
        layers.insert(0, rule.encode(y=alt.Y(f"{low}:Q"), y2=f"{high}:Q"))
    picture = alt.layer(*layers, data=points).properties(width=300, height=260)
    return picture.facet(**facets).properties(title=title)
