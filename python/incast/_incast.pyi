"""The engine, written in Rust (crates/python)."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, final

def version() -> str: ...
def command(arguments: Sequence[str], program: Sequence[str]) -> int: ...
def catalogue(name: str | None = None) -> str: ...
def keys() -> str: ...
def columns() -> str: ...
def numbers(summary: str) -> str: ...
def comparison(summaries: Sequence[str], width: int | None) -> str: ...
def demo(flags: dict[str, Any]) -> Prepared: ...
def compare(flags: dict[str, Any], sets: Sequence[str]) -> Prepared: ...
def run(
    scenario: Any,
    text: bool,
    flags: dict[str, Any],
    sets: Sequence[str],
    allow_changed_files: bool,
) -> Prepared: ...
def reproduction(
    name: str,
    quick: bool,
    seed: int | None,
    threads: int | None,
    assuming: Sequence[str],
    kept: tuple[str | None, bool, bool],
) -> Reproduction: ...
def explain(
    folder: str | None,
    asked: tuple[Sequence[int], int, str | None, tuple[int, int] | None],
    between: tuple[str, str] | None,
    threads: int | None,
) -> tuple[str, str, str]: ...
def sizes(text: str) -> tuple[int, int]: ...
def interval(values: Sequence[float]) -> tuple[float | None, float | None]: ...
def study(
    scenario: Any,
    text: bool,
    flags: dict[str, Any],
    sets: Sequence[str],
    section: dict[str, Any],
    yes: bool,
) -> Study: ...
def study_in(folder: str) -> Study: ...
def run_bytes(point: bytes, threads: int = 1) -> bytes: ...
@final
class Study:
    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def labels(self) -> list[str]: ...
    @property
    def keys(self) -> list[str]: ...
    @property
    def seeds(self) -> list[int]: ...
    @property
    def baseline(self) -> str: ...
    def __len__(self) -> int: ...
    def estimate(self, out: str, threads: int | None) -> str: ...
    def run(
        self,
        out: str,
        threads: int | None,
        retry_failed: bool,
        told: Callable[[str], None] | None,
    ) -> tuple[str, BaseException | None]: ...
    def search(
        self,
        ask: tuple[str, str, str, str, str | None],
        out: str,
        threads: int | None,
        told: Callable[[str], None] | None,
    ) -> tuple[str, BaseException | None]: ...
    def driver(self, out: str, retry_failed: bool) -> StudyDriver: ...

@final
class Reproduction:
    def run(
        self, told: Callable[[str], None] | None
    ) -> tuple[str, list[str], BaseException | None]: ...
    def driver(self) -> StudyDriver: ...
    def judge(self) -> tuple[str, list[str]]: ...

@final
class StudyDriver:
    def next_work(self) -> tuple[int, bytes, str, bool] | None: ...
    def take(self, ticket: int, answer: bytes) -> None: ...
    def lost(self, ticket: int, why: str) -> None: ...
    def done(self) -> bool: ...
    def set_width(self, places: int) -> None: ...
    def progress(self) -> str: ...
    def finish(self) -> str: ...
def register_control(
    law: type[Any],
    *,
    name: str,
    version: str,
    ports_like: str,
    ecn: bool,
    sender: Sequence[tuple[str, str]],
    parameters: Sequence[tuple[str, str, str]],
    sends: bool,
) -> Registration: ...
@final
class Registration:
    def close(self) -> None: ...
    def cause(self, text: str) -> BaseException | None: ...

@final
class Ack:
    """An ACK, and where its flow stands; in other calls than `on_ack` only the latter. Valid during the call."""

    @property
    def bytes(self) -> int:
        """Payload bytes newly acknowledged cumulatively; 0 for a duplicate ACK."""
    @property
    def sacked(self) -> int:
        """Payload bytes newly known to have arrived beyond a hole."""
    @property
    def ece(self) -> bool:
        """Whether the packet acknowledged was marked (ECN echo)."""
    @property
    def code(self) -> int:
        """The load of the busiest port on its path, as `ports_like = "vcp"` tells it: 1 below 80 %, 2 from
        80 % on, 3 from 100 % on. 0 through other ports, and in an ACK that ends its flow because the
        receiver has had all of it already: it keeps nothing of such a flow."""
    @property
    def nack(self) -> bool:
        """Whether it is a request to go back."""
    @property
    def limited(self) -> bool:
        """Whether the window held the flow back within the last window of data, so that it may grow."""
    @property
    def rtt_ns(self) -> float | None:
        """Round-trip time of the packet acknowledged, ns; None if it was sent more than once."""
    @property
    def payload(self) -> int:
        """Payload bytes of the packet that leaves; 0 in other calls than `on_send`."""
    @property
    def retransmit(self) -> bool:
        """Whether the packet that leaves was sent before; only in `on_send`."""
    @property
    def now_ns(self) -> float:
        """The simulated time, ns."""
    @property
    def acknowledged(self) -> int:
        """First byte that is not acknowledged."""
    @property
    def sent(self) -> int:
        """First byte that was never sent."""
    @property
    def size(self) -> int:
        """Bytes of the flow."""
    @property
    def in_flight(self) -> int:
        """Payload bytes in flight."""
    @property
    def smoothed_rtt_ns(self) -> float | None:
        """Smoothed round-trip time, ns; None before the first sample."""
    @property
    def recovering(self) -> bool:
        """Whether the flow recovers from a loss: windows should not grow."""

@final
class Prepared:
    def resolved(self) -> str: ...
    def warnings(self) -> list[str]: ...
    def run(
        self,
        out: str | None,
        numbered: bool,
        force: bool,
        told: Callable[[str, int, int, int, int, int], None] | None,
    ) -> tuple[Results, BaseException | None]: ...

@final
class Results:
    @property
    def labels(self) -> list[str]: ...
    @property
    def complete(self) -> bool: ...
    @property
    def place(self) -> Path | None: ...
    def table(self, at: int, name: str) -> Table: ...
    def series(self, at: int) -> Table: ...
    def summary(self, at: int) -> str: ...
    def run_manifest(self, at: int) -> str: ...
    def manifest(self) -> str: ...
    def warnings(self, at: int) -> list[str]: ...
    def ended(self, at: int) -> bool: ...
    def comparison(self, width: int | None) -> str: ...
    def report(self) -> str: ...
    def save(self, out: str, force: bool) -> Path: ...

@final
class Table:
    def __len__(self) -> int: ...
    @property
    def names(self) -> list[str]: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
