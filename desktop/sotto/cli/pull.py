"""`sotto pull`: download a model, with its progress."""

import argparse
import shlex
import shutil
import sys
from queue import Empty, SimpleQueue
from threading import Event

from sotto.cli.exit_codes import INTERRUPTED
from sotto.cli.interrupts import until_interrupt
from sotto.cli.printing import human_bytes, human_share, human_time
from sotto.engine.config.supported_models import refusal
from sotto.engine.contract.engine_settings import size_of
from sotto.engine.memory.room_for_weights import room_for_weights
from sotto.errors import DownloadError
from sotto.store.pull.progress import PullProgress, PullState
from sotto.store.pull.queue import PullQueue
from sotto.store.removal import own_store
from sotto.store.sources.hugging_face_names import parse_wanted, wanted_name

# Ctrl-C is noticed within this time.
_POLL_SECONDS = 0.1
_WORDS = {
    PullState.WAITING: "waiting",
    PullState.CHECKING: "checking what to download",
    PullState.STALLED: "stalled",
    PullState.RETRYING: "retrying soon",
    PullState.PAUSED: "paused",
    PullState.VERIFYING: "checking the files",
}
_ENDS = (PullState.DONE, PullState.FAILED)


def pull(parsed: argparse.Namespace) -> int:
    """Download a model into Sotto's own store, with progress on stderr; return the exit status.

    Raises:
        SottoError: The name is invalid, or the model cannot be downloaded.
    """
    news: SimpleQueue[PullProgress] = SimpleQueue()
    queue = PullQueue(own_store(), news.put, judge=refusal, insecure=parsed.insecure, room=room_for_weights)
    if parsed.limit is not None:
        queue.limit(size_of(parsed.limit))
    queue.add(parsed.model)
    interrupted = Event()
    follower = _TerminalLine() if sys.stderr.isatty() else _LogLines()
    try:
        with until_interrupt(interrupted):
            last = _follow(news, interrupted, follower)
    finally:
        queue.close()
        follower.end()
    if last is not None and last.state is PullState.DONE:
        print(f"{last.name} {'is up to date' if last.unchanged else 'downloaded'}, {human_bytes(last.done)}.")
        return 0
    name = wanted_name(parse_wanted(parsed.model))
    kept = next((download for download in queue.unfinished() if download.name == name), None)
    if kept and kept.total is not None:
        again = f"sotto pull {shlex.quote(parsed.model)}{' --insecure' if parsed.insecure else ''}"
        print(
            f"sotto: {human_share(kept.done, kept.total)} of {name} downloaded so far; `{again}` resumes.",
            file=sys.stderr,
        )
    if last is None:
        return INTERRUPTED
    raise DownloadError(last.note)


class _TerminalLine:
    """A progress line in a terminal, which is overwritten."""

    def show(self, progress: PullProgress) -> None:
        """Show the progress of a download."""
        width = shutil.get_terminal_size().columns - 1
        sys.stderr.write(f"\r{_text(progress)[:width]}\x1b[K")
        sys.stderr.flush()

    def say(self, sentence: str) -> None:
        """Write a sentence above the line."""
        sys.stderr.write(f"\r\x1b[K{sentence}\n")
        sys.stderr.flush()

    def end(self) -> None:
        """Remove the line."""
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


class _LogLines:
    """Progress lines for a file: one for each change of state and each tenth."""

    def __init__(self) -> None:
        self._last: tuple[PullState, str, int] | None = None

    def show(self, progress: PullProgress) -> None:
        """Write a line if the state or the tenth has changed."""
        now = (progress.state, progress.note, 10 * progress.done // progress.total if progress.total else 0)
        if now != self._last and progress.state not in _ENDS:
            print(_text(progress), file=sys.stderr, flush=True)
        self._last = now

    def say(self, sentence: str) -> None:
        """Write a sentence on a line of its own."""
        print(sentence, file=sys.stderr, flush=True)

    def end(self) -> None:
        """Keep the lines."""


def _follow(
    news: "SimpleQueue[PullProgress]", interrupted: Event, follower: _TerminalLine | _LogLines
) -> PullProgress | None:
    """Show the progress until the download ends, and return its last state; None after Ctrl-C."""
    about = ""
    while not interrupted.is_set():
        try:
            progress = news.get(timeout=_POLL_SECONDS)
        except Empty:
            continue
        if progress.about != about:
            about = progress.about
            follower.say(about)
        follower.show(progress)
        if progress.state in _ENDS:
            return progress
    return None


def _text(progress: PullProgress) -> str:
    parts = [progress.name]
    if progress.total is not None:
        # Rounded up, it could be 100 % too early.
        percent = 100 * progress.done // max(progress.total, 1)
        parts += [human_share(progress.done, progress.total), f"{percent}%"]
    if progress.state is not PullState.DOWNLOADING:
        parts.append(progress.note or _WORDS.get(progress.state, ""))
    if progress.speed is not None:
        parts.append(f"{human_bytes(int(progress.speed))}/s")
    if progress.seconds_left is not None:
        parts.append(f"{human_time(progress.seconds_left)} left")
    return "  ".join(parts)
