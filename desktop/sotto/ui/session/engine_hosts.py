"""Where the engine lives, on a thread of the app or in a process of its own; and whether it did well last time.

A crash of native code on the thread ends the app. So a mark lies on the disk while something is computed there, and a
mark that is found by the next start tells that the app ended in the middle.
"""

import logging
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

from sotto.engine.contract.events import (
    Event,
    Failed,
    Finished,
    Loaded,
    LoadProgress,
    PrefillProgress,
    TextChunk,
    Unloaded,
)
from sotto.engine.memory.memory_figures import MemoryFigures
from sotto.paths import state_dir
from sotto.runner.host import PROCESS, THREAD, Loop, kind_of_host
from sotto.store.atomic_writing import write_atomically
from sotto.store.printable import printable_path
from sotto.ui.session.engine_thread import EngineThread, engine_loop

_log = logging.getLogger(__name__)


def make_host(kind: str = THREAD) -> EngineThread:
    """Return an engine that nobody has started yet.

    Args:
        kind: `thread` or `process`; `SOTTO_ENGINE_HOST` in the environment goes before it.

    Raises:
        InvalidRequestError: It is neither.
    """
    return EngineThread(make_loop=_isolated if kind_of_host(kind) == PROCESS else _marked)


@cache
def crashed_last_time() -> bool:
    """Return whether the app ended while an engine computed on its thread, the last time that it did so.

    It is found out once, before an engine of this run computes.
    """
    try:
        process = int(mark().read_text(encoding="ascii"))
    except FileNotFoundError:
        return False
    except (OSError, ValueError) as error:
        _log.warning("%s cannot be read: %s", printable_path(mark()), error)
        return True
    return process != os.getpid() and not _lives(process)


def mark() -> Path:
    """Return the file that is there while an engine computes on a thread of the app."""
    return state_dir() / "computing"


class Marking:
    """Passes events on, and keeps the mark while there is something that has begun and has not ended."""

    def __init__(self, emit: Callable[[Event], None], path: Path) -> None:
        """Pass on to `emit`."""
        self._emit = emit
        self._path = path
        self._busy: set[str] = set()

    def __call__(self, event: Event) -> None:
        """Take an event, on the engine's thread."""
        before = bool(self._busy)
        if not isinstance(event, MemoryFigures):
            # A load has no id.
            about = event.request_id if isinstance(event, PrefillProgress | TextChunk | Finished | Failed) else ""
            if isinstance(event, LoadProgress | PrefillProgress | TextChunk):
                self._busy.add(about)
            elif isinstance(event, Finished | Failed | Loaded | Unloaded):
                self._busy.discard(about)
        if bool(self._busy) is not before:
            self._change()
        self._emit(event)

    def _change(self) -> None:
        try:
            if self._busy:
                write_atomically(self._path, str(os.getpid()))
            else:
                self._path.unlink(missing_ok=True)
        except OSError as error:
            _log.warning("%s cannot be changed: %s", printable_path(self._path), error.strerror)


def _marked(emit: Callable[[Event], None]) -> Loop:
    crashed_last_time()
    return engine_loop(Marking(emit, mark()))


def _isolated(emit: Callable[[Event], None]) -> Loop:
    # Imported on the thread that runs it, as the engine itself would be.
    from sotto.runner.isolated.process import RunnerProcess

    return RunnerProcess(emit)


def _lives(process: int) -> bool:
    import psutil

    return psutil.pid_exists(process)
