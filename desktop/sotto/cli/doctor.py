"""`sotto doctor`: facts about this machine and installation, for users and bug reports."""

import contextlib
import io
import os
import platform
import sys
from datetime import datetime
from itertools import zip_longest

from sotto import __version__, paths
from sotto.cli import desktop, linux_packages
from sotto.cli.printing import human_bytes, printable
from sotto.engine.memory.physical_memory import physical_memory
from sotto.reports import logs, report, versions
from sotto.reports.scrubbing import scrub
from sotto.runner import faults
from sotto.runner.catalogue import catalogue
from sotto.store.discovery import Listing

# Variables of the environment that change what Sotto does, and tell nothing about anybody.
_TOLD = (
    "SOTTO_DEVICE SOTTO_ENGINE_HOST SOTTO_ENGINE_MEMORY SOTTO_NATIVE SOTTO_NATIVE_LEVEL OPENBLAS_CORETYPE "
    "QT_QPA_PLATFORM XDG_CURRENT_DESKTOP XDG_SESSION_TYPE LANG LC_ALL"
).split()
_LOG_LINES = 60


def doctor() -> int:
    """Print one finding per line; return 0, or 1 if the engine cannot start."""
    _line("Sotto", f"{__version__} in {paths.resources_dir().parent}")
    _line("System", versions.system())
    _line("Python", f"{platform.python_version()} ({sys.executable})")
    for package in versions.PACKAGES:
        _line(package, versions.package_version(package))
    memory = physical_memory()
    rest = "available" if memory.exact else "free; more may be available, which is unknown without /proc"
    _line("Memory", f"{human_bytes(memory.total)}, {human_bytes(memory.available)} {rest}")
    healthy = _engine()
    _line("Window", desktop.no_window() or "can open")
    if found := linux_packages.fonts():
        _line("Fonts", found)
    _line("Own models", str(paths.data_dir() / "models"))
    listing = catalogue()
    _stores(listing)
    if healthy:
        _speed(listing)
    _faults()
    return 0 if healthy else 1


def bug_report() -> int:
    """Print what a bug report needs, without names of people and machines, home folders and keys; return 0."""
    with contextlib.redirect_stdout(io.StringIO()) as found:
        doctor()
        for name in _TOLD:
            if name in os.environ:
                _line(name, printable(os.environ[name]))
    last = report.last()
    log = "\n".join(logs.last_lines(_LOG_LINES))
    for part, text in (("", found.getvalue()), ("The last report:", last), ("The last lines of the log:", log)):
        if text:
            print(scrub(f"{part}\n\n{text}" if part else text), flush=True)
    return 0


def _engine() -> bool:
    """Print what the engine computes with; return whether MLX can be imported."""
    from sotto.engine.kernels import device

    device.prepare()
    try:
        found = device.describe()
    except ImportError as error:
        _line("Engine", f"MLX cannot be imported: {error}")
        return False
    from sotto.engine.kernels import native as engine_native

    _line("Device", found.device)
    _line("Compiled graphs", "on" if found.compile else "off: on a CPU they would be compiled during answers")
    native = engine_native.status()
    _line(
        "Native kernels", f"yes, {native.level}, {native.threads} threads" if native.level else f"no: {native.reason}"
    )
    if found.device == "cpu":
        _line("BLAS", found.blas or "MLX's own, which is slow; install libopenblas0-pthread for a faster one")
    return True


def _stores(listing: Listing) -> None:
    for root in listing.roots:
        count = sum(
            1
            for record in listing.records
            if root.path in (record.path, *record.path.parents)
            or any(root.path in (place.path, *place.path.parents) for place in record.also)
        )
        found = f"{count} model{'' if count == 1 else 's'}" if root.path.is_dir() else "absent"
        _line(f"Store {root.kind.value}", f"{root.path}: {found}")
    for problem in listing.problems:
        _line("Problem", printable(problem.message))


def _speed(listing: Listing) -> None:
    """Print what slows the engine down, with the step that mends it."""
    from sotto.engine.advice.advice import advice

    found = list(advice(listing.records)) or ["nothing slows the engine down that you could change"]
    for label, finding in zip_longest(["Speed"], found, fillvalue=""):
        _line(label, printable(finding))


def _faults() -> None:
    """Print how many answers had to continue alone after a shared step failed."""
    found = faults.recorded()
    if not found:
        _line("Shared steps", "none failed")
        return
    last = found[-1]
    answers = "1 answer" if len(found) == 1 else f"{len(found):,} answers"
    since, day = (f"{datetime.fromtimestamp(fault.when):%Y-%m-%d}" for fault in (found[0], last))
    _line("Shared steps", f"{answers} continued alone after a step failed, since {since}")
    _line("", printable(f"last on {day}, {last.model}: {last.reason} ({faults.file()})"))


def _line(label: str, text: str) -> None:
    print(f"{label:<20}  {text}")
