"""What sections of a scenario and parameters of transports have in common."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar


class Section:
    """Keys of a scenario. Those that are None are left out: their defaults apply."""

    #: The kind of traffic, for a section that is one.
    _kind: ClassVar[str | None] = None

    def to_dict(self) -> dict[str, Any]:
        """The keys that are given, as a dictionary that can be written as TOML or JSON."""
        found: dict[str, Any] = {} if self._kind is None else {"kind": self._kind}
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if value is not None:
                # `from_` and `class_` are `from` and `class`, which Python keeps for itself.
                found[field.name.rstrip("_")] = _plain(value)
        return found


class Parameters(Section):
    """Parameters of a transport."""

    #: The transport's name.
    _transport: ClassVar[str]


def _plain(value: Any) -> Any:
    if isinstance(value, Section):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        if value and all(isinstance(one, Parameters) for one in value):
            return {one._transport: one.to_dict() for one in value}
        return [_plain(one) for one in value]
    return value
