"""Figures of papers through Python."""

from __future__ import annotations

import _thread
import concurrent.futures
import json
import multiprocessing
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import incast


def test_the_verdicts_are_those_of_the_command() -> None:
    frame = incast.reproduce("ren/fig3", from_kept=True)
    words = [sys.executable, "-m", "incast", "reproduce", "ren/fig3", "--from-kept", "--json"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    native = [
        (verdict["claim"], one["set"], one["verdict"])
        for verdict in json.loads(done.stdout)
        for one in verdict["sets"]
    ]
    assert frame.select("claim", "set", "verdict").rows() == native and native


def test_an_unknown_experiment() -> None:
    with pytest.raises(incast.ScenarioError) as caught:
        incast.reproduce("ren/fig33")
    assert caught.value.suggestion is not None and caught.value.suggestion.startswith("ren/fig")


def test_the_other_worlds_are_beside_the_verdict() -> None:
    frame = incast.reproduce("ren/fig3", from_kept=True)
    kept = frame.filter(frame["set"] == "as_published").row(0, named=True)
    assert kept["dataplane"]["equal"] and kept["dataplane"]["verdict"] == kept["verdict"]
    clocks = {one["clock"] for row in frame["real_time"] for one in row}
    assert {"paced", "compensated"} <= clocks
    alone = incast.reproduce("ren/fig1", from_kept=True)
    assert alone["dataplane"].is_null().all() and alone["real_time"].list.len().sum() == 0


def test_only_some_runs(tmp_path: Path) -> None:
    with pytest.raises(incast.ScenarioError) as caught:
        incast.reproduce("decn/fig10", runs="load8", keep=tmp_path)
    assert caught.value.suggestion == "load80" and not tables(tmp_path)
    with pytest.raises(incast.ScenarioError, match="no run is made"):
        incast.reproduce("decn/fig10", runs=["load80"], from_kept=True)
    # A figure of milliseconds with two runs: one is made, and claims about the other have not run.
    frame = incast.reproduce("ren/fig5", runs="figure", keep=tmp_path, progress=False)
    assert tables(tmp_path) and all(name.startswith("figure/") for name in tables(tmp_path))
    assert "not run" in set(frame["verdict"]) and len(set(frame["verdict"])) > 1


def test_clocks_of_real_time() -> None:
    with pytest.raises(incast.ScenarioError, match="expected one of paced, compensated, tsc") as caught:
        incast.reproduce("ren/fig3", clock="virtual")  # type: ignore[arg-type]
    assert caught.value.key == "clock"
    with pytest.raises(incast.ScenarioError, match="no runs in real time"):
        incast.reproduce("ren/fig1", clock="paced")

    with pytest.raises(incast.ScenarioError, match="each other's way"):
        incast.reproduce("ren/fig3", clock="paced", executor=Unused())
    with pytest.raises(incast.ScenarioError, match="no run is made"):
        incast.reproduce("ren/fig3", clock="paced", from_kept=True)


class Unused:
    """An executor that gets nothing to do."""

    def submit(self, *_: object) -> None:
        raise AssertionError("there is nothing to do")


def tables(folder: Path) -> dict[str, Any]:
    """The kept tables of a folder by their runs."""
    frames = [pl.read_parquet(file) for file in folder.rglob("results.parquet")]
    run = ("run", "transport", "seed", "set")
    parts = [part for frame in frames for part in frame.partition_by(run, as_dict=True).items()]
    return {"/".join(map(str, key)): part.rows() for key, part in parts}


def test_a_figure_is_a_study_on_any_executor(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    frame = incast.reproduce("ren/fig1", keep=here)
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
        other = incast.reproduce("ren/fig1", keep=there, executor=pool)
    assert frame.equals(other) and set(frame["verdict"]) == {"matches"}
    assert tables(here) == tables(there) and tables(here)

    assert incast.reproduce("ren/fig1", keep=there, executor=Unused()).equals(frame)


def test_what_is_done_stays_after_ctrl_c(tmp_path: Path) -> None:
    # A shell starts what runs behind with the signal ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    # The first figure is a drawing, the next ones run for hours.
    def interrupt() -> None:
        # Runs are beside the results until the study ends.
        while not list(tmp_path.rglob("*.json")):
            time.sleep(0.01)
        _thread.interrupt_main()

    threading.Thread(target=interrupt, daemon=True).start()
    try:
        with pytest.raises(KeyboardInterrupt):
            incast.reproduce("ren", keep=tmp_path, threads=1)
    finally:
        signal.signal(signal.SIGINT, before)
    kept = tables(tmp_path)
    assert kept and not list(tmp_path.rglob(".*"))
    incast.reproduce("ren/fig1", keep=tmp_path)
    assert kept.items() <= tables(tmp_path).items()
