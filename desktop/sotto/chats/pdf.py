"""The text of a PDF, read in a process of its own.

What a PDF asks of its reader can be made to take any time and any memory, so the reader has little of either, and
ends without harm.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

from sotto.errors import CancelledError, SottoError

MOST_SECONDS = 60.0
MOST_MEMORY = 1_500 * 1000**2
MOST_PAGES = 3000
# What the child writes: all characters that may be attached, each as long as JSON can make it.
_LONGEST_OUTPUT = 64 * 1000**2
_LOOK_EVERY = 0.05


class PdfError(SottoError):
    """A PDF cannot be read."""


def command(path: Path) -> list[str]:
    """Return the command line that reads a PDF; packaged apps are started by themselves, others by Python."""
    program = sys.executable
    if Path(program).name.lower().startswith("python"):
        # -P: a folder `sotto` where the app was started is not the app.
        return [program, "-P", "-m", "sotto", "read-pdf", str(path)]
    return [program, "read-pdf", str(path)]


def text_of(path: Path, name: str, stopped: Callable[[], bool]) -> str:
    """Return the text of all pages.

    Args:
        path: The file.
        name: What to call it.
        stopped: Asked now and then whether to give up.

    Raises:
        PdfError: It cannot be read, or takes too long or too much memory.
        CancelledError: `stopped` said so.
    """
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            command(path.absolute()), stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.DEVNULL
        )
        try:
            _wait(process, output, name, stopped)
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()
        output.seek(0)
        written = output.read(_LONGEST_OUTPUT + 1)
    try:
        told = json.loads(written)
        text, why = told["text"], told["why"]
    except (ValueError, TypeError, KeyError) as error:
        raise PdfError(f"{name} could not be read: its PDF is damaged, or takes too much memory.") from error
    if why:
        raise PdfError(f"{name} could not be read: {why}.")
    if not isinstance(text, str) or not text.strip():
        raise PdfError(f"{name} has no text in it: its pages may be pictures, which no model that runs here can see.")
    return text


def _wait(process: "subprocess.Popen[bytes]", output: IO[bytes], name: str, stopped: Callable[[], bool]) -> None:
    """Wait for the child's end, within its bounds."""
    import psutil

    end = time.monotonic() + MOST_SECONDS
    watched = psutil.Process(process.pid)
    while process.poll() is None:
        time.sleep(_LOOK_EVERY)
        if stopped():
            raise CancelledError(f"Reading {name} was stopped.")
        if time.monotonic() > end:
            raise PdfError(f"{name} takes longer than {MOST_SECONDS:.0f} seconds to read: save its text as a file.")
        try:
            memory = watched.memory_info().rss
        except psutil.Error:
            continue  # it has just ended
        if memory > MOST_MEMORY or os.fstat(output.fileno()).st_size > _LONGEST_OUTPUT:
            most = f"{MOST_MEMORY / 1e9:.1f} GB"
            raise PdfError(f"{name} takes more than {most} of memory to read: save its text as a file.")
