"""What a person chose about the app, kept in a small file from one start to the next.

A value that makes no sense is told in the log and taken as not chosen, so that a damaged file never keeps anybody out.
What a newer version wrote there and this one does not know is left as it is.
"""

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from sotto import api
from sotto.errors import BrokenModelError
from sotto.store.bounded_json import read_object
from sotto.store.printable import printable_path
from sotto.ui.preferences.sampling_options import CONTEXT, sensible
from sotto.ui.toolkit.debounced_file import LateFile

_log = logging.getLogger(__name__)

SMALLEST_ZOOM, LARGEST_ZOOM = 0.7, 2.5
LONGEST_TEXT = 20_000
LONGEST_FRESH = 7 * 24 * 60
MODEL_ORDERS = ("used", "name", "size", "fit")
LONGEST_KEEP_ALIVE = 24 * 60
LEAST_SPEED, MOST_SPEED = 10**4, 10**12


@dataclass(frozen=True, slots=True)
class Preferences:
    """Every choice, with what holds until a person chooses.

    Attributes:
        appearance: `light`, `dark`, or empty to follow the system.
        zoom: How much larger all text is than the system asks for.
        api_enabled: Whether other programs may use the models over HTTP.
        api_host: The address that this listens on.
        api_port: Its port.
        api_key: What other programs must send; may be empty where only this machine can reach the address.
        api_origins: Web pages that may use the models, with commas between them; empty for none.
        follow: Whether the view follows an answer while it is written.
        system: What models are told first in chats that say nothing of their own.
        options: How models answer there, by Ollama's names.
        num_ctx: Tokens of context that models are loaded with; 0 for as many as they have.
        recent: What was chosen in the command palette, by its keys, the last one first.
        engine_host: `thread` for an engine in the app's own process, `process` for one in a process of its own.
        quick_shortcut: Keys that show and hide the quick prompt wherever one is, as `Ctrl+Alt+Space`; empty for none.
        quick_fresh_minutes: After how many minutes out of sight the quick prompt begins a new chat.
        quick_place: Where its panel was dragged to, as two shares of the screen; empty for where it usually is.
        window: Where the window was, as Qt writes it, in base64.
        chat: The conversation that was in view; 0 for none.
        message: The message of it that was at the top of the view; 0 where its end was in view.
        scroll: How far below the top of that message the view began, in pixels.
        recent_models: Names of the models that were used last, the last one first.
        told_of_tray: Whether it was told that the app goes on when its window is closed.
        model_order: What models are sorted by, one of `MODEL_ORDERS`; favourites stand before the others.
        favourites: Digests of models.
        pinned_models: Digests of models that stay in memory once they are loaded.
        contexts: How long a context is for a model, each as `digest:tokens`.
        keep_alive_minutes: An idle model leaves memory after so long; 0 for never.
        folders: Further folders to look for models in.
        download_limit: Bytes that downloads may take in a second, together; 0 for as many as there come.
    """

    appearance: str = ""
    zoom: float = 1.0
    api_enabled: bool = False
    api_host: str = api.HOST
    api_port: int = api.PORT
    api_key: str = ""
    api_origins: str = ""
    follow: bool = True
    system: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    num_ctx: int = 0
    folders: tuple[str, ...] = ()
    recent: tuple[str, ...] = ()
    engine_host: str = "thread"
    quick_shortcut: str = ""
    quick_fresh_minutes: float = 10
    quick_place: str = ""
    window: str = ""
    chat: int = 0
    message: int = 0
    scroll: int = 0
    recent_models: tuple[str, ...] = ()
    told_of_tray: bool = False
    model_order: str = "used"
    favourites: tuple[str, ...] = ()
    pinned_models: tuple[str, ...] = ()
    contexts: tuple[str, ...] = ()
    keep_alive_minutes: int = 0
    download_limit: int = 0

    def is_pinned(self, digest: str) -> bool:
        """Return whether a model stays in memory once it is loaded."""
        return digest in self.pinned_models

    def context_of(self, digest: str) -> int | None:
        """Return the tokens of context that were chosen for a model; None where none were."""
        for entry in self.contexts:
            chosen_for, _, tokens = entry.rpartition(":")
            if chosen_for == digest and tokens.isascii() and tokens.isdigit() and 0 < int(tokens[:12]) < 2**31:
                return int(tokens)
        return None


def _is_place(value: str) -> bool:
    try:
        shares = [float(share) for share in value.split()]
    except ValueError:
        return False
    return not value or (len(shares) == 2 and all(0 <= share <= 1 for share in shares))


_FITS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "appearance": (lambda value: value in ("", "light", "dark"), "light, dark or empty"),
    "engine_host": (lambda value: value in ("thread", "process"), "thread or process"),
    "num_ctx": (lambda value: value == 0 or CONTEXT.fits(value), f"0, or {CONTEXT.least} or more"),
    # What answers must be is each chat's own.
    "options": (lambda value: sensible(value) == value and "format" not in value, "options of answers that make sense"),
    "quick_fresh_minutes": (lambda value: 0 <= value <= LONGEST_FRESH, f"0 to {LONGEST_FRESH}"),
    "quick_place": (_is_place, "two shares of the screen, from 0 to 1"),
    "zoom": (lambda value: SMALLEST_ZOOM <= value <= LARGEST_ZOOM, f"{SMALLEST_ZOOM} to {LARGEST_ZOOM}"),
    "api_host": (lambda value: 0 < len(value) <= 255, "an address to listen on"),
    "api_port": (lambda value: isinstance(value, int) and 0 < value < 1 << 16, "a port from 1 to 65535"),
    "api_key": (lambda value: len(value) <= 1000 and (not value or value.isprintable()), "a key of one line"),
    "api_origins": (lambda value: len(value) <= 4000 and (not value or value.isprintable()), "addresses of pages"),
    "model_order": (lambda value: value in MODEL_ORDERS, "used, name, size or fit"),
    "keep_alive_minutes": (
        lambda value: isinstance(value, int) and 0 <= value <= LONGEST_KEEP_ALIVE,
        f"0 to {LONGEST_KEEP_ALIVE}",
    ),
    "download_limit": (
        lambda value: isinstance(value, int) and (value == 0 or LEAST_SPEED <= value <= MOST_SPEED),
        f"0, or {LEAST_SPEED} to {MOST_SPEED} bytes a second",
    ),
}


class PreferenceKeeper(QObject):
    """The choices in force.

    Signals:
        changed: Other ones are in force now (`Preferences`).
        failed: They cannot be kept; why, in a sentence.
        closing: What is kept beside them is to be written as well.
    """

    changed = Signal(object)
    failed = Signal(str)
    closing = Signal()

    def __init__(self, path: Path, parent: QObject | None = None) -> None:
        """Read what was chosen from `path`, which may not exist."""
        super().__init__(parent)
        self._path = path
        self._foreign: dict[str, Any] = {}
        self.values = self._read()
        self._file = LateFile(path, self._text, self)
        self._file.failed.connect(self.failed)

    @property
    def folder(self) -> Path:
        """Where choices are kept."""
        return self._path.parent

    def change(self, **choices: Any) -> None:
        """Choose; each argument is a field of `Preferences`.

        Raises:
            ValueError: A value makes no sense; nothing is chosen then.
        """
        for name, value in choices.items():
            if (right := _wrong(name, value)) is not None:
                raise ValueError(f"{name} must be {right}, not {value!r}.")
        values = replace(self.values, **choices)
        if values != self.values:
            self.values = values
            self._file.touch()
            self.changed.emit(values)

    def close(self) -> None:
        """Write what is not written yet, and wait for it."""
        self.closing.emit()
        self._file.close()

    def _text(self) -> str:
        usual = asdict(Preferences())
        chosen = {name: value for name, value in asdict(self.values).items() if value != usual[name]}
        return json.dumps(self._foreign | chosen, indent=1)

    def _read(self) -> Preferences:
        if not self._path.exists():
            return Preferences()
        try:
            written = read_object(self._path)
        except BrokenModelError as error:
            _log.warning("%s", error.message)
            return Preferences()
        known = {field.name for field in fields(Preferences)}
        chosen: dict[str, Any] = {}
        for name, value in written.items():
            if name not in known:
                self._foreign[name] = value
                continue
            read = tuple(value) if isinstance(value, list) else value
            if (right := _wrong(name, read)) is not None:
                _log.warning("%s in %s must be %s, not %.60r.", name, printable_path(self._path), right, value)
            else:
                chosen[name] = read
        return replace(Preferences(), **chosen)


def _wrong(name: str, value: Any) -> str | None:
    """Return what a value should be, in words, or None if it is right."""
    usual = getattr(Preferences(), name)
    if isinstance(usual, bool):
        return None if isinstance(value, bool) else "true or false"
    if isinstance(usual, int | float):
        if isinstance(value, bool) or not isinstance(value, int | float):
            return "a number"
    elif isinstance(usual, str):
        if not isinstance(value, str) or len(value) > LONGEST_TEXT:
            return "a text"
    elif isinstance(usual, dict):
        if not isinstance(value, dict):
            return "values by name"
    elif not isinstance(value, tuple) or not all(isinstance(one, str) for one in value):
        return "a list of texts"
    fits, right = _FITS.get(name, (None, ""))
    return None if fits is None or fits(value) else right
