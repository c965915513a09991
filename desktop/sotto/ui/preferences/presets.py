"""Presets: named combinations of a system prompt and answer options, stored in a readable file."""

import json
import logging
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from sotto.errors import BrokenModelError
from sotto.store.bounded_json import read_object
from sotto.store.printable import printable_path
from sotto.ui.preferences.preferences import MAX_TEXT_LENGTH
from sotto.ui.preferences.sampling_options import valid_options
from sotto.ui.timing.debounced_file import DebouncedFile, keep_aside
from sotto.ui.toolkit.translation import tr

_log = logging.getLogger(__name__)

MAX_NAME_LENGTH = 60
_MAX_PRESETS = 500


@dataclass(frozen=True, slots=True)
class Preset:
    """A system prompt and answer options that can be applied to a chat.

    Attributes:
        name: A unique name.
        system: The system prompt.
        options: The answer options, under Ollama's names; `think` and `format` as in `answer_options`.
    """

    name: str
    system: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)


class PresetStore(QObject):
    """Holds the presets, sorted by name, and saves each change.

    Signals:
        changed: The presets have changed (a tuple of `Preset`).
        failed: They cannot be saved; the reason, in a sentence.
    """

    changed = Signal(object)
    failed = Signal(str)

    def __init__(self, path: Path, parent: QObject | None = None) -> None:
        """Read presets from `path`, which may not exist."""
        super().__init__(parent)
        # What a newer version may have written is written again: beside the presets, in entries that make no sense
        # here, and in those of presets that have not changed since they were read.
        self._unknown: dict[str, Any] = {}
        self._unread: list[Any] = []
        self._entries: dict[str, tuple[Preset, Any]] = {}
        self.presets = self._read(path)
        self._file = DebouncedFile(path, self._text, self)
        self._file.failed.connect(self.failed)

    def with_name(self, name: str) -> Preset | None:
        """Return the preset of this name, or None."""
        return next((preset for preset in self.presets if preset.name == name), None)

    def find(self, system: str, options: Mapping[str, Any]) -> Preset | None:
        """Return the preset with exactly this system prompt and these options, or None."""
        for preset in self.presets:
            if preset.system == system and dict(preset.options) == dict(options):
                return preset
        return None

    def save(self, name: str, system: str, options: Mapping[str, Any]) -> Preset:
        """Add a preset.

        Raises:
            ValueError: The name is invalid or taken; the message is for the user.
        """
        preset = Preset(self._checked_name(name, None), system, valid_options(options))
        self._set((*self.presets, preset))
        return preset

    def replace(self, name: str, system: str, options: Mapping[str, Any]) -> None:
        """Change the system prompt and options of an existing preset."""
        changed = Preset(name, system, valid_options(options))
        self._set(tuple(changed if preset.name == name else preset for preset in self.presets))

    def rename(self, name: str, new: str) -> str:
        """Rename a preset, and return its new name as it is stored.

        Raises:
            ValueError: The new name is invalid or taken; the message is for the user.
        """
        new = self._checked_name(new, name)
        self._set(tuple(replace(preset, name=new) if preset.name == name else preset for preset in self.presets))
        return new

    def delete(self, name: str) -> None:
        """Delete a preset."""
        self._set(tuple(preset for preset in self.presets if preset.name != name))

    def clear(self) -> None:
        """Delete all presets, also those that cannot be read."""
        self._unread = []
        self._set(())

    def restore(self, preset: Preset) -> None:
        """Undo the deletion of a preset, unless its name has been used again."""
        if self.with_name(preset.name) is None:
            self._set((*self.presets, preset))

    def close(self) -> None:
        """Write pending changes, and wait until they are on disk."""
        self._file.close()

    def _checked_name(self, name: str, old: str | None) -> str:
        """Return a name without surplus blanks, if it is valid and free for the preset that is called `old` now."""
        clean = " ".join(name.split())
        if not clean or not clean.isprintable():
            raise ValueError(tr("A preset needs a name."))
        if len(clean) > MAX_NAME_LENGTH:
            sentence = tr("A name can have at most {most} characters; this one has {count}.")
            raise ValueError(sentence.format(most=MAX_NAME_LENGTH, count=len(clean)))
        if any(preset.name.casefold() == clean.casefold() and preset.name != old for preset in self.presets):
            raise ValueError(tr("There is already a preset “{name}”: choose another name.").format(name=clean))
        return clean

    def _set(self, presets: tuple[Preset, ...]) -> None:
        self.presets = tuple(sorted(presets, key=lambda preset: preset.name.casefold()))
        self._file.touch()
        self.changed.emit(self.presets)

    def _text(self) -> str:
        presets = [*map(self._entry_of, self.presets), *self._unread]
        text = json.dumps({**self._unknown, "presets": presets}, indent=2, ensure_ascii=False)
        return text.encode("utf-8", "replace").decode("utf-8")  # lone surrogates cannot be written

    def _entry_of(self, preset: Preset) -> Any:
        read, entry = self._entries.get(preset.name, (None, None))
        return entry if read is preset else asdict(preset)

    def _read(self, path: Path) -> tuple[Preset, ...]:
        """Read the presets of a file; invalid ones are logged and left out."""
        if not path.exists():
            return ()
        try:
            self._unknown = read_object(path)
        except BrokenModelError as error:
            _log.warning("%s", error.message)
            keep_aside(path)
            return ()
        written = self._unknown.pop("presets", [])
        found: dict[str, Preset] = {}
        for number, entry in enumerate(written if isinstance(written, list) else [written]):
            preset = _preset_of(entry)
            if preset is not None and number < _MAX_PRESETS and preset.name.casefold() not in found:
                found[preset.name.casefold()] = preset
                self._entries[preset.name] = preset, entry
            else:
                self._unread.append(entry)
                # Not the preset itself, which is what somebody has written.
                _log.warning("%s has a preset that makes no sense.", printable_path(path))
        return tuple(sorted(found.values(), key=lambda preset: preset.name.casefold()))


def _preset_of(entry: Any) -> Preset | None:
    """Return the preset in an entry of the file; None if it is not valid."""
    name = entry.get("name") if isinstance(entry, dict) else None
    system = entry.get("system", "") if isinstance(entry, dict) else None
    if (
        not isinstance(name, str)
        or not isinstance(system, str)
        or not 0 < len(name) <= MAX_NAME_LENGTH
        or not name.isprintable()
        or len(system) > MAX_TEXT_LENGTH
    ):
        return None
    return Preset(name, system, valid_options(entry.get("options")))
