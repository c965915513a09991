"""Creates the engine's host, on a thread of the app or in a child process, and detects crashes of the last run.

A crash of native code on the thread ends the app. So a marker file exists while the engine computes on the thread; if
the next start finds it, the app ended during a computation.
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
    """Return an engine that has not been started yet.

    Args:
        kind: `thread` or `process`; the environment variable `SOTTO_ENGINE_HOST` takes precedence.

    Raises:
        InvalidRequestError: The kind is neither of the two.
    """
    return EngineThread(make_loop=process_loop if kind_of_host(kind) == PROCESS else marked_loop)


@cache
def crashed_last_time() -> bool:
    """Return whether the last run of the app ended while the engine computed on its thread.

    The result is cached: it must first be called before the engine of this run computes.
    """
    try:
        process = int(mark_path().read_text(encoding="ascii"))
    except FileNotFoundError:
        return False
    except (OSError, ValueError) as error:
        _log.warning("%s cannot be read: %s", printable_path(mark_path()), error)
        return True
    return process != os.getpid() and not _is_running(process)


def mark_path() -> Path:
    """Return the path of the marker file."""
    return state_dir() / "computing"


class CrashMarker:
    """Passes events on, and keeps the marker file while a load or request is under way."""

    def __init__(self, emit: Callable[[Event], None], path: Path) -> None:
        """Pass events on to `emit`, and keep the marker at `path`."""
        self._emit = emit
        self._path = path
        self._busy: set[str] = set()

    def __call__(self, event: Event) -> None:
        """Handle an event, on the engine's thread."""
        was_busy = bool(self._busy)
        if not isinstance(event, MemoryFigures):
            # Loads have no request id; they share the empty one.
            request = event.request_id if isinstance(event, PrefillProgress | TextChunk | Finished | Failed) else ""
            if isinstance(event, LoadProgress | PrefillProgress | TextChunk):
                self._busy.add(request)
            elif isinstance(event, Finished | Failed | Loaded | Unloaded):
                self._busy.discard(request)
        if bool(self._busy) is not was_busy:
            self._update_file()
        self._emit(event)

    def _update_file(self) -> None:
        try:
            if self._busy:
                write_atomically(self._path, str(os.getpid()))
            else:
                self._path.unlink(missing_ok=True)
        except OSError as error:
            _log.warning("%s cannot be changed: %s", printable_path(self._path), error.strerror)


def marked_loop(emit: Callable[[Event], None]) -> Loop:
    """Return an engine that computes on the calling thread and keeps the marker file meanwhile."""
    crashed_last_time()  # must be read before the marker changes
    return engine_loop(CrashMarker(emit, mark_path()))


def process_loop(emit: Callable[[Event], None]) -> Loop:
    """Return the connection to an engine in a child process."""
    # Imported on the engine's thread, because the window's first paint should not wait for the import.
    from sotto.runner.isolated.process import RunnerProcess

    return RunnerProcess(emit)


def _is_running(process: int) -> bool:
    """Return whether a process exists; only the system is asked, as `/proc` may be missing."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        # It is another user's.
        return True
    return True
