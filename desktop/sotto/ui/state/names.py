"""The names of models and paths as the user sees them, and how names and sentences are joined."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from PySide6.QtCore import QLocale

from sotto.ui.toolkit.translation import app_locale, in_line

# Languages whose full stops contain the space after them.
_UNSPACED = (QLocale.Language.Chinese, QLocale.Language.Japanese)


def model_name(name: str) -> str:
    """Return a model's name without the default tag."""
    return name.removesuffix(":latest")


def short_name(name: str) -> str:
    """Return a model's name without the default tag and its owner, for narrow places."""
    return model_name(name).rpartition("/")[2]


def shorten_middle(name: str, most: int = 32) -> str:
    """Return a name of at most `most` characters; of a longer one, the middle is left out."""
    return name if len(name) <= most else f"{name[: most // 2]}…{name[-(most // 2) + 1 :]}"


def join_names(names: Sequence[str]) -> str:
    """Join names as in a sentence of the app's language: `a`, `a and b`, `a, b and c`."""
    return app_locale().createSeparatedList(names)


def join_facts(facts: Iterable[str]) -> str:
    """Return a line of facts, without those that are empty: `4.7 GB · 8-bit`."""
    return in_line(filter(None, facts), " · ")


def join_sentences(sentences: Iterable[str]) -> str:
    """Join those sentences that are not empty, with a space between them where the app's language has one."""
    return ("" if app_locale().language() in _UNSPACED else " ").join(filter(None, sentences))


def home_path(path: Path) -> str:
    """Return a path as text, with `~` for the home folder."""
    home = Path.home()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)
