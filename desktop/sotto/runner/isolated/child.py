"""The child process: an engine on a thread of its own, the private API on another, and the parent in view.

It binds its port itself and says it on stdout, so that nobody else can take it first. What is printed afterwards, by
libraries too, goes to stderr. It ends by an interrupt (or SIGTERM), which is served like `EngineLoop.close`, and when
its parent is gone.
"""

import ctypes
import faulthandler
import os
import select
import signal
import socket
import sys
import threading
import traceback
from functools import partial
from typing import BinaryIO, NoReturn

from sotto.engine.contract.engine_settings import read_settings
from sotto.engine.contract.events import Event, Failed, Loaded
from sotto.errors import EngineError, SottoError
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
# Of the three seconds in which it is gone after its parent, the first may pass before that is noticed.
_ORPHAN_SECONDS = 1.5
_FLUSH_SECONDS = 2.0
_POLL_SECONDS = 1.0
_PR_SET_PDEATHSIG = 1


def serve(record: ModelRecord | None, port: int) -> NoReturn:
    """Serve one engine, with a model loaded first if one is given, until it is told to end; then end the process.

    Args:
        record: The model.
        port: Where to listen; 0 for any that is free.
    """
    started_by = os.getppid()
    _die_with_parent()
    faulthandler.enable()
    sys.setswitchinterval(_SWITCH_SECONDS)
    status = 1
    try:
        status = _serve(record, port, started_by)
    except SottoError as error:
        print(f"error: {error.message}", file=sys.stderr)  # noqa: T201
    except KeyboardInterrupt:
        status = 0  # there was nothing to end yet
    except BaseException:
        traceback.print_exc()
    # Not an ordinary exit: threads of libraries may be in the middle of something, and nothing is left to be kept.
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
    # Inherited by every connection: a line is not to wait for the other end to confirm the one before.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with announced:
        announced.write(encode(Listening(listening.getsockname()[1])))
    # Imported while the parent connects.
    from sotto.runner.serving.runner_server import Server

    # Before there are other threads, which are not to be interrupted either: one of them waits for these signals.
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
    """The engine's loop on a thread, and what became of it."""

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
        """End well at the first signal that asks for it, at once at the second."""
        signal.sigwait(_ENDING)
        self.loop.close()
        signal.sigwait(_ENDING)
        os._exit(1)

    def end_with(self, process: int) -> None:
        """End, well or not, once the parent is gone."""
        wait_for_end(sys.stdin.fileno(), process)
        self.loop.close()
        self._thread.join(_ORPHAN_SECONDS)
        os._exit(1)

    def _run(self) -> None:
        try:
            self.loop.run()
        except BaseException:
            traceback.print_exc()
            sys.stderr.flush()
            os._exit(1)
        self.board.end()

    def _on_event(self, event: Event) -> None:
        if self._first and isinstance(event, Failed) and not event.request_id:
            # It was for this model that the process was started.
            print(f"error: {event.message}", file=sys.stderr)  # noqa: T201
            self.status = 1
            self.loop.close()
        self._first = self._first and not isinstance(event, Loaded)
        self.board.emit(event)


def wait_for_end(stdin: int, parent: int) -> None:
    """Return once the parent is gone: nothing holds the other end of `stdin`, or another process is the parent now."""
    while os.getppid() == parent:
        readable, _, _ = select.select([stdin], [], [], _POLL_SECONDS)
        if readable and not os.read(stdin, 1 << 16):
            return


def _die_with_parent() -> None:
    """Ask the system, where it can do so, to end this process in the moment its parent ends, however that comes.

    It is the thread that started this process which counts: `RunnerProcess.run` lasts longer than its child.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _own_stdout() -> BinaryIO:
    """Return stdout, and let everything that is printed from now on go to stderr."""
    own = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return own
