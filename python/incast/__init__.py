"""Incast: a data-center transport laboratory.

>>> import incast
>>> [one["name"] for one in incast.list()["transports"]][:3]
['ren', 'amrt', 'homa']
"""

from __future__ import annotations

import json as _json
from typing import Any as _Any

from . import _incast

__version__ = _incast.version()


def list(name: str | None = None) -> dict[str, _Any]:
    """What there is: transports, workloads, topologies and experiments; or one transport with its
    parameters, their sources and accepted values, and its deviations from the paper."""
    found: dict[str, _Any] = _json.loads(_incast.catalogue(name))
    return found


__all__ = ["__version__", "list"]
