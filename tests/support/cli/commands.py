"""Running the `sotto` command in child processes without the startup time of Python and of its imports.

A fork server imports the modules that commands need, and is forked for each command. Anything that depends on the start
of a process, such as signals, terminals and closed streams, is tested with newly started processes (`SOTTO`).
"""

import atexit
import gc
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NoReturn

SOTTO = [sys.executable, "-m", "sotto"]
_KEPT = ("PATH", "LANG", "LD_LIBRARY_PATH", "PYTHONPATH", "VIRTUAL_ENV")
_SECONDS = 120


def environment(home: Path) -> dict[str, str]:
    """Return an environment with an empty home folder."""
    return {name: os.environ[name] for name in _KEPT if name in os.environ} | {"HOME": str(home)}


def sotto(env: dict[str, str], *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Run a command as if in a newly started process."""
    if sys.platform != "linux":
        # Resources of Metal do not survive a fork.
        return subprocess.run(
            [*SOTTO, *arguments], env=env, input=stdin, capture_output=True, text=True, timeout=_SECONDS
        )
    with tempfile.TemporaryFile() as input_file, tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        input_file.write(stdin.encode())
        input_file.seek(0)
        forker, _ = _forker()
        line = json.dumps([list(arguments), env]).encode()
        files = [file.fileno() for file in (input_file, output, errors)]
        socket.send_fds(forker, [len(line).to_bytes(4, "big")], files)
        forker.sendall(line)
        status = int.from_bytes(_receive(forker, 4), "big", signed=True)
        texts = []
        for file in (output, errors):
            file.seek(0)
            texts.append(file.read().decode())
    return subprocess.CompletedProcess([*SOTTO, *arguments], status, *texts)


def end() -> None:
    """End the fork server, if it is running."""
    if _forker.cache_info().currsize:
        forker, process = _forker()
        forker.close()
        process.wait(_SECONDS)
        _forker.cache_clear()


@cache
def _forker() -> tuple[socket.socket, subprocess.Popen[bytes]]:
    ours, theirs = socket.socketpair()
    ours.settimeout(_SECONDS)
    # The server ends when this process does, because that closes the other end of the socket.
    process = subprocess.Popen(
        [sys.executable, __file__, str(theirs.fileno())],
        pass_fds=[theirs.fileno()],
        env=environment(Path(os.devnull)),
        start_new_session=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    theirs.close()
    return ours, process


def _receive(source: socket.socket, size: int) -> bytes:
    received = b""
    while len(received) < size:
        if not (piece := source.recv(size - len(received))):
            raise EOFError
        received += piece
    return received


def _import() -> None:
    """Import the modules of commands without computing anything, because threads would not survive a fork."""
    from sotto.cli import doctor, embed, listing, main, plan, pull, run  # noqa: F401
    from sotto.cli.measuring import bench, measure  # noqa: F401
    from sotto.engine import encoder_assembly, engine  # noqa: F401


def _serve(requests: socket.socket) -> None:
    """Fork for each requested command, until the other end of the socket is closed."""
    _import()
    # Garbage collections in the children do not visit frozen objects, so their memory stays shared.
    gc.freeze()
    with suppress(EOFError):
        while True:
            size, files, _, _ = socket.recv_fds(requests, 4, 3)
            if not size:
                return
            arguments, env = json.loads(_receive(requests, int.from_bytes(size, "big")))
            child = os.fork()
            if not child:
                requests.close()
                for number, file in enumerate(files):
                    os.dup2(file, number)
                    os.close(file)
                os.environ.clear()
                os.environ.update(env)
                sys.argv = ["sotto", *arguments]
                _run()
            for file in files:
                os.close(file)
            _, status = os.waitpid(child, 0)
            requests.sendall(os.waitstatus_to_exitcode(status).to_bytes(4, "big", signed=True))


def _run() -> NoReturn:
    """Run the command, and exit as Python does, but without tearing down modules."""
    from sotto.cli.main import main

    try:
        status = main()
    except SystemExit as left:
        status = left.code
    except BaseException:
        traceback.print_exc()
        status = 1
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status or 0)


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
