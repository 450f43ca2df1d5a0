"""Studies on any executor. Points travel as bytes with their input files and come back as bytes; only the
caller writes the store."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _incast
from ._errors import RunError

if TYPE_CHECKING:
    from ._study import Executor

#: Seconds between two looks at what is done.
LOOK = 0.02


def work(point: bytes) -> bytes:
    """Runs a point; this is what a worker calls."""
    return _incast.run_bytes(point)


def run_on(
    study: _incast.Study,
    out: Path,
    executor: Executor,
    retry_failed: bool,
    told: Callable[[str], None] | None,
) -> None:
    """Runs on an executor what a study's folder lacks.

    Raises:
        RunError: the executor broke, or a worker is of another version. What is done is kept, and points
            that were not run have no row: the same call runs them.
    """
    driver = study.driver(os.fspath(out), retry_failed)
    # Enough that no worker waits, and few enough that Ctrl-C leaves little behind.
    places = int(getattr(executor, "_max_workers", None) or 32)
    driver.set_width(places)
    flights: dict[int, Any] = {}
    try:
        while not driver.done():
            while len(flights) < 2 * places and (next_one := driver.next_work()) is not None:
                ticket, point, _, _ = next_one
                flights[ticket] = executor.submit(work, point)
            landed = [ticket for ticket, future in flights.items() if future.done()]
            # What has come back is kept before a broken executor ends it.
            broken = [_land(driver, ticket, flights.pop(ticket)) for ticket in landed]
            for error in filter(None, broken):
                raise error
            if told is not None:
                told(driver.progress())
            if not landed:
                time.sleep(LOOK)
    except BrokenExecutor as error:
        problem = f"the executor broke: {error}; what is done is kept, the same call runs the rest"
        raise RunError(problem) from error
    finally:
        for future in flights.values():
            cancel = getattr(future, "cancel", None)
            if cancel is not None:
                cancel()
        driver.finish()


def _land(driver: _incast.StudyDriver, ticket: int, future: Any) -> BrokenExecutor | None:
    """Keeps what a worker answered; returns why the executor is broken, if it is."""
    try:
        answer = future.result()
    except BrokenExecutor as error:
        return error
    except Exception as error:
        # A worker that died, or could not be reached: another one tries.
        driver.lost(ticket, f"{type(error).__name__}: {error}")
        return None
    if isinstance(answer, bytes):
        driver.take(ticket, answer)
    else:
        driver.lost(ticket, f"the worker returned {type(answer).__name__}, not bytes")
    return None
