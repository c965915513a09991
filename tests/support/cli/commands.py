"""The `sotto` command in a child process, without the start of Python and the imports that each would begin with.

A process that has imported what commands need is forked for each. What belongs to the start of a process, such as
signals, terminals and closed streams, is tested with processes of its own (`SOTTO`).
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
    """Return the environment of a person with an empty home."""
    return {name: os.environ[name] for name in _KEPT if name in os.environ} | {"HOME": str(home)}


def sotto(env: dict[str, str], *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Run a command as in a process of its own."""
    if sys.platform != "linux":
        # What Metal has opened does not outlive a fork.
        return subprocess.run(
            [*SOTTO, *arguments], env=env, input=stdin, capture_output=True, text=True, timeout=_SECONDS
        )
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(stdin.encode())
        given.seek(0)
        forker, _ = _forker()
        line = json.dumps([list(arguments), env]).encode()
        socket.send_fds(forker, [len(line).to_bytes(4, "big")], [file.fileno() for file in (given, out, err)])
        forker.sendall(line)
        status = int.from_bytes(_received(forker, 4), "big", signed=True)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode())
    return subprocess.CompletedProcess([*SOTTO, *arguments], status, *texts)


def end() -> None:
    """End the process that forks, if there is one."""
    if _forker.cache_info().currsize:
        forker, process = _forker()
        forker.close()
        process.wait(_SECONDS)
        _forker.cache_clear()


@cache
def _forker() -> tuple[socket.socket, subprocess.Popen[bytes]]:
    ours, theirs = socket.socketpair()
    ours.settimeout(_SECONDS)
    # It ends when this process does, and with it the other end.
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


def _received(source: socket.socket, size: int) -> bytes:
    got = b""
    while len(got) < size:
        if not (more := source.recv(size - len(got))):
            raise EOFError
        got += more
    return got


def _import() -> None:
    """Import what commands need, and compute nothing: threads would be lost in a fork."""
    from sotto.cli import bench, doctor, embed, listing, main, plan, pull, run  # noqa: F401
    from sotto.engine import encoder_assembly, engine  # noqa: F401


def _serve(asked: socket.socket) -> None:
    """Fork for each command that is asked for, until nobody can ask any more."""
    _import()
    # What a collection would visit in every child stays shared.
    gc.freeze()
    with suppress(EOFError):
        while True:
            size, files, _, _ = socket.recv_fds(asked, 4, 3)
            if not size:
                return
            arguments, env = json.loads(_received(asked, int.from_bytes(size, "big")))
            child = os.fork()
            if not child:
                asked.close()
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
            asked.sendall(os.waitstatus_to_exitcode(status).to_bytes(4, "big", signed=True))


def _run() -> NoReturn:
    """Run the command, and end as Python does but for taking modules apart."""
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
