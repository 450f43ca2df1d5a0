"""Why a flow was slow: the answer as text, data, a page and frames."""

from __future__ import annotations

import contextlib
import functools
import html
import json
import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _incast
from ._errors import RunError
from ._results import Results

if TYPE_CHECKING:
    import polars

#: A side of a difference: a transport of the results, or other results.
Side = str | os.PathLike[str] | Results


class _Answer:
    """An answer as text, data and a page."""

    def __init__(self, text: str, data: str, page: str) -> None:
        self._text, self._data, self._page = text, data, page

    @property
    def text(self) -> str:
        """The answer in words, as the command prints it."""
        return self._text

    @functools.cached_property
    def json(self) -> Any:
        """The answer as data: a list of explanations, a difference with `parts`, `a` and `b`, or an iteration."""
        return json.loads(self._data)

    @property
    def html(self) -> str:
        """The answer as one page that needs neither files nor network."""
        return self._page

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the page. Returns its path."""
        place = Path(path)
        place.write_text(self._page, encoding="utf-8")
        return place

    def __str__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        # In a frame of its own, so that the page's style does not reach the notebook's.
        page = html.escape(self._page, quote=True)
        style = "width:100%;height:36rem;border:1px solid #888"
        return f'<iframe srcdoc="{page}" style="{style}" title="{html.escape(repr(self))}"></iframe>'


class IterationExplanation(_Answer):
    """What took the time of an iteration of a collective or a program.

    `print(explanation)` shows the text; a notebook shows the page with a timeline of the ranks. Times of its frames are
    picoseconds from the beginning of the run.
    """

    @property
    def verdict(self) -> list[str]:
        """What took longest, in sentences."""
        return [str(sentence) for sentence in self.json["verdict"]]

    @functools.cached_property
    def waterfall(self) -> polars.DataFrame:
        """Where the critical path goes: the computation and the parts of its messages."""
        return self._frame(self.json["parts"], _PART)

    @functools.cached_property
    def path(self) -> polars.DataFrame:
        """The messages of the critical path, the first one first."""
        return self._frame(self.json["path"], _LEG)

    @functools.cached_property
    def ports(self) -> polars.DataFrame:
        """Ports where messages of the path waited longest, with what these took longer than alone."""
        return self._frame(self.json["ports"], {"port": "str", "messages": "int", "excess_ps": "int", "share": "float"})

    @functools.cached_property
    def ranks(self) -> polars.DataFrame:
        """What each rank did: how long it sent and waited, and for whom longest."""
        rows = [
            {**row, **dict(zip(("waited_for", "waited_for_ps"), row["waited_for"] or (None, None), strict=True))}
            for row in self.json["by_rank"]
        ]
        return self._frame(rows, _RANK)

    def _frame(self, rows: list[dict[str, Any]], columns: dict[str, str]) -> polars.DataFrame:
        return _polars([{"run": self.json["run"], **row} for row in rows], columns, flows=False)

    def __repr__(self) -> str:
        return f"<incast.IterationExplanation of iteration {self.json['iteration']} ({self.json['run']})>"


class Explanation(_Answer):
    """What took the time of one or more flows, or how one flow differs between two runs.

    `print(explanation)` shows the text; a notebook shows the page. Frames have a row per fact, with the
    flow's number and the run it is of.
    """

    @property
    def difference(self) -> bool:
        """Whether it is the difference of one flow between two runs."""
        return isinstance(self.json, dict)

    @property
    def verdict(self) -> list[str]:
        """What took longest, in sentences; of a difference, what differs."""
        if self.difference:
            return [str(sentence) for sentence in self.json["verdict"]]
        return [str(sentence) for one in self.json for sentence in one["verdict"]]

    # -- frames

    @functools.cached_property
    def waterfall(self) -> polars.DataFrame:
        """Where the time went: one row per part of the completion time, which the parts add up to."""
        return self._frame("parts", _PART)

    @functools.cached_property
    def path(self) -> polars.DataFrame:
        """The way of the packet that completed the flow: one row per port, with how long it waited."""
        return self._frame("hops", _HOP)

    @functools.cached_property
    def in_front(self) -> polars.DataFrame:
        """Who was in front of that packet: one row per port and flow (or pause, or rate limit)."""
        rows = [
            {**named, "port": hop["port"], **front}
            for named, one in self._all()
            for hop in one["hops"]
            for front in hop["fronts"]
        ]
        return _polars(rows, {"port": "str", **_FRONT})

    @functools.cached_property
    def waits(self) -> polars.DataFrame:
        """The waits of all its data packets together, which overlap in time: one row per port."""
        return self._frame("waits", _WAIT)

    @functools.cached_property
    def losses(self) -> polars.DataFrame:
        """One row per lost packet."""
        return self._frame("losses", _LOSS)

    @functools.cached_property
    def decisions(self) -> polars.DataFrame:
        """What its congestion control knew and decided: one row per event."""
        return self._frame("control", _CONTROL)

    def _all(self) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        found = [self.json["a"], self.json["b"]] if self.difference else self.json
        for one in found:
            yield {"run": one["run"], "flow_id": one["flow"]["id"]}, one

    def _frame(self, name: str, columns: dict[str, str]) -> polars.DataFrame:
        rows = [{**named, **row} for named, one in self._all() for row in one[name]]
        return _polars(rows, columns)

    # -- display

    def __repr__(self) -> str:
        flows = ", ".join(f"{named['flow_id']} ({named['run']})" for named, _ in self._all())
        return f"<incast.Explanation of flow {flows}>"


#: Columns of the frames with their types; lists and other nested values are left to `json`.
_PART = {"name": "str", "meaning": "str", "ps": "int", "share": "float"}
_HOP = {
    "port": "str",
    "tier": "str",
    "after_ps": "int",
    "class": "int",
    "waited_ps": "int",
    "queue_bytes": "int",
    "marked": "bool",
}
_FRONT = {"why": "str", "flow": "int", "class": "int", "bytes": "int", "ps": "int"}
_WAIT = {
    "port": "str",
    "tier": "str",
    "packets": "int",
    "waited_ps": "int",
    "longest_ps": "int",
    "queue_bytes_max": "int",
    "marks": "int",
}
_LOSS = {
    "after_ps": "int",
    "port": "str",
    "how": "str",
    "packet": "str",
    "number": "int",
    "retransmission": "bool",
    "queue_bytes": "int",
}
_CONTROL = {
    "after_ps": "int",
    "end": "str",
    "event": "str",
    "age_ps": "int",
    "window_bytes": "int",
    "rate_bps": "int",
    "in_flight_bytes": "int",
    "credits": "int",
}


#: The same of an iteration.
_LEG = {
    "flow": "int",
    "from": "int",
    "to": "int",
    "size_bytes": "int",
    "start_ps": "int",
    "end_ps": "int",
    "ideal_ps": "int",
    "port": "str",
    "part": "str",
}
_RANK = {
    "rank": "int",
    "host": "int",
    "computing_ps": "int",
    "sending_ps": "int",
    "waiting_ps": "int",
    "waited_for": "int",
    "waited_for_ps": "int",
    "done_ps": "int",
}


def _polars(rows: list[dict[str, Any]], columns: dict[str, str], *, flows: bool = True) -> polars.DataFrame:
    import polars

    types = {"str": polars.String, "int": polars.Int64, "float": polars.Float64, "bool": polars.Boolean}
    schema: dict[str, Any] = {"run": polars.String}
    if flows:
        schema["flow_id"] = polars.Int64
    schema |= {name: types[kind] for name, kind in columns.items()}
    kept = [{name: row.get(name) for name in schema} for row in rows]
    return polars.DataFrame(kept, schema=schema)


def _sizes(size: str | int | tuple[int, int] | None) -> tuple[int, int] | None:
    """A range of sizes in bytes."""
    if size is None:
        return None
    if isinstance(size, tuple):
        return size
    return _incast.sizes(size if isinstance(size, str) else f"{size}B")


def explain(
    results: Results | str | os.PathLike[str] | None = None,
    *,
    flow: int | Sequence[int] | None = None,
    slowest: int | None = None,
    transport: str | None = None,
    size: str | int | tuple[int, int] | None = None,
    between: tuple[Side, Side] | None = None,
    threads: int | None = None,
) -> Explanation:
    """Says why a flow was slow, by repeating its run with a trace. The command is `incast explain`.

    Args:
        results: results, or a results folder. May be left out beside two folders in `between`.
        flow: the flow's number, or several; without it the slowest flow.
        slowest: explain this many of the flows with the largest slowdown.
        transport: the run of this transport, or its flows in a run of several.
        size: only flows of this size: `"10KB-100KB"`, bytes, or two numbers of bytes.
        between: explain the difference of one flow between two transports of the results, or between
            two other results or folders.
        threads: threads of the repeated run; as the run had without it.
    """
    if flow is not None and (slowest is not None or size is not None):
        raise RunError("flow says which: expected neither slowest nor size beside it")
    flows = [] if flow is None else [flow] if isinstance(flow, int) else list(flow)
    asked = (flows, 1 if slowest is None else slowest, transport, _sizes(size))
    if slowest == 0:
        raise RunError("slowest = `0`: expected 1 or more")
    with tempfile.TemporaryDirectory(prefix="incast-") as home:
        folder = None if results is None else _place(results, Path(home) / "results")
        sides = None
        if between is not None:
            first, second = between
            sides = (_side(first, Path(home) / "a"), _side(second, Path(home) / "b"))
        with _unplaced(home):
            answer = _incast.explain(folder, asked, sides, threads)
        return Explanation(*(_without(home, text) for text in answer))


def explain_iteration(
    results: Results | str | os.PathLike[str],
    iteration: int,
    *,
    collective: int | None = None,
    job: str | None = None,
    transport: str | None = None,
) -> IterationExplanation:
    """Says why an iteration of a collective or a program took as long as it did. The command is `incast explain --iteration`.

    Args:
        results: results, or a results folder.
        iteration: its number, from 0.
        collective: which collective of the scenario it is of, from 0; the first one, or the first program, if neither this
            nor `job` is given.
        job: the job that it is of, or the file of a program.
        transport: the run of this transport.
    """
    with tempfile.TemporaryDirectory(prefix="incast-") as home:
        folder = _place(results, Path(home) / "results")
        with _unplaced(home):
            answer = _incast.explain(folder, ([], 1, transport, None), None, None, (collective, job, iteration))
        return IterationExplanation(*(_without(home, text) for text in answer))


def _without(home: str, text: str) -> str:
    """A text that names results in memory by what they are, not by the folder in which they were for a moment."""
    return re.sub(rf"{re.escape(home)}/(?:results|a|b)\b", "incast.Results", text)


@contextlib.contextmanager
def _unplaced(home: str) -> Iterator[None]:
    """The same for what is refused."""
    try:
        yield
    except RunError as error:
        named = {name: one for name, one in vars(error).items() if not name.startswith("__")}
        named = {name: _without(home, one) if isinstance(one, str) else one for name, one in named.items()}
        raise type(error)(named.pop("problem"), **named) from None


def _place(results: Results | str | os.PathLike[str], home: Path) -> str:
    """The folder of results; those that are only in memory are written to `home`."""
    if not isinstance(results, Results):
        return os.fspath(results)
    return os.fspath(results.save(home) if results.place is None else results.place)


def _side(side: Side, home: Path) -> str:
    return side if isinstance(side, str) else _place(side, home)
