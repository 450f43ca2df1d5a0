"""Charts of studies as Altair charts."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import altair as alt
import polars as pl

from . import _incast
from . import _style as style
from ._errors import RunError
from ._study import within

if TYPE_CHECKING:
    from ._study import Study


class StudyCharts:
    """Charts of a study. Each is an Altair chart, to be changed, combined and saved."""

    def __init__(self, study: Study) -> None:
        self._study = study

    def _axis(self, x: str | None) -> tuple[str, list[str]]:
        """The key along the x axis, and those that make a picture each."""
        keys = self._study.keys
        frame = self._study.frame
        if not keys:
            raise RunError("nothing is varied: there is no curve to draw")
        if x is not None and x not in keys:
            raise RunError(f"expected one of {', '.join(keys)}", key="x", value=x)
        # The one with most values, of those that are numbers.
        numbers = [key for key in keys if frame[key].dtype.is_numeric()] or keys
        chosen = x or max(numbers, key=lambda key: frame[key].n_unique())
        return chosen, [key for key in keys if key != chosen and frame[key].n_unique() > 1]

    def _title(self, key: str, value: str = "") -> str:
        """What a varied key is called, with its unit."""
        title = self._study.titles[key]
        return f"{title} ({value})" if value else title

    def _number(self, number: str, largest: float) -> tuple[str, float]:
        """What a number is called, with its unit, and what its values are divided by."""
        title, unit, scale = _incast.shown(number, largest) or (number, "", 1.0)
        return (f"{title} ({unit})" if unit else title), scale

    def curve(self, number: str = "slowdown_p99", x: str | None = None) -> Any:
        """A number against a varied key: the mean over seeds with its 95 % confidence interval. Other
        varied keys make a picture each.

        Args:
            number: a column of the study's `frame`.
            x: the varied key. None: the one with most values.
        """
        along, others = self._axis(x)
        points = self._study.curves(number).filter(pl.col("mean").is_not_null())
        title, scale = self._number(number, float(points["mean"].max() or 0.0))  # type: ignore[arg-type]
        points = points.with_columns(pl.col("mean", "low", "high") / scale)
        return self._drawn(points, along, others, title, [title, f"{number} against {along}"])

    def difference(
        self, number: str = "slowdown_p99", baseline: str | None = None, x: str | None = None
    ) -> Any:
        """Differences to a baseline, paired by seed, since equal seeds have equal arrivals: the mean in
        percent of the baseline with its 95 % confidence interval. An interval on one side of zero is a
        difference.

        Args:
            number: a column of the study's `frame`.
            baseline: a label. None: that of the study.
            x: the varied key. None: the one with most values.
        """
        along, others = self._axis(x)
        keys = self._study.keys
        base = baseline or self._study.baseline
        if base not in self._study.labels:
            raise RunError(
                f"expected one of {', '.join(self._study.labels)}", key="baseline", value=base
            )
        frame = self._study.frame.select("label", "seed", *keys, number).drop_nulls(number)
        theirs = frame.filter(pl.col("label") == base).drop("label").rename({number: "theirs"})
        pairs = frame.filter(pl.col("label") != base).join(
            theirs, on=["seed", *keys], nulls_equal=True, maintain_order="left"
        )
        groups = pairs.group_by(["label", *keys], maintain_order=True).agg(number, "theirs")
        if groups.is_empty():
            raise RunError(f"there is nothing beside `{base}` to compare")
        both = zip(groups[number].to_list(), groups["theirs"].to_list(), strict=True)
        found = [_incast.difference(list(zip(own, base, strict=True))) for own, base in both]
        points = groups.drop(number, "theirs").hstack(within(found))
        what = (_incast.shown(number, 0.0) or (number, "", 1.0))[0]
        heading = [f"{what}: difference to {base}", f"{number} against {along}, paired by seed"]
        return self._drawn(points, along, others, f"difference to {base} (%)", heading, zero=True)

    def _drawn(
        self,
        points: pl.DataFrame,
        along: str,
        others: list[str],
        y_title: str,
        heading: list[str],
        zero: bool = False,
    ) -> Any:
        order = [label for label in self._study.labels if label in points["label"]]
        # Dots in names are paths in Vega-Lite.
        names = {along: "x", **{key: f"facet{at}" for at, key in enumerate(others)}}
        points = points.rename(names)
        numeric = points["x"].dtype.is_numeric()
        title = alt.Title(textwrap.wrap(heading[0], 56), subtitle=heading[1])
        if numeric:
            largest = float(points["x"].max() or 0.0)  # type: ignore[arg-type]
            unit, scale = _incast.display_unit(self._study.units[along], largest)
            points = points.with_columns(pl.col("x") / scale)
            x = alt.X("x:Q").title(self._title(along, unit)).axis(style.numbers(points["x"]))
            x = x.scale(zero=False, padding=12, nice=False)
        else:
            x = alt.X("x:N").title(self._title(along))
        vertical = alt.Scale(zero=True) if zero else alt.Scale(zero=False)
        base = alt.Chart(points).encode(x=x, color=style.colour("label:N", order))
        y = alt.Y("mean:Q").scale(vertical).title(textwrap.wrap(y_title, 44))
        tooltip = ["label", alt.Tooltip("x").title(along), "mean", "low", "high"]
        layers: list[Any] = [
            base.mark_rule(strokeWidth=1.5).encode(y=alt.Y("low:Q"), y2="high:Q"),
            base.mark_point(filled=True, size=55, opacity=1).encode(
                y=y, shape=style.shape("label:N", order), tooltip=tooltip
            ),
        ]
        if numeric:
            lines = base.mark_line(strokeWidth=1.8).encode(
                y=y, strokeDash=style.dash("label:N", order), order="x:Q"
            )
            layers.insert(0, lines)
        if zero:
            layers.insert(0, alt.Chart(points).mark_rule(color="#888888").encode(y=alt.datum(0)))
        if not others:
            return alt.layer(*layers).properties(title=title, width=420, height=280)
        small = alt.layer(*layers).properties(width=240, height=180)
        return small.facet(**self._facets(others)).properties(title=title)

    def _facets(self, keys: list[str]) -> dict[str, Any]:
        """Small multiples by the first two of these keys; of one key in rows of four."""
        if len(keys) == 1:
            return {"facet": alt.Facet("facet0:N").title(self._title(keys[0])), "columns": 4}
        return {
            "column": alt.Column("facet0:N").title(self._title(keys[0])),
            "row": alt.Row("facet1:N").title(self._title(keys[1])),
        }

    def slowdown_by_size(self, percentiles: Sequence[float] = (50, 99), most: int = 3) -> Any:
        """Slowdown by size of the flow, over all seeds, as in the study's page: a row of small multiples per percentile,
        a column per point.

        Args:
            percentiles: of the slowdown, by nearest rank, at most 1/128 off; 0 to 100, to a tenth.
            most: points that are drawn: the first, the last, and what lies evenly between.
        """
        shares = _thousandths(percentiles)
        keys = [key for key in self._study.keys if self._study.frame[key].n_unique() > 1]
        frame = self._study.frame
        places = frame.select(keys).unique(maintain_order=True).to_dicts() if keys else [{}]
        chosen = [places[at] for at in _spread(len(places), most)]
        parts = []
        for place in chosen:
            title = ", ".join(f"{self._title(key)} {value}" for key, value in place.items())
            for label in self._study.labels:
                own = frame.filter(pl.col("label") == label, *(pl.col(key).eq_missing(value) for key, value in place.items()))
                found = pl.DataFrame(_incast.by_size_of_rows(_lists(own, BINS), _lists(own, CELLS), shares))
                parts.append(found.with_columns(pl.lit(label).alias("label"), pl.lit(title).alias("place")))
        points = pl.concat(parts).with_columns(
            pl.col("percentile").map_elements(_name, return_dtype=pl.String)
        )
        if points.is_empty():
            raise RunError("no flow is complete: there is nothing to draw")
        order = [label for label in self._study.labels if label in points["label"]]
        rows = alt.Row("percentile:N").sort([_name(share / 10) for share in shares]).title(None)
        facets: dict[str, Any] = {"row": rows}
        if keys:
            titles = points["place"].unique(maintain_order=True).to_list()
            facets["column"] = alt.Column("place:N").sort(titles).title(None)
        more = len(places) - len(chosen)
        notes = [style.HOLLOW, *([f"{more} more points are in study.parquet"] if more else [])]
        return style.by_size(
            points,
            order,
            "label",
            alt.Y("slowdown:Q").scale(type="log", nice=False).axis(style.plain(points["slowdown"])),
            tooltip=["label", "percentile", "flows", "size_bytes", "slowdown"],
            facets=facets,
            title=alt.Title("Slowdown by flow size", subtitle=notes),
        )


#: Columns of a study's frame: bins of sizes, and cells of the histogram of the slowdown.
BINS = ["size_bin_from_bytes", "size_bin_flows", "size_bin_payload_bytes"]
CELLS = ["histogram_size_bytes", "histogram_slowdown", "histogram_flows"]


def _lists(rows: pl.DataFrame, columns: list[str]) -> list[Any]:
    """The lists of these columns, all rows together."""
    return rows.select(columns).explode(columns).drop_nulls().rows()


def _spread(count: int, most: int) -> list[int]:
    """At most so many of these, the last among them, and the first if there are several."""
    if count <= most:
        return list(range(count))
    if most < 2:
        return [count - 1]
    return [at * (count - 1) // (most - 1) for at in range(most)]


def _thousandths(percentiles: Sequence[float]) -> list[int]:
    for one in percentiles:
        if not 0 <= one <= 100:
            raise RunError("expected 0 to 100", key="percentiles", value=str(one))
    return [round(one * 10) for one in percentiles]


def _name(percentile: float) -> str:
    """What a percentile is called."""
    return {50.0: style.PERCENTILES[0], 99.0: style.PERCENTILES[1]}.get(percentile, f"p{percentile:g}")
