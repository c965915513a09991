"""The list of changes: `python packaging/changelog.py [release VERSION]`.

Without arguments, it shows what is not released yet: the section *Unreleased* of `CHANGELOG.md`, if there is one, and
the files in `packaging/changes`, which `packaging/changes/README.md` describes. `release` makes both the section of a
new version, with today's date, removes the files, and writes the version into `desktop/sotto/__init__.py`.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FRAGMENTS = ROOT / "packaging" / "changes"
CHANGELOG = ROOT / "CHANGELOG.md"
MODULE = ROOT / "desktop" / "sotto" / "__init__.py"
KINDS = {
    "chats": "Chats",
    "models": "Models",
    "engine": "Engine",
    "api": "API",
    "installation": "Installation",
    "reports": "Reports",
    "security": "Security and robustness",
}
_UNRELEASED = "Unreleased"
_VERSION = r"(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)"
_NAME = re.compile(rf"[a-z0-9-]+\.({'|'.join(KINDS)})\.md")
_HEADING = re.compile(rf"## ({_UNRELEASED}|{_VERSION})(?: \((\d{{4}}-\d\d-\d\d)\))?")
_WIDTH = 118


class ChangelogError(Exception):
    """Something in the list of changes or the files is wrong; the message says what."""


@dataclass(frozen=True)
class Section:
    """What `CHANGELOG.md` says about a version.

    Attributes:
        version: The version, or `Unreleased`.
        day: When it was released; None if that is not said.
        changes: The changes as Markdown, each with its line breaks, by the title of their kind.
    """

    version: str
    day: date | None
    changes: Mapping[str, tuple[str, ...]]


def fragments(folder: Path = FRAGMENTS) -> dict[str, tuple[str, ...]]:
    """Return the changes in the files of a folder, by the title of their kind.

    Raises:
        ChangelogError: A file is not as it should be.
    """
    found: dict[str, list[str]] = {}
    for path in sorted(folder.iterdir()):
        if path.name == "README.md":
            continue
        named = _NAME.fullmatch(path.name)
        if named is None:
            raise ChangelogError(f"{path.name} should be named SUBJECT.KIND.md; KIND is one of {', '.join(KINDS)}.")
        found.setdefault(KINDS[named.group(1)], []).append(_paragraph(path))
    return {title: tuple(changes) for title, changes in found.items()}


def _paragraph(path: Path) -> str:
    text = path.read_text(encoding="utf-8").strip()
    lines = text.splitlines()
    if not lines or not text.endswith((".", ")")) or not all(line.strip() for line in lines):
        raise ChangelogError(f"{path.name} should be one paragraph that ends with a full stop.")
    if text.startswith(("#", "-", "*")) or any(len(line) > _WIDTH or line != line.strip() for line in lines):
        raise ChangelogError(
            f"{path.name} should have lines of at most {_WIDTH} characters, without marks before them."
        )
    return text


def sections(text: str) -> list[Section]:
    """Return the sections of the list of changes, in its order."""
    parts = re.split(r"^(?=## )", text, flags=re.MULTILINE)[1:]
    return [_section(part) for part in parts]


def _section(part: str) -> Section:
    heading, _, body = part.partition("\n")
    named = _HEADING.fullmatch(heading.strip())
    if named is None:
        raise ChangelogError(f"'{heading}' in CHANGELOG.md should be a version with its date, or {_UNRELEASED}.")
    changes: dict[str, list[str]] = {}
    for block in re.split(r"^(?=### )", body, flags=re.MULTILINE):
        title = block.partition("\n")[0].removeprefix("### ").strip() if block.startswith("### ") else ""
        for entry in re.split(r"^- ", block, flags=re.MULTILINE)[1:]:
            changes.setdefault(title, []).append("\n".join(line.strip() for line in entry.strip().splitlines()))
    day = date.fromisoformat(named.group(2)) if named.group(2) else None
    return Section(named.group(1), day, {title: tuple(entries) for title, entries in changes.items()})


def unreleased(text: str, folder: Path = FRAGMENTS) -> dict[str, tuple[str, ...]]:
    """Return all changes that are not released yet, by the titles of their kinds, in the order of these."""
    written = next((section.changes for section in sections(text) if section.version == _UNRELEASED), {})
    added = fragments(folder)
    titles = [*KINDS.values(), *(title for title in written if title not in KINDS.values())]
    return {
        title: changes for title in titles if (changes := (*written.get(title, ()), *added.get(title, ())))
    }  # fmt: skip


def rendered(version: str, day: date | None, changes: Mapping[str, Iterable[str]]) -> str:
    """Return the section of a version as Markdown."""
    parts = [f"## {version} ({day.isoformat()})" if day else f"## {version}"]
    for title, entries in changes.items():
        parts += [f"### {title}", "\n".join("- " + entry.replace("\n", "\n  ") for entry in entries)]
    return "\n\n".join(parts) + "\n\n"


def released(text: str, version: str, day: date, folder: Path = FRAGMENTS) -> str:
    """Return the list of changes with a new version at its top.

    Raises:
        ChangelogError: It is not a version that can follow, or nothing has changed.
    """
    if not re.fullmatch(_VERSION, version):
        raise ChangelogError(f"{version} should be three numbers, as in 1.0.0.")
    known = [section.version for section in sections(text) if section.version != _UNRELEASED]
    if known and _key(version) <= max(map(_key, known)):
        raise ChangelogError(f"{version} should be greater than {max(known, key=_key)}.")
    changes = unreleased(text, folder)
    if not changes:
        raise ChangelogError("Nothing has changed since the last release.")
    head, *parts = re.split(r"^(?=## )", text, flags=re.MULTILINE)
    kept = [part for part in parts if not part.startswith(f"## {_UNRELEASED}\n")]
    return head + rendered(version, day, changes) + "".join(kept)


def _key(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def release(version: str, day: date) -> None:
    """Write the section of a new version and the version itself, and remove the files that are in the section.

    Raises:
        ChangelogError: It cannot be released; nothing is changed then.
    """
    text = released(CHANGELOG.read_text(encoding="utf-8"), version, day, FRAGMENTS)
    line = re.compile(r'^__version__ = ".+"$', re.MULTILINE)
    module, count = line.subn(f'__version__ = "{version}"', MODULE.read_text(encoding="utf-8"))
    if count != 1:
        raise ChangelogError(f'{MODULE} should have one line __version__ = "...".')
    CHANGELOG.write_text(text, encoding="utf-8")
    MODULE.write_text(module, encoding="utf-8")
    for path in FRAGMENTS.glob("*.*.md"):
        path.unlink()


def main(arguments: list[str]) -> int:
    """Show or release what has changed; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="changelog.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command")
    commands.add_parser("release", help="make a release of what has changed").add_argument("version")
    parsed = parser.parse_args(arguments)
    try:
        if parsed.command == "release":
            release(parsed.version, datetime.now(UTC).date())
        else:
            print(rendered(_UNRELEASED, None, unreleased(CHANGELOG.read_text(encoding="utf-8"))), end="")
    except ChangelogError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
