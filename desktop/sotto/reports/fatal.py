"""Fatal signals, such as a crash of a driver: the system ends the process at once, and the next one finds where it was.

Python writes the stacks of all threads to a file of the process. The process holds a lock on it as long as it lives.
"""

import atexit
import faulthandler
import fcntl
import logging
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from sotto import paths
from sotto.reports import report
from sotto.reports.report import Trouble
from sotto.reports.traces import short_path

_log = logging.getLogger(__name__)

# Another process may have created its file, but not locked it yet.
_YOUNG_SECONDS = 60
_MOST_CHARACTERS = 20_000
_FILE = re.compile(r'File "([^"]+)", line (\d+) in ')


def begin() -> None:
    """Report the fatal signals of processes that have ended, and note those of this one until it ends in order."""
    try:
        for text in _left_behind():
            report.write(report.compose(Trouble("fatal", text)))
        paths.make_folder(paths.log_dir())
        path = paths.log_dir() / f"fatal-{os.getpid()}.txt"
        paths.private_file(path)
        own = path.open("wb")
        fcntl.flock(own, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        _log.warning("Fatal signals cannot be noted in the log folder: %s", error)
        return
    faulthandler.enable(own)
    atexit.register(_end, own, path)


def _end(own: BinaryIO, path: Path) -> None:
    faulthandler.disable()
    own.close()
    path.unlink(missing_ok=True)


def _left_behind() -> Iterator[str]:
    """Yield and remove what processes have left behind."""
    for path in sorted(paths.log_dir().glob("fatal-*.txt")):
        with path.open("rb") as opened:
            try:
                fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            content = opened.read(_MOST_CHARACTERS).decode("utf-8", "replace").strip()
            age = time.time() - os.fstat(opened.fileno()).st_mtime
            if content or age > _YOUNG_SECONDS:
                path.unlink(missing_ok=True)
        if content:
            yield _FILE.sub(lambda found: f"{short_path(found[1])}:{found[2]} ", content)
