"""A private session bus with a mock desktop portal, each in its own process."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

MOCK = Path(__file__).with_name("mock_portal.py")


def missing_bus():
    """Return why no session bus can be started here, or an empty string if one can."""
    if not sys.platform.startswith("linux"):
        return "session buses exist on Linux only"
    return "" if shutil.which("dbus-daemon") else "not installed here: dbus-daemon"


class SessionBus:
    """A private bus, listening at `address`."""

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
        with os.fdopen(read) as output:
            self.address = output.readline().strip()
        self._folder = folder
        self._portals = []

    def portal(self, **behaviour):
        """Start a mock portal; see `mock_portal` for the options."""
        portal = MockPortal(self.address, self._folder / f"calls-{len(self._portals)}", behaviour)
        self._portals.append(portal)
        return portal

    def close(self) -> None:
        """End the portals and the bus."""
        for portal in self._portals:
            portal.end()
        self._daemon.terminate()
        self._daemon.wait()


class MockPortal:
    """A mock portal in its own process; `received` has the calls that it received."""

    def __init__(self, address, log, behaviour) -> None:
        self._log = log
        log.touch()
        self._process = subprocess.Popen(
            [sys.executable, str(MOCK), str(log), json.dumps(behaviour)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "DBUS_SESSION_BUS_ADDRESS": address},
        )
        assert self._process.stdout.readline() == "ready\n"

    @property
    def received(self):
        """Every call so far, as method, signature and arguments."""
        return [tuple(json.loads(line)) for line in self._log.read_text().splitlines()]

    def calls(self, method):
        """Return the arguments of every call of a method so far."""
        return [body for name, _, body in self.received if name == method]

    def do(self, what, *values) -> None:
        """Make the portal send a signal; see `mock_portal`."""
        self._process.stdin.write(json.dumps([what, *values]) + "\n")
        self._process.stdin.flush()

    def end(self) -> None:
        """End the portal's process."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()
