"""Measure candidates in alternation; print the machine, the figures and a table of them.

Knows nothing of what is measured.
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import platform
import statistics
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

REPETITIONS = 5
PACKAGES = ("wayfare", "nodeset", "numpy", "msgpack", "xxhash", "gymnasium")

Measure = Callable[[], "float | Awaitable[float]"]
"""Measures one candidate once; what it awaits runs on the caller's event loop."""


@dataclass(frozen=True)
class Figure:
    """One quantity, measured once per repetition."""

    values: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    @property
    def low(self) -> float:
        return min(self.values)

    @property
    def high(self) -> float:
        return max(self.values)

    def per(self, other: Figure) -> Figure:
        """Return the ratio to another figure of the same run, repetition by repetition."""
        return Figure(tuple(a / b for a, b in zip(self.values, other.values, strict=True)))

    def describe(self, digits: int = 3) -> str:
        """Return the median and, in brackets, the least and the greatest value."""
        median, low, high = (_short(v, digits) for v in (self.median, self.low, self.high))
        return f"{median} ({low} to {high})"

    def to_json(self) -> dict[str, Any]:
        return {"median": self.median, "low": self.low, "high": self.high, "values": self.values}


async def alternate(
    candidates: Mapping[str, Measure], repetitions: int = REPETITIONS
) -> dict[str, Figure]:
    """Measure every candidate `repetitions` times, in turn, so that other load falls on all.

    Every second round goes backwards: nobody always runs first.
    """
    values: dict[str, list[float]] = {name: [] for name in candidates}
    for repetition in range(repetitions):
        for name in list(candidates)[:: -1 if repetition % 2 else 1]:
            value = candidates[name]()
            values[name].append(await value if inspect.isawaitable(value) else value)
    return {name: Figure(tuple(found)) for name, found in values.items()}


def quantile(samples: Iterable[float], share: float) -> float:
    """Return the sample below which `share` of them lie."""
    ordered = sorted(samples)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def describe_machine() -> dict[str, Any]:
    """Return what a reader must know of the machine and of what else ran on it."""
    return {
        "cpu": _cpu_model(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "packages": {name: version for name in PACKAGES if (version := _version(name))},
        "load_average": round(os.getloadavg()[0], 1),
    }


def read_options(
    description: str | None, extend: Callable[[argparse.ArgumentParser], object] | None = None
) -> argparse.Namespace:
    """Read `--tiny`, `--repetitions` and `--output`, and what `extend` adds to the parser."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--tiny", action="store_true", help="a small size that only shows it runs")
    parser.add_argument("--repetitions", type=int, default=0, help=f"default {REPETITIONS}")
    parser.add_argument("--output", type=Path, help="write the JSON there too")
    if extend is not None:
        extend(parser)
    options = parser.parse_args()
    options.repetitions = options.repetitions or (1 if options.tiny else REPETITIONS)
    return options


def publish(
    name: str,
    figures: Mapping[str, Any],
    tables: Sequence[str],
    *,
    options: argparse.Namespace,
    machine: Mapping[str, Any],
) -> None:
    """Print one JSON line, then the Markdown tables; describe the machine before measuring."""
    document = {
        "benchmark": name,
        "tiny": options.tiny,
        "repetitions": options.repetitions,
        "machine": machine,
        "figures": figures,
    }
    text = json.dumps(document, default=_to_json)
    print(text)
    if options.output is not None:
        options.output.write_text(text + "\n")
    for table in tables:
        print(f"\n{table}")


def format_table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table; the first column is text, the others are numbers."""
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def _to_json(value: Any) -> Any:
    if isinstance(value, Figure):
        return value.to_json()
    raise TypeError(f"{value!r} has no JSON form; use figures, numbers, text, lists and dicts")


def _short(value: float, digits: int) -> str:
    return f"{value:,.0f}" if abs(value) >= 10 ** (digits - 1) else f"{value:.{digits}g}"


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _cpu_model() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor()
