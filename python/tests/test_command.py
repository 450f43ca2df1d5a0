"""The command that comes with the package, and what importing it costs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from conftest import SMALL

import incast

COMMAND = Path(sys.executable).with_name("incast")


def run(*words: str, at: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([COMMAND, *words], cwd=at, capture_output=True, text=True, check=False)


def test_the_script_behaves_as_the_native_command(tmp_path: Path) -> None:
    version = run("--version", at=tmp_path)
    assert (version.returncode, version.stdout) == (0, f"incast {incast.__version__}\n")
    wrong = run("compare", "--load", "-1", at=tmp_path)
    assert wrong.returncode == 2 and "--load" in wrong.stderr
    unknown = run("list", "nothing", at=tmp_path)
    assert unknown.returncode == 2 and "nothing" in unknown.stderr
    flags = [word for name, value in SMALL.items() for word in (f"--{name}", str(value))]
    cut = run("compare", "--transports", "dctcp", *flags, "--set", "run.until=1us", at=tmp_path)
    assert cut.returncode in (0, 1) and (tmp_path / "results").is_dir()
    piped = subprocess.run(f"{COMMAND} list | head -1", shell=True, cwd=tmp_path, capture_output=True, text=True)
    assert piped.stdout.startswith("Transports") and piped.stderr == ""


def test_importing_loads_neither_frames_nor_charts() -> None:
    code = (
        "import incast, sys; late = {'polars', 'altair', 'pandas', 'pyarrow', 'numpy', 'IPython'};"
        "print(sorted(late & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_what_is_listed() -> None:
    assert {"ren", "dctcp"} <= {one["name"] for one in incast.list()["transports"]}
    assert incast.list("ren")["parameters"][0]["source"]
    with pytest.raises(incast.ScenarioError) as caught:
        incast.list("dctpc")
    assert caught.value.suggestion == "dctcp"
