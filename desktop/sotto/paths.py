"""The folders of Sotto's own files, which only their owner can read, and the folder of its bundled resources.

Folders and files that are created here are closed to other users whatever the umask is. Files that an earlier version
left readable are closed the first time that anything is written to their folder. Files of models are no secret and keep
the modes that the layout of their store prescribes; the folder around them is closed.
"""

import logging
import os
import stat
from pathlib import Path

import platformdirs

_log = logging.getLogger(__name__)

_APP = "Sotto"
_MODELS = "models"
_FOLDER, _FILE = 0o700, 0o600
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def data_dir() -> Path:
    """Return the folder of our own models and chats; it may not exist yet."""
    return Path(platformdirs.user_data_dir(_APP, appauthor=False))


def cache_dir() -> Path:
    """Return the folder of data that can be recomputed, and so deleted at any time; it may not exist yet."""
    return Path(platformdirs.user_cache_dir(_APP, appauthor=False))


def config_dir() -> Path:
    """Return the folder of the settings; it may not exist yet."""
    return Path(platformdirs.user_config_dir(_APP, appauthor=False))


def state_dir() -> Path:
    """Return the folder of state that one run leaves to the next; it may not exist yet."""
    return Path(platformdirs.user_state_dir(_APP, appauthor=False))


def log_dir() -> Path:
    """Return the folder of logs and of reports of errors; it may not exist yet."""
    return Path(platformdirs.user_log_dir(_APP, appauthor=False))


def preferences_file() -> Path:
    """Return the file of the app's settings; it may not exist yet."""
    return config_dir() / "app.json"


def resources_dir() -> Path:
    """Return the folder of bundled resources: inside the package in a wheel or bundle, beside `desktop/` in a checkout.

    Raises:
        RuntimeError: The installation is incomplete.
    """
    package = Path(__file__).resolve().parent
    for candidate in (package / "_resources", package.parent.parent / "resources"):
        if candidate.is_dir():
            return candidate
    raise RuntimeError(f"Sotto's resources folder is missing beside {package}: install Sotto again.")


def private_folder(folder: Path) -> None:
    """Create a folder of Sotto's own, wherever it is, or close it to other users if it exists.

    Raises:
        OSError: It cannot be created.
    """
    make_folder(folder)
    _close(folder)


def make_folder(folder: Path) -> None:
    """Create a folder and its missing parents for their owner alone.

    An existing folder may be the user's own, and stays as it is unless it lies in a folder of Sotto's.

    Raises:
        OSError: It cannot be created.
    """
    _make(folder)
    for root in {data_dir(), cache_dir(), config_dir(), state_dir(), log_dir()}:
        if folder.is_relative_to(root):
            if _is_open(root):
                _close_all(root)
            for inside in (root, *(each for each in folder.parents if root in each.parents), folder):
                _close(inside)


def private_file(path: Path) -> None:
    """Create an empty file for its owner alone, or close an existing one to other users.

    Raises:
        OSError: It cannot be created.
    """
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _FILE))
    except FileExistsError:
        _close(path)


def close_beside(path: Path) -> None:
    """Close to other users all files beside `path` whose names are the same up to the first dot."""
    beginning = path.name.partition(".")[0] + "."
    for each in path.parent.iterdir():
        if each.name.startswith(beginning):
            _close(each)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(_FOLDER)
    except FileNotFoundError:
        if folder.parent == folder:
            raise
        _make(folder.parent)
        folder.mkdir(_FOLDER, exist_ok=True)
    except OSError:
        # Systems report different errors for an existing folder on a disk that is read-only.
        if not folder.is_dir():
            raise


def _is_open(path: Path) -> bool:
    return bool(path.stat().st_mode & _OTHERS)


def _close(path: Path) -> None:
    """Take all permissions on a file or folder from other users, or log that this is not possible."""
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
        if mode & _OTHERS:
            path.chmod(mode & stat.S_IRWXU)
    except FileNotFoundError:
        return  # just removed by another process
    except OSError as error:
        # It belongs to another user, or lies on a disk without modes.
        _log.warning("%s cannot be closed to other users: %s", path, error.strerror)


def _close_all(root: Path) -> None:
    """Close everything in a folder of Sotto's; the folder itself comes last, so that an interrupted run is repeated."""
    for folder, folders, files in os.walk(root):
        if _MODELS in folders and Path(folder) == root:
            folders.remove(_MODELS)
            _close(root / _MODELS)
        for name in (*folders, *files):
            path = Path(folder, name)
            if not path.is_symlink():
                _close(path)
    _close(root)
