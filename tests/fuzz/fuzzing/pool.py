"""The parent's side of a worker process, which runs one input after another and is restarted when it dies."""

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
# Workers are restarted after that many inputs, so that leaks of one input are not blamed on another.
_INPUTS_PER_WORKER = 5000
_START_SECONDS, _GRACE_SECONDS = 180.0, 30.0
_MAX_OUTPUT = 8000


class DeadError(Exception):
    """The worker ended or stopped responding."""


class BrokenFuzzerError(Exception):
    """The fuzzer itself failed."""


class Pool:
    """One worker process at a time for a target.

    Attributes:
        target: The target.
    """

    def __init__(self, name: str, seed: str) -> None:
        """Set up a pool without starting a worker yet."""
        self.target: Target = target_of(name)
        self._name, self._seed = name, seed
        self._folder = Path(tempfile.mkdtemp(prefix=f"fuzz-{name}-"))
        self._process: subprocess.Popen[str] | None = None
        self._pipe = -1
        self._unread = b""
        self._done = 0

    def run(self, input_id: str) -> Outcome:
        """Run an input, given by its number or the path of its file.

        Raises:
            DeadError: A worker cannot be started.
            BrokenFuzzerError: The input cannot be created.
        """
        if self._process is None or self._done >= _INPUTS_PER_WORKER:
            self._start()
        assert self._process is not None
        assert self._process.stdin is not None
        outcome = Outcome()
        try:
            self._process.stdin.write(f"{input_id}\n")
            self._process.stdin.flush()
            for message in self._messages(self.target.wall_seconds + _GRACE_SECONDS):
                if "broken" in message:
                    raise BrokenFuzzerError(f"Input {input_id} of {self._name} cannot be created:\n{message['broken']}")
                if "stage" in message:
                    outcome.stages.append(message["stage"])
                else:
                    names = ("result", "message", "kind", "where", "details")
                    for name, value in zip(names, message["outcome"], strict=True):
                        setattr(outcome, name, value)
                    self._done += 1
                    return outcome
        except (DeadError, BrokenPipeError):
            pass
        return self._post_mortem(outcome)

    @property
    def input(self) -> bytes:
        """Return the input that ran last."""
        return (self._folder / "run" / "input").read_bytes()

    def close(self) -> None:
        """End the worker and delete its folder."""
        self._end()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _start(self) -> None:
        self._end()
        folder = self._folder / "run"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        mine, theirs = os.pipe()
        command = [sys.executable, str(_PROGRAM), "--worker", self._name, self._seed, str(folder), str(theirs)]
        with (folder / "output").open("wb") as output:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=output,
                pass_fds=[theirs],
                text=True,
                # Interrupts are meant for the tool, and are not findings.
                start_new_session=True,
            )
        os.close(theirs)
        self._pipe, self._unread, self._done = mine, b"", 0
        try:
            next(self._messages(_START_SECONDS))
        except (DeadError, StopIteration) as error:
            raise DeadError(f"The worker for {self._name} does not start: {self._last_output()}") from error

    def _messages(self, seconds: float) -> Iterator[dict]:
        """Yield the worker's messages until it is dead or `seconds` are over."""
        end = time.monotonic() + seconds
        while True:
            line, newline, rest = self._unread.partition(b"\n")
            if newline:
                self._unread = rest
                yield json.loads(line)
                continue
            ready, _, _ = select.select([self._pipe], [], [], max(0.0, end - time.monotonic()))
            piece = os.read(self._pipe, 1 << 16) if ready else b""
            if not piece:
                raise DeadError
            self._unread += piece

    def _post_mortem(self, outcome: Outcome) -> Outcome:
        """Turn the outcome of a worker that ended or does not respond into a finding."""
        assert self._process is not None
        silent = False
        try:
            code = self._process.wait(_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            silent, code = True, 0
        self._end()
        output = self._last_output()
        stage = outcome.stages[-1] if outcome.stages else "the beginning"
        if silent or "Timeout (" in output:
            message = f"It took more than {self.target.wall_seconds:.0f} s, after: {stage}."
            return found(outcome, "hang", place_in(output), message, output)
        name = signal.Signals(-code).name if code < 0 else f"exit status {code}"
        return found(outcome, "crash", f"{name} at {place_in(output)}", f"The process was ended by {name}.", output)

    def _last_output(self) -> str:
        return (self._folder / "run" / "output").read_text(errors="replace")[-_MAX_OUTPUT:]

    def _end(self) -> None:
        if self._process is None:
            return
        self._process.kill()
        self._process.wait()
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()  # type: ignore[union-attr]
        os.close(self._pipe)
        self._process = None
