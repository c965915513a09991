"""Which folders change when a model comes or goes."""

import os
from collections import deque
from collections.abc import Sequence
from pathlib import Path

from sotto.store.roots import Root

_DEEPEST = 5
_MOST = 1000
# Weights come and go in these; what makes a model of them is elsewhere.
_WEIGHTS = frozenset(("blobs", ".locks"))


def watched_folders(roots: Sequence[Root]) -> tuple[Path, ...]:
    """Return the folders to watch, those nearest to a root first, at most a thousand.

    For a root that is not there it is the folder above, because the root may come; not those further up, which change
    all the time. Links are not followed.

    Args:
        roots: Where models are looked for.
    """
    found: dict[Path, None] = {}
    waiting = deque((root.path, 0) for root in roots)
    while waiting and len(found) < _MOST:
        path, depth = waiting.popleft()
        if depth == 0 and not path.is_dir():
            path, depth = path.parent, _DEEPEST
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
    return tuple(found)


def _leads_on(entry: "os.DirEntry[str]") -> bool:
    return entry.name not in _WEIGHTS and entry.is_dir(follow_symlinks=False)
