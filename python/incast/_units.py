"""Units and meanings of columns: polars does not keep the metadata of Arrow fields."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable
from typing import Any

from . import _incast


@functools.cache
def declared() -> dict[str, dict[str, dict[str, str]]]:
    """Every column by table and name: type, unit and meaning."""
    tables: dict[str, list[dict[str, str]]] = json.loads(_incast.columns())
    return {
        table: {column["name"]: column for column in columns} for table, columns in tables.items()
    }


def _names(frame: Any) -> list[str]:
    columns: Iterable[Any] = getattr(frame, "column_names", None) or getattr(frame, "columns", [])
    return [str(name) for name in columns]


def _of(frame: Any, what: str) -> dict[str, str]:
    names = _names(frame)
    # A name can be in several tables: the one that knows most of the frame's columns counts.
    tables = sorted(declared().values(), key=lambda table: -len(table.keys() & set(names)))
    found = {}
    for name in names:
        column = next((table[name] for table in tables if name in table), None)
        if column is not None and column[what]:
            found[name] = column[what]
    return found


def units(frame: Any) -> dict[str, str]:
    """Units of a frame's columns, by name, of those that have one.

    >>> import polars
    >>> units(polars.DataFrame({"fct_ns": [1.0], "size_bytes": [1], "src": [0]}))
    {'fct_ns': 'ns', 'size_bytes': 'bytes'}
    """
    return _of(frame, "unit")


def meanings(frame: Any) -> dict[str, str]:
    """Meanings of a frame's columns, by name, of those that the program writes."""
    return _of(frame, "meaning")
