"""The model folders that the user added in the app, for code that runs without the app."""

import logging

from sotto import paths
from sotto.errors import BrokenModelError
from sotto.store.bounded_json import read_object

_log = logging.getLogger(__name__)


def chosen_folders() -> tuple[str, ...]:
    """Return the folders from the preferences file; none if it is damaged, which is logged."""
    path = paths.preferences_file()
    if not path.exists():
        return ()
    try:
        folders = read_object(path).get("folders", [])
    except BrokenModelError as error:
        _log.warning("%s", error.message)
        return ()
    return tuple(folder for folder in folders if isinstance(folder, str)) if isinstance(folders, list) else ()
