"""Studies through Python: the same table as the command's, continued, drawn, searched."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import altair as alt
import polars as pl
import pytest
from conftest import SMALL

import incast
from incast import _style as style

LOADS = [0.3, 0.6]
TEXT = """
title = "Two loads"
[fabric]
topology = "leaf-spine:2x2x4"
[transport]
names = ["ren", "dctcp"]
[[traffic]]
kind = "poisson"
workload = "web_server"
load = 0.4
flows = 60
[study]
seeds = 3
[study.vary]
"traffic.0.load" = [0.3, 0.6]
"""


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> incast.Study:
    """Two transports at two loads with three seeds."""
    place = tmp_path_factory.mktemp("study")
    (place / "loads.toml").write_text(TEXT)
    return incast.study(place / "loads.toml", out=place / "out").run()


def test_the_table_is_that_of_the_command(study: incast.Study, tmp_path: Path) -> None:
    words = [sys.executable, "-m", "incast", "study", str(study.out.parent / "loads.toml"), "--out", "here"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    native = (tmp_path / "here" / "study.parquet").read_bytes()
    assert (study.out / "study.parquet").read_bytes() == native


def test_keywords_give_the_table_of_a_file_with_the_same_keys(study: incast.Study, tmp_path: Path) -> None:
    keywords: dict[str, Any] = {"topology": "leaf-spine:2x2x4", "workload": "web_server", "flows": 60}
    keys = {"traffic.0.load": LOADS}
    own = incast.study(transports=["ren", "dctcp"], **keywords, vary=keys, seeds=3, out=tmp_path / "own").run()
    assert (own.out / "study.parquet").read_bytes() == (study.out / "study.parquet").read_bytes()


def test_the_rows_are_runs(study: incast.Study) -> None:
    assert (len(study), study.labels, study.keys) == (12, ["ren", "dctcp"], ["traffic.0.load"])
    frame = study.frame
    assert frame.height == 12 and frame["status"].unique().to_list() == ["done"]
    changes = {"load": 0.6, "seed": 2}
    alone = incast.compare(["ren", "dctcp"], **{**SMALL, **changes})
    own = pl.col("seed") == 2, pl.col("traffic.0.load") == 0.6
    for label in study.labels:
        (p99,) = frame.filter(*own, pl.col("label") == label)["slowdown_p99"].to_list()
        assert p99 == alone[label].summary["all"]["slowdown"]["p99"]
    assert incast.units(frame)["fct_mean_ns"] == "ns"


def test_a_second_call_runs_nothing_and_a_seed_more_only_itself(study: incast.Study) -> None:
    def rows() -> dict[Path, int]:
        return {path: path.stat().st_mtime_ns for path in (study.out / "rows").iterdir()}

    before, table = rows(), (study.out / "study.parquet").read_bytes()
    study.run()
    assert rows() == before and (study.out / "study.parquet").read_bytes() == table
    again = incast.load(study.out)
    assert isinstance(again, incast.Study) and again.frame.equals(study.frame)
    more = incast.study(study.out.parent / "loads.toml", seeds=4, out=study.out).run()
    assert more.frame.height == 16 and before.items() <= rows().items()


def test_intervals_are_students(study: incast.Study) -> None:
    curves = study.curves("slowdown_mean")
    assert curves.height == 4 and set(curves["seeds"]) <= {3, 4}
    for row in curves.iter_rows(named=True):
        own = study.frame.filter(
            pl.col("label") == row["label"], pl.col("traffic.0.load") == row["traffic.0.load"]
        )["slowdown_mean"]
        quantile = {3: 4.30265, 4: 3.18245}[len(own)]
        half = quantile * float(own.std()) / len(own) ** 0.5  # type: ignore[arg-type]
        assert row["mean"] == pytest.approx(own.mean())
        assert row["high"] - row["mean"] == pytest.approx(half, rel=1e-4)
        # What is never negative has no interval below 0.
        assert row["low"] == pytest.approx(max(0.0, row["mean"] - half), rel=1e-4)
    with pytest.raises(incast.RunError) as caught:
        study.curves("slowdown_p9")
    assert caught.value.suggestion is not None


def test_charts_of_a_study(study: incast.Study, tmp_path: Path) -> None:
    charts: dict[str, Any] = {
        "curve": study.charts.curve(),
        "difference": study.charts.difference("short_fct_mean_ns"),
        "by_size": study.charts.slowdown_by_size(),
    }
    for name, chart in charts.items():
        chart.save(tmp_path / f"{name}.svg")
        text = (tmp_path / f"{name}.svg").read_text()
        assert "NaN" not in text
        # Axes have titles, small multiples theirs; keys stand in the subtitle.
        assert re.search(">Load[ <]", text) and not re.search(r"aria-label=\"X-axis titled '[a-z_0-9]*\\.", text)
    assert ">99th percentile of the slowdown<" in (tmp_path / "curve.svg").read_text()
    assert study.titles["traffic.0.load"] == "Load"
    assert "slowdown_p99" in study._repr_html_() or "label" in study._repr_html_()


def test_the_chart_by_size_adds_the_histograms_of_all_seeds(study: incast.Study) -> None:
    chart = study.charts.slowdown_by_size((50, 99, 99.9), most=1).to_dict()
    (points,) = chart["datasets"].values()
    assert {row["percentile"] for row in points} == {"median", "99th percentile", "p99.9"}
    assert chart["facet"]["row"]["sort"] == ["median", "99th percentile", "p99.9"]
    # One point of the study: the last, all its seeds.
    assert len({row["place"] for row in points}) == 1
    last = study.frame.row(-1, named=True)
    rows = study.frame.filter(
        pl.col("label") == last["label"], *(pl.col(key) == last[key] for key in study.keys)
    )
    assert rows.height > 1
    counted = sum(sum(flows) for flows in rows["histogram_flows"].to_list())
    own = [row for row in points if row["label"] == last["label"] and row["percentile"] == "median"]
    assert sum(row["flows"] for row in own) == counted
    cells: dict[float, int] = {}
    for row in rows.to_dicts():
        for size, slowdown, flows in zip(
            row["histogram_size_bytes"], row["histogram_slowdown"], row["histogram_flows"], strict=True
        ):
            if size == own[0]["size_from_bytes"]:
                cells[slowdown] = cells.get(slowdown, 0) + flows
    half, seen = -(-sum(cells.values()) // 2), 0
    for slowdown, flows in sorted(cells.items()):
        seen += flows
        if seen >= half:
            assert own[0]["slowdown"] == slowdown
            break
    with pytest.raises(incast.RunError) as caught:
        study.charts.slowdown_by_size([101])
    assert caught.value.key == "percentiles"


def test_labels_of_ticks_never_touch() -> None:
    """Many values on a small axis: what is drawn has room, and small numbers keep a tick each."""
    few = style.numbers(pl.Series([0.2, 0.3, 0.2]))
    assert few.to_dict()["values"] == [0.2, 0.3]
    many = pl.DataFrame({"x": [at / 100 for at in range(15, 90)], "y": 1.0})
    chart = alt.Chart(many).mark_point().encode(x=alt.X("x").axis(style.numbers(many["x"])), y="y")
    with io.StringIO() as text:
        chart.properties(width=150).save(text, format="svg")
        drawn = text.getvalue()
    labels = re.findall(r'translate\(([\d.]+),[\d.]+\)"[^>]*opacity="1">(0\.\d+)<', drawn)
    places = [float(place) for place, _ in labels]
    assert len(labels) >= 3 and all(b - a > 30 for a, b in pairwise(places)), labels


def test_wrong_studies(tmp_path: Path) -> None:
    def error(**given: Any) -> incast.ScenarioError:
        with pytest.raises(incast.ScenarioError) as caught:
            incast.study(transports=["dctcp"], **SMALL, out=tmp_path / "out", **given)
        return caught.value

    assert error(vary={"fabric.mtuu": [1500]}).suggestion is not None
    assert "seeds" in str(error(seeds=3, repeat_until={"metric": "slowdown_p99", "half_width": "5%"}))
    assert error(vary={"run.seed": [1]}, seeds=0).key is not None
    endless = {"from": 0.1, "to": 0.9, "step": 0}
    assert "never ends" in str(error(vary={"traffic.0.load": endless}))
    uneven = {"fabric.mtu": [1500, 9000], "traffic.0.load": [0.1]}
    assert "fabric.mtu has 2" in str(error(vary=uneven, zip=[list(uneven)]))
    assert "`yes=True`" in str(error(seeds=100_000, vary={"traffic.0.load": [0.1, 0.2]}))
    assert not (tmp_path / "out").exists()


def test_values_are_arrays_and_columns_too() -> None:
    import numpy

    loads = numpy.linspace(0.2, 0.8, 4)
    for values in (loads, pl.Series(loads), tuple(loads), range(1, 5)):
        assert len(incast.study(transports=["dctcp"], **SMALL, vary={"traffic.0.load": values})) == 4


def test_a_file_with_keywords_is_its_study(tmp_path: Path) -> None:
    flows, file = tmp_path / "flows.csv", tmp_path / "own.toml"
    flows.write_text("src,dst,size_bytes,start_ns\n0,1,20000,0\n2,1,30000,0\n")
    file.write_text(
        '[fabric]\ntopology = "star:4"\n[transport]\nnames = ["ren"]\n[study]\n'
        f'[[traffic]]\nkind = "file"\nfile = "{flows}"\n'
    )
    assert incast.study(file, seeds=2).out == Path("results/study-own")
    study = incast.study(file, out=tmp_path / "study").run()
    # The folder has a copy of the file.
    flows.unlink()
    more = incast.study(study.out / "study.toml", seeds=2, out=study.out).run()
    assert (len(study), more.frame.height) == (1, 2)


class Raises(incast.Control):
    """Fails at the first ACK."""

    def start(self) -> None:
        self.window = 30_000

    def on_ack(self, ack: incast.Ack) -> None:
        raise ZeroDivisionError("mine")

    def on_loss(self, at: incast.Ack, timeout: bool) -> None:
        pass


def test_a_control_that_fails_costs_its_points(tmp_path: Path) -> None:
    study = incast.study(transports=["dctcp", Raises], **SMALL, seeds=2, out=tmp_path / "study")
    with pytest.warns(incast.RunWarning) as warned:
        study.run()
    text = str(warned[0].message)
    assert text.startswith("2 of 4 points failed: `raises, seed 1`: the control `raises`, flow ")
    assert "on_ack: ZeroDivisionError: mine; `raises, seed 2`" in text, "no traceback"
    assert study.frame["status"].to_list() == ["done", "done", "failed", "failed"]
    assert "test_study.py" in study.frame["error"][2], "the traceback"
    with pytest.warns(incast.RunWarning, match="2 of 4 points failed.*retry_failed=True"):
        study.run()


def test_a_search_finds_the_load(tmp_path: Path) -> None:
    found = incast.search(
        transports=["dctcp"],
        topology="star:8",
        workload="web_server",
        flows=60,
        key="traffic.0.load",
        low=0.1,
        high=0.9,
        tolerance=0.2,
        until="slowdown_mean < 1000",
        seeds=2,
        out=tmp_path / "search",
    )
    assert found.row(0, named=True)["found"] == "everywhere"
    assert (tmp_path / "search" / "rows").is_dir()


def half(tmp_path: Path, name: str) -> incast.Study:
    """A study of four points."""
    return incast.study(TEXT, seeds=2, vary={"traffic.0.load": [0.3]}, out=tmp_path / name)


def test_an_executor_gives_the_bytes_of_a_local_run(tmp_path: Path) -> None:
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    local = half(tmp_path, "local").run()
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        spread = half(tmp_path, "spread").run(pool)
    same = [(study.out / "study.parquet").read_bytes() for study in (local, spread)]
    assert same[0] == same[1]


class Strange:
    """An executor whose workers give what they are told to give, one by one."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)

    def submit(self, function: Any, /, *arguments: Any) -> Any:
        from concurrent.futures import Future

        future: Any = Future()
        answer = self.answers.pop(0) if self.answers else function
        if isinstance(answer, Exception):
            future.set_exception(answer)
        else:
            future.set_result(answer(*arguments) if callable(answer) else answer)
        return future


def test_lost_workers_and_strange_answers_are_tried_again(tmp_path: Path) -> None:
    study = half(tmp_path, "odd").run(Strange(OSError("gone"), None, b"", b"{}"))
    assert study.frame["status"].to_list() == ["done"] * 4
    assert study.frame.equals(half(tmp_path, "even").run().frame)


def test_a_broken_executor_leaves_points_not_run(tmp_path: Path) -> None:
    from concurrent.futures.process import BrokenProcessPool

    study = half(tmp_path, "broken")
    with pytest.raises(incast.RunError, match="the executor broke"):
        study.run(Strange(BrokenProcessPool("dead")))
    assert study.frame.height == 3 and set(study.frame["status"]) == {"done"}
    assert study.run().frame.height == 4
