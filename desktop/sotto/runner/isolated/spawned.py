"""The parent's handle of a child process: its pipes, its log, and why it ended."""

import logging
import os
import secrets
import signal
import subprocess
from contextlib import suppress
from typing import IO

from sotto import bounded_process
from sotto.engine.contract.engine_settings import EngineSettings, read_settings
from sotto.reports.traces import without_values
from sotto.runner.codec import Hello, Lines, Listening, WireError, decode, encode
from sotto.runner.isolated.held_memory import held_bytes, limit_message, most_memory
from sotto.runner.isolated.last_words import LastWords

_log = logging.getLogger(__name__)

_PIECE = 1 << 16
_LONGEST_LINE = 4096


class Spawned:
    """A child process, running or ended.

    Attributes:
        token: Required in every call.
        out: Its stdout, on which it reports its port.
        log: Its stderr.
        silent: Whether its stdout has ended.
        words: The error lines of its log.
        most_memory: Bytes of memory that it may hold; None for no limit.
    """

    def __init__(self, settings: EngineSettings | None) -> None:
        """Start it, without waiting.

        Raises:
            WireError: The system cannot start it.
            InvalidRequestError: The memory limit in the environment is not a valid size.
        """
        self.most_memory = most_memory(read_settings() if settings is None else settings)
        self._held_too_much = False
        self.token = secrets.token_urlsafe(32)
        try:
            self._process = _spawn()
        except OSError as error:
            raise WireError(f"The engine's process could not be started ({error.strerror}).") from error
        self._stdin, self.out, self.log = map(
            _require_pipe, (self._process.stdin, self._process.stdout, self._process.stderr)
        )
        os.set_blocking(self.out.fileno(), False)
        os.set_blocking(self.log.fileno(), False)
        self.silent = False
        self.words = LastWords()
        self._lines = Lines(_LONGEST_LINE)
        # If it has ended already, that is noticed on its stdout.
        with suppress(BrokenPipeError):
            self._stdin.write(encode(Hello(self.token, settings)))

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def port(self) -> int | None:
        """Read more of its stdout; return its port once reported.

        Raises:
            WireError: It reports something else.
        """
        data = self.out.read(_PIECE)
        self.silent = data == b""
        for line in self._lines.feed(data or b""):
            value = decode(line)
            if not isinstance(value, Listening) or not 0 < value.port < 1 << 16:
                raise WireError("The engine's process does not say where it listens.")
            return value.port
        return None

    def read_log(self) -> bool | None:
        """Log what it printed; return whether that was anything, or None at the end of its stderr."""
        data = self.log.read(_PIECE)
        for line in self.words.finish() if data == b"" else self.words.feed(data or b""):
            _log.info("%s", without_values(line))
        return None if data == b"" else data is not None

    def interrupt(self) -> None:
        """Ask it to end."""
        self._process.send_signal(signal.SIGINT)

    def kill(self) -> None:
        """Kill it."""
        self._process.kill()

    def look_at_memory(self) -> None:
        """Kill it if it holds too much memory."""
        if self.most_memory is not None and held_bytes(self.pid) > self.most_memory:
            self._held_too_much = True
            self.kill()

    def end(self, seconds: float) -> bool:
        """Wait up to `seconds` for it to end, then kill it; return whether it ended by itself. Closes its pipes."""
        by_itself = True
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            by_itself = False
            self._process.kill()
            self._process.wait()
        if not self.log.closed:
            while self.read_log():
                pass
        for pipe in (self._stdin, self.out, self.log):
            pipe.close()
        return by_itself

    def reason(self) -> str:
        """Return the error message that says why it ended. Call it after `end`."""
        if self._held_too_much and self.most_memory is not None:
            return limit_message(self.most_memory)
        status = self._process.returncode
        if status >= 0:
            how, excerpt = f"ended with exit status {status}", self.words.last()
        else:
            meaning = signal.strsignal(-status) or ""
            how = f"was ended by {signal.Signals(-status).name} ({meaning})"
            # Skips the line in which Python names the signal, to find an earlier, more specific one.
            excerpt = self.words.last(known=meaning)
            if -status == signal.SIGKILL and not excerpt:
                excerpt = "systems do that when memory runs out"
        return f"The engine's process {how}{f': {excerpt}' if excerpt else ''}".removesuffix(".") + "."


def _spawn() -> subprocess.Popen[bytes]:
    pipe = subprocess.PIPE
    # In its own process group, so that Ctrl-C in a terminal reaches only the app, which then ends its child.
    return subprocess.Popen(command(), bufsize=0, stdin=pipe, stdout=pipe, stderr=pipe, process_group=0)


def _require_pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None  # all three are pipes
    return pipe


def command() -> list[str]:
    """Return the command line that starts a child."""
    return bounded_process.command("runner", "--port", "0")
