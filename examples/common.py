"""What the examples share: small sizes for a quick look, and where pictures go."""

import argparse
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")

_arguments = argparse.ArgumentParser()
_arguments.add_argument("--quick", action="store_true", help="small sizes: it works, the numbers say little")
_arguments.add_argument("--pictures", type=Path, default=Path("pictures"), help="a folder for the charts")
_given = _arguments.parse_args()


def quick(full: T, small: T) -> T:
    """The full size, or the small one with `--quick`."""
    return small if _given.quick else full


def save(chart: Any, name: str) -> None:
    """Writes a chart as `NAME.svg`."""
    _given.pictures.mkdir(parents=True, exist_ok=True)
    chart.save(_given.pictures / f"{name}.svg")


def folder(name: str) -> Path:
    """A folder for results beside the pictures."""
    return _given.pictures / name
