"""A worker seen from outside: asked for one input after the other, begun anew when it died."""

import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from fuzzing.outcomes import Outcome, found, place_in
from fuzzing.target import Target, target_of

_PROGRAM = Path(__file__).resolve().parents[1] / "fuzz.py"
# What runs for long is begun anew now and then, so that a leak of one input is not charged to another.
_FRESH_AFTER = 5000
_STARTS_WITHIN, _LONGER = 180.0, 30.0
_LAST_WORDS = 8000


class DeadError(Exception):
    """The worker ended, or says nothing any more."""


class BrokenFuzzerError(Exception):
    """The fuzzer itself failed."""


class Pool:
    """One worker process after the other for a target.

    Attributes:
        target: What is fuzzed.
    """

    def __init__(self, name: str, seed: str) -> None:
        """Start nothing yet."""
        self.target: Target = target_of(name)
        self._name, self._seed = name, seed
        self._folder = Path(tempfile.mkdtemp(prefix=f"fuzz-{name}-"))
        self._process: subprocess.Popen[str] | None = None
        self._pipe = -1
        self._unread = b""
        self._done = 0

    def run(self, asked: str) -> Outcome:
        """Run an input, by its number or the path of its file.

        Raises:
            DeadError: No worker can be started.
            BrokenFuzzerError: The input cannot be made.
        """
        if self._process is None or self._done >= _FRESH_AFTER:
            self._start()
        assert self._process is not None
        assert self._process.stdin is not None
        outcome = Outcome()
        try:
            self._process.stdin.write(f"{asked}\n")
            self._process.stdin.flush()
            for told in self._told(self.target.wall_seconds + _LONGER):
                if "broken" in told:
                    raise BrokenFuzzerError(f"Input {asked} of {self._name} cannot be made:\n{told['broken']}")
                if "stage" in told:
                    outcome.stages.append(told["stage"])
                else:
                    names = ("result", "message", "kind", "where", "details")
                    for name, value in zip(names, told["outcome"], strict=True):
                        setattr(outcome, name, value)
                    self._done += 1
                    return outcome
        except (DeadError, BrokenPipeError):
            pass
        return self._post_mortem(outcome)

    @property
    def input(self) -> bytes:
        """The input that ran last."""
        return (self._folder / "run" / "input").read_bytes()

    def close(self) -> None:
        """End the worker and take its folder away."""
        self._end()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _start(self) -> None:
        self._end()
        folder = self._folder / "run"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        mine, theirs = os.pipe()
        command = [sys.executable, str(_PROGRAM), "--worker", self._name, self._seed, str(folder), str(theirs)]
        with (folder / "said").open("wb") as said:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=said,
                stderr=said,
                pass_fds=[theirs],
                text=True,
                # An interrupt is for the tool, and no finding.
                start_new_session=True,
            )
        os.close(theirs)
        self._pipe, self._unread, self._done = mine, b"", 0
        try:
            next(self._told(_STARTS_WITHIN))
        except (DeadError, StopIteration) as error:
            raise DeadError(f"The worker of {self._name} does not start: {self._last_words()}") from error

    def _told(self, seconds: float) -> Iterator[dict]:
        """Yield what the worker tells, until it is dead or `seconds` are over."""
        end = time.monotonic() + seconds
        while True:
            line, there, rest = self._unread.partition(b"\n")
            if there:
                self._unread = rest
                yield json.loads(line)
                continue
            ready, _, _ = select.select([self._pipe], [], [], max(0.0, end - time.monotonic()))
            piece = os.read(self._pipe, 1 << 16) if ready else b""
            if not piece:
                raise DeadError
            self._unread += piece

    def _post_mortem(self, outcome: Outcome) -> Outcome:
        """Make a finding of a worker that ended, or does not answer."""
        assert self._process is not None
        silent = False
        try:
            code = self._process.wait(_LONGER)
        except subprocess.TimeoutExpired:
            silent, code = True, 0
        self._end()
        said = self._last_words()
        stage = outcome.stages[-1] if outcome.stages else "the beginning"
        if silent or "Timeout (" in said:
            told = f"It took more than {self.target.wall_seconds:.0f} s, behind: {stage}."
            return found(outcome, "hang", place_in(said), told, said)
        name = signal.Signals(-code).name if code < 0 else f"exit status {code}"
        return found(outcome, "crash", f"{name} at {place_in(said)}", f"The process ended by {name}.", said)

    def _last_words(self) -> str:
        return (self._folder / "run" / "said").read_text(errors="replace")[-_LAST_WORDS:]

    def _end(self) -> None:
        if self._process is None:
            return
        self._process.kill()
        self._process.wait()
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()  # type: ignore[union-attr]
        os.close(self._pipe)
        self._process = None
