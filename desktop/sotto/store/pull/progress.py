"""The progress of a download, as reported to its observers."""

from dataclasses import dataclass
from enum import StrEnum


class PullState(StrEnum):
    """What a download is doing.

    `WAITING` for those before it; `CHECKING` what there is to download, whether the model can run and whether it fits;
    `DOWNLOADING`; `STALLED` because no data arrive; `RETRYING` after an error, following a wait; `PAUSED`; `VERIFYING`
    files on the disk; `DONE`; `FAILED` until it is resumed.
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
    """The progress of one download.

    Attributes:
        name: The model's name in its short form.
        state: What the download is doing.
        done: Bytes that are on the disk; never falls during a run.
        total: Size of the model in bytes; None until the manifest has been read.
        speed: Current bytes per second; None if unknown.
        seconds_left: The remaining time at this speed; None if unknown.
        note: One sentence saying why it stalls, retries or failed; empty otherwise.
        about: What was chosen of several files, and the licence, in one sentence; empty if that is not known.
        unchanged: Whether the model was on the disk already, in this version and complete.
    """

    name: str
    state: PullState
    done: int = 0
    total: int | None = None
    speed: float | None = None
    seconds_left: float | None = None
    note: str = ""
    about: str = ""
    unchanged: bool = False
