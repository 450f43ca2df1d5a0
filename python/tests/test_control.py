"""Congestion controls written in Python, beside those of the catalogue."""

from __future__ import annotations

import importlib.util
import math
import pickle
import threading
from pathlib import Path
from typing import Any, ClassVar

import pytest

import incast
from incast._control import Control, description, name_of

EXAMPLE = Path(__file__).parents[2] / "examples" / "my_control.py"


def example() -> Any:
    found = importlib.util.spec_from_file_location("my_control", EXAMPLE)
    assert found is not None and found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


DCTCP = example().Dctcp

#: Losses, marks and timeouts between unequal links.
HARD: dict[str, Any] = {
    "fabric": {
        "topology": "leaf-spine:3x2x3",
        "rate": "10Gbps",
        "uplink_rate": "20Gbps",
        "loss": 0.001,
        "buffer": "64KiB",
    },
    "traffic": [
        {"kind": "poisson", "workload": "web_search", "load": 0.7, "flows": 30},
        {"kind": "incast", "receiver": 0, "senders": 8, "size": "200KB"},
    ],
}


def hard(*names: Any, **run: Any) -> dict[str, Any]:
    return {**HARD, "transport": {"names": list(names)}, "run": run}


class Fixed(Control):
    """A window that does not change."""

    def start(self) -> None:
        self.window = 30_000

    def on_ack(self, ack: incast.Ack) -> None:
        pass

    def on_loss(self, at: incast.Ack, timeout: bool) -> None:
        pass


@pytest.mark.parametrize(
    "where", [{"threads": 1}, {"threads": 2}, {"threads": 3}, {"world": "dataplane"}]
)
def test_dctcp_in_python_gives_the_records_of_the_catalogue(where: dict[str, Any]) -> None:
    results = incast.run(hard("dctcp", DCTCP, **where))
    assert results.labels == ["dctcp", "my_dctcp"]
    expected, found = (run.flows.drop("transport") for run in results)
    assert expected["retransmits"].sum() > 10
    assert found.equals(expected)


def test_parameters_are_attributes_and_keys() -> None:
    results = incast.run(
        hard("dctcp", DCTCP),
        set={
            "transport.parameters.dctcp.gain": 0.5,
            "transport.parameters.my_dctcp.gain": 0.5,
            "transport.parameters.dctcp.mark_threshold": "8 packets",
            "transport.parameters.my_dctcp.mark_threshold": "8 packets",
        },
    )
    expected, found = (run.flows.drop("transport") for run in results)
    assert found.equals(expected)
    for key, value, problem in [
        ("gain", "much", "expected a number"),
        ("gian", 1, "did you mean `gain`"),
        ("min_window", 1.5, "expected a whole number"),
    ]:
        with pytest.raises(incast.ScenarioError, match=problem) as caught:
            incast.run(hard(DCTCP), set={f"transport.parameters.my_dctcp.{key}": value})
        assert f"transport.parameters.my_dctcp.{key}" in str(caught.value)


def test_controls_of_a_file_are_named(tmp_path: Path) -> None:
    file = tmp_path / "scenario.toml"
    file.write_text(
        '[fabric]\ntopology = "star:4"\n[transport]\nnames = ["fixed"]\n'
        '[[traffic]]\nkind = "permutation"\nsize = "100KB"\n'
    )
    with incast.controls(Fixed):
        assert incast.run(file).labels == ["fixed"]
    with pytest.raises(incast.ScenarioError, match="xpected one of"):
        incast.run(file)


class Raises(Fixed):
    def on_ack(self, ack: incast.Ack) -> None:
        if ack.acknowledged > 20_000:
            raise ZeroDivisionError("mine")


class NotANumber(Fixed):
    def on_ack(self, ack: incast.Ack) -> None:
        self.window = math.nan


class Negative(Fixed):
    def on_ack(self, ack: incast.Ack) -> None:
        self.window -= 10_000


class Text(Fixed):
    def start(self) -> None:
        self.window = "much"  # type: ignore[assignment]


class Never(Fixed):
    def start(self) -> None:
        self.window = 0


class Forgets(Fixed):
    def start(self) -> None:
        pass


class Rate(Fixed):
    def on_ack(self, ack: incast.Ack) -> None:
        self.rate = 0.0


class Past(Fixed):
    def on_ack(self, ack: incast.Ack) -> None:
        self.timer_ns = ack.now_ns - 1


class NoTimer(Fixed):
    def on_ack(self, ack: incast.Ack) -> None:
        self.timer_ns = ack.now_ns + 5


@pytest.mark.parametrize(
    ("law", "call", "problem"),
    [
        (Raises, "on_ack", "ZeroDivisionError: mine"),
        (NotANumber, "on_ack", "`window` is nan; expected bytes, 0 or more"),
        (Negative, "on_ack", "`window` is -10000; expected bytes, 0 or more"),
        (Text, "opening", "`window` is 'much'; expected bytes"),
        (Never, "opening", "the flow never sends again: its window is 0"),
        (Forgets, "opening", "`window` cannot be read"),
        (Rate, "on_ack", "`rate` is 0; expected bits per second, 1 or more, or None"),
        (Past, "on_ack", "the timer is set to"),
        (NoTimer, "on_timer", "NoTimer has no `on_timer`"),
    ],
)
def test_a_control_that_fails_says_where(law: type[Control], call: str, problem: str) -> None:
    texts = []
    for threads in (1, 2):
        with pytest.raises(incast.ControlError) as caught:
            incast.run(hard(law, threads=threads))
        error = caught.value
        assert problem in str(error)
        assert (error.control, error.call) == (name_of(law), call)
        assert error.flow >= 0 and error.at.endswith("s")
        texts.append(str(error))
    assert texts[0] == texts[1]
    if law is Raises:
        assert isinstance(error.__cause__, ZeroDivisionError)
        assert "test_control.py" in str(error), "the traceback"


def test_a_failed_run_leaves_nothing_half_written(tmp_path: Path) -> None:
    with pytest.raises(incast.ControlError):
        incast.run(hard(Raises), out=tmp_path / "out")
    left = [path for path in tmp_path.rglob("*") if path.suffix == ".parquet"]
    assert not left
    # And the engine is as good as before.
    assert incast.run(hard(Fixed)).complete


class Paced(Fixed):
    """A pacing rate, changed by a timer; counts its packets."""

    sent_packets = 0
    timers = 0

    def start(self) -> None:
        self.window = 100_000
        self.rate = self.link_rate / 4
        self.timer_ns = self.opened_ns + 10_000

    def on_timer(self, at: incast.Ack) -> None:
        assert self.timer_ns is None
        type(self).timers += 1
        self.timer_ns = at.now_ns + 10_000

    def on_send(self, at: incast.Ack) -> None:
        assert at.payload > 0 and not at.retransmit
        Paced.sent_packets += 1


def test_rates_timers_and_departures() -> None:
    Paced.sent_packets = 0
    scenario = {
        "fabric": {"topology": "star:2", "rate": "10Gbps"},
        "transport": {"names": [Paced]},
        "traffic": [{"kind": "long", "from": "0", "to": "1", "size": "146KB"}],
    }
    (run,) = incast.run(scenario)
    assert Paced.sent_packets == 100
    # 100 packets of 1538 B at 2.5 Gb/s.
    assert run.flows["fct_ns"][0] == pytest.approx(100 * 1538 * 8 / 2.5, rel=0.02)


class Codes(Fixed):
    """Slows down when the ports say so."""

    ports_like = "vcp"
    seen: ClassVar[set[int]] = set()
    over = False

    def on_ack(self, ack: incast.Ack) -> None:
        Codes.seen.add(ack.code)
        # The receiver had the whole flow and has forgotten it: this ACK ends it.
        assert not self.over
        self.over = ack.code == 0
        self.window = self.segment if ack.code == 3 else 30_000


def test_ports_of_vcp_tell_their_load() -> None:
    Codes.seen.clear()
    # So many losses that last ACKs are among what is lost.
    scenario = hard(Codes)
    scenario["fabric"] = {**scenario["fabric"], "loss": 0.02}
    assert incast.run(scenario).complete
    assert {0, 1, 3} <= Codes.seen <= {0, 1, 2, 3}


def test_runs_in_threads_of_python_share_the_interpreter() -> None:
    expected = incast.run(hard(DCTCP))[0].flows
    found: list[Any] = []

    def work() -> None:
        with incast.controls(DCTCP):
            found.append(incast.run(hard("my_dctcp", threads=2))[0].flows)

    workers = [threading.Thread(target=work) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(timeout=120)
    assert len(found) == 3
    assert all(flows.equals(expected) for flows in found)


def changed(bound: int) -> type[Control]:
    """Two classes of the same text that differ in a value around them."""

    class Own(Fixed):
        name = "own"

        def start(self) -> None:
            self.window = bound

    return Own


def test_versions_tell_what_a_control_does() -> None:
    version = description(changed(1))["version"]
    assert version == description(changed(1))["version"]
    assert version != description(changed(2))["version"]
    assert description(Fixed)["version"] != description(Never)["version"]
    own = type("Own", (Fixed,), {"name": "own", "version": "7"})
    assert description(own)["version"] == "7"


def test_what_is_no_control_is_refused() -> None:
    with pytest.raises(incast.ScenarioError, match="this is a transport of the catalogue"):
        incast.run(hard(type("Ren", (Fixed,), {})))
    with pytest.raises(incast.ScenarioError, match="did you mean `dctcp`"):
        incast.run(hard(type("Mine", (Fixed,), {"ports_like": "dctpc"})))
    with pytest.raises(incast.ScenarioError, match="eight priorities.*xpected one of cubic, dcqcn, dctcp, timely, trd, vcp"):
        incast.run(hard(type("Mine", (Fixed,), {"ports_like": "homa"})))
    with pytest.raises(incast.ScenarioError, match="expected"):
        incast.run(hard(type("Mine", (Fixed,), {"rto_min": "0s"})))
    with pytest.raises(TypeError, match=r"nothing calls `on_los` of Mine: did you mean `on_loss`"):
        incast.run(hard(type("Mine", (Fixed,), {"on_los": Fixed.on_loss})))
    with pytest.raises(TypeError, match=r"with `start`, `on_ack` and `on_loss`"):
        incast.run(hard(Control))
    one, other = changed(1), changed(2)
    with incast.controls(one), pytest.raises(incast.ScenarioError, match="another version"):
        with incast.controls(other):
            pass


def test_errors_travel_between_processes() -> None:
    with pytest.raises(incast.ControlError) as caught:
        incast.run(hard(Raises))
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.control, again.flow, str(again)) == ("raises", caught.value.flow, str(caught.value))
