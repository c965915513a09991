"""The AppImage: the portable folder in one file that runs when it is opened.

Such a file is a small program, the runtime, with a squashfs behind it, which it mounts to start `AppRun` in there. No
registry of packages has the runtime, so that its path is given and its content is checked.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
from pathlib import Path

from artefacts import definition, desktop_files, portable
from artefacts.workshop import Workshop
from installing import InstallError, can_install_packages, install_packages, say

_RELEASE = "20251108"
_SOURCE = "https://github.com/AppImage/type2-runtime/releases"
_DIGESTS = {
    "x86_64": "2fca8b443c92510f1483a883f60061ad09b46b978b2631c807cd873a47ec260d",
    "aarch64": "00cbdfcf917cc6c0ff6d3347d59e0ca1f7f45a6df1a428a0d6d8a78664d87444",
}
# A link instead would give the program, and so its windows, another name.
_START = """#!/bin/sh
exec "$(dirname "$(readlink -f "$0")")/usr/lib/sotto/sotto" "$@"
"""


def check_runtime(runtime: Path | None) -> Path:
    """Return the runtime if it is the one that is known.

    Raises:
        InstallError: It is missing, or another file.
    """
    name = f"runtime-{platform.machine()}"
    wanted = f"{name} of release {_RELEASE} from {_SOURCE}"
    if runtime is None:
        raise InstallError(
            f"An AppImage needs a runtime, which no registry has: download {wanted}, and name it with --runtime."
        )
    if not runtime.is_file():
        raise InstallError(f"{runtime} does not exist: --runtime takes the path of {wanted}.")
    digest = hashlib.sha256(runtime.read_bytes()).hexdigest()
    if digest != _DIGESTS.get(platform.machine()):
        raise InstallError(f"{runtime} has the SHA-256 {digest[:16]}..., so it is not {wanted}.")
    return runtime


def build(folder: Path, runtime: Path, workshop: Workshop, out: Path) -> Path:
    """Build the AppImage around a portable folder, and return its path.

    Raises:
        InstallError: squashfs-tools are missing, or fail.
    """
    say("Building the AppImage.")
    _provide_tools()
    content = workshop.fresh("appimage") / "content"
    write_folder(folder, content)
    packed = content.with_name("squashfs")
    seconds = str(int(desktop_files.date().timestamp()))
    command: list[str | Path] = ["mksquashfs", content, packed]
    command += ["-all-root", "-no-xattrs", "-noappend", "-no-progress", "-quiet"]
    command += ["-mkfs-time", seconds, "-all-time", seconds, "-b", "1M", "-comp", "zstd", "-Xcompression-level", "22"]
    environment = {name: value for name, value in os.environ.items() if name != "SOURCE_DATE_EPOCH"}
    result = subprocess.run(command, env=environment, capture_output=True, text=True)
    if result.returncode != 0:
        raise InstallError(f"mksquashfs failed: {result.stderr.strip()}")
    target = out / f"{folder.name}.AppImage"
    with target.open("wb") as file:
        for part in (runtime, packed):
            with part.open("rb") as source:
                shutil.copyfileobj(source, file)
    target.chmod(0o755)
    return target


def write_folder(folder: Path, content: Path) -> None:
    """Write what is inside: the program, and what desktops read about it."""
    portable.copy_program(folder, content / "usr" / "lib" / "sotto")
    desktop_files.write_share(content / "usr" / "share", "sotto")
    (content / "usr" / "bin").mkdir()
    picture = f"usr/share/icons/hicolor/256x256/apps/{definition.ID}.png"
    start = content / "AppRun"
    start.write_text(_START)
    start.chmod(0o755)
    links = {
        "usr/bin/sotto": "../lib/sotto/sotto",
        f"{definition.ID}.desktop": f"usr/share/applications/{definition.ID}.desktop",
        f"{definition.ID}.png": picture,
        ".DirIcon": picture,
    }
    for name, target in links.items():
        (content / name).symlink_to(target)


def _provide_tools() -> None:
    if not shutil.which("mksquashfs") and can_install_packages():
        install_packages(["squashfs-tools"])
    if not shutil.which("mksquashfs"):
        raise InstallError("An AppImage needs mksquashfs (on Debian: sudo apt-get install squashfs-tools).")
