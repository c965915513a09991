"""Commands that see folders mounted in another way, which no other process notices."""

import shutil
import subprocess
from pathlib import Path

import pytest


def mounted(how: str, folder: Path | str) -> tuple[str, ...]:
    """Return the beginning of a command that runs after the shell's command `how`, for which `$0` is the folder."""
    unshare = shutil.which("unshare")
    if unshare is None or subprocess.run([unshare, "-mr", "true"], capture_output=True).returncode != 0:
        pytest.skip("needs Linux's unshare, and a kernel that lets it mount")
    mount = f'OLD=$PATH; PATH=/usr/sbin:/usr/bin:/sbin:/bin; {how} && PATH=$OLD && exec "$@"'
    return (unshare, "-mr", "/bin/sh", "-c", mount, str(folder))


def read_only(folder: Path) -> tuple[str, ...]:
    """Return the beginning of a command for which a folder cannot be written."""
    return mounted('mount --bind "$0" "$0" && mount -o remount,bind,ro "$0"', folder)


def without_proc() -> tuple[str, ...]:
    """Return the beginning of a command that finds `/proc` and `/sys` empty."""
    return mounted("mount -t tmpfs none /proc && mount -t tmpfs none /sys", "/proc")
