"""What flatpak-builder makes a Flatpak from: a folder with its manifest, the tarball, and files for desktops.

Nothing is downloaded but the runtime. Sotto brings Python and Qt, so that the runtime is the smallest one.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
from pathlib import Path
from typing import Any

from artefacts import definition, desktop_files
from installing import say

ID = definition.SHOP_ID
VERSION = "25.08"
_RUNTIME = "org.freedesktop"
_SHARE = "share-of-flatpak"
_PERMISSIONS = (
    # Windows on Wayland, otherwise on X, drawn by the graphics card.
    "--socket=wayland", "--socket=fallback-x11", "--share=ipc", "--device=dri",
    # Downloads of models, and the server for other programs, each if it is asked for.
    "--share=network",
    # Models are read where other programs keep them, in any folder. Files that are saved go through the portal.
    "--filesystem=host:ro",
    # The icon in the tray, and messages when an answer is complete. Shortcuts and dialogs go through portals.
    "--talk-name=org.kde.StatusNotifierWatcher", "--talk-name=org.freedesktop.Notifications",
)  # fmt: skip


def build(tarball: Path, out: Path) -> Path:
    """Write the folder for flatpak-builder into the folder `out`, and return the path of the manifest."""
    say("Writing the folder for flatpak-builder.")
    folder = out / "flatpak"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    copy = folder / tarball.name
    try:
        os.link(tarball, copy)
    except OSError:
        # A file system without links.
        shutil.copyfile(tarball, copy)
    desktop_files.write_share(folder / _SHARE, "sotto", ID)
    target = folder / f"{ID}.json"
    target.write_text(json.dumps(manifest(copy), indent=2) + "\n", encoding="utf-8")
    return target


def manifest(tarball: Path) -> dict[str, Any]:
    """Return the manifest for a tarball that is in the same folder."""
    archive = {
        "type": "archive",
        "path": tarball.name,
        "sha256": hashlib.sha256(tarball.read_bytes()).hexdigest(),
        "only-arches": [platform.machine()],
    }
    commands = [
        "mkdir -p /app/bin /app/lib/sotto",
        "cp -a sotto _internal licences sbom.cdx.json /app/lib/sotto",
        "ln -s ../lib/sotto/sotto /app/bin/sotto",
        f"cp -r {_SHARE} /app/share",
    ]
    module = {
        "name": "sotto",
        "buildsystem": "simple",
        # The program ends with its Python code, which stripping would remove.
        "build-options": {"strip": False, "no-debuginfo": True},
        "build-commands": commands,
        "sources": [archive, {"type": "dir", "path": _SHARE, "dest": _SHARE}],
    }
    return {
        "id": ID,
        "runtime": f"{_RUNTIME}.Platform",
        "runtime-version": VERSION,
        "sdk": f"{_RUNTIME}.Sdk",
        "command": "sotto",
        "finish-args": list(_PERMISSIONS),
        "modules": [module],
    }
