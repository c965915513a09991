"""The package for Debian and Ubuntu: the portable folder in `/opt/sotto`, and what a desktop needs around it."""

from __future__ import annotations

import gzip
import os
import platform
import subprocess
from collections.abc import Mapping
from email.utils import format_datetime
from pathlib import Path

from artefacts import definition, desktop_files, elf, licences, portable
from artefacts.workshop import Workshop
from installing import InstallError, say

PROGRAM = "/opt/sotto/sotto"
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
# Of every system with glibc; the program is built against these.
_RUNTIME = ("libgcc-s1", "libstdc++6")
# For plugins that the window does without: windows on Wayland alone, printers, and links that are opened.
_RECOMMENDED = ("libcups2t64 | libcups2", "libwayland-cursor0", "libwayland-egl1", "xdg-utils")


def build(folder: Path, workshop: Workshop, out: Path) -> Path:
    """Build the package around a portable folder, and return its path.

    Raises:
        InstallError: `dpkg-deb` fails.
    """
    say("Building the Debian package.")
    root = workshop.fresh("deb")
    portable.copy_program(folder, root / "opt" / "sotto")
    desktop_files.write_share(root / "usr" / "share", PROGRAM)
    link = root / "usr" / "bin" / "sotto"
    link.parent.mkdir()
    link.symlink_to(os.path.relpath(PROGRAM, "/usr/bin"))
    date = desktop_files.date().date().isoformat()
    page = workshop.run(definition.ROOT / "packaging" / "artefacts" / "man_page.py", date)
    documents = {
        "man/man1/sotto.1.gz": _packed(page),
        "doc/sotto/changelog.gz": _packed(changelog()),
        "doc/sotto/copyright": copyright_file().encode(),
    }
    for name, content in documents.items():
        path = root / "usr" / "share" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    sizes = sum(path.stat().st_size for path in root.rglob("*") if path.is_file() and not path.is_symlink())
    fields = control(portable.oldest_glibc(elf.files(folder)), installed_kb=-(-sizes // 1024))
    (root / "DEBIAN").mkdir()
    (root / "DEBIAN" / "control").write_text(fields, encoding="utf-8")
    _set_modes(root)
    target = out / f"sotto_{definition.project()['version']}_{architecture()}.deb"
    command = ["dpkg-deb", "--root-owner-group", "-Zxz", "-z9", "--build", str(root), str(target)]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        raise InstallError(f"dpkg-deb failed: {result.stderr.strip()}")
    return target


def architecture() -> str:
    """Return Debian's name of this machine's architecture."""
    return _ARCHITECTURES[platform.machine()]


def control(glibc: str, installed_kb: int) -> str:
    """Return what Debian has to know about the package."""
    described, project = definition.app(), definition.project()
    libraries = described["linux"]["system_runtime_requires"]
    summary = project["description"].rstrip(".")
    text = "\n ".join(described["long_description"].strip().splitlines())
    fields: Mapping[str, str] = {
        "Package": "sotto",
        "Version": project["version"],
        "Architecture": architecture(),
        "Maintainer": maintainer(),
        "Installed-Size": str(installed_kb),
        "Depends": ", ".join([f"libc6 (>= {glibc})", *_RUNTIME, *libraries]),
        "Recommends": ", ".join(_RECOMMENDED),
        "Section": "utils",
        "Priority": "optional",
        "Homepage": project["urls"]["Homepage"],
        "Description": f"{summary[0].lower()}{summary[1:]}\n {text}",
    }
    return "".join(f"{name}: {value}\n" for name, value in fields.items())


def maintainer() -> str:
    """Return who maintains the package, with an address at the host of the project."""
    project = definition.project()
    host, organisation = project["urls"]["Homepage"].split("/")[2:4]
    return f"{project['authors'][0]['name']} <{organisation}@users.noreply.{host}>"


def changelog() -> str:
    """Return Debian's list of changes, which leads to ours."""
    version, date = definition.project()["version"], format_datetime(desktop_files.date())
    changes = "  * What has changed is in CHANGELOG.md of the source."
    return f"sotto ({version}) stable; urgency=medium\n\n{changes}\n\n -- {maintainer()}  {date}\n"


def copyright_file() -> str:
    """Return the licences in Debian's form; those of the many small parts are listed in the program's folder."""
    project = definition.project()
    text = (definition.ROOT / "LICENSE").read_text(encoding="utf-8")
    holder = next(line for line in text.splitlines() if line.startswith("Copyright"))
    body = "\n".join(f" {line}" if line.strip() else " ." for line in text.strip().splitlines())
    notice = f"/opt/sotto/{licences.FOLDER}/README.txt"
    return (
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n"
        f"Upstream-Name: Sotto\nSource: {project['urls']['Homepage']}\n"
        f"Comment: The parts that come along, and their licences, are listed in {notice}.\n\n"
        f"Files: *\nCopyright: {holder.removeprefix('Copyright (c) ')}\nLicense: MIT\n{body}\n\n"
        "Files: opt/sotto/_internal/PySide6/* opt/sotto/_internal/shiboken6/*\n"
        "Copyright: The Qt Company Ltd. and other contributors\n"
        "License: LGPL-3\n On Debian, the text is in /usr/share/common-licenses/LGPL-3.\n"
    )


def _packed(text: str) -> bytes:
    return gzip.compress(text.encode(), mtime=0)


def _set_modes(root: Path) -> None:
    """Let everybody read, and only the owner write, whatever the mask of this session is."""
    for path in (root, *root.rglob("*")):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
