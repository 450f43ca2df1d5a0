"""Runs through Python: the same bytes as the command's, frames, files, interruption."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from conftest import SMALL

import incast

#: Files whose bytes depend on nothing but scenario and seed.
EXACT = ["flows.parquet", "ports.parquet", "fairness.parquet", "summary.json"]


def command(*arguments: str, at: Path) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "incast", *arguments]
    return subprocess.run(words, cwd=at, capture_output=True, text=True, check=False)


def test_a_run_through_python_writes_the_bytes_of_the_command(
    small: incast.Results, tmp_path: Path
) -> None:
    flags = [word for name, value in SMALL.items() for word in (f"--{name}", str(value))]
    done = command("compare", "--transports", "ren,dctcp", *flags, "--all", "--out", "native", at=tmp_path)
    assert done.returncode == 0, done.stderr
    saved = small.save(tmp_path / "saved")
    direct = incast.compare(["ren", "dctcp"], out=tmp_path / "direct", **SMALL)
    assert direct.place == tmp_path / "direct"
    for label in ("ren", "dctcp"):
        for name in EXACT:
            native = (tmp_path / "native" / label / name).read_bytes()
            assert (saved / label / name).read_bytes() == native, name
            assert (tmp_path / "direct" / label / name).read_bytes() == native, name
    files = {path.relative_to(saved) for path in saved.rglob("*")}
    native_files = {path.relative_to(tmp_path / "native") for path in (tmp_path / "native").rglob("*")}
    assert files == native_files
    assert json.loads((saved / "manifest.json").read_text())["complete"] is True
    assert small.comparison().rstrip() in done.stdout


def test_a_folder_is_read_as_what_was_run(small: incast.Results, tmp_path: Path) -> None:
    saved = small.save(tmp_path / "saved")
    read = incast.load(saved)
    assert read.labels == small.labels and read.complete
    assert read["ren"].summary == small["ren"].summary
    for name in ("flows", "ports", "fairness"):
        assert getattr(read, name).equals(getattr(small, name))
    assert read.comparison() == small.comparison()
    again = incast.run(saved / "ren")
    assert again[0].flows.equals(small["ren"].flows)
    with pytest.raises(incast.RunError, match=r"manifest\.json"):
        incast.load(tmp_path)
    killed = tmp_path / "killed"
    killed.mkdir()
    shutil.copy(saved / "manifest.json", killed)
    with pytest.raises(incast.RunError, match="the run of ren has no results"):
        incast.load(killed)


STEP = """
[fabric]
topology = "star:4"
[transport]
names = ["ndp", "dctcp"]
[[traffic]]
kind = "collective"
collective = "all_reduce"
size = "100KB"
iterations = 2
compute = "10us"
"""


def test_collectives_have_a_row_per_iteration(small: incast.Results, tmp_path: Path) -> None:
    results = incast.run(STEP)
    frame = results.collectives
    assert frame["run"].to_list() == ["ndp", "ndp", "dctcp", "dctcp"]
    assert frame["iteration"].to_list() == [0, 1, 0, 1]
    rates = frame["busbw"] / frame["algbw"]
    assert all(abs(rate - 1.5) < 1e-9 for rate in rates)
    assert abs(results.summary["iteration_ms"][0] - frame["iteration_ns"].head(2).mean() / 1e6) < 1e-9
    read = incast.load(results.save(tmp_path / "saved"))
    assert read.collectives.equals(frame)
    for one in (small[0], incast.load(small.save(tmp_path / "other"))[0]):
        with pytest.raises(incast.RunError, match="no collectives"):
            _ = one.collectives


PROGRAM = """
num_ranks 2
rank 0 {
  a: calc 20000
  b: send 50000b to 1
  b requires a
}
rank 1 {
  recv 50000b from 0
}
"""


def test_programs_have_a_row_per_rank(small: incast.Results, tmp_path: Path) -> None:
    file = tmp_path / "two.goal"
    file.write_text(PROGRAM)
    traffic = {"kind": "program", "file": str(file), "placement": "strided:2"}
    scenario = {"fabric": {"topology": "star:4"}, "transport": {"names": ["ndp", "dctcp"]}, "traffic": [traffic]}
    results = incast.run(scenario)
    frame = results.ranks
    assert frame["run"].to_list() == ["ndp", "ndp", "dctcp", "dctcp"]
    assert frame["host"].to_list() == [0, 2, 0, 2]
    assert frame["compute_ps"].to_list() == [20_000_000, 0] * 2
    assert (frame["compute_ps"] + frame["waiting_ps"] == frame["time_ps"]).all()
    assert abs(results.summary["program_ms"][0] - frame["end_ns"].head(2).max() / 1e6) < 1e-9
    assert incast.load(results.save(tmp_path / "saved")).ranks.equals(frame)
    with pytest.raises(incast.RunError, match="no programs"):
        _ = small[0].ranks


def test_results_of_a_run_that_did_not_end_are_called_partial(
    small: incast.Results, tmp_path: Path
) -> None:
    saved = small.save(tmp_path / "saved")
    place = saved / "ren" / "manifest.json"
    manifest = json.loads(place.read_text())
    place.write_text(json.dumps(manifest | {"complete": False}))
    with pytest.warns(incast.RunWarning, match="the run of ren is not complete"):
        read = incast.load(saved)
    assert not read["ren"].complete and read["ren"].flows.height > 0
    with pytest.warns(incast.RunWarning, match="the run of ren is not complete"):
        incast.load(saved / "ren")


def test_frames_have_the_numbers_of_the_summary(small: incast.Results) -> None:
    flows = small.flows
    assert flows.columns[0] == "run" and flows["run"].unique(maintain_order=True).to_list() == small.labels
    for run in small:
        measured = run.flows.filter(~pl.col("warmup"))
        assert measured.height == run.summary["all"]["flows"]
        mean = measured["slowdown"].mean()
        assert mean == pytest.approx(run.summary["all"]["slowdown"]["mean"], rel=1e-12)
    row = small.summary.row(0, named=True)
    assert row["run"] == "ren"
    assert row["slowdown_p99"] == small["ren"].summary["all"]["slowdown"]["p99"]


def test_numbers_are_not_copied(small: incast.Results) -> None:
    import pyarrow as pa

    def address(array: Any) -> int:
        return int(array.buffers()[1].address)

    table = small._source.table(0, "flows")  # type: ignore[union-attr]
    ours = address(pa.table(table).column("fct_ps").chunk(0))
    assert address(pa.table(table).column("fct_ps").chunk(0)) == ours
    frame = pl.DataFrame(table)
    assert frame.n_chunks() == 1
    assert address(frame["fct_ps"].to_arrow()) == ours


def test_units_are_known_in_every_library(small: incast.Results) -> None:
    units = incast.units(small.flows)
    assert (units["fct_ns"], units["size_bytes"]) == ("ns", "bytes") and "run" not in units
    assert incast.units(small.ports)["throughput_gbps"] == "Gb/s"
    table = small[0].pyarrow("flows")
    assert table.schema.field("fct_ns").metadata[b"unit"] == b"ns"
    assert incast.units(table) == {k: v for k, v in units.items() if k in table.column_names}
    frame = small[0].pandas("ports")
    assert incast.units(frame)["backlog_max_bytes"] == "bytes" and len(frame) == small[0].ports.height
    assert "ends in" not in incast.meanings(small.flows)["slowdown"]


def test_every_form_of_a_scenario_runs(scenario: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "here.toml"
    text = (
        '[fabric]\ntopology = "star:4"\n[transport]\nnames = ["trd"]\n'
        '[[traffic]]\nkind = "permutation"\nsize = "100KB"\n'
    )
    path.write_text(text)
    runs = [incast.run(one) for one in (scenario, text, path, str(path))]
    for one in runs[1:]:
        assert one.flows.equals(runs[0].flows)
    other = incast.run(scenario, set={"run.seed": 2, "traffic.0.size": "10KB"})
    assert other[0].manifest["seed"] == 2
    assert other.flows["size_bytes"].unique().to_list() == [10_000]


def test_other_threads_of_python_go_on_during_a_run() -> None:
    counted, stop = [0], threading.Event()

    def count() -> None:
        while not stop.is_set():
            counted[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    began = time.monotonic()
    incast.compare("dctcp", **{**SMALL, "flows": 1500})
    took = time.monotonic() - began
    stop.set()
    thread.join()
    # About one turn per millisecond; a held interpreter gives none.
    assert counted[0] > took * 1000 / 20


# What a background shell starts ignores the signal, unless it asks for it.
LONG = """
import incast, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    incast.compare(["dctcp", "ren"], topology="leaf-spine:4x4x8", load=0.6, flows=2_000_000, threads=1,
                   workload="web_server", out=sys.argv[1])
except incast.Interrupted as stopped:
    assert isinstance(stopped, KeyboardInterrupt)
    run = stopped.results[0]
    print(len(stopped.results), stopped.results.complete, run.summary["flows"]["completed"] > 0)
"""


def test_ctrl_c_raises_and_leaves_what_there_is(tmp_path: Path) -> None:
    words = [sys.executable, "-c", LONG, str(tmp_path / "out")]
    child = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    # From the outline of the manifest on, results are on their way.
    deadline = time.monotonic() + 120
    while not (tmp_path / "out" / "manifest.json").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(4)
    child.send_signal(signal.SIGINT)
    out, errors = child.communicate(timeout=120)
    assert out.split() == ["1", "False", "True"], errors
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["complete"] is False
    with (
        pytest.warns(incast.RunWarning, match="the run of ren has no results"),
        pytest.warns(incast.RunWarning, match="the run of dctcp is not complete"),
    ):
        assert incast.load(tmp_path / "out").labels == ["dctcp"]


def test_what_tells_progress_can_stop_a_run(scenario: dict[str, Any]) -> None:
    from incast import _incast

    seen: list[tuple[Any, ...]] = []

    def told(*numbers: Any) -> None:
        seen.append(numbers)
        raise RuntimeError("enough")

    prepared = _incast.compare({**SMALL, "flows": 100_000, "transports": "dctcp", "threads": 1}, [])
    results, raised = prepared.run(None, False, False, told)
    assert isinstance(raised, RuntimeError) and not results.complete
    assert seen[0][0] == "dctcp" and seen[0][4] == 100_000
