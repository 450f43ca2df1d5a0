"""A hash of what a class does: of its source, and of the functions and values of its module that it uses."""

from __future__ import annotations

import hashlib
import inspect
import types
from typing import Any

#: Plain values, of which the text is the value.
_PLAIN = (bool, int, float, complex, str, bytes, type(None))


def hash_of(law: type, base: type) -> str:
    """Of a class and of those between it and `base`. Comments count: a text that is the same is the same."""
    parts: list[str] = []
    seen: set[int] = set()
    for one in law.__mro__:
        if one is base:
            break
        _class(one, parts, seen)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _class(one: type, parts: list[str], seen: set[int]) -> None:
    if id(one) in seen:
        return
    seen.add(id(one))
    parts.append(_text(one) or f"{one.__qualname__}")
    for name, value in sorted(vars(one).items()):
        function = getattr(value, "__func__", value)
        if isinstance(function, types.FunctionType):
            _function(function, parts, seen)
        elif not name.startswith("__"):
            # Also what was set after the class was made.
            parts.append(f"{name}={_plain(value)}")


def _function(function: types.FunctionType, parts: list[str], seen: set[int]) -> None:
    if id(function) in seen:
        return
    seen.add(id(function))
    parts.append(_text(function) or _code(function.__code__))
    parts.append(_plain(function.__defaults__))
    for cell in function.__closure__ or ():
        _used("a closure", cell.cell_contents, function, parts, seen)
    for name in _names(function.__code__):
        if name in function.__globals__:
            _used(name, function.__globals__[name], function, parts, seen)


def _used(
    name: str, value: Any, user: types.FunctionType, parts: list[str], seen: set[int]
) -> None:
    """A global of a function, if it is of the same module or a plain value."""
    near = getattr(value, "__module__", None) == user.__module__
    if isinstance(value, types.FunctionType) and near:
        _function(value, parts, seen)
    elif isinstance(value, type) and near:
        _class(value, parts, seen)
    elif not isinstance(value, types.ModuleType | type | types.FunctionType):
        parts.append(f"{name}={_plain(value)}")


def _plain(value: Any) -> str:
    """A text that is the same for the same value in any process; that of an object is its type's."""
    if isinstance(value, _PLAIN):
        return repr(value)
    if isinstance(value, list | tuple):
        return f"[{','.join(map(_plain, value))}]"
    if isinstance(value, dict):
        return f"{{{','.join(sorted(f'{_plain(key)}:{_plain(one)}' for key, one in value.items()))}}}"
    return type(value).__qualname__


def _text(thing: Any) -> str | None:
    try:
        return inspect.getsource(thing)
    except (OSError, TypeError):
        return None  # Typed into a plain interpreter: its code stands for it.


def _names(code: types.CodeType) -> list[str]:
    inner = [one for one in code.co_consts if isinstance(one, types.CodeType)]
    return sorted({*code.co_names, *(name for one in inner for name in _names(one))})


def _code(code: types.CodeType) -> str:
    consts = [
        _code(one) if isinstance(one, types.CodeType) else _plain(one) for one in code.co_consts
    ]
    return f"{code.co_code.hex()} {consts} {code.co_names} {code.co_varnames}"
