"""The steps of what takes a while, as lines on stderr; Ctrl-C ends it at its next step."""

import shutil
import sys
from contextlib import ExitStack
from threading import Event
from typing import Self

from sotto.cli.interrupts import until_interrupt
from sotto.cli.printing import human_share
from sotto.errors import CancelledError
from sotto.store.creating.new_model import Step
from sotto.store.printable import printable

# There may be hundreds of these, and they take no time.
_QUIET = ("using existing layer", "creating new layer")


class StepLines:
    """Shows steps: in a terminal in one line that is overwritten, elsewhere a line for each new one and each tenth."""

    def __init__(self) -> None:
        """Begin without a step."""
        self._interrupted = Event()
        self._last: tuple[str, int] | None = None
        self._opened = ExitStack()

    def __enter__(self) -> Self:
        self._opened.enter_context(until_interrupt(self._interrupted))
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()
        if sys.stderr.isatty():
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def show(self, step: Step) -> None:
        """Show a step.

        Raises:
            CancelledError: Ctrl-C was pressed.
        """
        if self._interrupted.is_set():
            raise CancelledError("The work was stopped.")
        share = f"  {human_share(step.done, step.total)}" if step.total else ""
        line = printable(step.status) + share
        if sys.stderr.isatty():
            sys.stderr.write(f"\r{line[: shutil.get_terminal_size().columns - 1]}\x1b[K")
            sys.stderr.flush()
            return
        now = (step.status, 10 * step.done // step.total if step.total else 0)
        if now != self._last and not step.status.startswith(_QUIET):
            print(line, file=sys.stderr, flush=True)
        self._last = now
