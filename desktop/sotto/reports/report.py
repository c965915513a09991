"""Reports of errors, for people to read and to send to us if they want to; each is a file in the log folder."""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sotto import paths
from sotto.reports import logs, versions
from sotto.reports.scrubbing import scrub
from sotto.reports.traces import describe, place

_BEGIN, _UNSEEN = "report-", "new-report-"
_KEPT = 10
_LOG_LINES = 40
_LOG_TITLE = "The last lines of the log:"


@dataclass(frozen=True, slots=True)
class Trouble:
    """What went wrong.

    Attributes:
        key: The same for the same error in the same line.
        trace: Where it happened, without values.
    """

    key: str
    trace: str


def trouble_of(error: BaseException) -> Trouble:
    """Return what is known about an error."""
    return Trouble(f"{type(error).__qualname__} {place(error)}", describe(error))


def compose(trouble: Trouble, facts: Iterable[str] = ()) -> str:
    """Return a report.

    Args:
        trouble: What went wrong.
        facts: Further lines about this program, such as the version of Qt.
    """
    when = time.strftime("%Y-%m-%d %H:%M:%S %z")
    head = "\n".join((*versions.lines(), *facts, when))
    log = "\n".join(logs.last_lines(_LOG_LINES)) or "empty"
    return scrub(f"{head}\n\n{trouble.trace.rstrip()}\n\n{_LOG_TITLE}\n\n{log}\n")


def write(text: str) -> Path:
    """Write a report that nobody has seen yet to the log folder, and remove old ones.

    Raises:
        OSError: It cannot be written.
    """
    folder = paths.log_dir()
    paths.make_folder(folder)
    path = folder / f"{_UNSEEN}{datetime.now():%Y%m%d-%H%M%S-%f}.txt"
    paths.private_file(path)
    path.write_text(text, encoding="utf-8", errors="replace")
    for old in sorted(_all(), key=_age)[:-_KEPT]:
        old.unlink(missing_ok=True)
    return path


def last() -> str:
    """Return what happened according to the last report; empty if there is none."""
    paths_by_age = sorted(_all(), key=_age)
    if not paths_by_age:
        return ""
    text = paths_by_age[-1].read_text(encoding="utf-8", errors="replace")
    return text.partition(f"\n{_LOG_TITLE}")[0].rstrip() + "\n"


def unseen() -> list[Path]:
    """Return the reports that nobody has seen, oldest first."""
    return sorted(paths.log_dir().glob(f"{_UNSEEN}*.txt"))


def mark_seen(path: Path) -> Path:
    """Note that somebody has seen a report, and return its new path.

    Raises:
        OSError: The log folder cannot be changed.
    """
    return path.replace(_seen(path))


def _seen(path: Path) -> Path:
    return path.with_name(path.name.replace(_UNSEEN, _BEGIN, 1))


def _age(path: Path) -> str:
    return path.name.removeprefix(_UNSEEN).removeprefix(_BEGIN)


def _all() -> Iterator[Path]:
    for begin in (_BEGIN, _UNSEEN):
        yield from paths.log_dir().glob(f"{begin}*.txt")
