"""The files that sentence-transformers adds to an embedding model: the steps from a text to its embedding.

`modules.json` lists the steps. The first runs the model, and `sentence_bert_config.json` limits the length of a text;
each of the others has a folder with a `config.json`, unless it needs no settings.
"""

from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType

from sotto.errors import BrokenModelError
from sotto.store.bounded_json import kind_of, read_list, read_object
from sotto.store.printable import printable, printable_path
from sotto.store.records import SentenceModule

MODULES = "modules.json"
TRANSFORMER_CONFIG = "sentence_bert_config.json"
_MAX_MODULES = 16


def sentence_modules(path: Path, find: Callable[[str], Path | None]) -> tuple[SentenceModule, ...]:
    """Return the steps of a model, in order.

    Args:
        path: Its `modules.json`.
        find: Returns the path of a file of the model by its relative name, or None if there is none.

    Raises:
        BrokenModelError: A file is damaged, or a step lies outside the folder.
    """
    entries = read_list(path)
    if len(entries) > _MAX_MODULES:
        raise BrokenModelError(f"{printable_path(path)} lists {len(entries)} steps; {_MAX_MODULES} are the most.")
    return tuple(_module(entry, index, path, find) for index, entry in enumerate(entries))


def _module(entry: object, index: int, path: Path, find: Callable[[str], Path | None]) -> SentenceModule:
    """Return one step of the list."""
    if not isinstance(entry, dict):
        raise BrokenModelError(f"{printable_path(path)}: entry {index} is {kind_of(entry)}; it should be an object.")
    for key in ("type", "path"):
        if not isinstance(entry.get(key), str):
            raise BrokenModelError(
                f"{printable_path(path)}: {key} of entry {index} is {kind_of(entry.get(key))}; it should be a text."
            )
    place: str = entry["path"]
    if set(place) & set("/\\:\0") or place.startswith("."):
        raise BrokenModelError(
            f"{printable_path(path)}: '{printable(place)}' is not a step; it should be the name of a folder beside it."
        )
    file = find(f"{place}/config.json" if place else TRANSFORMER_CONFIG)
    config = read_object(file) if file else {}
    return SentenceModule(printable(entry["type"].rpartition(".")[2], 60), MappingProxyType(config))
