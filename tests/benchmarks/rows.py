"""The result of a measurement, and comparisons of candidates that take turns."""

import os
import platform
import statistics
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from sotto.engine.kernels import device

T = TypeVar("T")


@dataclass(frozen=True)
class Row:
    """One measurement.

    Attributes:
        name: What was measured.
        value: The result.
        unit: Its unit; `x` for a ratio.
        target: What it should be; empty if it is only reported.
        met: Whether it is; None without a target.
        detail: The figures that it is based on.
        figures: The same figures for programs, where tables are made of them.
    """

    name: str
    value: float
    unit: str
    target: str = ""
    met: bool | None = None
    detail: str = ""
    figures: Mapping[str, Any] = field(default_factory=dict)


def at_least(name: str, value: float, limit: float | None, detail: str = "", unit: str = "x") -> Row:
    """Return a row for a value that should be at least `limit`; with None the value is only reported."""
    if limit is None:
        return Row(name, value, unit, detail=detail)
    return Row(name, value, unit, f">= {limit:g}", value >= limit, detail)


def at_most(name: str, value: float, limit: float | None, detail: str = "", unit: str = "x") -> Row:
    """Return a row for a value that should be at most `limit`; with None the value is only reported."""
    if limit is None:
        return Row(name, value, unit, detail=detail)
    return Row(name, value, unit, f"<= {limit:g}", value <= limit, detail)


def ratio(name: str, ours: list[float], theirs: list[float], limit: float | None, unit: str = "tok/s") -> Row:
    """Return a row that compares the rates of two candidates that took turns: the median of the rounds' ratios."""
    value = statistics.median(mine / other for mine, other in zip(ours, theirs, strict=True))
    mine, other = statistics.median(ours), statistics.median(theirs)
    rounds = f"{len(ours)} round{'s' * (len(ours) > 1)}"
    return at_least(name, value, limit, f"{mine:.4g} vs. {other:.4g} {unit}, {rounds}")


def turns(rounds: int, **candidates: Callable[[], T]) -> dict[str, list[T]]:
    """Measure the candidates in turns, and return the results of each, round by round."""
    found: dict[str, list[float]] = {name: [] for name in candidates}
    for index in range(rounds):
        order = list(candidates.items())
        for name, measure in order if index % 2 else reversed(order):
            found[name].append(measure())
    return found


def machine() -> str:
    """Return a one-line description of the machine and the versions."""
    about = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in _processor())}
    model = about.get("model name") or platform.processor() or platform.machine()
    if "cpu family" in about:
        # Virtual machines give processors of several generations the same name.
        model += f" (family {about['cpu family']}, model {about['model']})"
    from sotto.engine.kernels import native

    info, kernels = device.describe(), native.status()
    return (
        f"{model}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}, "
        f"Python {platform.python_version()}, MLX {info.mlx_version} on {info.device}, "
        f"kernels {kernels.level or 'none'} with {kernels.threads} threads, BLAS {Path(info.blas).name or 'of MLX'}"
    )


def _processor() -> list[str]:
    """Return what Linux says about the first processor."""
    path = Path("/proc/cpuinfo")
    return path.read_text().partition("\n\n")[0].splitlines() if path.exists() else []


def print_rows(rows: Iterable[Row], width: int) -> None:
    """Print rows in columns, the first `width` wide."""
    for row in rows:
        verdict = {True: "ok", False: "MISSED", None: ""}[row.met]
        print(
            f"{row.name:<{width}}  {row.value:9.3f} {row.unit:<3} {row.target:<9} {verdict:<6}  {row.detail}",
            flush=True,
        )


def markdown(rows: Iterable[Row]) -> str:
    """Return the rows as a table for a README."""
    lines = ["| measurement | value | target | met | based on |", "| --- | --: | --- | --- | --- |"]
    for row in rows:
        unit = "" if row.unit == "x" else f" {row.unit}"
        met = {True: "yes", False: "**no**", None: ""}[row.met]
        lines.append(f"| {row.name} | {row.value:.3f}{unit} | {row.target} | {met} | {row.detail} |")
    return "\n".join(lines)
