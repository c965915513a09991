"""What pip is doing, in a few lines, so that minutes of downloading and unpacking are not silent."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterable
from typing import IO

# Smaller files come and go too fast to be named.
LARGE_KB = 1000
QUIET_S = 10.0
_FETCHED = re.compile(r"\s*(?:Downloading|Using cached) (?:\S*/)?([^/\s]+?)-(\d\S*?)-\S+ \(([\d.]+) (kB|MB)\)")
# Pip builds Sotto while it prepares its metadata, and then only copies the result.
_BUILDING = ("Preparing editable metadata", "Preparing metadata")


class Progress:
    """Turns pip's output into lines: what is fetched, what is installed, and that time passes.

    A context manager; a thread of its own speaks up after some seconds without a line.
    """

    def __init__(self, say: Callable[[str], None], quiet_s: float = QUIET_S) -> None:
        self._say, self._quiet_s = say, quiet_s
        self._began = self._spoke = time.monotonic()
        self._doing = "Looking up packages"
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._timer = threading.Thread(target=self._remind)

    def __enter__(self) -> Progress:
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._timer.join()

    def follow(self, outputs: Iterable[IO[str]]) -> None:
        """Read the outputs of running pip commands until all have ended."""
        readers = [threading.Thread(target=self._read, args=(output,)) for output in outputs]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join()

    def _read(self, output: IO[str]) -> None:
        with output:
            for line in output:
                if text := describe(line):
                    self._speak(text)

    def _speak(self, text: str) -> None:
        with self._lock:
            self._doing, self._spoke = text, time.monotonic()
            self._say(f"  {text} ...")

    def _remind(self) -> None:
        while not self._over.wait(self._quiet_s / 10):
            with self._lock:
                now = time.monotonic()
                if now - self._spoke >= self._quiet_s:
                    self._spoke = now
                    self._say(f"  {self._doing}: still at it after {now - self._began:.0f} s ...")


def describe(line: str) -> str:
    """Return what a line of pip's output says, for people; an empty text if it is not worth a line."""
    if found := _FETCHED.match(line):
        name, version, size, unit = found.groups()
        if float(size) * (1000 if unit == "MB" else 1) < LARGE_KB:
            return ""
        return (
            f"Fetched {name} {version} ({size} {unit})"
            if "cached" in line
            else f"Fetching {name} {version} ({size} {unit})"
        )
    if line.startswith("Installing collected packages: "):
        names = line.partition(": ")[2].split(", ")
        return f"Installing {names[0].strip()}" if len(names) == 1 else f"Installing {len(names)} packages"
    if line.lstrip().startswith(_BUILDING) and line.rstrip().endswith(": started"):
        return "Compiling what comes as source"
    return ""
