"""`sotto doctor`: facts about this machine and installation, for users and bug reports."""

import platform
import sys
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version

from sotto import __version__, paths
from sotto.cli import desktop, linux_packages
from sotto.cli.printing import human_bytes, printable
from sotto.engine.memory.physical_memory import physical_memory
from sotto.runner import faults
from sotto.runner.catalogue import catalogue

_PACKAGES = ("mlx", "mlx-lm", "PySide6-Essentials", "tokenizers", "safetensors", "jinja2", "qasync")


def doctor() -> int:
    """Print one finding per line; return 0, or 1 if the engine cannot start."""
    _line("Sotto", f"{__version__} in {paths.resources_dir().parent}")
    _line("System", f"{platform.system()} {platform.release()} {platform.machine()}")
    _line("Python", f"{platform.python_version()} ({sys.executable})")
    for package in _PACKAGES:
        _line(package, _version(package))
    memory = physical_memory()
    rest = "available" if memory.exact else "free; more may be available, which is unknown without /proc"
    _line("Memory", f"{human_bytes(memory.total)}, {human_bytes(memory.available)} {rest}")
    healthy = _engine()
    _line("Window", desktop.no_window() or "can open")
    if found := linux_packages.fonts():
        _line("Fonts", found)
    _line("Own models", str(paths.data_dir() / "models"))
    _stores()
    _faults()
    return 0 if healthy else 1


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


def _stores() -> None:
    listing = catalogue()
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


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "missing"


def _line(label: str, text: str) -> None:
    print(f"{label:<20}  {text}")
