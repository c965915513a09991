"""Templates that people gave to models: one file for each model, by its digest, beside the other things they chose."""

from pathlib import Path

from sotto import paths
from sotto.errors import BrokenModelError, StoreError
from sotto.store.atomic_writing import write_whole
from sotto.store.files import read_all
from sotto.store.printable import printable_path

_LARGEST = 1 << 20


def read_template_file(path: Path) -> str:
    """Return the text of a template that somebody wrote.

    Raises:
        BrokenModelError: There is none, it is too large, or no text.
    """
    try:
        text = read_all(path, _LARGEST, "a template").decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BrokenModelError(
            f"{printable_path(path)} is not UTF-8 at byte {error.start}; it should be text."
        ) from error
    if not text.strip():
        raise BrokenModelError(f"{printable_path(path)} is empty; it should be a template.")
    return text


def read_user_template(digest: str) -> str:
    """Return the template that was given to a model; empty where none was.

    Raises:
        BrokenModelError: There is one that cannot be read.
    """
    path = template_path(digest)
    return read_template_file(path) if path.exists() else ""


def keep_user_template(digest: str, text: str) -> None:
    """Give a template to a model, from its next load on; an empty one takes it back.

    Raises:
        StoreError: It cannot be written or removed.
    """
    path = template_path(digest)
    try:
        if text:
            write_whole(path, text)
        else:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(f"{printable_path(path)} cannot be changed: {error.strerror}.") from error


def template_path(digest: str) -> Path:
    """Return where the template of a model is kept; the file may not exist."""
    return paths.config_dir() / "templates" / f"{digest}.txt"
