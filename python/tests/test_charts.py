"""Charts: the numbers they show, and that they are drawn without a network."""

from __future__ import annotations

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


def test_the_numbers_by_size_are_those_of_the_flows(small: incast.Results) -> None:
    shown = rows(small.charts.slowdown_by_size())
    flows = small["dctcp"].flows.filter(~pl.col("warmup")).to_dicts()
    bins: dict[int, list[dict[str, Any]]] = {}
    for flow in flows:
        bins.setdefault(int(math.log2(flow["size_bytes"])), []).append(flow)
    own = [row for row in shown if row["line"] == "dctcp" and row["what"] == "99th percentile"]
    assert len(own) == len(bins)
    for row, (_, members) in zip(own, sorted(bins.items()), strict=True):
        assert row["flows"] == len(members)
        assert row["slowdown"] == rank([flow["slowdown"] for flow in members], 0.99)


def test_the_parts_of_the_breakdown_add_up(small: incast.Results) -> None:
    shown = rows(small.charts.breakdown())
    for run in small:
        total = sum(row["microseconds"] for row in shown if row["line"] == run.label)
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
