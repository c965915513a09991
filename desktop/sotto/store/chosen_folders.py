"""Folders of models that people added in the app, for whatever runs without it."""

import logging

from sotto import paths
from sotto.errors import BrokenModelError
from sotto.store.bounded_json import read_object

_log = logging.getLogger(__name__)


def chosen_folders() -> tuple[str, ...]:
    """Return the folders that were added; none where the file that says so is damaged, which is told in the log."""
    path = paths.preferences_file()
    if not path.exists():
        return ()
    try:
        folders = read_object(path).get("folders", [])
    except BrokenModelError as error:
        _log.warning("%s", error.message)
        return ()
    return tuple(one for one in folders if isinstance(one, str)) if isinstance(folders, list) else ()
