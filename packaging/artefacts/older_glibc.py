"""Lets a library of Debian 12 run with an older glibc, the one that MLX needs anyway: that of Ubuntu 22.04.

Debian's expat, which its Python loads, takes random numbers from glibc 2.36. A small library that comes along has that
function, too, and the newer version is marked as one that may be missing.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from artefacts import elf
from installing import InstallError

GLIBC = "2.35"
"""The oldest glibc that MLX's library runs with."""

_VERSION, _FUNCTION = "GLIBC_2.36", "arc4random_buf"
_NAME = "libsotto_random.so"
_SOURCE = """
#include <stdlib.h>
#include <sys/random.h>

void arc4random_buf(void *buffer, size_t size)
{
    char *place = buffer;
    while (size > 0) {
        ssize_t filled = getrandom(place, size < 256 ? size : 256, 0);
        if (filled < 0)
            abort();
        place += filled;
        size -= filled;
    }
}
"""


def allow(folder: Path, patchelf: Path) -> None:
    """Let the libraries in a folder that take random numbers from a newer glibc run with an older one.

    Args:
        folder: The folder.
        patchelf: The program of that name.

    Raises:
        InstallError: One takes more from the newer version.
    """
    asking = [path for path in elf.files(folder) if elf.asked_of(path, _VERSION)]
    for path in asking:
        if more := elf.asked_of(path, _VERSION) - {_FUNCTION}:
            raise InstallError(
                f"{path.name} takes {', '.join(sorted(more))} from {_VERSION}; only {_FUNCTION} is replaced."
            )
        elf.make_optional(path, _VERSION)
        subprocess.run([patchelf, "--add-needed", _NAME, path], check=True)
    if asking:
        command = ["gcc", "-shared", "-fPIC", "-O2", f"-Wl,-s,-soname,{_NAME}", "-x", "c", "-"]
        subprocess.run([*command, "-o", str(folder / _NAME)], input=_SOURCE, text=True, check=True)
