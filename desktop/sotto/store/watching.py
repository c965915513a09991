"""The folders to watch for models that are added or removed."""

import os
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sotto.store.roots import Root

_MAX_DEPTH = 5
_MAX_FOLDERS = 1000
# These hold weights and locks; a model is only complete once files elsewhere name them.
_WEIGHTS = frozenset(("blobs", ".locks"))


@dataclass(frozen=True, slots=True)
class WatchedFolders:
    """The folders to watch.

    Attributes:
        folders: Folders in which any change may concern a model, those nearest to a root first.
        awaited: Folders that may change for other reasons, each with the paths in it whose appearance matters.
    """

    folders: tuple[Path, ...] = ()
    awaited: Mapping[Path, frozenset[Path]] = field(default_factory=dict)


def watched_folders(roots: Sequence[Root]) -> WatchedFolders:
    """Return the folders to watch, at most a thousand of those in `folders`.

    For a missing root that is its parent, as the root may appear there. If the parent is missing too, the first missing
    part of its path is awaited in the nearest existing folder, provided that is in the user's home. Symbolic links are
    not followed.

    Args:
        roots: The roots that models are searched in.
    """
    watched: dict[Path, None] = {}
    awaited: dict[Path, frozenset[Path]] = {}
    pending = deque((root.path, 0) for root in roots)
    while pending and len(watched) < _MAX_FOLDERS:
        path, depth = pending.popleft()
        if depth == 0 and not path.is_dir():
            path, depth = path.parent, _MAX_DEPTH
            if not path.is_dir():
                _await(path, awaited)
        if path in watched:
            continue
        try:
            with os.scandir(path) as entries:
                below = [Path(entry.path) for entry in entries if _is_searched(entry)]
        except OSError:
            # Discovery reports folders that cannot be accessed.
            continue
        watched[path] = None
        if depth < _MAX_DEPTH:
            pending.extend((folder, depth + 1) for folder in sorted(below))
    return WatchedFolders(tuple(watched), {path: expected for path, expected in awaited.items() if path not in watched})


def _await(path: Path, awaited: dict[Path, frozenset[Path]]) -> None:
    """Add the first missing folder of a path, to be awaited in the existing folder above it."""
    while not path.parent.is_dir() and path.parent != path:
        path = path.parent
    if path.parent.is_relative_to(Path.home()):
        awaited[path.parent] = awaited.get(path.parent, frozenset()) | {path}


def _is_searched(entry: "os.DirEntry[str]") -> bool:
    return entry.name not in _WEIGHTS and entry.is_dir(follow_symlinks=False)
