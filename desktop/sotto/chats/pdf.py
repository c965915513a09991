"""The text of a PDF, read in a process of its own.

What a PDF asks of its reader can be made to take any time and any memory, so the reader has little of either, and
ends without harm.
"""

import json
from collections.abc import Callable
from pathlib import Path

from sotto.bounded_process import BoundedProcessError, Bounds, Exceeded, run
from sotto.errors import SottoError

# What is written may be all characters that may be attached, each as long as JSON can make it.
BOUNDS = Bounds(seconds=60.0, cpu_seconds=60.0, memory=1_500 * 1000**2, output=64 * 1000**2)
MOST_PAGES = 3000


class PdfError(SottoError):
    """A PDF cannot be read."""


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
    try:
        written = run("read-pdf", str(path.absolute()), bounds=BOUNDS, stopped=stopped)
    except BoundedProcessError as error:
        raise PdfError(_why(name, error.exceeded)) from error
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


def _why(name: str, exceeded: Exceeded) -> str:
    if exceeded is Exceeded.TIME:
        return f"{name} takes longer than {BOUNDS.seconds:.0f} seconds to read: save its text as a file."
    if exceeded in (Exceeded.MEMORY, Exceeded.OUTPUT):
        return f"{name} takes more than {BOUNDS.memory / 1e9:.1f} GB of memory to read: save its text as a file."
    if exceeded is Exceeded.NOT_STARTED:
        return f"{name} could not be read: the system does not start the process that reads it."
    return f"{name} could not be read: its PDF is damaged, or takes too much memory."
