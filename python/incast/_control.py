"""Congestion controls written in Python."""

from __future__ import annotations

import contextlib
import difflib
import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from . import _incast
from ._errors import RunError, ScenarioError
from ._section import Section
from ._source import hash_of

Ack = _incast.Ack

#: A value of a parameter.
Value = bool | int | float | str

#: Attributes of a class that set up the common sender: see `Control`.
_SENDER = (
    "recovery",
    "rto_min",
    "rto_initial",
    "nack_interval",
    "delayed_ack",
    "delayed_ack_timeout",
)


#: What the engine calls, if a class has it.
_CALLBACKS = ("on_ack", "on_loss", "on_timer", "on_send")


class ControlError(RunError):
    """A control that raised, or set something that cannot be. `__cause__` is what it raised.

    Attributes:
        control: its name.
        flow: the flow's number.
        at: the simulated time, such as `12.5us`.
        call: the call in which it happened, such as `on_ack`.
    """

    def __init__(
        self,
        problem: str,
        *,
        control: str = "",
        flow: int = -1,
        at: str = "",
        call: str = "",
        **place: Any,
    ) -> None:
        super().__init__(problem, **place)
        self.control, self.flow, self.at, self.call = control, flow, at, call


class Control:
    """A congestion control of one flow, as a subclass of this.

    Sequence numbers, ACKs, retransmission and pacing are the engine's; ports, marking, the class of ACKs and
    routing are those of a transport of the catalogue. A subclass decides by three attributes how much may
    be in flight and how fast it leaves. The engine reads them after `start` and after each call:

    Attributes:
        window: payload bytes that may be in flight, 0 or more; fractions are cut off. One packet may always
            be in flight unless it is 0.
        rate: pacing rate in bits per second as links charge them, 1 or more; None: as fast as the link.
        timer_ns: the simulated time at which to call `on_timer`, ns; None: not. It is None again when it is called.

    Set before `start`:

    Attributes:
        flow, src, dst: numbers of the flow and of its hosts.
        size: bytes of the flow.
        segment: payload bytes of a full packet.
        link_rate: rate of the source's link, bits per second.
        bdp: payload bytes that fill the base RTT at that rate.
        base_rtt_ns: round-trip time of a full packet and its ACK on an idle network, ns.
        opened_ns: the simulated time, ns.
    """

    #: Its name in scenarios and results; by default the class's name in lower case.
    name: ClassVar[str] = ""
    #: Whether its packets are ECN-capable, so that ports may mark them. Through ports like VCP's they carry
    #: its codes in any case.
    ecn: ClassVar[bool] = False
    #: The transport whose ports, marking and routing it has: cubic, dcqcn, dctcp, timely, trd or vcp.
    ports_like: ClassVar[str] = "dctcp"
    #: Defaults of its parameters. They are keys of the scenario (`transport.parameters.NAME.KEY`) and attributes
    #: of its objects.
    parameters: ClassVar[Mapping[str, Value]] = {}
    #: Loss detection: `sack`, `newreno` or `go-back-n`.
    recovery: ClassVar[str] = "sack"
    #: Least retransmission timeout.
    rto_min: ClassVar[str] = "10ms"
    #: What results are identified by; by default a hash of the class's source and of the functions it calls.
    version: ClassVar[str] = ""

    window: float
    rate: float | None = None
    timer_ns: float | None = None

    flow: int
    src: int
    dst: int
    size: int
    segment: int
    link_rate: int
    bdp: int
    base_rtt_ns: float
    opened_ns: float

    def start(self) -> None:
        """The flow opens. Sets at least `window`."""
        raise NotImplementedError(f"{type(self).__name__} has no `start`, which sets `window`")

    def on_ack(self, ack: Ack) -> None:
        """An ACK arrived, perhaps a duplicate or one during recovery. `ack` is valid during the call."""
        raise NotImplementedError(f"{type(self).__name__} has no `on_ack`")

    def on_loss(self, at: Ack, timeout: bool) -> None:
        """A loss was found, by ACKs (at most once per window of data) or by the retransmission timer.
        If an ACK reveals it, `on_ack` follows."""
        raise NotImplementedError(f"{type(self).__name__} has no `on_loss`")

    def on_timer(self, at: Ack) -> None:
        """The time `timer_ns` has come."""
        raise NotImplementedError(f"{type(self).__name__} has no `on_timer`, but sets `timer_ns`")

    def on_send(self, at: Ack) -> None:
        """A data packet of `at.payload` bytes leaves. Classes without it save the call."""

    # -- called by the engine

    @classmethod
    def _configured(cls, values: Sequence[tuple[str, str]]) -> type[Control]:
        """The class with these values of its parameters."""
        read = {key: _read(key, text, cls.parameters[key]) for key, text in values}
        return type(cls.__name__, (cls,), read)

    @classmethod
    def _opened(
        cls,
        flow: tuple[int, int, int, int, int],
        link: tuple[int, int, float],
        now_ns: float,
    ) -> Control:
        self = cls()
        self.flow, self.src, self.dst, self.size, self.segment = flow
        self.link_rate, self.bdp, self.base_rtt_ns = link
        self.opened_ns = now_ns
        self.start()
        return self


class _BadValue(ValueError):
    """A value of a parameter that is not of its default's kind."""

    def __init__(self, key: str, problem: str) -> None:
        super().__init__(f"{key}: {problem}")
        self.key, self.problem = key, problem


def _accepted(default: Value) -> str:
    if isinstance(default, bool):
        return "true or false"
    if isinstance(default, int):
        return "a whole number"
    return "a number" if isinstance(default, float) else "a text"


def _written(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _read(key: str, text: str, default: Value) -> Value:
    """A value as a scenario has it, of the kind of its default."""
    try:
        if isinstance(default, bool):
            return {"true": True, "false": False}[text]
        return type(default)(text)
    except (KeyError, ValueError):
        raise _BadValue(key, f"expected {_accepted(default)}") from None


def name_of(law: type[Control]) -> str:
    """The name of a control in scenarios."""
    if law.name:
        return law.name
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", law.__name__).lower()


def description(law: type[Control]) -> dict[str, Any]:
    """What is registered of a control beside the class: travels with it to other processes, which may not
    have its source."""
    if not (isinstance(law, type) and issubclass(law, Control)):
        raise TypeError(f"expected a subclass of incast.Control, not {law!r}")
    if inspect.isabstract(law) or law is Control:
        raise TypeError("expected a subclass of incast.Control with `start`, `on_ack` and `on_loss`")
    for written in dir(law):
        near = difflib.get_close_matches(written, _CALLBACKS, n=1, cutoff=0.75)
        if written.startswith("on_") and near and written not in _CALLBACKS:
            raise TypeError(f"nothing calls `{written}` of {law.__name__}: did you mean `{near[0]}`?")
    for key, value in law.parameters.items():
        if not isinstance(value, bool | int | float | str):
            problem = "expected true or false, a number or a text as default"
            raise ScenarioError(problem, key=f"{name_of(law)}.parameters.{key}", value=repr(value))
    parameters = [(key, _written(one), _accepted(one)) for key, one in law.parameters.items()]
    set_up = [(key, getattr(law, key, None)) for key in _SENDER]
    return {
        "name": name_of(law),
        "version": law.version or hash_of(law, Control),
        "ports_like": law.ports_like,
        "ecn": bool(law.ecn),
        "sender": [(key, str(value)) for key, value in set_up if value is not None],
        "parameters": parameters,
        "sends": law.on_send is not Control.on_send,
    }


def _register(law: type[Control], described: dict[str, Any]) -> _incast.Registration:
    try:
        return _incast.register_control(law, **described)
    except ValueError as error:
        message, key = error.args if len(error.args) == 2 else (str(error), None)
        raise ScenarioError(message.split(": ", 1)[-1], key=key) from None


@contextlib.contextmanager
def registered(found: Sequence[tuple[type[Control], dict[str, Any]]]) -> Iterator[None]:
    """Registers controls that have been described."""
    with contextlib.ExitStack() as stack:
        all_of_them = []
        for law, described in found:
            registration = _register(law, described)
            stack.callback(registration.close)
            all_of_them.append(registration)
        try:
            yield
        except RunError as error:
            raise _explained(error, all_of_them) from _cause(error, all_of_them)


def _cause(error: RunError, registrations: list[_incast.Registration]) -> BaseException | None:
    causes = (registration.cause(error.problem) for registration in registrations)
    return next((cause for cause in causes if cause is not None), error.__cause__)


_FAILED = re.compile(r"the control `([^`]+)`, flow (\d+) at ([^,]+), ([^:]+): ")


def _explained(error: RunError, registrations: list[_incast.Registration]) -> RunError:
    found = _FAILED.search(error.problem)
    if found is None:
        return error
    return ControlError(
        error.problem, control=found[1], flow=int(found[2]), at=found[3], call=found[4]
    )


@contextlib.contextmanager
def controls(*laws: type[Control]) -> Iterator[None]:
    """Lets scenarios, also those of files, name these controls while it lasts.

    >>> class Fixed(Control):
    ...     def start(self):
    ...         self.window = 30_000
    ...     def on_ack(self, ack):
    ...         pass
    ...     def on_loss(self, at, timeout):
    ...         pass
    >>> import incast
    >>> scenario = {
    ...     "fabric": {"topology": "star:4"},
    ...     "transport": {"names": ["fixed"]},
    ...     "traffic": [{"kind": "permutation", "size": "100KB"}],
    ... }
    >>> with incast.controls(Fixed):
    ...     incast.run(scenario).labels
    ['fixed']
    """
    with registered([(law, description(law)) for law in laws]):
        yield


#: Deepest nesting that is looked through; what is nested deeper the engine refuses.
DEEPEST = 40


def named(value: Any, found: list[type[Control]], depth: int = 0) -> Any:
    """The value with names in place of controls, wherever they stand in it; adds them to `found`."""
    if depth > DEEPEST:
        return value
    if isinstance(value, type) and issubclass(value, Control):
        if value not in found:
            found.append(value)
        return name_of(value)
    if isinstance(value, Section):
        value = value.to_dict()
    if isinstance(value, Mapping):
        return {named(key, found): named(one, found, depth + 1) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [named(one, found, depth + 1) for one in value]
    return value


@contextlib.contextmanager
def naming(*values: Any) -> Iterator[list[Any]]:
    """The values with names in place of controls, which are registered while it lasts."""
    found: list[type[Control]] = []
    plain = [named(value, found) for value in values]
    with registered([(law, description(law)) for law in found]):
        yield plain
