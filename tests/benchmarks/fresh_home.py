"""A new home for a program, as that of a person who has just installed it."""

import os

_HOMES = ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME")


def fresh_home(home: str) -> dict[str, str]:
    """Return this process's environment with `home` for a home; compiled bytecode is kept, as on a person's machine."""
    environment = {**os.environ, **dict.fromkeys(_HOMES, home)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return environment
