"""Runs commands: what `_commands` calls with the keywords it was given."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import _incast
from ._control import naming
from ._errors import Interrupted, RunWarning
from ._progress import Shown
from ._results import Results
from ._section import Parameters

if TYPE_CHECKING:
    from ._commands import AnyScenario, Out, Sets


def text_of(value: Any) -> str:
    """A value as TOML. JSON's text, numbers and lists are also TOML's."""
    if isinstance(value, Mapping):
        inner = ", ".join(f"{json.dumps(name)} = {text_of(one)}" for name, one in value.items())
        return f"{{{inner}}}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{', '.join(text_of(one) for one in value)}]"
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    return json.dumps(value)


def sets_of(given: Sets) -> list[str]:
    """Overrides as the command line has them: `key=value`."""
    if given is None:
        return []
    if isinstance(given, Mapping):
        return [f"{key}={text_of(value)}" for key, value in given.items()]
    found = []
    for one in given:
        if isinstance(one, Parameters):
            prefix = f"transport.parameters.{one._transport}"
            found += [f"{prefix}.{key}={text_of(value)}" for key, value in one.to_dict().items()]
        else:
            found.append(one)
    return found


def finish(prepared: _incast.Prepared, out: Out, force: bool, progress: bool | None) -> Results:
    """Runs what has been prepared."""
    path = None if out is None or isinstance(out, bool) else os.fspath(out)
    shown = Shown(None, progress)
    try:
        done, raised = prepared.run(path, out is True, force, shown.told())
    finally:
        shown.close()
    results = Results(done)
    if raised is not None:
        if isinstance(raised, KeyboardInterrupt):
            raise Interrupted(results) from None
        raise raised
    for run in results:
        if not run.complete:
            reason = "".join(f"; {text}" for text in run.warnings)
            text = f"{run.label}: the run did not come to its end{reason}"
            warnings.warn(text, RunWarning, stacklevel=4)
    return results


def demo(flags: dict[str, Any], *, out: Out, force: bool, progress: bool | None) -> Results:
    """`incast demo`."""
    return finish(_incast.demo(flags), out, force, progress)


def compare(
    flags: dict[str, Any], *, set: Sets, out: Out, force: bool, progress: bool | None
) -> Results:
    """`incast compare`."""
    with naming(flags) as (flags,):
        return finish(_incast.compare(flags, sets_of(set)), out, force, progress)


def prepared(
    scenario: AnyScenario, flags: dict[str, Any], set: Sets, allow_changed_files: bool
) -> _incast.Prepared:
    """A scenario that has been read and resolved."""
    text = isinstance(scenario, str) and "\n" in scenario
    return _incast.run(scenario, text, flags, sets_of(set), allow_changed_files)


def run(
    flags: dict[str, Any],
    *,
    scenario: AnyScenario,
    set: Sets,
    allow_changed_files: bool,
    out: Out,
    force: bool,
    progress: bool | None,
) -> Results:
    """`incast run`."""
    with naming(scenario, flags) as (scenario, flags):
        return finish(prepared(scenario, flags, set, allow_changed_files), out, force, progress)


def check(scenario: AnyScenario, *, set: Sets = None) -> str:
    """The scenario with every default, as TOML, without running it. The command is `incast check`.

    Args:
        scenario: as for `incast.run`.
        set: overrides, as for `incast.run`.
    """
    with naming(scenario) as (scenario,):
        found = prepared(scenario, {}, set, False)
        for text in found.warnings():
            warnings.warn(text, RunWarning, stacklevel=2)
        return found.resolved()
