"""Incast: a data-center transport laboratory.

>>> import incast
>>> results = incast.compare(["ren", "dctcp"], topology="leaf-spine:2x2x8", load=0.5, flows=200)
>>> results.labels
['ren', 'dctcp']
>>> results["ren"].flows.columns[:3]
['flow_id', 'src', 'dst']

`incast.scenario` has the sections of a scenario as typed objects, `incast.parameters` those of transports.
The repository's docs/python.md has more.
"""

from __future__ import annotations

import json as _json
import os as _os
from pathlib import Path as _Path
from typing import Any as _Any

from . import _incast, parameters, scenario
from ._commands import compare, demo, run
from ._control import Ack, Control, ControlError, controls
from ._errors import (
    EngineError,
    ExecutorError,
    IncastError,
    Interrupted,
    RunError,
    RunWarning,
    ScenarioError,
)
from ._explain import Explanation, IterationExplanation, explain, explain_iteration
from ._reproduce import reproduce
from ._results import Results, Run
from ._session import check
from ._study import Study, search, study
from ._units import meanings, units

__version__ = _incast.version()


def list(name: str | None = None) -> dict[str, _Any]:
    """What there is: transports, workloads, topologies and experiments. The command is `incast list`.

    Args:
        name: a transport: with its parameters, their sources and accepted values, and its deviations
            from the paper.
    """
    found: dict[str, _Any] = _json.loads(_incast.catalogue(name))
    return found


def load(folder: str | _os.PathLike[str]) -> Results | Study:
    """Reads a results folder or the folder of a study, of the command or of this package.

    Args:
        folder: its path. Tables are read when they are asked for.
    """
    place = _Path(folder)
    if (place / "store.json").is_file():
        from ._study import study_in

        return study_in(place)
    from ._results import load_folder

    return load_folder(place)


__all__ = [
    "Ack",
    "Control",
    "ControlError",
    "EngineError",
    "ExecutorError",
    "Explanation",
    "IncastError",
    "Interrupted",
    "IterationExplanation",
    "Results",
    "Run",
    "RunError",
    "RunWarning",
    "ScenarioError",
    "Study",
    "__version__",
    "check",
    "compare",
    "controls",
    "demo",
    "explain",
    "explain_iteration",
    "list",
    "load",
    "meanings",
    "parameters",
    "reproduce",
    "run",
    "scenario",
    "search",
    "study",
    "units",
]
