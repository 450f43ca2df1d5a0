"""Studies on executors: rows are the same bytes, and what goes wrong elsewhere stays there."""

from __future__ import annotations

import concurrent.futures
import faulthandler
import json
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import incast
from incast import ExecutorError

#: Seconds after which a test that hangs ends the process with its stacks.
LONGEST = 180

TEXT = """
[fabric]
topology = "star:4"
[transport]
names = ["trd", "dctcp"]
[[traffic]]
kind = "permutation"
size = "100KB"
[study]
seeds = 2
[study.vary]
"traffic.0.size" = ["20KB", "50KB", "100KB"]
"""
POINTS = 12


@pytest.fixture(autouse=True)
def bounded() -> Iterator[None]:
    faulthandler.dump_traceback_later(LONGEST, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The table of a local run."""
    out = tmp_path_factory.mktemp("local")
    incast.study(TEXT, out=out).run()
    return (out / "study.parquet").read_bytes()


class Done:
    """A future that has an answer."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def done(self) -> bool:
        return True

    def result(self) -> Any:
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


class Here:
    """Runs a point when it is submitted; `change` may change its row, or raise."""

    def __init__(self, change: Callable[[bytes, bytes], Any] = lambda point, row: row) -> None:
        self.change = change
        self.submitted = 0

    def submit(self, function: Any, point: bytes, /, *arguments: Any) -> Any:
        self.submitted += 1
        try:
            return Done(self.change(point, function(point, *arguments)))
        except Exception as error:
            return Done(error)


def test_an_executor_gives_the_bytes_of_a_local_run(table: bytes, tmp_path: Path) -> None:
    executor = Here()
    incast.study(TEXT, out=tmp_path).run(executor=executor)
    assert executor.submitted == POINTS
    assert (tmp_path / "study.parquet").read_bytes() == table
    incast.study(TEXT, out=tmp_path).run(executor=executor)
    assert executor.submitted == POINTS, "nothing is done twice"


def test_spawned_processes(table: bytes, tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
        incast.study(TEXT, out=tmp_path).run(executor=pool)
    assert (tmp_path / "study.parquet").read_bytes() == table


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (None, "the executor returned None; expected the bytes of a row"),
        (b"", "the worker returned nothing"),
        (b"{}", "something that is no row"),
        (RuntimeError("the worker died"), "RuntimeError: the worker died"),
    ],
)
def test_a_point_that_is_lost_again_and_again_is_not_run(
    answer: Any, why: str, table: bytes, tmp_path: Path
) -> None:
    victims: list[bytes] = []

    def one(point: bytes, row: bytes) -> Any:
        victims.append(point)
        return answer if point == victims[0] else row

    study = incast.study(TEXT, out=tmp_path)
    executor = Here(one)
    with pytest.raises(ExecutorError) as caught:
        study.run(executor=executor)
    assert why in str(caught.value)
    assert "1 of 12 points" in str(caught.value) and "traffic.0.size" in str(caught.value)
    assert executor.submitted == POINTS + 2, "three times"
    assert len(study.frame) == POINTS - 1, "the others went on"
    # Not failed: the next call runs it.
    study.run(executor=Here())
    assert (tmp_path / "study.parquet").read_bytes() == table


def test_a_broken_pool_leaves_points_not_run(table: bytes, tmp_path: Path) -> None:
    rows: list[bytes] = []

    def breaks(point: bytes, row: bytes) -> Any:
        rows.append(row)
        if len(rows) > 5:
            raise concurrent.futures.BrokenExecutor("a process was killed")
        return row

    study = incast.study(TEXT, out=tmp_path)
    with pytest.raises(ExecutorError, match="the executor broke.*a process was killed.*it had `"):
        study.run(executor=Here(breaks))
    assert len(study.frame) == 5
    study.run()
    assert (tmp_path / "study.parquet").read_bytes() == table


def test_what_is_no_executor_is_refused(tmp_path: Path) -> None:
    study = incast.study(TEXT, out=tmp_path)
    with pytest.raises(TypeError, match="has no `submit`"):
        study.run(executor=object())  # type: ignore[arg-type]

    class Nothing:
        def submit(self, function: Any, /, *arguments: Any) -> None:
            return None

    with pytest.raises(ExecutorError, match="`submit` returned None; expected an object with `done`"):
        study.run(executor=Nothing())

    class Full:
        def submit(self, function: Any, /, *arguments: Any) -> Any:
            raise RuntimeError("cannot schedule new futures after shutdown")

    with pytest.raises(ExecutorError, match="cannot schedule new futures"):
        study.run(executor=Full())


def test_a_worker_of_another_version_is_refused(tmp_path: Path) -> None:
    class Other(Here):
        def submit(self, function: Any, point: bytes, /, *arguments: Any) -> Any:
            # Where results have another version, the point has another hash.
            packed = {**json.loads(point), "hash": "0" * 64, "incast": "0.0.1"}
            return super().submit(function, json.dumps(packed).encode(), *arguments)

    with pytest.raises(incast.RunError, match=r"refused.*version 0\.0\.1"):
        incast.study(TEXT, out=tmp_path).run(executor=Other())


class Slow:
    """Holds points back, so that it can be seen how many it has."""

    _max_workers = 2

    def __init__(self) -> None:
        self.open = self.most = 0

    def submit(self, function: Any, /, *arguments: Any) -> Any:
        self.open += 1
        self.most = max(self.most, self.open)
        return _Held(self, function(*arguments))


class _Held(Done):
    def __init__(self, owner: Slow, answer: bytes) -> None:
        super().__init__(answer)
        self.owner, self.until = owner, time.monotonic() + 0.02

    def done(self) -> bool:
        return time.monotonic() >= self.until

    def result(self) -> Any:
        self.owner.open -= 1
        return super().result()


def test_points_in_flight_are_bounded(table: bytes, tmp_path: Path) -> None:
    executor = Slow()
    incast.study(TEXT, out=tmp_path).run(executor=executor)
    assert executor.most == 4, "twice its workers"
    assert (tmp_path / "study.parquet").read_bytes() == table


@pytest.mark.filterwarnings("ignore")
@pytest.mark.skipif(sys.platform != "linux", reason="kills a process")
def test_dask_with_a_worker_killed(table: bytes, tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    )
    with cluster, distributed.Client(cluster) as client:
        pids = list(client.run(os.getpid).values())
        study = incast.study(TEXT, out=tmp_path)
        executor = client.get_executor()
        killed: list[int] = []
        submit = executor.submit

        def kills(function: Any, /, *arguments: Any) -> Any:
            if len(killed) == 0 and len(list((tmp_path / "rows").glob("*"))) >= 2:
                killed.append(pids[0])
                os.kill(pids[0], signal.SIGKILL)
            return submit(function, *arguments)

        executor.submit = kills
        study.run(executor=executor)
    assert killed
    assert (tmp_path / "study.parquet").read_bytes() == table


@pytest.mark.filterwarnings("ignore")
def test_submitit(table: bytes, tmp_path: Path) -> None:
    submitit = pytest.importorskip("submitit")
    executor = submitit.LocalExecutor(folder=tmp_path / "jobs")
    executor.update_parameters(timeout_min=2)
    text = TEXT.replace('"20KB", "50KB", "100KB"', '"20KB"').replace("seeds = 2", "seeds = 1")
    incast.study(text, out=tmp_path / "own").run(executor=executor)
    incast.study(text, out=tmp_path / "local").run()
    own, local = ((tmp_path / name / "study.parquet").read_bytes() for name in ("own", "local"))
    assert own == local


class Fixed(incast.Control):
    """A control that workers do not have."""

    def start(self) -> None:
        self.window = 30_000

    def on_ack(self, ack: incast.Ack) -> None:
        if self.size == 50_000:
            raise ValueError("not with this size")

    def on_loss(self, at: incast.Ack, timeout: bool) -> None:
        pass


def test_controls_travel_with_points(tmp_path: Path) -> None:
    vary = {"traffic.0.size": ["20KB", "50KB"]}
    scenario = {
        "fabric": {"topology": "star:4"},
        "transport": {"names": [Fixed, "dctcp"]},
        "traffic": [{"kind": "permutation", "size": "100KB"}],
    }
    tables = []
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
        for name, executor in (("local", None), ("elsewhere", pool)):
            study = incast.study(scenario, vary=vary, out=tmp_path / name)
            with pytest.warns(incast.RunWarning, match="1 of 4 points failed: `traffic.0.size=50KB, fixed"):
                study.run(executor=executor)
            tables.append((tmp_path / name / "study.parquet").read_bytes())
            assert study.labels == ["fixed", "dctcp"]
    # The failed point's error has a traceback with paths, the same in both.
    assert tables[0] == tables[1]
    errors = study.frame["error"].drop_nulls().to_list()
    assert len(errors) == 1 and "ValueError: not with this size" in errors[0]


class Locked(Fixed):
    """Cannot travel."""

    name = "locked"
    lock = threading.Lock()

    def on_ack(self, ack: incast.Ack) -> None:
        with self.lock:
            pass


def test_a_control_that_cannot_travel_is_refused_before_anything_runs(tmp_path: Path) -> None:
    executor = Here()
    study = incast.study(TEXT.replace('"trd", "dctcp"', '"dctcp"'), out=tmp_path / "plain")
    study.run(executor=executor)
    assert executor.submitted == POINTS // 2
    scenario = {
        "fabric": {"topology": "star:4"},
        "transport": {"names": [Locked]},
        "traffic": [{"kind": "permutation", "size": "20KB"}],
    }
    with pytest.raises(ExecutorError, match="Locked cannot be sent to workers"):
        incast.study(scenario, seeds=1, out=tmp_path / "own").run(executor=executor)
    assert executor.submitted == POINTS // 2
    # Here it can run: nothing has to travel.
    here = incast.study(scenario, seeds=1, out=tmp_path / "own").run()
    assert here.frame["status"].to_list() == ["done"]
