"""The command `incast`, as the native program."""

from __future__ import annotations

import os
import signal
import sys

_TUNABLES = "GLIBC_TUNABLES"
_LARGE = "glibc.malloc.hugetlb"


def _with_large_pages() -> None:
    """Starts this program again with memory in large pages, as the native program does."""
    tunables = os.environ.get(_TUNABLES, "")
    if sys.platform != "linux" or _LARGE in tunables:
        return
    environment = {**os.environ, _TUNABLES: f"{tunables}:{_LARGE}=1".lstrip(":")}
    try:
        os.execve(sys.executable, sys.orig_argv, environment)
    except OSError:
        pass  # It also runs without.


def main() -> int:
    """Runs the command that the program's arguments ask for and returns its exit code."""
    _with_large_pages()
    # The commands that stop in an orderly way handle Ctrl-C; it ends the others.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    from . import _incast

    return _incast.command(["incast", *sys.argv[1:]], [sys.executable, "-m", "incast"])


if __name__ == "__main__":
    sys.exit(main())
