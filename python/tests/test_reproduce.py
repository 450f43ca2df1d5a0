"""Figures of papers through Python."""

from __future__ import annotations

import concurrent.futures
import json
import multiprocessing
import subprocess
import sys
from pathlib import Path

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


def tables(folder: Path) -> dict[str, bytes]:
    """The kept tables of a folder."""
    return {str(one.relative_to(folder)): one.read_bytes() for one in folder.rglob("*.csv")}


def test_a_figure_is_a_study_on_any_executor(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    frame = incast.reproduce("ren/fig1", keep=here)
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
        other = incast.reproduce("ren/fig1", keep=there, executor=pool)
    assert frame.equals(other) and set(frame["verdict"]) == {"matches"}
    assert tables(here) == tables(there) and tables(here)

    class Unused:
        def submit(self, *_: object) -> None:
            raise AssertionError("nothing is done twice")

    assert incast.reproduce("ren/fig1", keep=there, executor=Unused()).equals(frame)
