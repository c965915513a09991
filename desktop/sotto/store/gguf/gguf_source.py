"""Opening a GGUF file for the engine, as a `ModelSource`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sotto.store.gguf.encoders import sentence_modules
from sotto.store.gguf.file import GgufFile
from sotto.store.gguf.gguf_config import config_of
from sotto.store.gguf.metadata_values import Values
from sotto.store.gguf.split_files import read_gguf_files
from sotto.store.gguf.vision_configs import Sight, sight_of
from sotto.store.gguf.vocabulary import Vocabulary, added_tokens_of, vocabulary_of
from sotto.store.records import Format, ModelRecord, ModelSource, TensorFile

# Lists as long as the vocabulary that only tokenization needs.
_TOKENIZATION_LISTS = frozenset({"tokenizer.ggml.merges", "tokenizer.ggml.scores"})


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file, and the digest that its store names it by; empty if it does not."""

    path: Path
    digest: str = ""


def open_gguf(
    record: ModelRecord, paths: Sequence[Path], digest: str = "", projector: StoredFile | None = None
) -> ModelSource:
    """Return what the engine needs to load a GGUF model, with its values converted to JSON files.

    Args:
        record: The model.
        paths: Its file, or the files that it is split into, in order.
        digest: The digest that the store names the file by; empty if it does not.
        projector: The file of its tower for images, of a kind that is understood; None if it has none.

    Raises:
        BrokenModelError: The file cannot be read, is damaged or inconsistent, or cannot run.
    """
    file = read_gguf_files(paths)
    values = Values(file)
    tower = read_gguf_files([projector.path]) if projector else None
    sight = sight_of(values, config_of(values), Values(tower) if tower else None)
    modules = sentence_modules(values)
    vocabulary = vocabulary_of(values)
    files = [_tensor_file(file, digest)]
    if tower and projector:
        files.append(_tensor_file(tower, projector.digest))
    return ModelSource(
        record=record,
        tensor_files=tuple(files),
        json_files=_json_files(sight, vocabulary),
        tokenizer_json=vocabulary.tokenizer,
        modules=modules,
    )


def gguf_texts(record: ModelRecord, paths: Sequence[Path], projector: StoredFile | None = None) -> ModelSource:
    """Return the JSON files of a GGUF model without its tensors; the vocabulary contains only the added tokens.

    Args:
        record: The model.
        paths: Its file, or the files that it is split into, in order.
        projector: As `open_gguf` takes it.

    Raises:
        BrokenModelError: As for `open_gguf`, as far as these values are concerned.
    """
    values = Values(read_gguf_files(paths, lambda key: key not in _TOKENIZATION_LISTS))
    tower = Values(read_gguf_files([projector.path])) if projector else None
    sight = sight_of(values, config_of(values), tower)
    vocabulary = added_tokens_of(values)
    return ModelSource(
        record=record,
        tensor_files=(),
        json_files=_json_files(sight, vocabulary),
        tokenizer_json=vocabulary.tokenizer,
        modules=sentence_modules(values),
    )


def _tensor_file(file: GgufFile, digest: str) -> TensorFile:
    return TensorFile(
        file.path, digest, file.tensors, MappingProxyType({}), format=Format.GGUF, more_parts=file.more_parts
    )


def _json_files(sight: Sight, vocabulary: Vocabulary) -> Mapping[str, Mapping[str, Any]]:
    """Return the files of the model that sees, or of its language model."""
    preprocessor = {} if sight.preprocessor is None else {"preprocessor_config.json": sight.preprocessor}
    return MappingProxyType({"config.json": sight.config, **preprocessor, **vocabulary.files})
