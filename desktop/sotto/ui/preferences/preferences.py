"""The user's preferences, and the small JSON file that stores them.

An invalid value is logged and replaced by its default, so that a damaged file never keeps the app from starting.
Unknown keys and values, which a newer version may have written, are preserved until the user changes that preference. A
file that cannot be read at all is kept under another name.
"""

import json
import logging
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from sotto import api
from sotto.errors import BrokenModelError
from sotto.store.bounded_json import read_object
from sotto.store.printable import printable_path
from sotto.ui.preferences.sampling_options import CONTEXT_LENGTH, valid_options
from sotto.ui.timing.debounced_file import DebouncedFile, keep_aside

_log = logging.getLogger(__name__)

MIN_ZOOM, MAX_ZOOM = 0.7, 2.5
MAX_TEXT_LENGTH = 20_000
MAX_QUICK_FRESH_MINUTES = 7 * 24 * 60
MODEL_ORDERS = ("used", "name", "size", "fit")
SECTIONS = ("chats", "models")
MODEL_COLUMNS = ("name", "parameters", "bits", "fit", "context", "source", "used", "disk")
MAX_COLUMN_WIDTH = 10_000
MAX_KEEP_ALIVE_MINUTES = 24 * 60
MIN_DOWNLOAD_SPEED, MAX_DOWNLOAD_SPEED = 10**4, 10**12


@dataclass(frozen=True, slots=True)
class Preferences:
    """All preferences, with their defaults.

    Attributes:
        appearance: `light`, `dark`, or empty to follow the system.
        language: The language of the window, as in the names of translations, such as `de` or `pt_BR`; empty to follow
            the system.
        zoom: Factor by which all text is larger than the system's.
        api_enabled: Whether other programs may use the models over HTTP.
        api_host: The address on which the API listens.
        api_port: The port on which it listens.
        api_key: The key that other programs must send; may be empty if only this machine can reach the address.
        api_origins: Origins of web pages that may use the models, separated by commas; empty for none.
        follow: Whether the view scrolls along with an answer while it is written.
        system: The system prompt of chats that have none of their own.
        options: The answer options of chats that do not set them, under Ollama's names.
        num_ctx: Context length in tokens with which models are loaded; 0 for the model's own.
        folders: Additional folders to search for models.
        recent: Keys of the commands that were chosen in the command palette, the latest first.
        engine_host: `thread` to run the engine in the app's process, `process` to run it in a child process.
        quick_shortcut: The global shortcut of the quick prompt, for example `Ctrl+Alt+Space`; empty for none.
        quick_fresh_minutes: Minutes out of sight after which the quick prompt begins a new chat.
        quick_place: Where its panel was dragged to, as two fractions of the screen; empty for the default place.
        gauge_open: Whether the memory gauge shows what takes up memory, not only how much.
        sidebar_hidden: Whether the sidebar is hidden where there is room for it beside the chat.
        sidebar_share: The part of the sidebar's height that the chats have, from 0 to 1; 0 for what they need.
        folded_sections: The sections of the sidebar that are folded, of `SECTIONS`.
        window: The window's geometry as Qt saves it, in base64.
        chat: The conversation in view; 0 for none.
        message: Its message at the top of the view; 0 if the view was scrolled to the end.
        scroll: How far the view was scrolled past the top of that message, in pixels.
        model: Path of the model that the user chose last; empty for the built-in one.
        last_used: When models were last used, in seconds since the epoch, by name.
        dock_icon: Whether macOS shows the app in the Dock while its window is closed.
        told_of_tray: Whether the user has been told that the app keeps running when its window is closed.
        model_order: The sort order of models, one of `MODEL_ORDERS`; favourites come before the others.
        models_sort: The column that the page of models is sorted by, of `MODEL_COLUMNS`, with `-` before it if it is
            descending.
        models_widths: The widths that the user has given to columns of that page, in pixels at 13 px text.
        models_card: Whether the page of models shows the card of the selected one.
        favourites: Digests of favourite models.
        pinned_models: Digests of models that stay in memory once they are loaded.
        contexts: Context lengths chosen for single models, each as `digest:tokens`.
        keep_alive_minutes: Minutes after which an idle model is unloaded; 0 for never.
        download_limit: Maximum bytes per second of all downloads together; 0 for no limit.
        updates: Whether Sotto looks for new versions by itself: `yes`, `no`, or empty if the user was not asked yet.
        updates_checked: When they were last looked for, in seconds since the epoch; 0 for never.
        updates_signed: When the newest list of versions that was read had been signed, in seconds since the epoch.
        updates_told: The newest version that the user was told of; empty for none.
    """

    appearance: str = ""
    language: str = ""
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
    gauge_open: bool = False
    sidebar_hidden: bool = False
    sidebar_share: float = 0.0
    folded_sections: tuple[str, ...] = ()
    window: str = ""
    chat: int = 0
    message: int = 0
    scroll: int = 0
    model: str = ""
    last_used: Mapping[str, float] = field(default_factory=dict)
    dock_icon: bool = True
    told_of_tray: bool = False
    model_order: str = "used"
    models_sort: str = "name"
    models_widths: Mapping[str, float] = field(default_factory=dict)
    models_card: bool = True
    favourites: tuple[str, ...] = ()
    pinned_models: tuple[str, ...] = ()
    contexts: tuple[str, ...] = ()
    keep_alive_minutes: int = 0
    download_limit: int = 0
    updates: str = ""
    updates_checked: float = 0
    updates_signed: float = 0
    updates_told: str = ""

    @property
    def recent_models(self) -> tuple[str, ...]:
        """Names of the models that were used most recently, the latest first."""
        return tuple(sorted(self.last_used, key=self.last_used.__getitem__, reverse=True))

    def is_pinned(self, digest: str) -> bool:
        """Return whether a model stays in memory once it is loaded."""
        return digest in self.pinned_models

    def chosen_context(self, digest: str) -> int | None:
        """Return the context length chosen for a model, in tokens; None if none was chosen."""
        for entry in self.contexts:
            entry_digest, _, tokens = entry.rpartition(":")
            if entry_digest == digest and tokens.isascii() and tokens.isdigit() and 0 < int(tokens[:12]) < 2**31:
                return int(tokens)
        return None


def _is_place(value: str) -> bool:
    try:
        fractions = [float(fraction) for fraction in value.split()]
    except ValueError:
        return False
    return not value or (len(fractions) == 2 and all(0 <= fraction <= 1 for fraction in fractions))


def _are_times(values: Mapping[Any, Any]) -> bool:
    return all(
        isinstance(time, int | float) and not isinstance(time, bool) and math.isfinite(time) and time > 0
        for time in values.values()
    )


def _are_widths(values: Mapping[Any, Any]) -> bool:
    return set(values) <= set(MODEL_COLUMNS) and all(
        isinstance(width, int | float) and not isinstance(width, bool) and 0 < width <= MAX_COLUMN_WIDTH
        for width in values.values()
    )


# For each preference that needs more than the right type: a check, and what a valid value is.
_RULES: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "appearance": (lambda value: value in ("", "light", "dark"), "light, dark or empty"),
    "language": (
        lambda value: re.fullmatch(r"([a-z]{2,3}(_[A-Z][A-Za-z]{1,3})?)?", value) is not None,
        "a language such as de or pt_BR, or empty",
    ),
    "engine_host": (lambda value: value in ("thread", "process"), "thread or process"),
    "num_ctx": (lambda value: value == 0 or CONTEXT_LENGTH.fits(value), f"0, or {CONTEXT_LENGTH.least} or more"),
    "options": (
        # The format of answers can only be chosen for a single chat.
        lambda value: valid_options(value) == value and "format" not in value,
        "options of answers that make sense",
    ),
    "quick_fresh_minutes": (lambda value: 0 <= value <= MAX_QUICK_FRESH_MINUTES, f"0 to {MAX_QUICK_FRESH_MINUTES}"),
    "quick_place": (_is_place, "two shares of the screen, from 0 to 1"),
    "zoom": (lambda value: MIN_ZOOM <= value <= MAX_ZOOM, f"{MIN_ZOOM} to {MAX_ZOOM}"),
    "api_host": (lambda value: 0 < len(value) <= 255, "an address to listen on"),
    "api_port": (lambda value: isinstance(value, int) and 0 < value < 1 << 16, "a port from 1 to 65535"),
    "api_key": (lambda value: len(value) <= 1000 and (not value or value.isprintable()), "a key of one line"),
    "api_origins": (lambda value: len(value) <= 4000 and (not value or value.isprintable()), "addresses of pages"),
    "sidebar_share": (lambda value: 0 <= value < 1, "0 to 1"),
    "folded_sections": (lambda value: set(value) <= set(SECTIONS), "chats or models"),
    "last_used": (_are_times, "times by the names of models"),
    "model_order": (lambda value: value in MODEL_ORDERS, "used, name, size or fit"),
    "models_sort": (lambda value: value.removeprefix("-") in MODEL_COLUMNS, "a column, with or without -"),
    "models_widths": (_are_widths, f"widths up to {MAX_COLUMN_WIDTH} by columns"),
    "keep_alive_minutes": (
        lambda value: isinstance(value, int) and 0 <= value <= MAX_KEEP_ALIVE_MINUTES,
        f"0 to {MAX_KEEP_ALIVE_MINUTES}",
    ),
    "download_limit": (
        lambda value: isinstance(value, int) and (value == 0 or MIN_DOWNLOAD_SPEED <= value <= MAX_DOWNLOAD_SPEED),
        f"0, or {MIN_DOWNLOAD_SPEED} to {MAX_DOWNLOAD_SPEED} bytes a second",
    ),
    "updates": (lambda value: value in ("", "yes", "no"), "yes, no or empty"),
    "updates_checked": (lambda value: math.isfinite(value) and value >= 0, "a time"),
    "updates_signed": (lambda value: math.isfinite(value) and value >= 0, "a time"),
}


class PreferenceStore(QObject):
    """Holds the current preferences and saves each change.

    Signals:
        changed: The preferences have changed (`Preferences`).
        failed: They cannot be saved; the reason, in a sentence.
        closing: The app is about to quit: other pending changes should be saved now, too.

    Attributes:
        path: The file of preferences.
        values: The current preferences.
    """

    changed = Signal(object)
    failed = Signal(str)
    closing = Signal()

    def __init__(self, path: Path, parent: QObject | None = None) -> None:
        """Read the preferences from `path`, which may not exist."""
        super().__init__(parent)
        self.path = path
        self._unknown: dict[str, Any] = {}
        self.values = self._read()
        self._file = DebouncedFile(path, self._text, self)
        self._file.failed.connect(self.failed)

    @property
    def folder(self) -> Path:
        """The folder that contains the file of preferences."""
        return self.path.parent

    def change(self, **changes: Any) -> None:
        """Change preferences; each argument is a field of `Preferences`.

        Raises:
            ValueError: A value is invalid; nothing has been changed then.
        """
        for name, value in changes.items():
            if (expected := _expected(name, value)) is not None:
                raise ValueError(f"{name} must be {expected}, not {value!r}.")
        for name in changes:
            self._unknown.pop(name, None)
        values = replace(self.values, **changes)
        if values != self.values:
            self.values = values
            self._file.touch()
            self.changed.emit(values)

    def reset(self) -> None:
        """Return everything to its default, except where the window is."""
        defaults = asdict(Preferences(window=self.values.window))
        self._unknown = {}
        self.change(**defaults)

    def close(self) -> None:
        """Write pending changes, and wait until they are on disk."""
        self.closing.emit()
        self._file.close()

    def _text(self) -> str:
        defaults = asdict(Preferences())
        chosen = {name: value for name, value in asdict(self.values).items() if value != defaults[name]}
        return json.dumps(self._unknown | chosen, indent=1)

    def _read(self) -> Preferences:
        if not self.path.exists():
            return Preferences()
        try:
            written = read_object(self.path)
        except BrokenModelError as error:
            _log.warning("%s", error.message)
            keep_aside(self.path)
            return Preferences()
        known = {field.name for field in fields(Preferences)}
        chosen: dict[str, Any] = {}
        for name, value in written.items():
            if name not in known:
                self._unknown[name] = value
                continue
            read = tuple(value) if isinstance(value, list) else value
            if (expected := _expected(name, read)) is not None:
                # Not the value, which may be a key.
                _log.warning("%s in %s must be %s.", name, printable_path(self.path), expected)
                self._unknown[name] = value
            else:
                chosen[name] = read
        return replace(Preferences(), **chosen)


def _expected(name: str, value: Any) -> str | None:
    """Return in words what a value should be; None if it is valid."""
    default = getattr(Preferences(), name)
    if isinstance(default, bool):
        return None if isinstance(value, bool) else "true or false"
    if isinstance(default, int | float):
        if isinstance(value, bool) or not isinstance(value, int | float):
            return "a number"
    elif isinstance(default, str):
        if not isinstance(value, str) or len(value) > MAX_TEXT_LENGTH:
            return "a text"
    elif isinstance(default, dict):
        if not isinstance(value, dict):
            return "values by name"
    elif not isinstance(value, tuple) or not all(isinstance(item, str) for item in value):
        return "a list of texts"
    is_valid, expected = _RULES.get(name, (None, ""))
    return None if is_valid is None or is_valid(value) else expected
