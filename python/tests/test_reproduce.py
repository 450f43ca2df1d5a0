"""Figures of papers through Python."""

from __future__ import annotations

import json
import subprocess
import sys

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
