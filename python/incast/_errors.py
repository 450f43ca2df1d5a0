"""What can go wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._results import Results


class IncastError(Exception):
    """Base of this package's errors."""


class _Fault(IncastError):
    """An error with its parts.

    Attributes:
        problem: what is wrong, in a sentence.
        file: the file in which it was written, if it was in one.
        line: its line there, counted from 1.
        key: the key of the scenario, such as `fabric.mtu`, or the keyword, such as `load`.
        value: what was written.
        accepted: what is accepted instead, such as `0 to 1`.
        suggestion: the nearest valid name.
    """

    def __init__(
        self,
        problem: str,
        *,
        file: str | None = None,
        line: int | None = None,
        key: str | None = None,
        value: str | None = None,
        accepted: str | None = None,
        suggestion: str | None = None,
    ) -> None:
        place = [] if file is None else [file if line is None else f"{file}:{line}"]
        if key is not None:
            missing = f"{key} is missing" if value == "" else f"{key} = `{value}`"
            place.append(key if value is None else missing)
        elif value is not None:
            place.append(f"`{value}`")
        super().__init__(": ".join([*place, problem]))
        self.problem = problem
        self.file = file
        self.line = line
        self.key = key
        self.value = value
        self.accepted = accepted
        self.suggestion = suggestion

    def __reduce__(self) -> tuple[Any, ...]:
        # Exceptions travel between processes.
        named = {name: value for name, value in vars(self).items() if name != "problem"}
        return _rebuilt, (type(self), self.problem, named)

    def _render_traceback_(self) -> list[str]:
        """What a notebook shows: the caller's lines, not those of this package."""
        import itertools
        import traceback
        from pathlib import Path

        own = str(Path(__file__).parent)
        all_of_them = traceback.extract_tb(self.__traceback__)
        callers = itertools.takewhile(lambda one: not one.filename.startswith(own), all_of_them)
        shown = [one for one in callers if "IPython" not in one.filename]
        lines = [line.rstrip() for line in traceback.format_list(shown)]
        return [*lines, f"{type(self).__name__}: {self}"]


def _rebuilt(kind: type[_Fault], problem: str, named: dict[str, Any]) -> _Fault:
    return kind(problem, **named)


class ScenarioError(_Fault, ValueError):
    """A scenario, keyword or file that is not valid. It says where, and what is accepted."""


class RunError(_Fault, RuntimeError):
    """A run that failed, or results that could not be read or written."""


class ExecutorError(RunError):
    """An executor that broke, or lost points again and again. Points without a row are not failed: the
    same call runs them."""


class EngineError(IncastError, RuntimeError):
    """A defect of the engine: one of its assertions failed. The process is not harmed."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C stopped a run.

    Attributes:
        results: what there was until then.
    """

    def __init__(self, results: Results) -> None:
        super().__init__("stopped; `results` of this exception has what there is")
        self.results = results


class RunWarning(UserWarning):
    """Something that should be known before results are trusted."""


#: Points that a message names at most.
_NAMED = 4


def some(points: list[dict[str, str]]) -> str:
    """The first points with what went wrong, without tracebacks, and how many there are more."""
    named = [f"`{one['point']}`: {one['why'].partition(chr(10))[0]}" for one in points[:_NAMED]]
    more = len(points) - len(named)
    return "; ".join(named) + (f"; and {more} more" if more > 0 else "")
