"""What is said of a download while it goes on."""

from dataclasses import dataclass
from enum import StrEnum


class PullState(StrEnum):
    """What a download is doing.

    `WAITING` for those before it; `CHECKING` what there is to download, and whether it can run and has room;
    `DOWNLOADING`; `STALLED` because nothing comes; `RETRYING` after an error, in a while; `PAUSED`; `VERIFYING` what is
    on the disk; `DONE`, and `FAILED` until somebody resumes it.
    """

    WAITING = "waiting"
    CHECKING = "checking"
    DOWNLOADING = "downloading"
    STALLED = "stalled"
    RETRYING = "retrying"
    PAUSED = "paused"
    VERIFYING = "verifying"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class PullProgress:
    """How far one download is.

    Attributes:
        name: The model's name in its short form.
        state: What is being done.
        done: Bytes that are here; never falls while one download runs on.
        total: Bytes in all; None until the manifest has been read.
        speed: Bytes per second now; None when not known.
        seconds_left: At this speed; None when not known.
        note: One sentence why it stalls, tries again or failed; empty as soon as that is over.
    """

    name: str
    state: PullState
    done: int = 0
    total: int | None = None
    speed: float | None = None
    seconds_left: float | None = None
    note: str = ""
