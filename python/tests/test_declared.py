"""The modules that follow from the program's declarations are what they would be written as now."""

from __future__ import annotations

import os
from typing import Any

import declared
import pytest

import incast
from incast import parameters
from incast.scenario import Fabric, Incast, Permutation, Scenario, Transport


@pytest.mark.parametrize("path", declared.modules(), ids=lambda path: path.name)
def test_written_modules_agree_with_the_program(path: Any) -> None:
    text = declared.modules()[path]
    if os.environ.get("UPDATE_DOCS"):
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text, "UPDATE_DOCS=1 tests/python writes it"


def test_every_key_is_an_argument_with_its_range() -> None:
    assert Fabric.__doc__ is not None and "128 to 65000" in " ".join(Fabric.__doc__.split())
    found = {key["path"] for keys in declared.sections().values() for key in keys}
    assert {"fabric.pfc.xoff", "traffic.load", "run.seed"} <= found


def test_typed_objects_are_the_dictionary_and_the_text(scenario: dict[str, Any]) -> None:
    typed = Scenario(
        fabric=Fabric(topology="star:4"),
        transport=Transport(names=["trd"]),
        traffic=[Permutation(size="100KB")],
    )
    assert typed.to_dict() == scenario
    text = """
        [fabric]
        topology = "star:4"
        [transport]
        names = ["trd"]
        [[traffic]]
        kind = "permutation"
        size = "100KB"
    """
    assert incast.check(typed) == incast.check(scenario) == incast.check(text)


def test_keys_that_python_keeps_for_itself_and_parameters() -> None:
    assert Incast(receiver=0, size="1KB", from_="1-3").to_dict() == {
        "kind": "incast",
        "receiver": 0,
        "size": "1KB",
        "from": "1-3",
    }
    own = Transport(names=["dctcp"], parameters=[parameters.Dctcp(gain=0.25)]).to_dict()
    assert own["parameters"] == {"dctcp": {"gain": 0.25}}
    assert parameters.Dctcp.__doc__ is not None and "Source:" in parameters.Dctcp.__doc__
