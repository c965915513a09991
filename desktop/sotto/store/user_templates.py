"""Chat templates that the user set for models: one file per model in the configuration folder, named by digest."""

from pathlib import Path

from sotto import paths
from sotto.errors import BrokenModelError, StoreError
from sotto.store.atomic_writing import write_atomically
from sotto.store.files import read_all
from sotto.store.printable import printable_path

_MAX_BYTES = 1 << 20


def read_template_file(path: Path) -> str:
    """Return the text of a template file.

    Raises:
        BrokenModelError: The file is missing, too large, empty or not text.
    """
    try:
        text = read_all(path, _MAX_BYTES, "a template").decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BrokenModelError(
            f"{printable_path(path)} is not UTF-8 at byte {error.start}; it should be text."
        ) from error
    if not text.strip():
        raise BrokenModelError(f"{printable_path(path)} is empty; it should be a template.")
    return text


def read_user_template(digest: str) -> str:
    """Return the template that the user set for a model; empty if none.

    Raises:
        BrokenModelError: It cannot be read.
    """
    path = template_path(digest)
    return read_template_file(path) if path.exists() else ""


def save_user_template(digest: str, text: str) -> None:
    """Set the template of a model from its next load on; an empty text removes it.

    Raises:
        StoreError: It cannot be written or removed.
    """
    path = template_path(digest)
    try:
        if text:
            write_atomically(path, text)
        else:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(f"{printable_path(path)} cannot be changed: {error.strerror}.") from error


def template_path(digest: str) -> Path:
    """Return the path of a model's template; the file may not exist."""
    return paths.config_dir() / "templates" / f"{digest}.txt"
