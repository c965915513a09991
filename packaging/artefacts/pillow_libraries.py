"""Makes Pillow smaller: leaves libraries out that its core asks for and Sotto never uses, and takes one of the system.

The core can take pictures of an X screen and decode JPEG 2000, and asks for the libraries for it when it is loaded. A
small library that comes along has their functions, too, which end the program. Zstandard and LZMA, in which few TIFF
files are packed, are on every system.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from artefacts import elf
from installing import InstallError

_NAME = "libsotto_unused.so"
_UNUSED = {"libxcb-": "xcb_", "libopenjp2-": "opj_"}
"""Beginnings of the names of libraries, and of their functions."""
_ONLY_FOR_UNUSED = ("libXau-",)
# The second is that of the program's Python.
_SYSTEMS = {"libzstd-": "libzstd.so.1", "liblzma-": "liblzma.so.5"}


def lighten(inside: Path, patchelf: Path) -> None:
    """Leave out what is not used of the libraries beside Pillow.

    Args:
        inside: The folder of packages.
        patchelf: The program of that name.

    Raises:
        InstallError: Pillow's libraries are others than these.
    """
    folder = inside / "pillow.libs"
    (core,) = (inside / "PIL").glob("_imaging.*.so")
    functions = sorted(name for name in elf.undefined(core) if name.startswith(tuple(_UNUSED.values())))
    _compile(folder / _NAME, functions)
    subprocess.run([patchelf, "--add-needed", _NAME, core], check=True)
    for beginning in _UNUSED:
        library = _library(folder, beginning)
        subprocess.run([patchelf, "--remove-needed", library.name, core], check=True)
        library.unlink()
    for beginning in _ONLY_FOR_UNUSED:
        _library(folder, beginning).unlink()
    for beginning, name in _SYSTEMS.items():
        library = _library(folder, beginning)
        for path in elf.files(folder):
            if library.name in elf.needed(path):
                subprocess.run([patchelf, "--replace-needed", library.name, name, path], check=True)
        library.unlink()


def _library(folder: Path, beginning: str) -> Path:
    found = list(folder.glob(f"{beginning}*"))
    if len(found) != 1:
        raise InstallError(f"Pillow brings {len(found)} libraries along that begin with {beginning}; it should be one.")
    return found[0]


def _compile(target: Path, functions: list[str]) -> None:
    # The core asks for a version when it is loaded.
    source = '#include <stdlib.h>\nconst char *opj_version(void) { return ""; }\n'
    source += "".join(f"void {name}(void) {{ abort(); }}\n" for name in functions if name != "opj_version")
    command = ["gcc", "-shared", "-fPIC", "-O2", f"-Wl,-s,-soname,{_NAME}", "-x", "c", "-"]
    subprocess.run([*command, "-o", str(target)], input=source, text=True, check=True)
