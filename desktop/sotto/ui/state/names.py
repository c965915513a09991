"""Names of models and places, as the window shows them."""

from collections.abc import Sequence
from pathlib import Path


def model_name(name: str) -> str:
    """Return a model's name without what goes without saying."""
    return name.removesuffix(":latest")


def short_name(name: str) -> str:
    """Return a model's name without whose it is, for where room is short."""
    return model_name(name).rpartition("/")[2]


def shortened(name: str, most: int = 32) -> str:
    """Return a name without its middle where it is long."""
    return name if len(name) <= most else f"{name[: most // 2]}…{name[-(most // 2) + 1 :]}"


def listed(names: Sequence[str]) -> str:
    """Return names as a sentence has them: `a`, `a and b`, `a, b and c`."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def home_path(path: Path) -> str:
    """Return a path as people read it, with `~` for their own folder."""
    home = Path.home()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)
