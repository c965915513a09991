"""A session bus of a test's own and a desktop portal on it, which does as the test says; each is a process."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

MOCK = Path(__file__).with_name("mock_portal.py")


def missing_bus():
    """Return why there can be no session bus here; nothing where there can."""
    if not sys.platform.startswith("linux"):
        return "the session bus is one of Linux desktops"
    return "" if shutil.which("dbus-daemon") else "not installed here: dbus-daemon"


class SessionBus:
    """A bus that no other program is on; `address` is where it listens."""

    def __init__(self, folder: Path) -> None:
        read, write = os.pipe()
        config = folder / "bus.conf"
        config.write_text(
            "<busconfig><type>session</type>"
            f"<listen>unix:dir={folder}</listen>"
            '<policy context="default"><allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/>'
            "</policy></busconfig>"
        )
        self._daemon = subprocess.Popen(
            ["dbus-daemon", f"--config-file={config}", "--nofork", "--nopidfile", f"--print-address={write}"],
            pass_fds=(write,),
            stderr=subprocess.DEVNULL,
        )
        os.close(write)
        with os.fdopen(read) as told:
            self.address = told.readline().strip()
        self._folder = folder
        self._portals = []

    def portal(self, **does):
        """Start a portal; see `mock_portal` for what it can be told to do."""
        made = MockPortal(self.address, self._folder / f"heard-{len(self._portals)}", does)
        self._portals.append(made)
        return made

    def close(self) -> None:
        """End everything."""
        for portal in self._portals:
            portal.end()
        self._daemon.terminate()
        self._daemon.wait()


class MockPortal:
    """A portal in a process of its own; `heard` is every call that reached it."""

    def __init__(self, address, log, does) -> None:
        self._log = log
        log.touch()
        self._process = subprocess.Popen(
            [sys.executable, str(MOCK), str(log), json.dumps(does)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "DBUS_SESSION_BUS_ADDRESS": address},
        )
        assert self._process.stdout.readline() == "there\n"

    @property
    def heard(self):
        """Every call so far, as its method, the types of its arguments, and these."""
        return [tuple(json.loads(line)) for line in self._log.read_text().splitlines()]

    def calls(self, method):
        """Return the arguments of every call of a method so far."""
        return [body for name, _, body in self.heard if name == method]

    def do(self, what, *values) -> None:
        """Let it send something by itself: see `mock_portal`."""
        self._process.stdin.write(json.dumps([what, *values]) + "\n")
        self._process.stdin.flush()

    def end(self) -> None:
        """Leave the bus."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()
