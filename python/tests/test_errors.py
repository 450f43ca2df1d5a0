"""What is wrong is an exception that says where, and what is accepted."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest
from conftest import SMALL

import incast


SCENARIO = """
[fabric]
topology = "star:4"
[transport]
names = ["dctcp"]
[[traffic]]
kind = "permutation"
size = "1KB"
"""


def test_a_wrong_key_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text('[fabric]\ntopolgy = "star:4"\n')
    with pytest.raises(incast.ScenarioError) as caught:
        incast.run(path)
    error = caught.value
    assert (error.file, error.line, error.key) == (str(path), 2, "fabric.topolgy")
    assert error.suggestion == "topology" and isinstance(error, ValueError)
    assert error.accepted is not None and error.accepted.startswith("one of topology")
    assert str(error).startswith(f"{path}:2: fabric.topolgy: ")
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.line, again.suggestion) == (str(error), 2, "topology")


def test_a_wrong_parameter_says_what_is_accepted() -> None:
    wrong = f"{SCENARIO}[transport.parameters.dctcp]\ngain = 2\n"
    with pytest.raises(incast.ScenarioError) as caught:
        incast.run(wrong)
    error = caught.value
    assert (error.key, error.value) == ("transport.parameters.dctcp.gain", "2")
    assert error.accepted == "0 < gain <= 1" and error.suggestion is None
    with pytest.raises(incast.ScenarioError) as caught:
        incast.run(wrong.replace("gain = 2", "gian = 0.5"))
    assert (caught.value.key, caught.value.suggestion) == ("transport.parameters.dctcp.gian", "gain")


@pytest.mark.parametrize(
    ("given", "key", "value", "part"),
    [
        ({"load": -1}, "load", "-1", "above 0"),
        ({"load": "half"}, "load", "half", "a number"),
        ({"flows": 0}, "flows", "0", "1 to 4194304"),
        ({"flows": 2**70}, "flows", str(2**70), "1 to 4194304"),
        ({"transports": ["ren", "dctpc"]}, "transports", "dctpc", "ren"),
        ({"loda": 0.5}, "loda", None, "--load"),
        ({"load": object()}, "load", "object", "text, a number"),
        ({"mtu": float("nan")}, "mtu", "NaN", ""),
    ],
)
def test_wrong_keywords(given: dict[str, Any], key: str, value: str | None, part: str) -> None:
    from incast import _incast

    with pytest.raises(incast.ScenarioError) as caught:
        _incast.compare({**SMALL, **given}, [])
    assert (caught.value.key, caught.value.value) == (key, value)
    assert part in (caught.value.accepted or caught.value.problem)


def test_wrong_values_in_a_dictionary(scenario: dict[str, Any]) -> None:
    def error(**changes: Any) -> incast.ScenarioError:
        with pytest.raises(incast.ScenarioError) as caught:
            incast.run({**scenario, **changes})
        return caught.value

    assert error(fabric={"topology": "star:4", "mtu": 5}).accepted == "128 to 65000"
    assert error(fabric={"topology": "star:4", "rate": 40}).key == "fabric.rate"
    assert error(traffic=[{"kind": "permutaton", "size": "1KB"}]).suggestion == "permutation"
    assert error(traffic=[None]).key == "traffic.0"
    assert error(fabric={1: 2}).key == "fabric"
    deep: dict[str, Any] = {}
    deep["a"] = deep
    assert "nested" in error(fabric=deep).problem
    with pytest.raises(incast.ScenarioError, match=r"ren\.spendd"):
        incast.compare("ren", set={"ren.spendd": "any"}, **SMALL)


def test_results_that_are_in_the_way_are_kept(scenario: dict[str, Any], tmp_path: Path) -> None:
    incast.run(scenario, out=tmp_path / "out")
    with pytest.raises(incast.RunError, match="out"):
        incast.run(scenario, out=tmp_path / "out")
    assert incast.run(scenario, out=tmp_path / "out", force=True).place == tmp_path / "out"


def test_numbers_of_numpy_are_numbers(scenario: dict[str, Any]) -> None:
    import numpy as np

    one = incast.check(scenario, set={"run.seed": 3})
    scenario["run"] = {"seed": np.int64(3)}
    assert incast.check(scenario) == one
    scenario["run"] = {"seed": 3, "warmup": np.float32(0.25)}
    assert "warmup = 0.25" in incast.check(scenario)


def test_a_notebook_shows_the_callers_lines() -> None:
    with pytest.raises(incast.ScenarioError) as caught:
        incast.compare(["dctpc"], topology="star:4")
    shown = "\n".join(caught.value._render_traceback_())
    assert "test_errors.py" in shown and "_session.py" not in shown
    assert shown.endswith(f"ScenarioError: {caught.value}")
