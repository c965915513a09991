"""Verifying a model's files against the digests that their names contain."""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from sotto.errors import BrokenModelError, CancelledError, StoreError
from sotto.store.files import is_folder, open_regular
from sotto.store.gguf.header import is_gguf
from sotto.store.locating import folder_of, store_of
from sotto.store.opening import open_model
from sotto.store.printable import printable_path
from sotto.store.records import Format, ModelRecord, Problem, TensorFile
from sotto.store.second_reader import find_disagreement
from sotto.store.sources.huggingface import blob_of_link
from sotto.store.sources.manifest import Layer
from sotto.store.sources.ollama_layout import OllamaStore
from sotto.store.sources.plain_folders import INDEX, JSON_FILES, TEMPLATE, ModelFolder, gguf_model_files

_CHUNK = 1 << 20
_SHA256 = re.compile(r"[0-9a-f]{64}")
_SHA1 = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """The result of verifying one model.

    Attributes:
        checked_bytes: Bytes that were compared with a digest.
        problems: One for each file that is missing, damaged or contradicts another; empty for an intact model.
        unverifiable: Files without a digest; only their structure was checked.
    """

    checked_bytes: int
    problems: tuple[Problem, ...]
    unverifiable: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class _Check:
    """A file and its expected digest by the hash function `kind`, over `begin` followed by the file's bytes."""

    path: Path
    size: int
    digest: str
    kind: str = "sha256"
    begin: bytes = b""


def verify(record: ModelRecord, progress: Callable[[int, int], None], cancelled: Callable[[], bool]) -> VerifyReport:
    """Compare every file of a model with its digest, in constant memory.

    Args:
        record: The model.
        progress: Called with the bytes checked so far and their total; the first rises to the second.
        cancelled: Called after every MiB; returns whether to stop.

    Raises:
        CancelledError: `cancelled` returned true.
        BrokenModelError: The model's manifest or folder cannot be read.
    """
    problems: list[Problem] = []
    checks, unverifiable = _plan(record, problems)
    total = sum(check.size for check in checks)
    done = checked = 0
    progress(0, total)
    for check in checks:
        end = done + check.size
        try:
            for count in _compare(check):
                if cancelled():
                    raise CancelledError("The check was cancelled.")
                checked += count
                # A file may grow or shrink while it is read.
                done = min(done + count, end)
                progress(done, total)
        except BrokenModelError as error:
            problems.append(Problem(check.path, error.message))
        if done < end:
            done = end
            progress(done, total)
    # A GGUF file that cannot run may still be intact.
    if not problems and (record.format is Format.SAFETENSORS or record.runnable):
        try:
            files = open_model(record, ()).tensor_files
        except StoreError as error:
            problems.append(Problem(record.path, error.message))
        else:
            problems += _compare_readers(files)
    return VerifyReport(checked, tuple(problems), tuple(unverifiable))


def sha256_of(path: Path, between: Callable[[], None] = lambda: None) -> str:
    """Return the digest of a file, calling `between` after every MiB.

    Raises:
        BrokenModelError: It cannot be read.
    """
    digest = hashlib.sha256()
    buffer = bytearray(_CHUNK)
    view = memoryview(buffer)
    with open_regular(path) as (file, _):
        while count := file.readinto(buffer):
            digest.update(view[:count])
            between()
    return digest.hexdigest()


def _compare_readers(files: Iterable[TensorFile]) -> Iterator[Problem]:
    for file in files:
        if file.format is Format.SAFETENSORS and (message := find_disagreement(file)):
            yield Problem(file.path, message)


def _plan(record: ModelRecord, problems: list[Problem]) -> tuple[list[_Check], list[Path]]:
    """Return the checks for a model and its files without a digest; add problems found on the way."""
    if is_folder(record.path):
        return _folder_checks(folder_of(record.path), record, problems)
    if record.format is Format.GGUF and is_gguf(record.path):
        folder = folder_of(record.path.parent)
        return _checks_by_name(folder, [path.name for path in gguf_model_files(folder, record.path)], problems)
    store = store_of(record.path)
    manifest = store.read_manifest(record.path)
    if manifest.digest != record.digest:
        problems.append(
            Problem(record.path, f"{printable_path(record.path)} has another digest than when it was listed.")
        )
    return list(_blob_checks(store, manifest.blobs.values(), problems)), []


def _blob_checks(store: OllamaStore, layers: Iterable[Layer], problems: list[Problem]) -> Iterator[_Check]:
    for layer in layers:
        try:
            yield _Check(store.blob(layer), layer.size, layer.digest)
        except BrokenModelError as error:
            problems.append(Problem(store.root, error.message))


def _folder_checks(
    folder: ModelFolder, record: ModelRecord, problems: list[Problem]
) -> tuple[list[_Check], list[Path]]:
    names = [name for name in (*JSON_FILES, "tokenizer.json", TEMPLATE, INDEX) if name in folder.names]
    try:
        names += [*folder.more_templates(), *(path.name for path in folder.weight_files())]
    except BrokenModelError as error:
        problems.append(Problem(record.path, error.message))
    return _checks_by_name(folder, names, problems)


def _checks_by_name(folder: ModelFolder, names: list[str], problems: list[Problem]) -> tuple[list[_Check], list[Path]]:
    """Return checks for the files that Hugging Face's cache names by a digest, and the paths of the others."""
    checks, unverifiable = [], []
    for name in names:
        try:
            path = folder.file(name)
            with open_regular(path) as (_, size):
                pass
        except BrokenModelError as error:
            problems.append(Problem(folder.path / name, error.message))
            continue
        digest = blob_of_link(path)
        if _SHA256.fullmatch(digest):
            checks.append(_Check(path, size, digest))
        elif _SHA1.fullmatch(digest):
            checks.append(_Check(path, size, digest, "sha1", f"blob {size}\0".encode()))
        else:
            unverifiable.append(path)
    return checks, unverifiable


def _compare(check: _Check) -> Iterator[int]:
    """Yield the size of each piece as it is read; raise BrokenModelError if the digest differs in the end."""
    digest = hashlib.new(check.kind, check.begin, usedforsecurity=False)
    buffer = bytearray(_CHUNK)
    view = memoryview(buffer)
    with open_regular(check.path) as (file, _):
        while count := file.readinto(buffer):
            digest.update(view[:count])
            yield count
    if digest.hexdigest() != check.digest:
        raise BrokenModelError(
            f"{printable_path(check.path)} is damaged: its {check.kind} is {digest.hexdigest()}; download the model "
            "again."
        )
