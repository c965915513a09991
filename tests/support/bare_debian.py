"""A Debian in a folder, for tests of what is installed on it."""

import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Debian:
    """A Debian in a folder, without a network.

    Attributes:
        root: The folder.
    """

    root: Path

    def run(self, *command: str, user: str = "root", timeout: float = 120) -> str:
        """Run a command and return its stdout; what it leaves running is ended."""
        words = ["unshare", "--mount", "--net", "--pid", "--fork", "sh", "-c"]
        words += ['mount -t proc proc "$0/proc" && exec chroot "$0" "$@"', str(self.root)]
        words += ["runuser", "-u", user, "--", *command] if user != "root" else command
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"}
        environment["HOME"] = "/root" if user == "root" else f"/home/{user}"
        result = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=timeout)
        assert result.returncode == 0, f"{' '.join(command)}: {result.stdout}{result.stderr}"
        return result.stdout

    def files(self) -> set[str]:
        """Return the files outside of homes and temporary folders, and without the lists of the package manager."""
        command = (
            "find / -xdev ( -path /home -o -path /tmp -o -path /proc -o -path /root -o -path /var ) -prune -o -print"
        )
        return set(self.run(*command.split()).splitlines())
