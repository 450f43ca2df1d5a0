"""What pages of docs/ tell to do works as written: files are written, commands and programs run, output is what the page shows.

A block with `title="NAME"` is a file. In a `console` block a line `$ ...` is a command; what follows is its output, in which `...`
stands for any lines. A `text` block after a `python` block is what the program prints. Blocks in other languages are only read.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]
DOCS = TOP / "docs"
PAGES = [
    DOCS / "start.md",
    DOCS / "tutorials/first-comparison.md",
    *sorted(path for path in (DOCS / "howto").glob("*.md") if path.name != "README.md"),
]
BLOCK = re.compile(r"^``` ?(\w+)(?: title=\"([^\"]+)\")?\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def run(words: list[str] | str, folder: Path, text: str | None = None) -> str:
    """The output of a command, which must succeed."""
    paths = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    # Tables have the width of a page.
    environment = {**os.environ, "PATH": paths, "COLUMNS": "100", "DISSECTOR": str(DOCS / "wireshark/incast.lua")}
    done = subprocess.run(
        words, cwd=folder, shell=isinstance(words, str), env=environment, input=text,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{words}\n{done.stdout}"
    return done.stdout


def same(shown: str, real: str, what: str) -> None:
    """Whether a page shows what was printed."""
    lines = [line.rstrip() for line in real.splitlines()]
    at, exact = 0, True
    for part in re.split(r"(?m)^\.\.\.\n?", shown):
        wanted = [line.rstrip() for line in part.splitlines()]
        places = range(at, len(lines) - len(wanted) + 1)
        found = next((place for place in places if lines[place : place + len(wanted)] == wanted), None)
        assert found is not None and (not exact or found == at), f"{what}: expected\n{part}\nbut it printed\n{real}"
        at, exact = found + len(wanted), False


def steps(block: str) -> list[tuple[str, str]]:
    """The commands of a console block, each with its output."""
    joined = block.replace("\\\n", "")
    parts = re.split(r"(?m)^\$ ", joined)[1:]
    return [(command, shown) for command, _, shown in (part.partition("\n") for part in parts)]


def follow(page: Path, folder: Path) -> None:
    """Does what a page says, in a folder."""
    printed = None
    for language, title, text in BLOCK.findall(page.read_text()):
        if title:
            (folder / title).parent.mkdir(parents=True, exist_ok=True)
            (folder / title).write_text(text)
        elif language == "console":
            for command, shown in steps(text):
                real = run(command, folder)
                if shown.strip():
                    same(shown, real, f"{page.name}: {command}")
        elif language == "python":
            printed = run([sys.executable, "-"], folder, text)
        elif language == "text" and printed is not None:
            same(text, printed, f"{page.name}: a program")
            printed = None


#: A study of a second, in the place of the reader's own.
STUDY = """
[fabric]
topology = "leaf-spine:2x2x4"
[transport]
names = ["ren", "dctcp"]
[[traffic]]
kind = "poisson"
workload = "web_server"
load = 0.4
flows = 60
[study]
seeds = 2
[study.vary]
"traffic.0.load" = [0.3, 0.6]
"""
#: Pages of the reference whose programs run one after the other, each with what the ones before it have defined.
PROGRAMS = ["python.md", "control.md", "explain.md"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_of_the_reference_run(name: str, tmp_path: Path) -> None:
    """With files of the reader's own in their place, and fewer flows where a page says how many."""
    for file in ("load.toml", "study.toml"):
        (tmp_path / file).write_text(STUDY)
    run("incast compare --transports dctcp,ren --topology star:9 --incast 8 --flows 20 --out results/0001-demo", tmp_path)
    programs = [text for language, _, text in BLOCK.findall((DOCS / name).read_text()) if language == "python"]
    assert programs
    whole = "\n".join(programs).replace("flows=1000", "flows=100").replace('until="slowdown_p99 < 5"', 'until="slowdown_p99 < 5", flows=60, tolerance=0.4')
    # A file: the source of a control must be there to be read.
    (tmp_path / "page.py").write_text(whole)
    run([sys.executable, "page.py"], tmp_path)


def test_a_study_on_the_processes_of_a_laptop(tmp_path: Path) -> None:
    (program,) = [text for _, title, text in BLOCK.findall((DOCS / "executors.md").read_text()) if title == "laptop.py"]
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "laptop.py").write_text(program)
    run([sys.executable, "laptop.py"], tmp_path)
    assert list(tmp_path.glob("**/study.parquet"))


def test_filters_of_the_wireshark_page(tmp_path: Path) -> None:
    """tshark knows every field that the page names, and the commands of the page work on a capture of that name."""
    if shutil.which("tshark") is None and not os.environ.get("CI"):
        pytest.skip("tshark is not installed; make setup installs it")
    page = (DOCS / "wireshark/README.md").read_text()
    ports = "--pcap leaf0-\\>host0"
    run(f"incast compare --transports ren,ndp --topology star:4 --flows 20 --load 0.5 {ports} --out out", tmp_path)
    (tmp_path / "out/ren/ports.pcapng").rename(tmp_path / "port.pcapng")
    (tmp_path / "docs").symlink_to(DOCS)
    rows = [line.split(" | ")[0] for line in page.partition("## Filters")[2].partition("## The bytes")[0].splitlines()]
    filters = [one for row in rows if row.startswith("| `") for one in re.findall("`([^`]+)`", row)]
    assert len(filters) > 25
    # One command for all: what one of them does not know fails it.
    whole = " || ".join(one if " " in one else f"({one})" for one in filters)
    assert run(["tshark", "-r", "port.pcapng", "-X", "lua_script:docs/wireshark/incast.lua", "-Y", whole], tmp_path)
    commands = re.findall(r"^    (tshark .*?[^\\])$", page, re.DOTALL | re.MULTILINE)
    assert len(commands) == 2
    for command in commands:
        assert run(command.replace("incast.homa.data", "incast.ren.data").replace("flow == 7", "flow == 1"), tmp_path)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_says_what_happens(page: Path, tmp_path: Path) -> None:
    """Each page in a folder of its own."""
    assert BLOCK.search(page.read_text())
    if shutil.which("tshark") is None and "tshark" in page.read_text() and not os.environ.get("CI"):
        pytest.skip("tshark is not installed; make setup installs it")
    follow(page, tmp_path)


def test_output_of_a_page_that_differs_fails() -> None:
    """The comparison itself: other values, other order, lines that are missing."""
    real = "a\nb\nc\nd\n"
    for shown in ("a\nb\nc\nd\n", "...\nb\nc\n...\n", "a\n...\nd\n", "a\nb\n"):
        same(shown, real, "page")
    for shown in ("b\n", "a\nc\n", "a\n...\ne\n", "...\nc\n...\nb\n", "a\nb\nc\nd\ne\n"):
        with pytest.raises(AssertionError):
            same(shown, real, "page")
