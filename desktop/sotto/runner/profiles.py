"""Capabilities and embedding sizes of models, cached on disk until a model's files change.

The cache is one small JSON file. If it cannot be read, the profiles are computed again.
"""

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sotto import __version__, paths
from sotto.engine.prompt.abilities import Abilities, abilities_in_files
from sotto.errors import StoreError
from sotto.store.atomic_writing import write_atomically
from sotto.store.bounded_json import parse_object
from sotto.store.facts import ENCODERS
from sotto.store.files import read_all
from sotto.store.opening import open_texts
from sotto.store.records import ModelRecord, ModelSource
from sotto.store.user_templates import template_path

_log = logging.getLogger(__name__)

# Increase this when the meaning of a profile changes.
_FORMAT = 2
_MOST_BYTES = 8 << 20
_MOST_MODELS = 4000
_MOST_WIDTH = 1 << 31
_NAMES = ("completion", "embedding", "vision", "tools", "insert", "thinking")


@dataclass(frozen=True, slots=True)
class Profile:
    """What listings show about a model.

    Attributes:
        capabilities: What it can do, by Ollama's names.
        embedding_length: Dimensions of a token's or a text's vector; None if unknown.
    """

    capabilities: tuple[str, ...]
    embedding_length: int | None = None


class Profiles:
    """The profiles of models, with a cache. Not thread-safe."""

    def __init__(self) -> None:
        """Begin with the cache on disk, which is read on first use."""
        self._known: dict[str, tuple[list[int], Profile]] | None = None

    def of(self, records: Sequence[ModelRecord]) -> list[Profile]:
        """Return the profile of each model; one that is not cached takes about a tenth of a second."""
        if self._known is None:
            self._known = _read()
        found = [self._look_up(record, self._known) for record in records]
        if any(new for _, new in found):
            self._known = dict([*self._known.items()][-_MOST_MODELS:])
            _write(self._known)
        return [profile for profile, _ in found]

    def _look_up(self, record: ModelRecord, known: dict[str, tuple[list[int], Profile]]) -> tuple[Profile, bool]:
        """Return the profile of a model and whether it was computed now."""
        state = [number for path in (record.path, template_path(record.digest)) for number in _state(path)]
        before = known.get(record.digest)
        if before is not None and before[0] == state:
            return before[1], False
        profile = profile_of(record)
        if not record.digest:
            return profile, False
        # The newest are last.
        known.pop(record.digest, None)
        known[record.digest] = state, profile
        return profile, True


def profile_of(record: ModelRecord) -> Profile:
    """Compute the profile of a model from its files."""
    embeds_only = "embedding" in record.capabilities and "completion" not in record.capabilities
    by_kind = Profile(("embedding" if embeds_only or record.architecture in ENCODERS else "completion",))
    try:
        source = open_texts(record)
        if source.modules or source.config.get("model_type") in ENCODERS:
            return Profile(("embedding",), _width(source))
        return Profile(_capability_names(record, abilities_in_files(source)), _width(source))
    except StoreError as error:
        # Loading the model will report the same error.
        _log.info("Nothing more can be told of %s: %s", record.name, error)
        return by_kind


def _capability_names(record: ModelRecord, can: Abilities) -> tuple[str, ...]:
    found = {
        "completion": True,
        "vision": "vision" in record.capabilities,
        "tools": can.tools,
        "insert": can.infills,
        "thinking": can.thinks,
    }
    return tuple(name for name, has in found.items() if has)


def _width(source: ModelSource) -> int | None:
    text = source.config.get("text_config")
    for holder in (text if isinstance(text, Mapping) else {}, source.config):
        for key in ("hidden_size", "n_embd", "d_model"):
            width = holder.get(key)
            if type(width) is int and 0 < width < _MOST_WIDTH:
                return width
    return None


def _state(path: Path) -> tuple[int, int]:
    """Return modification time and size of a file, by which changes are noticed; zeros if it does not exist."""
    try:
        status = path.stat()
    except OSError:
        return 0, 0
    return status.st_mtime_ns, status.st_size


def file() -> Path:
    """Return the path of the cache; the file may not exist."""
    return paths.cache_dir() / "profiles.json"


def _versions() -> list[Any]:
    """Return the versions that a cache must match: another version may judge differently."""
    return [_FORMAT, __version__]


def _write(known: Mapping[str, tuple[Sequence[int], Profile]]) -> None:
    models = {
        digest: [state, profile.capabilities, profile.embedding_length] for digest, (state, profile) in known.items()
    }
    try:
        write_atomically(file(), json.dumps({"by": _versions(), "models": models}))
    except OSError as error:
        _log.info("What is told of models cannot be kept in %s: %s", file(), error.strerror)


def _read() -> dict[str, tuple[list[int], Profile]]:
    if not file().exists():
        return {}
    try:
        written = parse_object(read_all(file(), _MOST_BYTES, "what is told of models"), file(), strict=True)
        if written.get("by") != _versions():
            return {}
        return {
            digest: ([int(number) for number in state], Profile(_check_names(names), _check_width(width)))
            for digest, (state, names, width) in written["models"].items()
        }
    except (StoreError, ValueError, TypeError, KeyError, AttributeError) as error:
        _log.info("%s is of no use: %s", file().name, error)
        return {}


def _check_names(names: Any) -> tuple[str, ...]:
    found = tuple(names)
    if not found or not set(found) <= set(_NAMES):
        raise ValueError("it names what no model can")
    return found


def _check_width(width: Any) -> int | None:
    if width is not None and not (type(width) is int and 0 < width < _MOST_WIDTH):
        raise ValueError("it has a width that is none")
    return width
