"""Figures of the papers."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from . import _incast

if TYPE_CHECKING:
    import polars


def reproduce(
    name: str,
    *,
    quick: bool = False,
    seed: int | None = None,
    threads: int | None = None,
    assuming: str | Sequence[str] = (),
    keep: str | os.PathLike[str] | None = None,
    from_kept: bool = False,
) -> polars.DataFrame:
    """Runs figures of a paper again and judges them. The command is `incast reproduce`.

    Args:
        name: An experiment such as `ren/fig3`, a paper such as `ren`, or `all`.
        quick: A smoke test: fewer flows, one seed, one assumption set.
        seed: Another seed than the experiment's.
        threads: Threads. None: one per core.
        assuming: Assumption sets, such as `as_compared`. None given: all.
        keep: A folder of kept tables: what is there is not run again, what is missing is kept.
        from_kept: Run nothing: judge by kept tables, of `keep` or of the program.

    Returns:
        One row per claim and assumption set: `experiment`, `claim`, `quote`, `paper`, `accepted`, `set`,
        `measured`, `verdict`, `sentence`, `deviation`, `headline`.

    Raises:
        ScenarioError: something given is not valid.
        KeyboardInterrupt: Ctrl-C; kept tables stay.
    """
    import polars

    sets = assuming.split(",") if isinstance(assuming, str) else list(assuming)
    place = None if keep is None else os.fspath(keep)
    verdicts = json.loads(_incast.reproduce(name, quick, seed, threads, sets, (place, from_kept)))
    rows = []
    for verdict in verdicts:
        for one in verdict.pop("sets"):
            rows.append({**verdict, **{key: one[key] for key in ("set", "measured", "verdict")}})
    return polars.DataFrame(rows, infer_schema_length=None)
