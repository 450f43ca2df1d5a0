"""Explanations through Python: those of the command, frames, pages, refusals."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import incast

INCAST = """
[fabric]
topology = "star:13"
[transport]
names = ["dctcp", "ndp"]
[[traffic]]
kind = "incast"
receiver = 0
size = "30KB"
"""


@pytest.fixture(scope="module")
def results() -> incast.Results:
    return incast.run(INCAST)


def test_an_explanation_is_that_of_the_command(results: incast.Results, tmp_path: Path) -> None:
    place = results.save(tmp_path / "out")
    words = [sys.executable, "-m", "incast", "explain", str(place), "--transport", "dctcp"]
    done = subprocess.run([*words, "--json"], capture_output=True, text=True, check=True)
    found = results.explain(transport="dctcp")
    assert found.json == json.loads(done.stdout) and not found.difference
    assert incast.explain(place, transport="dctcp").text == found.text
    assert str(found) == found.text and found.verdict[0] in found.text.replace("\n", " ")


def test_frames_add_up_to_the_columns(results: incast.Results) -> None:
    found = incast.explain(results, flow=[3, 5], transport="dctcp")
    for flow in (3, 5):
        fct = results["dctcp"].flows.row(flow, named=True)["fct_ns"]
        parts = found.waterfall.filter(flow_id=flow)["ps"].sum()
        assert parts == pytest.approx(1000 * fct)
        hops = found.path.filter(flow_id=flow)
        assert hops["port"].to_list() == [f"host{flow + 1}->leaf0", "leaf0->host0"][-hops.height :]
        fronts = found.in_front.filter(flow_id=flow)
        assert fronts["ps"].sum() == hops["waited_ps"].sum()
    assert set(found.decisions.columns) >= {"window_bytes", "rate_bps", "age_ps"}
    assert found.decisions["window_bytes"].drop_nulls().len() > 0


def test_a_difference_between_two_transports(results: incast.Results) -> None:
    found = results.explain(flow=4, between=("dctcp", "ndp"))
    assert found.difference and found.json["a"]["run"] == "dctcp"
    more = sum(part["more_ps"] for part in found.json["parts"])
    assert more == found.json["b"]["flow"]["fct_ps"] - found.json["a"]["flow"]["fct_ps"]
    assert found.waterfall["run"].unique().sort().to_list() == ["dctcp", "ndp"]


def test_pages_and_notebooks(results: incast.Results, tmp_path: Path) -> None:
    found = results.explain(slowest=2, transport="ndp", size="30KB")
    assert len(found.json) == 2
    assert found.save(tmp_path / "why.html").read_text(encoding="utf-8") == found.html
    shown = found._repr_html_()
    assert shown.startswith("<iframe srcdoc=") and "<style>" not in shown
    assert repr(found).startswith("<incast.Explanation of flow ")


def test_what_cannot_be_explained_is_refused(results: incast.Results, tmp_path: Path) -> None:
    # Results in memory have no folder that a message could name.
    with pytest.raises(incast.RunError, match="incast.Results has runs.*--transport") as refused:
        results.explain()
    assert "/" not in str(refused.value)
    with pytest.raises(incast.RunError, match="slowest = `0`: expected 1 or more"):
        results.explain(slowest=0, transport="dctcp")
    with pytest.raises(incast.RunError, match="expected 0 to 11"):
        results.explain(flow=12, transport="ndp")
    with pytest.raises(incast.RunError, match="not a results folder"):
        incast.explain(tmp_path)
    with pytest.raises(incast.ScenarioError, match="smaller size first"):
        results.explain(size="9KB-1KB")
    with pytest.raises(incast.RunError, match="neither slowest nor size"):
        results.explain(flow=3, slowest=2)


STEP = """
[fabric]
topology = "star:4"
[transport]
names = ["ndp"]
[[traffic]]
kind = "collective"
collective = "all_reduce"
size = "400KB"
iterations = 2
compute = "50us"
"""


def test_an_iteration_is_explained_with_its_path_and_its_ranks(tmp_path: Path) -> None:
    results = incast.run(STEP)
    found = results.explain_iteration(1)
    assert "Iteration 1 of collective 0 (all_reduce, ring, 4 ranks, 400 KB, ndp)" in found.verdict[0]
    assert found.path.height == 6 and found.path.columns[:3] == ["run", "flow", "from"]
    assert found.ranks["rank"].to_list() == [0, 1, 2, 3]
    parts, row = found.waterfall["ps"].sum(), results.collectives.row(1, named=True)
    assert parts == row["iteration_ps"] + row["path_ahead_ps"]
    assert found.ports.columns == ["run", "port", "messages", "excess_ps", "share"]
    assert "<svg" in found.html and "iteration 1" in repr(found)
    place = results.save(tmp_path / "out")
    assert incast.explain_iteration(place, 1).json == found.json
    with pytest.raises(incast.RunError, match="expected 0 to 1"):
        incast.explain_iteration(place, 2)
