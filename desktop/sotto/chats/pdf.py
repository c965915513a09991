"""Reading the text of a PDF in a bounded process, as a PDF can make its reader take any amount of time and memory."""

import json
from collections.abc import Callable
from pathlib import Path

from sotto.bounded_process import BoundedProcessError, Bounds, Exceeded, run
from sotto.errors import SottoError

# The output must hold the longest text that may be attached, with every character escaped in JSON.
BOUNDS = Bounds(seconds=60.0, cpu_seconds=60.0, memory=1_500 * 1000**2, output=64 * 1000**2)
MOST_PAGES = 3000


class PdfError(SottoError):
    """A PDF cannot be read."""


def text_of(path: Path, name: str, stopped: Callable[[], bool]) -> str:
    """Return the text of all pages.

    Args:
        path: The file.
        name: Its name in error messages.
        stopped: Polled; returns whether to give up.

    Raises:
        PdfError: It cannot be read, or takes too long or too much memory.
        CancelledError: `stopped` returned True.
    """
    try:
        written = run("read-pdf", str(path.absolute()), bounds=BOUNDS, stopped=stopped)
    except BoundedProcessError as error:
        raise PdfError(_why(name, error.exceeded)) from error
    try:
        result = json.loads(written)
        text, why = result["text"], result["why"]
    except (ValueError, TypeError, KeyError) as error:
        raise PdfError(f"{name} could not be read: its PDF is damaged, or takes too much memory.") from error
    if why:
        raise PdfError(f"{name} could not be read: {why}.")
    if not isinstance(text, str) or not text.strip():
        raise PdfError(f"{name} has no text in it: its pages may be images, so attach those as images.")
    return text


def _why(name: str, exceeded: Exceeded) -> str:
    if exceeded is Exceeded.TIME:
        return f"{name} takes longer than {BOUNDS.seconds:.0f} seconds to read: save its text as a file."
    if exceeded in (Exceeded.MEMORY, Exceeded.OUTPUT):
        return f"{name} takes more than {BOUNDS.memory / 1e9:.1f} GB of memory to read: save its text as a file."
    if exceeded is Exceeded.NOT_STARTED:
        return f"{name} could not be read: the system does not start the process that reads it."
    return f"{name} could not be read: its PDF is damaged, or takes too much memory."
