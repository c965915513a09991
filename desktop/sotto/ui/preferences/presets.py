"""Presets: a system prompt and how to answer under a name, kept in a file that people can read. Draws nothing."""

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
from sotto.ui.preferences.preferences import LONGEST_TEXT
from sotto.ui.preferences.sampling_options import sensible
from sotto.ui.toolkit.debounced_file import LateFile

_log = logging.getLogger(__name__)

LONGEST_NAME = 60
_MOST = 500


@dataclass(frozen=True, slots=True)
class Preset:
    """What can be chosen for a chat, under a name.

    Attributes:
        name: What it is called; no other is called so.
        system: The system prompt.
        options: How models answer, by Ollama's names, `think` and `format` as `manners` keeps them.
    """

    name: str
    system: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)


class PresetKeeper(QObject):
    """The presets, by name.

    Signals:
        changed: There are others now (a tuple of `Preset`).
        failed: They cannot be kept; why, in a sentence.
    """

    changed = Signal(object)
    failed = Signal(str)

    def __init__(self, path: Path, parent: QObject | None = None) -> None:
        """Read presets from `path`, which may not exist."""
        super().__init__(parent)
        self.presets = _read(path)
        self._file = LateFile(path, self._text, self)
        self._file.failed.connect(self.failed)

    def with_name(self, name: str) -> Preset | None:
        """Return the one of this name; None if there is none."""
        return next((one for one in self.presets if one.name == name), None)

    def like(self, system: str, options: Mapping[str, Any]) -> Preset | None:
        """Return the one with these choices; None if there is none."""
        return next((one for one in self.presets if one.system == system and dict(one.options) == dict(options)), None)

    def save(self, name: str, system: str, options: Mapping[str, Any]) -> Preset:
        """Keep choices under a new name.

        Raises:
            ValueError: It makes no sense, or there is one of this name; a sentence for people.
        """
        made = Preset(self._free(name, None), system, sensible(options))
        self._set((*self.presets, made))
        return made

    def replace(self, name: str, system: str, options: Mapping[str, Any]) -> None:
        """Keep other choices under a name that there is."""
        self._set(tuple(Preset(name, system, sensible(options)) if one.name == name else one for one in self.presets))

    def rename(self, name: str, new: str) -> str:
        """Call a preset something else, and return what it is called now.

        Raises:
            ValueError: The new name makes no sense, or is another one's; a sentence for people.
        """
        new = self._free(new, name)
        self._set(tuple(replace(one, name=new) if one.name == name else one for one in self.presets))
        return new

    def delete(self, name: str) -> None:
        """Forget a preset."""
        self._set(tuple(one for one in self.presets if one.name != name))

    def restore(self, preset: Preset) -> None:
        """Take back that one was deleted."""
        if self.with_name(preset.name) is None:
            self._set((*self.presets, preset))

    def close(self) -> None:
        """Write what is not written yet, and wait for it."""
        self._file.close()

    def _free(self, name: str, old: str | None) -> str:
        """Return a name as it is kept, if it may be used for the one that is called `old` now."""
        kept = " ".join(name.split())
        if not kept or not kept.isprintable():
            raise ValueError("A preset needs a name.")
        if len(kept) > LONGEST_NAME:
            raise ValueError(f"A name may have {LONGEST_NAME} letters, and this has {len(kept)}.")
        if any(one.name.casefold() == kept.casefold() and one.name != old for one in self.presets):
            raise ValueError(f"There is a preset “{kept}” already: choose another name.")
        return kept

    def _set(self, presets: tuple[Preset, ...]) -> None:
        self.presets = tuple(sorted(presets, key=lambda one: one.name.casefold()))
        self._file.touch()
        self.changed.emit(self.presets)

    def _text(self) -> str:
        text = json.dumps({"presets": [asdict(one) for one in self.presets]}, indent=2, ensure_ascii=False)
        return text.encode("utf-8", "replace").decode("utf-8")  # half a surrogate pair cannot be written


def _read(path: Path) -> tuple[Preset, ...]:
    """Return what a file has of presets; what makes no sense is told in the log and left out."""
    if not path.exists():
        return ()
    try:
        written = read_object(path).get("presets")
    except BrokenModelError as error:
        _log.warning("%s", error.message)
        return ()
    found: dict[str, Preset] = {}
    for one in written[:_MOST] if isinstance(written, list) else ():
        name = one.get("name") if isinstance(one, dict) else None
        system = one.get("system", "") if isinstance(one, dict) else None
        if (
            isinstance(name, str)
            and isinstance(system, str)
            and 0 < len(name) <= LONGEST_NAME
            and name.isprintable()
            and len(system) <= LONGEST_TEXT
            and name.casefold() not in found
        ):
            found[name.casefold()] = Preset(name, system, sensible(one.get("options")))
        else:
            _log.warning("%s has a preset that makes no sense: %.80r.", printable_path(path), one)
    return tuple(sorted(found.values(), key=lambda preset: preset.name.casefold()))
