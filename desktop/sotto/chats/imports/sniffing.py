"""Tells from a few bytes whether a file or folder that is dropped may hold chats; `reading` then says for sure."""

import os
import re
from pathlib import Path

from sotto.chats.imports.ollama_app import MAGIC

_BEGINNING = 4096
_MOST_FILES = 24
# Keys that stand at the beginning of exports, where other files have none of them.
_SIGNS = re.compile(
    rb'"(?:mapping|chat_messages|current_node|moderation_results|conversation_id|lastUsedModel|userLastMessagedAt'
    rb'|usePerChatPredictionConfig)"\s*:'
    rb'|"format"\s*:\s*"sotto-(?:chats|image)"|"object"\s*:\s*"thread(?:\.message)?"|"thread_id"\s*:'
    rb'|"versions"\s*:\s*\[\s*\{\s*"type"\s*:\s*"(?:single|multi)Step"'
    rb'|"(?:user_id|title|id)"\s*:\s*"[^"]{0,500}"\s*,\s*(?:"title"\s*:\s*"[^"]{0,500}"\s*,\s*)?"chat"\s*:\s*\{'
    rb'|^\s*\[\s*\{\s*"uuid"\s*:\s*"[^"]{0,80}"\s*,\s*"name"\s*:'
    rb'|^\s*\{\s*"title"\s*:\s*"[^"]{0,500}"\s*,\s*"exported_at"\s*:'
    rb'|^\s*\{\s*"name"\s*:\s*"[^"]{0,500}"\s*,\s*"pinned"\s*:'
    rb'|^\s*\[\s*\{\s*"title"\s*:\s*(?:"[^"]{0,500}"|null)\s*,\s*"create_time"\s*:'
)


def may_hold_chats(path: Path) -> bool:
    """Return whether a dropped file or folder is to be imported; reads little, and never fails."""
    try:
        return _folder_may(path) if path.is_dir() else _file_may(path, packed=True)
    except OSError:
        return False


def _folder_may(folder: Path) -> bool:
    """Return whether one of the first files of a folder, or of the folders in it, may hold chats."""
    left = _MOST_FILES
    with os.scandir(folder) as entries:
        inside = sorted((entry for entry, _ in zip(entries, range(1000), strict=False)), key=lambda entry: entry.name)
    folders = [entry for entry in inside if entry.is_dir(follow_symlinks=False)]
    files = [entry for entry in inside if entry.is_file(follow_symlinks=False)]
    for entry in files[:left]:
        if _file_may(Path(entry.path)):
            return True
    for each in folders[: left // 4]:
        with os.scandir(each.path) as entries:
            for entry, _ in zip(entries, range(left // 4), strict=False):
                if entry.is_file(follow_symlinks=False) and _file_may(Path(entry.path)):
                    return True
    return False


def _file_may(path: Path, *, packed: bool = False) -> bool:
    """Return whether a file may hold chats; databases and archives, which anything may be in, only if `packed`."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        beginning = file.read(_BEGINNING)
    if beginning.startswith((MAGIC, b"PK\x03\x04")):
        return packed
    beginning = beginning.removeprefix(b"\xef\xbb\xbf")
    return beginning.lstrip()[:1] in (b"{", b"[") and _SIGNS.search(beginning) is not None
