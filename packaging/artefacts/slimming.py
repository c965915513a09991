"""Makes a PyInstaller folder smaller without taking away anything that Sotto uses."""

from __future__ import annotations

import shutil
import subprocess
import zipfile
from collections.abc import Iterable
from pathlib import Path

from artefacts import contents, definition, elf, icu_data, linear_algebra, pillow_libraries

_EARLY = frozenset(
    "abc codecs encodings/__init__ encodings/aliases encodings/ascii encodings/latin_1 encodings/utf_8 io".split()
)


def slim(folder: Path, patchelf: Path) -> None:
    """Make a folder from PyInstaller smaller, with the help of patchelf."""
    remove(folder, definition.unused_files())
    inside = folder / "_internal"
    remove_translations(inside / "PySide6" / "Qt" / "translations")
    icu_data.shrink(next((inside / "PySide6" / "Qt" / "lib").glob("libicudata.so.*")))
    linear_algebra.replace(inside)
    pillow_libraries.lighten(inside, patchelf)
    remove_dangling(folder)
    remove_unasked(inside)
    pack_modules(inside / "base_library.zip")
    for library in elf.files(inside):
        subprocess.run(["strip", "--strip-unneeded", str(library)], check=True)


def remove(folder: Path, patterns: Iterable[str]) -> None:
    """Remove what matches globs, files and folders."""
    for pattern in patterns:
        for path in sorted(folder.glob(pattern)):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()


def remove_translations(folder: Path) -> None:
    """Remove Qt's texts in languages that Sotto does not have, as its window is never in those."""
    for path in sorted(folder.glob("qtbase_*.qm")):
        if path.stem.removeprefix("qtbase_") not in definition.languages():
            path.unlink()


def pack_modules(library: Path) -> None:
    """Compress Python's own modules, other than those that are imported before it can decompress any."""
    with zipfile.ZipFile(library) as plain:
        modules = [(module, plain.read(module)) for module in plain.infolist()]
    with zipfile.ZipFile(library, "w") as packed:
        for module, content in modules:
            is_early = module.filename.removesuffix(".pyc") in _EARLY
            name = zipfile.ZipInfo(module.filename, module.date_time)
            packed.writestr(name, content, zipfile.ZIP_STORED if is_early else zipfile.ZIP_DEFLATED, 9)


def remove_unasked(inside: Path) -> None:
    """Remove libraries of the system that nothing asks for: those that stay with the system have brought them along."""
    # The program's loader opens this by its name.
    asked = {"libpython"}.union(*map(elf.needed, elf.files(inside)))
    for path in sorted(inside.glob("lib*.so*")):
        if path.name.startswith(tuple(contents.SYSTEM_LIBRARIES)) and not path.name.startswith(tuple(asked)):
            path.unlink()


def remove_dangling(folder: Path) -> None:
    """Remove links to files that are gone."""
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() and not path.exists():
            path.unlink()
