"""Where Sotto keeps what it owns, and where its bundled resources lie."""

from pathlib import Path

import platformdirs

_APP = "Sotto"


def data_dir() -> Path:
    """Return the folder of our own models and chats; it may not exist yet."""
    return Path(platformdirs.user_data_dir(_APP, appauthor=False))


def cache_dir() -> Path:
    """Return the folder of what can be computed again; it may not exist yet, and anybody may empty it."""
    return Path(platformdirs.user_cache_dir(_APP, appauthor=False))


def config_dir() -> Path:
    """Return the folder of what people chose; it may not exist yet."""
    return Path(platformdirs.user_config_dir(_APP, appauthor=False))


def state_dir() -> Path:
    """Return the folder of what one run leaves to the next; it may not exist yet."""
    return Path(platformdirs.user_state_dir(_APP, appauthor=False))


def preferences_file() -> Path:
    """Return the file of what people chose about the app; it may not exist yet."""
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
