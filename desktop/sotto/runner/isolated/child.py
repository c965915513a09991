"""The main program of the child process: an engine thread, a thread for the private API, and a watch on the parent.

The child binds its port itself and reports it on stdout, so that no other program can take it first. Anything printed
afterwards, by libraries too, goes to stderr. SIGINT or SIGTERM ends it like `EngineLoop.close`, and so does the end of
its parent.
"""

import ctypes
import faulthandler
import os
import select
import signal
import socket
import sys
import threading
from functools import partial
from typing import BinaryIO, NoReturn

from sotto.engine.contract.engine_settings import read_settings
from sotto.engine.contract.events import Event, Failed, Loaded
from sotto.errors import EngineError, SottoError
from sotto.reports import logs
from sotto.runner.codec import Hello, Listening, WireError, decode, encode
from sotto.runner.commands import Load
from sotto.runner.host import start_engine_thread
from sotto.runner.isolated.held_memory import planned_within
from sotto.runner.loop import EngineLoop
from sotto.runner.serving.switchboard import Switchboard
from sotto.store.records import ModelRecord

_ENDING = {signal.SIGINT, signal.SIGTERM}
_LONGEST_HELLO = 1 << 20
_SWITCH_SECONDS = 0.0005
# The child must end within three seconds of its parent, of which up to one passes until that is noticed.
_ORPHAN_SECONDS = 1.5
_FLUSH_SECONDS = 2.0
_POLL_SECONDS = 1.0
_PR_SET_PDEATHSIG = 1


def serve(record: ModelRecord | None, port: int) -> NoReturn:
    """Serve one engine until told to end, then end the process.

    Args:
        record: The model to load first; None for none.
        port: Port to listen on; 0 for any free one.
    """
    started_by = os.getppid()
    _die_with_parent()
    faulthandler.enable()
    # To stderr, which the parent logs.
    logs.begin("engine", in_file=False)
    sys.setswitchinterval(_SWITCH_SECONDS)
    status = 1
    try:
        status = _serve(record, port, started_by)
    except SottoError as error:
        print(f"error: {error.message}", file=sys.stderr)  # noqa: T201
    except KeyboardInterrupt:
        status = 0  # nothing had started yet
    except BaseException as error:
        logs.log_uncaught(type(error), error, error.__traceback__)
    # Not an ordinary exit, because threads of libraries may still be running, and there is nothing left to save.
    sys.stderr.flush()
    os._exit(status)


def _serve(record: ModelRecord | None, port: int, started_by: int) -> int:
    announced = _own_stdout()
    hello = decode(sys.stdin.buffer.readline(_LONGEST_HELLO))
    if not isinstance(hello, Hello):
        raise WireError("The first line on stdin must be a Hello.")
    try:
        listening = socket.create_server(("127.0.0.1", port))
    except OSError as error:
        raise EngineError(f"Port {port} cannot be listened on: {os.strerror(error.errno or 0)}.") from error
    # Inherited by every connection: a line should not wait until the previous one is acknowledged.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with announced:
        announced.write(encode(Listening(listening.getsockname()[1])))
    # Imported while the parent connects.
    from sotto.runner.serving.runner_server import Server

    # Before other threads start, so that they inherit the mask: one of them waits for these signals.
    signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
    host = _Host(record, hello)
    server = Server(host.loop, host.board, hello.token, listening)
    server.start()
    for watch in (host.end_when_told, partial(host.end_with, started_by)):
        threading.Thread(target=watch, daemon=True).start()
    host.wait()
    server.stop(_FLUSH_SECONDS)
    return host.status


class _Host:
    """The engine loop on a thread, and the exit status."""

    def __init__(self, record: ModelRecord | None, hello: Hello) -> None:
        self.status = 0
        self.board = Switchboard()
        chosen = hello.settings
        self.loop = EngineLoop(self._on_event, lambda: planned_within(read_settings() if chosen is None else chosen))
        self._first = record is not None
        if record is not None:
            self.loop.send(Load(record))
        self._thread = start_engine_thread(self._run, daemon=True)

    def wait(self) -> None:
        """Wait until the engine has ended."""
        self._thread.join()

    def end_when_told(self) -> None:
        """End cleanly at the first signal, immediately at the second."""
        signal.sigwait(_ENDING)
        self.loop.close()
        signal.sigwait(_ENDING)
        os._exit(1)

    def end_with(self, process: int) -> None:
        """End once the parent is gone, by force if a clean end takes too long."""
        wait_for_end(sys.stdin.fileno(), process)
        self.loop.close()
        self._thread.join(_ORPHAN_SECONDS)
        os._exit(1)

    def _run(self) -> None:
        try:
            self.loop.run()
        except BaseException as error:
            logs.log_uncaught(type(error), error, error.__traceback__)
            sys.stderr.flush()
            os._exit(1)
        self.board.end()

    def _on_event(self, event: Event) -> None:
        if self._first and isinstance(event, Failed) and not event.request_id:
            # The process was started for this model.
            print(f"error: {event.message}", file=sys.stderr)  # noqa: T201
            self.status = 1
            self.loop.close()
        self._first = self._first and not isinstance(event, Loaded)
        self.board.emit(event)


def wait_for_end(stdin: int, parent: int) -> None:
    """Return once the parent is gone: `stdin` is closed, or this process has another parent."""
    while os.getppid() == parent:
        readable, _, _ = select.select([stdin], [], [], _POLL_SECONDS)
        if readable and not os.read(stdin, 1 << 16):
            return


def _die_with_parent() -> None:
    """Have the system kill this process when its parent ends, if the system supports that.

    Linux sends the signal when the thread that started this process ends; `RunnerProcess.run` outlasts its child.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _own_stdout() -> BinaryIO:
    """Return stdout, and redirect everything printed from now on to stderr."""
    own = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return own
