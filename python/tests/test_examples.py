"""Every example runs, at small size, and draws its pictures."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SCRIPTS = sorted(path for path in EXAMPLES.glob("*.py") if path.name != "common.py")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_the_example_runs(script: Path, tmp_path: Path) -> None:
    words = [sys.executable, str(script), "--quick", "--pictures", "here"]
    done = subprocess.run(
        words, cwd=tmp_path, capture_output=True, text=True, check=False, env=os.environ
    )
    assert done.returncode == 0, done.stderr
    pictures = list((tmp_path / "here").glob(f"{script.stem}*.svg"))
    assert pictures, "no picture"
    for picture in pictures:
        text = picture.read_text()
        assert text.startswith("<svg") and "NaN" not in text


def test_the_lines_of_the_readme_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (EXAMPLES.parent / "README.md").read_text(encoding="utf-8")
    (lines,) = [block for block in re.findall(r"```python\n(.*?)```", page, re.S) if "study" in block]
    for full, small in (("flows=400", "flows=40"), ("seeds=5", "seeds=2")):
        assert full in lines
        lines = lines.replace(full, small)
    monkeypatch.chdir(tmp_path)
    exec(compile(lines, "README.md", "exec"), {})
    assert (tmp_path / "load.svg").read_text().startswith("<svg")


def test_the_notebooks_give_what_is_kept() -> None:
    words = [sys.executable, str(EXAMPLES.parent / "tests/notebooks"), "check"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=os.environ)
    assert done.returncode == 0, done.stderr
