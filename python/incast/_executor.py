"""Studies and figures on any executor: processes, Dask, Slurm through submitit.

An executor is an object whose `submit(function, *arguments)` returns something with `done()` and `result()`.
Points travel as bytes, with the input files and the controls they need; rows come back as bytes; only this process
writes the store.
"""

from __future__ import annotations

import concurrent.futures
import functools
import importlib
import json
import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from . import _incast
from ._errors import ExecutorError, some

if TYPE_CHECKING:
    from ._control import Control
    from ._study import Executor, Future

#: Seconds between two looks at futures: at first, and at most.
_SHORTEST, _LONGEST = 0.005, 0.25
#: Points handed to an executor at a time, if it does not say how many workers it has.
_AT_ONCE = 64


def work(point: bytes, controls: bytes, _ticket: int) -> bytes:
    """Runs a point in a worker: in one thread, without a store. Returns its row. The ticket makes the call another
    one than that of a worker that was lost, for executors that keep results by arguments."""
    if not controls:
        return _incast.run_bytes(point)
    from ._control import registered

    with registered(_unpacked(controls)):
        return _incast.run_bytes(point)


def packed(controls: Sequence[type[Control]]) -> bytes:
    """Controls with what is registered of them, as bytes. With cloudpickle, which Dask and submitit have,
    classes travel by value, so that workers need not have their modules."""
    if not controls:
        return b""
    from ._control import description

    described = [(law, description(law)) for law in controls]
    try:
        return _pickled(described, {law.__module__ for law in controls})
    except Exception as error:
        names = ", ".join(law.__name__ for law in controls)
        raise ExecutorError(f"{names} cannot be sent to workers: {error}") from error


def _pickled(what: Any, by_value: set[str]) -> bytes:
    import pickle

    try:
        better: Any = importlib.import_module("cloudpickle")
    except ImportError:
        return pickle.dumps(what)
    modules = [sys.modules[name] for name in sorted(by_value - {"__main__"})]
    for module in modules:
        better.register_pickle_by_value(module)
    try:
        packed: bytes = better.dumps(what)
    finally:
        for module in modules:
            better.unregister_pickle_by_value(module)
    return packed


# The bytes are the same for all points of a study.
@functools.lru_cache(maxsize=4)
def _unpacked(controls: bytes) -> Any:
    import pickle

    return pickle.loads(controls)


class _Lost(Exception):
    """A point that came back without a row."""


def _row(future: Future) -> bytes:
    """The answer of a future. Raises _Lost, or BrokenExecutor if there will be no others either."""
    try:
        answer = future.result()
    except concurrent.futures.BrokenExecutor:
        raise
    except Exception as error:
        raise _Lost(f"{type(error).__name__}: {error}") from error
    except concurrent.futures.CancelledError as error:
        raise _Lost("it was cancelled") from error
    if not isinstance(answer, bytes | bytearray | memoryview):
        raise _Lost(f"the executor returned {answer!r:.80}; expected the bytes of a row")
    return bytes(answer)


class _Flights:
    """Points that an executor has."""

    def __init__(self, driver: _incast.StudyDriver, executor: Executor, controls: bytes) -> None:
        self.driver = driver
        self.executor = executor
        self.controls = controls
        self.flying: dict[int, tuple[Future, str, float]] = {}
        #: Points that it had when it broke.
        self.suspects: list[str] = []
        self.broken: BaseException | None = None

    def fill(self, at_once: int) -> bool:
        """Hands out points; whether there was one."""
        any_of_them = False
        while self.broken is None and len(self.flying) < at_once:
            found = self.driver.next_work()
            if found is None:
                break
            ticket, point, name, _ = found
            any_of_them = True
            try:
                future = self.executor.submit(work, point, self.controls, ticket)
            except Exception as error:
                # It will not take the next one either.
                self.broken = error
                self.suspects.append(name)
                break
            if not (hasattr(future, "done") and hasattr(future, "result")):
                self.broken = TypeError(
                    f"`submit` returned {future!r:.80}; expected an object with `done` and `result`"
                )
                break
            self.flying[ticket] = (future, name, time.monotonic())
        return any_of_them

    def collect(self, patience: float | None) -> bool:
        """Takes rows that are there; whether there was one."""
        ended = []
        for ticket, (future, name, since) in list(self.flying.items()):
            late = patience is not None and time.monotonic() - since > patience
            if not (late or future.done()):
                continue
            del self.flying[ticket]
            ended.append(ticket)
            if late and not future.done():
                _cancel(future)
                self.driver.lost(ticket, f"no answer within {patience:g} s")
                continue
            try:
                row = _row(future)
            except concurrent.futures.BrokenExecutor as error:
                self.broken = error
                self.suspects.append(name)
            except _Lost as lost:
                self.driver.lost(ticket, str(lost))
            else:
                self.driver.take(ticket, row)
        return bool(ended)

    def abandon(self) -> None:
        for future, _, _ in self.flying.values():
            _cancel(future)
        self.flying.clear()


def _cancel(future: Future) -> None:
    cancel = getattr(future, "cancel", None)
    if cancel is not None:
        try:
            cancel()
        except Exception:
            pass  # Its executor is gone, and with it the work.


def _over(error: BaseException, suspects: list[str]) -> ExecutorError:
    text = f"the executor broke, the points left were not run: {type(error).__name__}: {error}"
    if suspects:
        more = len(suspects) - 4
        names = ", ".join(f"`{name}`" for name in suspects[:4])
        text += f" (it had {names}{f' and {more} more' if more > 0 else ''})"
    return ExecutorError(text)


def places_of(executor: Any) -> int:
    """How many points an executor runs at a time, as far as it says."""
    workers = getattr(executor, "_max_workers", None)
    if isinstance(workers, int):
        return workers
    client = getattr(executor, "_client", None)
    threads = getattr(client, "nthreads", None)
    return sum(threads().values()) if callable(threads) else 0


def run_on(
    driver: Callable[[], _incast.StudyDriver],
    executor: Executor,
    told: Callable[[str], None] | None,
    controls: Sequence[type[Control]] = (),
    *,
    at_once: int | None = None,
    patience: float | None = None,
) -> dict[str, Any]:
    """Runs what a study's folder, or a folder of kept tables, lacks on an executor. Returns how it ended.

    Args:
        driver: makes what says what to run, and keeps what comes back. Only this process writes the folder.
        executor: an object whose `submit(function, *arguments)` returns something with `done()` and `result()`.
        told: is called with the progress as JSON.
        controls: classes that points name.
        at_once: points at most that the executor has at a time; by default twice its workers, or 64.
        patience: seconds after which a point without an answer is taken for lost; by default never.

    Raises:
        ExecutorError: the executor takes no more work, or it lost the same points again and again.
    """
    if not callable(getattr(executor, "submit", None)):
        raise TypeError(f"{executor!r:.80} is no executor: it has no `submit`")
    load = packed(controls)
    own = driver()
    places = places_of(executor)
    at_once = at_once or (2 * places if places else _AT_ONCE)
    own.set_width(places or at_once)
    flights = _Flights(own, executor, load)
    try:
        _fly(flights, at_once, patience, told)
    finally:
        # Also after Ctrl-C or an error: what is done is in the table.
        flights.abandon()
        ended: dict[str, Any] = json.loads(own.finish())
    if ended["not_run"]:
        lost = ended["not_run"]
        raise ExecutorError(
            f"the executor lost {len(lost)} of {ended['points']} points: {some(lost)}"
        )
    return ended


def _fly(
    flights: _Flights,
    at_once: int,
    patience: float | None,
    told: Callable[[str], None] | None,
) -> None:
    wait = _SHORTEST
    while not flights.driver.done():
        filled = flights.fill(at_once)
        collected = flights.collect(patience)
        if flights.broken is not None and not flights.flying:
            raise _over(flights.broken, flights.suspects) from flights.broken
        if told is not None:
            told(flights.driver.progress())
        wait = _SHORTEST if filled or collected else min(2 * wait, _LONGEST)
        if not collected:
            time.sleep(wait)
