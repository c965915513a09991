"""Updates the translations of the window: `python packaging/translations.py [LANGUAGE ...]`.

The texts come from the sources under `desktop/sotto/ui`. For each language there are two files in
`resources/translations`: `sotto_LANGUAGE.ts`, which people edit, with Qt Linguist (`pyside6-linguist`) for example, and
`sotto_LANGUAGE.qm`, which is generated from it and read by the app. A LANGUAGE that is new, such as `de` or `pt_BR`,
gets its first file. Texts that are missing or unfinished stay English.
"""

from __future__ import annotations

import shutil
import string
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "desktop" / "sotto" / "ui"
FOLDER = ROOT / "resources" / "translations"


class Message(NamedTuple):
    """A text to translate, with its translations: one, or one for each plural form."""

    source: str
    comment: str
    plural: bool
    finished: bool
    translations: tuple[str, ...]


def main(languages: list[str]) -> int:
    """Update and compile every translation, and those of new languages; return the exit status."""
    FOLDER.mkdir(exist_ok=True)
    files = sorted({*FOLDER.glob("sotto_*.ts"), *(FOLDER / f"sotto_{language}.ts" for language in languages)})
    if not files:
        sys.exit("There is no translation yet: name a language, such as de or pt_BR.")
    for file in files:
        update(file)
        if mistakes := list(find_mistakes(file)):
            sys.exit("\n".join(f"{file.relative_to(ROOT)}: {mistake}" for mistake in mistakes))
        compile_file(file, file.with_suffix(".qm"))
        found = messages(file)
        print(f"{file.relative_to(ROOT)}: {sum(message.finished for message in found)} of {len(found)} texts")
    return 0


def update(file: Path) -> None:
    """Bring a `.ts` file up to date with the sources, or create it.

    Raises:
        RuntimeError: Qt's tool warns about a source.
    """
    sources = sorted(SOURCES.rglob("*.py"))
    with tempfile.TemporaryDirectory() as folder:
        listing = Path(folder) / "sources"
        listing.write_text("\n".join(map(str, sources)), encoding="utf-8")
        options = ("-no-obsolete", "-locations", "relative", "-source-language", "en")
        run_tool("lupdate", *options, f"@{listing}", "-ts", file)


def compile_file(file: Path, target: Path) -> None:
    """Generate the file that the app reads, without unfinished translations."""
    run_tool("lrelease", "-nounfinished", file, "-qm", target)


def run_tool(name: str, *arguments: object) -> None:
    """Run one of Qt's tools, which PySide6 brings along; a warning is a failure."""
    result = subprocess.run(
        [tool_path(name), "-silent", *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if result.returncode != 0 or result.stdout.strip():
        raise RuntimeError(f"{name}: {result.stdout.strip()}")


def tool_path(name: str) -> str:
    """Return the path of one of Qt's tools."""
    path = shutil.which(f"pyside6-{name}", path=str(Path(sys.executable).parent))
    if path is None:
        sys.exit(f"pyside6-{name} is missing in this environment: set it up with python3 packaging/start.py test.")
    return path


def messages(file: Path) -> list[Message]:
    """Return the texts of a `.ts` file."""
    found = []
    for message in ElementTree.parse(file).getroot().iter("message"):
        translation = message.find("translation")
        assert translation is not None
        plural = message.get("numerus") == "yes"
        texts = [form.text for form in translation.iter("numerusform")] if plural else [translation.text]
        found.append(
            Message(
                message.findtext("source", ""),
                message.findtext("comment", ""),
                plural,
                translation.get("type") is None,
                tuple(text or "" for text in texts),
            )
        )
    return found


def find_mistakes(file: Path) -> Iterator[str]:
    """Yield a sentence for each finished translation with which the app would fail."""
    for message in messages(file):
        wanted = fields(message.source)
        for translation in message.translations if message.finished else ():
            try:
                used = fields(translation)
            except ValueError as error:
                yield f"{translation!r}, for {message.source!r}, cannot be filled in: {error}."
                continue
            # The form for a single thing may spell out the number.
            if used - wanted or (wanted - used and not message.plural):
                names = " ".join(sorted(wanted)) or "none"
                yield f"{translation!r} must have the fields of {message.source!r}: {names}."


def fields(text: str) -> frozenset[str]:
    """Return the fields of a text, as `{name}`.

    Raises:
        ValueError: The text has a brace that is not part of a field.
    """
    parts = string.Formatter().parse(text)
    return frozenset(
        f"{{{name}{f'!{conversion}' if conversion else ''}{f':{form}' if form else ''}}}"
        for _, name, form, conversion in parts
        if name is not None
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
