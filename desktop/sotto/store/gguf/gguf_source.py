"""Opening a GGUF file for the engine, as a `ModelSource`."""

from collections.abc import Sequence
from pathlib import Path
from types import MappingProxyType

from sotto.store.gguf.encoders import sentence_modules
from sotto.store.gguf.gguf_config import config_of
from sotto.store.gguf.metadata_values import Values
from sotto.store.gguf.split_files import read_gguf_files
from sotto.store.gguf.vocabulary import added_tokens_of, vocabulary_of
from sotto.store.records import Format, ModelRecord, ModelSource, TensorFile

# Lists as long as the vocabulary that only tokenization needs.
_TOKENIZATION_LISTS = frozenset({"tokenizer.ggml.merges", "tokenizer.ggml.scores"})


def open_gguf(record: ModelRecord, paths: Sequence[Path], digest: str = "") -> ModelSource:
    """Return what the engine needs to load a GGUF model, with its values converted to JSON files.

    Args:
        record: The model.
        paths: Its file, or the files that it is split into, in order.
        digest: The digest that the store names the file by; empty if it does not.

    Raises:
        BrokenModelError: The file cannot be read, is damaged or inconsistent, or cannot run.
    """
    file = read_gguf_files(paths)
    values = Values(file)
    config = config_of(values)
    modules = sentence_modules(values)
    vocabulary = vocabulary_of(values)
    return ModelSource(
        record=record,
        tensor_files=(
            TensorFile(
                file.path, digest, file.tensors, MappingProxyType({}), format=Format.GGUF, more_parts=file.more_parts
            ),
        ),
        json_files=MappingProxyType({"config.json": config, **vocabulary.files}),
        tokenizer_json=vocabulary.tokenizer,
        modules=modules,
    )


def gguf_texts(record: ModelRecord, paths: Sequence[Path]) -> ModelSource:
    """Return the JSON files of a GGUF model without its tensors; the vocabulary contains only the added tokens.

    Args:
        record: The model.
        paths: Its file, or the files that it is split into, in order.

    Raises:
        BrokenModelError: As for `open_gguf`, as far as these values are concerned.
    """
    values = Values(read_gguf_files(paths, lambda key: key not in _TOKENIZATION_LISTS))
    vocabulary = added_tokens_of(values)
    return ModelSource(
        record=record,
        tensor_files=(),
        json_files=MappingProxyType({"config.json": config_of(values), **vocabulary.files}),
        tokenizer_json=vocabulary.tokenizer,
        modules=sentence_modules(values),
    )
