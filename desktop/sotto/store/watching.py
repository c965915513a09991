"""Which folders change when a model comes or goes."""

import os
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sotto.store.roots import Root

_DEEPEST = 5
_MOST = 1000
# Weights come and go in these; what makes a model of them is elsewhere.
_WEIGHTS = frozenset(("blobs", ".locks"))


@dataclass(frozen=True, slots=True)
class Watched:
    """What to watch.

    Attributes:
        folders: Those in which a change may be a model's, those nearest to a root first.
        awaited: Others, each with what may come in it that matters; they may change all the time.
    """

    folders: tuple[Path, ...] = ()
    awaited: Mapping[Path, frozenset[Path]] = field(default_factory=dict)


def watched_folders(roots: Sequence[Root]) -> Watched:
    """Return what to watch, at most a thousand folders in which a change may be a model's.

    For a root that is not there it is the folder above, because the root may come. Where that is not there either, what
    comes first of its path is awaited in the folder that is there, as far as it is in the user's home. Links are not
    followed.

    Args:
        roots: Where models are looked for.
    """
    found: dict[Path, None] = {}
    awaited: dict[Path, frozenset[Path]] = {}
    waiting = deque((root.path, 0) for root in roots)
    while waiting and len(found) < _MOST:
        path, depth = waiting.popleft()
        if depth == 0 and not path.is_dir():
            path, depth = path.parent, _DEEPEST
            if not path.is_dir():
                _await(path, awaited)
        if path in found:
            continue
        try:
            with os.scandir(path) as entries:
                below = [Path(entry.path) for entry in entries if _leads_on(entry)]
        except OSError:
            # What cannot be seen is told where models are listed.
            continue
        found[path] = None
        if depth < _DEEPEST:
            waiting.extend((one, depth + 1) for one in sorted(below))
    return Watched(tuple(found), {path: coming for path, coming in awaited.items() if path not in found})


def _await(path: Path, awaited: dict[Path, frozenset[Path]]) -> None:
    """Add where the first folder of a path comes that is not there."""
    while not path.parent.is_dir() and path.parent != path:
        path = path.parent
    if path.parent.is_relative_to(Path.home()):
        awaited[path.parent] = awaited.get(path.parent, frozenset()) | {path}


def _leads_on(entry: "os.DirEntry[str]") -> bool:
    return entry.name not in _WEIGHTS and entry.is_dir(follow_symlinks=False)
