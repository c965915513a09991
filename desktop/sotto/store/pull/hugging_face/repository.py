"""The files of a repository, as Hugging Face's API lists them, and which of them make a model."""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sotto.errors import BrokenModelError, DownloadError
from sotto.store.bounded_json import kind_of
from sotto.store.files import read_all
from sotto.store.printable import printable
from sotto.store.pull.model_source import Present
from sotto.store.sentence import MODULES, TRANSFORMER_CONFIG
from sotto.store.sources.plain_folders import (
    INDEX,
    JSON_FILES,
    MORE_TEMPLATES,
    TEMPLATE,
    ModelFolder,
    is_licence,
)
from sotto.store.sources.projector_names import projectors_for
from sotto.store.sources.stored_folder import is_file_name

# In bytes: the most that Hugging Face takes of a file without putting it into its large storage is 10 MB.
SMALL = 16 << 20
_SHA256 = re.compile(r"[0-9a-f]{64}")
_SHA1 = re.compile(r"[0-9a-f]{40}")
_MAX_FILES = 100_000
_MAX_BYTES = 1 << 63
_READ = (*JSON_FILES, "tokenizer.json", TEMPLATE, INDEX, MODULES, TRANSFORMER_CONFIG)


@dataclass(frozen=True, slots=True)
class RepositoryFile:
    """A file of a repository.

    Attributes:
        path: Its path in the repository.
        size: Its size in bytes.
        sha256: 64 hex digits, which are known of large files only; else empty.
        git_id: The sha1 that git names a small file by, 40 hex digits; empty if unknown.
    """

    path: str
    size: int
    sha256: str
    git_id: str

    @property
    def small(self) -> bool:
        """Whether its sha256 becomes known only when it is read."""
        return not self.sha256

    def is_content(self, content: bytes) -> bool:
        """Return whether bytes are those of this small file, as far as is known."""
        begin = f"blob {len(content)}\0".encode()
        digest = hashlib.sha1(begin + content, usedforsecurity=False).hexdigest() if self.git_id else ""
        return len(content) == self.size and digest == self.git_id


@dataclass(frozen=True, slots=True)
class Repository:
    """A revision of a repository.

    Attributes:
        commit: 40 hex digits.
        files: Its files by path, without hidden ones.
        licence: The licence that its card states; empty if it states none.
        licence_link: Where its card says that the licence is; empty if it does not say.
        architecture: The architecture of its GGUF files, if it is stated; else empty.
        gated: Whether its files are given only to those who were admitted.
    """

    commit: str
    files: Mapping[str, RepositoryFile]
    licence: str
    licence_link: str
    architecture: str
    gated: bool


def parse_repository(info: Mapping[str, Any], where: str) -> Repository:
    """Return the revision that an answer of the API describes.

    Args:
        info: The answer.
        where: Where it comes from, for error messages.

    Raises:
        BrokenModelError: It lacks something, or something has the wrong form.
    """
    commit, siblings = info.get("sha"), info.get("siblings")
    if not isinstance(commit, str) or not _SHA1.fullmatch(commit):
        raise BrokenModelError(f"{where} states no commit; its sha should be 40 hexadecimal digits.")
    if not isinstance(siblings, list) or len(siblings) > _MAX_FILES:
        raise BrokenModelError(f"{where}: siblings is {kind_of(siblings)}; it should be a list of files.")
    files = [file for entry in siblings if (file := _file(entry, where)) is not None]
    card, gguf = (value if isinstance(value := info.get(key), dict) else {} for key in ("cardData", "gguf"))
    licence = _text(card, "license")
    return Repository(
        commit,
        {file.path: file for file in files},
        _text(card, "license_name") if licence in ("", "other") else licence,
        _text(card, "license_link"),
        _text(gguf, "architecture"),
        bool(info.get("gated")),
    )


def folder_of(repository: Repository, page: str) -> ModelFolder:
    """Return the folder of a repository, of which only the names can be asked."""
    return ModelFolder(Path(page), page, frozenset(path.partition("/")[0] for path in repository.files))


def is_model_folder(repository: Repository) -> bool:
    """Return whether a repository has a configuration and safetensors files."""
    return "config.json" in repository.files and any(path.endswith(".safetensors") for path in repository.files)


def projector_of(repository: Repository, model: RepositoryFile) -> RepositoryFile | None:
    """Return the projector of a GGUF model, from its folder or else from the top of the repository, or None."""
    folder, _, name = model.path.rpartition("/")
    for place in dict.fromkeys((f"{folder}/" if folder else "", "")):
        beside = (path.removeprefix(place) for path in repository.files if path.startswith(place))
        if found := projectors_for(name, (path for path in beside if "/" not in path)):
            return repository.files[place + found[0]]
    return None


def known_content(file: RepositoryFile, present: Present, cached: Callable[[str], Path | None]) -> bytes | None:
    """Return the content of a small file from this machine, or None.

    Args:
        file: The file.
        present: What the store has, perhaps of an earlier revision.
        cached: Returns the file of a cache that is named by a git object id, or None.
    """
    if not file.git_id:
        return None
    layers = [layer for manifest in present.manifests for layer in manifest.layers if layer.name == file.path]
    paths = [present.find(layer) for layer in layers if layer.size == file.size]
    for path in (*paths, cached(file.git_id)):
        with suppress(BrokenModelError):
            if path and file.is_content(content := read_all(path, SMALL, "a small file")):
                return content
    return None


def model_texts(repository: Repository) -> list[RepositoryFile]:
    """Return the files that the engine reads beside the weights, in a repository of safetensors files."""
    files = repository.files
    paths = [path for path in _READ if path in files]
    paths += sorted(path for path in files if re.fullmatch(rf"{MORE_TEMPLATES}/[^/]+\.jinja", path))
    if MODULES in files:
        paths += sorted(path for path in files if re.fullmatch(r"[^/]+/config\.json", path))
    return [files[path] for path in paths]


def licence_files(repository: Repository) -> list[RepositoryFile]:
    """Return the files with the licence."""
    return [file for path, file in sorted(repository.files.items()) if is_licence(path) and file.size <= SMALL]


def require_digests(files: Sequence[RepositoryFile], page: str) -> None:
    """Check that the large files have digests.

    Raises:
        DownloadError: One has none.
    """
    for file in files:
        if file.small and file.size > SMALL:
            raise DownloadError(
                f"{page} states no sha256 for {printable(file.path)}, so that what comes could not be checked; it "
                "should be stored as a large file."
            )


def _file(entry: Any, where: str) -> RepositoryFile | None:
    """Return a file of the list, or None for a hidden one."""
    if not isinstance(entry, dict) or not isinstance(path := entry.get("rfilename"), str):
        raise BrokenModelError(f"{where}: one of siblings has no rfilename; it should be a text.")
    if not is_file_name(path):
        return None
    large = entry.get("lfs")
    stated: dict[str, Any] = large if isinstance(large, dict) else {}
    size, sha256, git_id = stated.get("size", entry.get("size")), stated.get("sha256", ""), entry.get("blobId", "")
    if type(size) is not int or not 0 <= size < _MAX_BYTES:
        raise BrokenModelError(f"{where}: the size of {printable(path)} should be a number of bytes.")
    if stated and not (isinstance(sha256, str) and _SHA256.fullmatch(sha256)):
        raise BrokenModelError(f"{where}: the sha256 of {printable(path)} should be 64 hexadecimal digits.")
    return RepositoryFile(path, size, sha256, git_id if isinstance(git_id, str) and _SHA1.fullmatch(git_id) else "")


def _text(entries: Mapping[str, Any], key: str) -> str:
    value = entries.get(key)
    if isinstance(value, list):
        value = ", ".join(item for item in value if isinstance(item, str))
    return printable(value) if isinstance(value, str) else ""
