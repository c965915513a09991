"""What pip is doing and how much is left, so that minutes of downloading and unpacking are not silent.

On a terminal this is one line that changes, elsewhere a line every now and then.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO

import native_build

# Smaller files come and go too fast to be named.
LARGE_MB = 1.0
# Seconds without a line, where lines cannot change.
QUIET_S = 10.0
_REDRAW_S = 0.25
_ERASE = "\r\033[K"
# Pip indents what it says about a file while it still looks for what else is needed.
_FETCHED = re.compile(r"(\s*)(Downloading|Using cached) (?:\S*/)?(([^/\s]+?)-(\d\S*?)-\S+) \(([\d.]+) (kB|MB)\)")
# Pip builds Sotto while it prepares its metadata, and then only copies the result.
_NEEDS, _BUILDING = "Installing build dependencies", ("Preparing editable metadata", "Preparing metadata")
_FULL_DISK = "[Errno 28]"


class PipRun:
    """A running pip command, as its output and its files tell."""

    def __init__(self, temporary: Path, site: Path) -> None:
        """Begin.

        Args:
            temporary: The folder for its temporary files.
            site: The folder into which it installs packages.
        """
        self._temporary, self._site = temporary, site
        # By the clock that the times of files are taken from.
        self._began = temporary.stat().st_mtime
        self._collected = self._fetched = 0
        self._say: Callable[[], str] = self._looking_up
        self.installs = self.disk_is_full = False

    def read(self, line: str) -> bool:
        """Take in a line of its output, and return whether it begins something that takes long."""
        if line.startswith(("Collecting ", "Processing ")):
            self._collected += 1
        elif found := _FETCHED.match(line):
            return self._begin_fetching(found)
        elif line.startswith("Installing collected packages: "):
            packages = line.count(",") + 1
            self.installs = True
            self._say = lambda: self._installing(packages)
            return True
        elif line.rstrip().endswith(": started") and line.lstrip().startswith((_NEEDS, *_BUILDING)):
            self._say = self._compiling if _NEEDS not in line else lambda: "Fetching what the native kernels need"
            return True
        elif _FULL_DISK in line:
            self.disk_is_full = True
        return False

    def describe(self) -> str:
        """Return what it is doing now, and how much of it is left."""
        return self._say()

    def _looking_up(self) -> str:
        return f"Looking up packages, {self._collected} so far" if self._collected else "Looking up packages"

    def _begin_fetching(self, found: re.Match[str]) -> bool:
        indent, how, file, name, version, number, unit = found.groups()
        if file.endswith(".metadata"):
            return False
        self._fetched += 1
        size = float(number) if unit == "MB" else float(number) / 1000
        which = f"package {self._fetched}" if indent else f"package {self._fetched} of {self._collected}"
        if size < LARGE_MB or how != "Downloading":
            self._say = lambda: f"Fetching {which}"
            return False
        self._say = lambda: f"Fetching {which}: {name} {version}, {self._arrived(file)}{size:.0f} MB"
        return True

    def _arrived(self, file: str) -> str:
        """Return how many megabytes of a file have been downloaded, if any."""
        found = _stats(self._temporary.glob(f"pip-unpack-*/{file}"))
        megabytes = max((stat.st_size for stat in found), default=0) / 1e6
        return f"{megabytes:.0f} of " if megabytes >= 1 else ""

    def _installing(self, packages: int) -> str:
        if packages == 1:
            return "Installing 1 package"
        # The last file that pip writes of a package.
        done = _count_newer(self._site.glob("*.dist-info/RECORD"), self._began)
        return f"Installing {packages} packages, {min(done, packages)} of them done"

    def _compiling(self) -> str:
        if native_build.unsupported_platform():
            return "Preparing what comes as source"
        done = _count_newer(native_build.OBJECTS.glob("*.o"), self._began)
        return f"Compiling the native kernels, {done} of {native_build.count_objects()} files done"


class Progress:
    """Shows what running pip commands do.

    A context manager: a thread of its own redraws the line, or speaks up after some seconds without one.
    """

    def __init__(self, runs: Sequence[PipRun], output: IO[str] = sys.stderr, quiet_s: float = QUIET_S) -> None:
        self._runs, self._output, self._quiet_s = runs, output, quiet_s
        self._changes = output.isatty() and os.environ.get("TERM") != "dumb"
        self._spoke = time.monotonic()
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._timer = threading.Thread(target=self._tick)

    def __enter__(self) -> Progress:
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._timer.join()
        if self._changes:
            self._write(_ERASE)

    def say(self, text: str) -> None:
        """Print a line that stays."""
        with self._lock:
            self._write(f"{_ERASE}{text}\n" if self._changes else f"{text}\n")

    def begin(self, run: PipRun) -> None:
        """Show at once what a command has begun to do."""
        if not self._changes:
            self.say(f"  {run.describe()} ...")
            self._spoke = time.monotonic()

    def _tick(self) -> None:
        while not self._over.wait(min(_REDRAW_S, self._quiet_s / 10)):
            if self._changes:
                width = shutil.get_terminal_size().columns - 1
                with self._lock:
                    self._write(f"{_ERASE}{self._text()[:width]}")
            elif time.monotonic() - self._spoke >= self._quiet_s:
                self._spoke = time.monotonic()
                self.say(f"  {self._text()} ...")

    def _text(self) -> str:
        """Return what all commands do, each thing once."""
        return "; ".join(dict.fromkeys(run.describe() for run in self._runs))

    def _write(self, text: str) -> None:
        self._output.write(text)
        self._output.flush()


def _count_newer(paths: Iterable[Path], began: float) -> int:
    """Return how many files have been written since a time."""
    return sum(found.st_mtime >= began for found in _stats(paths))


def _stats(paths: Iterable[Path]) -> Iterator[os.stat_result]:
    """Yield what the system says of those files that are still there."""
    for path in paths:
        with contextlib.suppress(FileNotFoundError):
            yield path.stat()
