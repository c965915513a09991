"""What tells a Linux desktop about Sotto: menu entry, kinds of files, store page and icons."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from artefacts import definition

_MIME = "http://www.freedesktop.org/standards/shared-mime-info"
MENU_SCRIPT = "add-to-menu"
# Stands for the folder of the program in the entry that the script writes.
_FOLDER = "@FOLDER@"


def write_share(target: Path, command: str, name: str = definition.ID) -> None:
    """Write everything below `/usr/share` into the folder `target`.

    Args:
        target: The folder.
        command: The program, as a menu entry's `Exec` names it.
        name: Of the menu entry, the icons and the kinds of files; Flatpak wants three words.
    """
    icons = definition.ROOT / definition.app()["icon"]
    files = {
        f"applications/{name}.desktop": entry(command, name),
        f"metainfo/{definition.SHOP_ID}.metainfo.xml": metainfo(name),
        f"mime/packages/{name}.xml": mime_types(),
    }
    for file, content in files.items():
        path = target / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    pictures = {
        path.stem.rpartition("-")[2]: path
        for path in icons.parent.glob(f"{icons.name}-*.png")
        if path.stem[-1].isdigit()
    }
    places = {f"{size}x{size}/apps/{name}.png": path for size, path in pictures.items()}
    places[f"scalable/apps/{name}.svg"] = icons.with_suffix(".svg")
    places[f"symbolic/apps/{name}-symbolic.svg"] = icons.with_name(f"{icons.name}-symbolic.svg")
    for file, source in places.items():
        path = target / "icons" / "hicolor" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, path)


def entry(command: str, name: str = definition.ID) -> str:
    """Return the menu entry."""
    described, project = definition.app(), definition.project()
    schemes = [f"x-scheme-handler/{scheme}" for scheme in described["url_schemes"]]
    kinds = "".join(f"{kind};" for kind in (*(kind["mime_type"] for kind in document_types()), *schemes))
    return with_actions(
        "[Desktop Entry]\n"
        "Type=Application\n"
        f"Name={described['formal_name']}\n"
        f"Comment={project['description'].rstrip('.')}\n"
        # %F, for files alone, would leave out other addresses.
        f"Exec={command} %U\n"
        f"Icon={name}\n"
        "Terminal=false\n"
        "StartupNotify=true\n"
        f"StartupWMClass={described['formal_name']}\n"
        "Categories=Utility;\n"
        "Keywords=AI;chat;LLM;model;\n"
        f"MimeType={kinds}\n"
    )


def with_actions(text: str) -> str:
    """Return a menu entry with the actions of its icon’s menu."""
    if "\nActions=" in text:
        return text
    line = re.search(r"^Exec=(.+?)( %[fFuU])?$", text, re.MULTILINE)
    if line is None:
        raise SystemExit("The desktop entry has no line Exec=... to take the command from.")
    actions = "".join(
        f"\n[Desktop Action {option}]\nName={name}\nExec={line.group(1)} --{option}\n"
        for option, name in (("quick", "Quick Prompt"), ("new", "New Chat"))
    )
    head = text.rstrip("\n").replace("[Desktop Entry]\n", "[Desktop Entry]\nActions=quick;new;\n", 1)
    return f"{head}\n{actions}"


def document_types() -> Iterator[dict[str, Any]]:
    """Yield the kinds of files that Sotto opens, other than folders, which belong to file managers."""
    return (kind for kind in definition.app()["document_type"].values() if not kind["macOS"]["is_core_type"])


def mime_types() -> str:
    """Return the kinds of files for the system's MIME database.

    A manifest is JSON that names its kind, mostly in a file without an extension; the extension is not Sotto's.
    """
    root = ElementTree.Element("mime-info", xmlns=_MIME)
    for kind in document_types():
        element = ElementTree.SubElement(root, "mime-type", type=kind["mime_type"])
        ElementTree.SubElement(element, "comment").text = kind["description"]
        if kind["extension"] == "json":
            ElementTree.SubElement(element, "sub-class-of", type="application/json")
            magic = ElementTree.SubElement(element, "magic", priority="60")
            ElementTree.SubElement(magic, "match", type="string", offset="0:256", value=kind["mime_type"])
        else:
            ElementTree.SubElement(element, "glob", pattern=f"*.{kind['extension']}")
    return _written(root)


def metainfo(name: str = definition.ID) -> str:
    """Return what shops for programs show, as AppStream describes it."""
    described, project = definition.app(), definition.project()
    root = ElementTree.Element("component", type="desktop-application")

    def add(tag: str, text: str = "", parent: ElementTree.Element = root, **attributes: str) -> ElementTree.Element:
        element = ElementTree.SubElement(parent, tag, attributes)
        element.text = text or None
        return element

    add("id", definition.SHOP_ID)
    # Of this description; Sotto's own is below.
    add("metadata_license", "CC0-1.0")
    add("project_license", project["license"])
    add("name", described["formal_name"])
    add("summary", project["description"].rstrip("."))
    add("name", project["authors"][0]["name"], parent=add("developer", id=definition.ID))
    add("p", " ".join(described["long_description"].split()), parent=add("description"))
    add("launchable", f"{name}.desktop", type="desktop-id")
    add("url", project["urls"]["Homepage"], type="homepage")
    add("content_rating", type="oars-1.1")
    provided = add("provides")
    add("binary", "sotto", parent=provided)
    for kind in document_types():
        add("mediatype", kind["mime_type"], parent=provided)
    for scheme in described["url_schemes"]:
        add("mediatype", f"x-scheme-handler/{scheme}", parent=provided)
    released = {"version": project["version"], "date": date().date().isoformat()}
    ElementTree.SubElement(add("releases"), "release", released)
    return _written(root)


def date() -> datetime:
    """Return when the sources were last changed: SOURCE_DATE_EPOCH, the last commit, or the list of changes."""
    stated = os.environ.get("SOURCE_DATE_EPOCH", "")
    if not stated:
        command = ["git", "-C", str(definition.ROOT), "log", "-1", "--format=%ct"]
        try:
            stated = subprocess.run(command, capture_output=True, text=True).stdout.strip()
        except FileNotFoundError:
            stated = ""
    seconds = float(stated) if stated else (definition.ROOT / "CHANGELOG.md").stat().st_mtime
    return datetime.fromtimestamp(seconds, UTC)


def write_menu_script(folder: Path) -> None:
    """Write what adds a portable folder to the menu of its user: the files, and the script that copies them."""
    write_share(folder / "share", f'"{_FOLDER}/sotto"')
    script = folder / MENU_SCRIPT
    script.write_text(_ADD_TO_MENU, encoding="utf-8")
    script.chmod(0o755)


def _written(root: ElementTree.Element) -> str:
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


_ADD_TO_MENU = f"""#!/bin/sh
# Adds Sotto to the menu of this desktop, from wherever this folder is; with --remove, takes it out again.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
data=${{XDG_DATA_HOME:-$HOME/.local/share}}
case $here in
    *[\\"\\`\\$\\\\%\\&\\|]*) echo "The menu cannot start programs from $here: move this folder first." >&2; exit 1 ;;
esac
cd "$here/share"
find . -type f ! -path "./metainfo/*" | while read -r file; do
    if [ "${{1:-}}" = --remove ]; then
        rm -f "$data/$file"
    else
        mkdir -p "$data/$(dirname "$file")"
        case $file in
            *.desktop) sed "s|{_FOLDER}|$here|" "$file" > "$data/$file" ;;
            *) cp "$file" "$data/$file" ;;
        esac
    fi
done
for update in "update-desktop-database $data/applications" "update-mime-database $data/mime"; do
    # Both are found by newer desktops without.
    command -v "${{update%% *}}" > /dev/null && "${{update%% *}}" "${{update#* }}" || true
done
"""
