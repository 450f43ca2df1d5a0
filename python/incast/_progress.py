"""Progress of a run: a line in a terminal, a bar in a notebook."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

#: Is told label, number of the run, simulated picoseconds, flows completed, flows, packet-hops.
Told = Callable[[str, int, int, int, int, int], None]


def in_notebook() -> bool:
    """Whether a notebook shows what this process displays."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and hasattr(shell, "kernel")


class Shown:
    """Shows progress until it is closed. `show` is None for "where a person sees it"."""

    def __init__(self, runs: int | None, show: bool | None) -> None:
        self.runs = runs
        self.began = time.monotonic()
        self.run = 0
        self.notebook = in_notebook()
        self.visible = show if show is not None else self.notebook or sys.stderr.isatty()
        self.display: Any = None

    def told(self) -> Told | None:
        """What the engine calls, if anybody looks."""
        return self.tell if self.visible else None

    def tell(
        self, label: str, run: int, picoseconds: int, completed: int, flows: int, hops: int
    ) -> None:
        now = time.monotonic()
        if run != self.run:
            self.run, self.began = run, now
        elapsed = now - self.began
        share = completed / max(flows, 1)
        left = f"{elapsed * (1 - share) / share:.0f} s left" if share > 0.02 else "..."
        # The engine has not told its rate before the first look.
        rate = hops / elapsed / 1e6 if elapsed > 0 else 0.0
        which = f" ({run + 1} of {self.runs})" if (self.runs or 1) > 1 else ""
        self.line(
            share,
            f"{label}{which}",
            f"{picoseconds / 1e9:.3f} ms simulated, {completed}/{flows} flows, "
            f"{rate:.1f} M packet-hops/s, {left}",
        )

    def told_of(self, label: str, things: str = "points") -> Callable[[str], None] | None:
        """What a driver calls with its progress as JSON, if anybody looks."""
        if not self.visible:
            return None

        def tell(text: str) -> None:
            now = json.loads(text)
            left = "..." if now["left_seconds"] is None else f"{now['left_seconds']:.0f} s left"
            failed = f", {now['failed']} failed" if now["failed"] else ""
            words = (
                f"{now['done']}/{now['points']} {things}{failed}, {now['running']} running, "
                f"{now['flows']} flows done, {left}"
            )
            self.line(now["done"] / max(now["points"], 1), label, words)

        return tell

    def line(self, share: float, label: str, text: str) -> None:
        """Shows a share of 0 to 1 with a text."""
        if not self.visible:
            return
        if not self.notebook:
            filled = round(24 * share)
            bar = "#" * filled + "-" * (24 - filled)
            print(f"\r{label} {bar} {text}\x1b[K", end="", file=sys.stderr, flush=True)
            return
        from html import escape

        from IPython.display import HTML, display

        page = HTML(
            f"<div><code>{escape(label)}</code> <progress value='{share:.4f}' max='1'></progress> "
            f"{escape(text)}</div>"
        )
        if self.display is None:
            self.display = display(page, display_id=True)
        else:
            self.display.update(page)

    def close(self) -> None:
        """Removes it."""
        if not self.visible:
            return
        if not self.notebook:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
        elif self.display is not None:
            from IPython.display import HTML

            self.display.update(HTML(""))
