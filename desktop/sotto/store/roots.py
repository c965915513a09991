"""Where models may be on this machine."""

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
        kind: Whose it is.
        path: Where it is, absolute; symbolic links are kept.
        missing_is_error: Whether somebody said that it is there.
        said_by: The environment variable that said so; empty for a default, and for what was chosen in the app.
    """

    kind: Source
    path: Path
    missing_is_error: bool
    said_by: str = field(default="", compare=False)


def default_roots(environ: Mapping[str, str] = os.environ, folders: Iterable[str] = ()) -> tuple[Root, ...]:
    """Return the folders to look in: our own first, then those of other programs, then those that the user named.

    Args:
        environ: `OLLAMA_MODELS`, `HF_HUB_CACHE`, `HF_HOME`, `XDG_CACHE_HOME` and `SOTTO_FOLDERS` (several folders,
            separated as in `PATH`) say where to look, as they do for the programs that they belong to. Ollama's
            default folders are looked at in any case.
        folders: What was chosen in the app.
    """
    seen: set[Path] = set()
    unique = []
    chosen = (Root(Source.FOLDER, absolute(Path(folder)), True) for folder in folders)
    for root in (*_all(environ), *chosen):
        if root.path not in seen:
            seen.add(root.path)
            unique.append(root)
    return tuple(unique)


def _all(environ: Mapping[str, str]) -> Iterator[Root]:
    home = _home(environ)
    yield Root(Source.BUILTIN, resources_dir() / "store", True)
    yield Root(Source.SOTTO, data_dir() / "models", False)
    if said := _value(environ, "OLLAMA_MODELS"):
        yield Root(Source.OLLAMA, _absolute(said, home), True, "OLLAMA_MODELS")
    if sys.platform.startswith("linux"):
        yield Root(Source.OLLAMA, Path("/usr/share/ollama/.ollama/models"), False)
    yield Root(Source.OLLAMA, home / ".ollama" / "models", False)
    hub, said_by = _hub(environ, home)
    yield Root(Source.HUGGINGFACE, hub, False, said_by)
    for folder in (home / ".lmstudio" / "models", home / ".cache" / "lm-studio" / "models"):
        yield Root(Source.LMSTUDIO, folder, False)
    for text in environ.get("SOTTO_FOLDERS", "").split(os.pathsep):
        if said := _trimmed(text):
            yield Root(Source.FOLDER, _absolute(said, home), True, "SOTTO_FOLDERS")


def _hub(environ: Mapping[str, str], home: Path) -> tuple[Path, str]:
    """Return the folder of Hugging Face's cache, as its own library finds it, and the variable that says so."""
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        if said := _value(environ, name):
            return _absolute(said, home), name
    if said := _value(environ, "HF_HOME"):
        return _absolute(said, home) / "hub", "HF_HOME"
    if said := _value(environ, "XDG_CACHE_HOME"):
        return _absolute(said, home) / "huggingface" / "hub", "XDG_CACHE_HOME"
    return home / ".cache" / "huggingface" / "hub", ""


def _home(environ: Mapping[str, str]) -> Path:
    said = _value(environ, "USERPROFILE" if sys.platform == "win32" else "HOME")
    return Path(said) if said else Path.home()


def _value(environ: Mapping[str, str], name: str) -> str:
    return _trimmed(environ.get(name, ""))


def _trimmed(text: str) -> str:
    """Return a value as Ollama reads it: without blanks around it, then without quotes."""
    return text.strip().strip("\"'")


def _absolute(text: str, home: Path) -> Path:
    path = Path(text)
    if path.parts[:1] == ("~",):
        path = home.joinpath(*path.parts[1:])
    return absolute(path)
