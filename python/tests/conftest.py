"""What the tests share."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import incast

sys.path.insert(0, str(Path(__file__).parent))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Notes what was skipped for the end of `make test`."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    script = Path(__file__).parents[2] / "tests" / "skipped"
    for report in reporter.stats.get("skipped", []) if reporter else []:
        why = str(report.longrepr[2]).removeprefix("Skipped: ")
        if subprocess.run([script, report.nodeid, why], check=False).returncode:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED


#: A comparison that takes a fraction of a second.
SMALL: dict[str, Any] = {
    "topology": "leaf-spine:2x2x4",
    "workload": "web_server",
    "load": 0.4,
    "flows": 60,
}


@pytest.fixture(scope="session")
def small() -> incast.Results:
    """Two transports on a small fabric."""
    return incast.compare(["ren", "dctcp"], **SMALL)


@pytest.fixture
def scenario() -> dict[str, Any]:
    """A scenario of one transport."""
    return {
        "fabric": {"topology": "star:4"},
        "transport": {"names": ["trd"]},
        "traffic": [{"kind": "permutation", "size": "100KB"}],
    }
