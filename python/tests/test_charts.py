"""Charts: the numbers they show, and that they are drawn without a network."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import incast


def rows(chart: Any) -> list[dict[str, Any]]:
    """The data of a chart."""
    data = chart.to_dict()["datasets"]
    assert len(data) == 1
    return list(next(iter(data.values())))


def rank(values: list[float], share: float) -> float:
    """A percentile by nearest rank."""
    return sorted(values)[max(math.ceil(share * len(values)), 1) - 1]


@pytest.mark.parametrize("column", ["slowdown", "fct_ns"])
def test_the_numbers_by_size_are_those_of_the_flows(small: incast.Results, column: str) -> None:
    charts = small.charts
    shown = rows(charts.slowdown_by_size() if column == "slowdown" else charts.fct_by_size())
    for run in small:
        bins: dict[int, list[dict[str, Any]]] = {}
        for flow in run.flows.filter(~pl.col("warmup")).to_dicts():
            bins.setdefault(int(math.log2(flow["size_bytes"])), []).append(flow)
        for what, share in (("median", 0.5), ("99th percentile", 0.99)):
            own = [row for row in shown if row["line"] == run.label and row["percentile"] == what]
            assert len(own) == len(bins)
            for row, (bits, members) in zip(own, sorted(bins.items()), strict=True):
                assert row["size_from_bytes"] == 2**bits
                assert row["flows"] == len(members)
                assert row["size_bytes"] == pytest.approx(sum(flow["size_bytes"] for flow in members) / len(members))
                assert row[column] == rank([flow[column] for flow in members], share)


def test_the_chart_by_size_has_the_numbers_of_the_report(small: incast.Results) -> None:
    """Each point of the report's chart is one of ours: same bins, same percentiles, same intervals."""
    page = small.report()
    ours = rows(small.charts.slowdown_by_size())
    for row in ours:
        # The report tells the value and its flows when pointed at, to three digits.
        what = f"{row['percentile']} of {row['flows']} flows of"
        assert what in page, what
    between = [row for row in ours if row["slowdown_low"] is not None]
    assert all(row["slowdown_low"] <= row["slowdown"] <= row["slowdown_high"] for row in between)


def test_charts_have_the_points_of_the_report(small: incast.Results, tmp_path: Path) -> None:
    """What Altair draws is what the report's charts have, point by point."""
    folder = small.save(tmp_path / "results")
    drawn = small.charts.all()
    columns = {
        "slowdown_by_size": ("size_bytes", "slowdown"),
        "fct_by_size": ("size_bytes", "fct_ns"),
        "throughput_over_time": ("time", "value"),
        "slowdown_distribution": ("slowdown", "share"),
    }
    panels = {"x": "median", "x2": "99th percentile"}
    for name, (x, y) in columns.items():
        traces = json.loads((folder / "figures" / f"{name}.json").read_text())["data"]
        assert len(traces) == len(small) * (2 if name.endswith("by_size") else 1)
        for trace in traces:
            what = {"line": trace["name"]} | ({"percentile": panels[trace["xaxis"]]} if name.endswith("by_size") else {})
            own = [row for row in rows(drawn[name]) if what.items() <= row.items()]
            assert [row[x] for row in own] == pytest.approx(trace["x"]), f"{name} {what}"
            assert [row[y] for row in own] == pytest.approx(trace["y"]), f"{name} {what}"


def test_charts_by_size_are_small_multiples(small: incast.Results, tmp_path: Path) -> None:
    chart = small.charts.slowdown_by_size().to_dict()
    assert chart["facet"]["column"]["sort"] == ["median", "99th percentile"]
    # Points of few flows are hollow in the tail, and only there.
    small.charts.slowdown_by_size().save(tmp_path / "one.svg")
    text = (tmp_path / "one.svg").read_text()
    assert "median" in text and "99th percentile" in text and 'fill="white"' in text


def test_what_the_engine_cannot_bin_is_refused() -> None:
    from incast import _incast

    with pytest.raises(ValueError, match="different lengths"):
        _incast.by_size([1], [], [1.0])
    with pytest.raises(ValueError, match="begins at 5 bytes"):
        _incast.by_size_of_rows([(5, 1, 5)], [], [500])
    with pytest.raises(ValueError, match="1001 thousandths"):
        _incast.percentiles([1.0], [1001])
    assert _incast.percentiles([3.0, 1.0, 2.0], [0, 500, 1000]) == [1.0, 2.0, 3.0]
    with pytest.raises(ValueError, match="different lengths"):
        _incast.over_time([0.0], [], (0.0, 1.0, 1.0), False)
    with pytest.raises(ValueError, match="above 0"):
        _incast.over_time([], [], (0.0, 0.0, 1.0), False)
    with pytest.raises(ValueError, match="different lengths"):
        _incast.fullest([1], [], [5], 1)


def test_lines_over_time_have_a_value_an_interval() -> None:
    from incast import _incast

    # Intervals of 10 ns up to 36 ns: the last is 6 long. Two rows of the second add up, or the larger counts.
    begins, values, span = [10.0, 10.0, 30.0], [1.0, 3.0, 5.0], (0.0, 10.0, 36.0)
    assert _incast.over_time(begins, values, span, False) == ([5.0, 15.0, 25.0, 33.0], [0.0, 4.0, 0.0, 5.0])
    assert _incast.over_time(begins, values, span, True)[1] == [0.0, 3.0, 0.0, 5.0]
    # Of a last one that is shorter than half nothing is drawn; of many, neighbours are joined.
    assert len(_incast.over_time(begins, values, (0.0, 10.0, 34.0), False)[0]) == 3
    times, joined = _incast.over_time([0.0], [2.0], (0.0, 1.0, 2000.0), False)
    assert (len(times), times[0], joined[0]) == (1000, 1.0, 1.0)
    # Switches before NICs, the fuller first.
    assert _incast.fullest([7, 2, 4, 2, 9], [True, False, False, False, False], [99, 5, 8, 6, 0], 5) == [4, 2, 7]


def test_the_parts_of_the_breakdown_add_up(small: incast.Results) -> None:
    shown = rows(small.charts.breakdown())
    for run in small:
        total = sum(row["time"] for row in shown if row["line"] == run.label)
        short = run.flows.filter(~pl.col("warmup"), pl.col("size_bytes") < 100_000)
        assert total == pytest.approx(float(short["fct_ns"].mean()) / 1e3, rel=1e-9)  # type: ignore[arg-type]


def test_queues_show_the_largest_backlog(small: incast.Results) -> None:
    shown = rows(small.charts.queues())
    for run in small:
        most = run.ports.filter(pl.col("tier") != "nic")["backlog_max_bytes"].max()
        own = max(row["value"] for row in shown if row["line"].startswith(run.label))
        assert own * 1e3 == most


def test_charts_over_time_begin_where_late_traffic_begins() -> None:
    late = incast.run(
        {
            "fabric": {"topology": "star:5", "rate": "10Gbps"},
            "transport": {"names": ["dctcp"]},
            "traffic": [{"kind": "incast", "receiver": 0, "size": "600KB", "at": "1s"}],
            "run": {"interval": "10us"},
        }
    )
    (run,) = late
    # The last multiple of 512 intervals before.
    assert run.manifest["series_start_ns"] == 998_400_000
    for chart in (late.charts.throughput(), late.charts.queues()):
        shown = rows(chart)
        assert min(row["time_ns"] for row in shown) < 999_000_000
        busy = [row for row in shown if row["value"] > 0]
        assert len(busy) > 50 and all(row["time_ns"] > 999_900_000 for row in busy)


def test_every_chart_is_drawn_offline(small: incast.Results, tmp_path: Path) -> None:
    charts = small.charts.all()
    assert len(charts) == 8
    for name, chart in charts.items():
        chart.save(tmp_path / f"{name}.svg")
        assert (tmp_path / f"{name}.svg").read_text().startswith("<svg")
    (tmp_path / "one.png").write_bytes(b"")
    charts["slowdown_by_size"].save(tmp_path / "one.png")
    assert (tmp_path / "one.png").read_bytes()[:4] == b"\x89PNG"


def test_a_notebook_shows_charts_without_a_network(small: incast.Results) -> None:
    shown = small.charts.slowdown_distribution()._repr_mimebundle_(None, None)
    bundle = shown[0] if isinstance(shown, tuple) else shown
    assert list(bundle) == ["image/svg+xml"] and "</svg>" in bundle["image/svg+xml"]
    assert "cdn" not in bundle["image/svg+xml"]


def test_a_mixed_run_has_a_line_per_transport(scenario: dict[str, Any]) -> None:
    scenario["transport"] = {"names": ["dctcp"], "assign": [{"name": "cubic", "hosts": "0-1"}]}
    scenario["traffic"][0]["size"] = "1MB"
    results = incast.run(scenario)
    assert {row["line"] for row in rows(results.charts.slowdown_distribution())} == {"dctcp", "cubic"}
    assert {row["line"] for row in rows(results.charts.shares())} == {"dctcp", "cubic"}
    assert len({row["line"] for row in rows(results.charts.series())}) == 4


def test_notebooks_show_a_table(small: incast.Results) -> None:
    page = small._repr_html_()
    assert "<table>" in page and "slowdown, mean" in page
    assert "slowdown, mean" in str(small)
    assert "complete" not in repr(small)
