"""The folders that may hold models on this machine: Sotto's own, those of other programs, those the user named."""

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sotto.paths import data_dir, resources_dir
from sotto.store.files import absolute
from sotto.store.records import Source


@dataclass(frozen=True, slots=True)
class Root:
    """A folder that may hold models.

    Attributes:
        kind: Which program it belongs to.
        path: Absolute; symbolic links are not resolved.
        missing_is_error: Whether the user named it, so that its absence is reported.
        variable: The environment variable that names it; empty for defaults and for folders added in the app.
    """

    kind: Source
    path: Path
    missing_is_error: bool
    variable: str = field(default="", compare=False)


def may_disappear(root: Root) -> bool:
    """Return whether a folder may be on a removable disk: the user named it, or it is a symbolic link."""
    return root.kind is not Source.BUILTIN and (root.missing_is_error or root.path.is_symlink())


def root_devices(roots: Iterable[Root]) -> dict[Path, int]:
    """Return the disk of each folder that may disappear, 0 for a missing folder."""
    return {root.path: device_of(root.path) for root in roots if may_disappear(root)}


def device_of(path: Path) -> int:
    """Return a number for the disk that a folder is on; 0 if it is not a folder."""
    try:
        return path.stat().st_dev + 1 if path.is_dir() else 0
    except OSError:
        # Discovery reports folders that cannot be accessed.
        return 0


def default_roots(environ: Mapping[str, str] = os.environ, folders: Iterable[str] = ()) -> tuple[Root, ...]:
    """Return the folders to search: our own first, then those of other programs, then those that the user named.

    Args:
        environ: Environment variables. `OLLAMA_MODELS`, `HF_HUB_CACHE`, `HF_HOME` and `XDG_CACHE_HOME` mean what they
            mean to Ollama and Hugging Face; `SOTTO_FOLDERS` lists further folders, separated as in `PATH`. Ollama's
            default folders are searched in any case.
        folders: Folders that the user added in the app.
    """
    seen: set[Path] = set()
    unique = []
    chosen = (Root(Source.FOLDER, absolute(Path(folder)), True) for folder in folders)
    for root in (*_from_environment(environ), *chosen):
        if root.path not in seen:
            seen.add(root.path)
            unique.append(root)
    return tuple(unique)


def _from_environment(environ: Mapping[str, str]) -> Iterator[Root]:
    """Yield the default folders and those that environment variables name; some may be yielded twice."""
    home = _home(environ)
    yield Root(Source.BUILTIN, resources_dir() / "store", True)
    yield Root(Source.SOTTO, data_dir() / "models", False)
    if value := _value(environ, "OLLAMA_MODELS"):
        yield Root(Source.OLLAMA, _absolute(value, home), True, "OLLAMA_MODELS")
    if sys.platform.startswith("linux"):
        yield Root(Source.OLLAMA, Path("/usr/share/ollama/.ollama/models"), False)
    yield Root(Source.OLLAMA, home / ".ollama" / "models", False)
    hub, variable = _hub(environ, home)
    yield Root(Source.HUGGINGFACE, hub, False, variable)
    for folder in (home / ".lmstudio" / "models", home / ".cache" / "lm-studio" / "models"):
        yield Root(Source.LMSTUDIO, folder, False)
    for text in environ.get("SOTTO_FOLDERS", "").split(os.pathsep):
        if value := _trimmed(text):
            yield Root(Source.FOLDER, _absolute(value, home), True, "SOTTO_FOLDERS")


def hugging_face_cache(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the folder of Hugging Face's cache, as its own library finds it; it may not exist."""
    return _hub(environ, _home(environ))[0]


def hugging_face_token(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the file that holds the token for Hugging Face, as its own library finds it; it may not exist."""
    home = _home(environ)
    if value := _value(environ, "HF_TOKEN_PATH"):
        return _absolute(value, home)
    return _hugging_face_home(environ, home)[0] / "token"


def _hub(environ: Mapping[str, str], home: Path) -> tuple[Path, str]:
    """Return the folder of Hugging Face's cache, as its own library finds it, and the variable that names it."""
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        if value := _value(environ, name):
            return _absolute(value, home), name
    folder, variable = _hugging_face_home(environ, home)
    return folder / "hub", variable


def _hugging_face_home(environ: Mapping[str, str], home: Path) -> tuple[Path, str]:
    """Return the folder of Hugging Face's library, and the variable that names it."""
    if value := _value(environ, "HF_HOME"):
        return _absolute(value, home), "HF_HOME"
    if value := _value(environ, "XDG_CACHE_HOME"):
        return _absolute(value, home) / "huggingface", "XDG_CACHE_HOME"
    return home / ".cache" / "huggingface", ""


def _home(environ: Mapping[str, str]) -> Path:
    value = _value(environ, "USERPROFILE" if sys.platform == "win32" else "HOME")
    return Path(value) if value else Path.home()


def _value(environ: Mapping[str, str], name: str) -> str:
    return _trimmed(environ.get(name, ""))


def _trimmed(text: str) -> str:
    """Return a value as Ollama reads it: stripped of surrounding white space, then of quotes."""
    return text.strip().strip("\"'")


def _absolute(text: str, home: Path) -> Path:
    path = Path(text)
    if path.parts[:1] == ("~",):
        path = home.joinpath(*path.parts[1:])
    return absolute(path)
