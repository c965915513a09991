"""Opening a GGUF file for the engine, as a `ModelSource`."""

from pathlib import Path
from types import MappingProxyType

from sotto.errors import BrokenModelError
from sotto.store.gguf.encoders import sentence_modules
from sotto.store.gguf.file import GgufFile, read_gguf_file
from sotto.store.gguf.gguf_config import config_of
from sotto.store.gguf.metadata_values import Values
from sotto.store.gguf.vocabulary import added_tokens_of, vocabulary_of
from sotto.store.printable import printable_path
from sotto.store.records import Format, ModelRecord, ModelSource, TensorFile

SPLIT = "{} is one part of a GGUF file that was split, which cannot run yet; join the parts, or choose a whole file."
# Lists as long as the vocabulary that only tokenization needs.
_TOKENIZATION_LISTS = frozenset({"tokenizer.ggml.merges", "tokenizer.ggml.scores"})


def open_gguf(record: ModelRecord, path: Path, digest: str = "") -> ModelSource:
    """Return what the engine needs to load a GGUF file, with its values converted to JSON files.

    Args:
        record: The model.
        path: The file.
        digest: The digest that the store names the file by; empty if it does not.

    Raises:
        BrokenModelError: The file cannot be read, is damaged or inconsistent, or cannot run.
    """
    file = read_gguf_file(path)
    values = _unsplit_values(file)
    config = config_of(values)
    modules = sentence_modules(values)
    vocabulary = vocabulary_of(values)
    return ModelSource(
        record=record,
        tensor_files=(TensorFile(path, digest, file.tensors, MappingProxyType({}), format=Format.GGUF),),
        json_files=MappingProxyType({"config.json": config, **vocabulary.files}),
        tokenizer_json=vocabulary.tokenizer,
        modules=modules,
    )


def gguf_texts(record: ModelRecord, path: Path) -> ModelSource:
    """Return the JSON files of a GGUF file without its tensors; the vocabulary contains only the added tokens.

    Args:
        record: The model.
        path: The file.

    Raises:
        BrokenModelError: As for `open_gguf`, as far as these values are concerned.
    """
    values = _unsplit_values(read_gguf_file(path, lambda key: key not in _TOKENIZATION_LISTS))
    vocabulary = added_tokens_of(values)
    return ModelSource(
        record=record,
        tensor_files=(),
        json_files=MappingProxyType({"config.json": config_of(values), **vocabulary.files}),
        tokenizer_json=vocabulary.tokenizer,
        modules=sentence_modules(values),
    )


def _unsplit_values(file: GgufFile) -> Values:
    values = Values(file)
    if values.integer("split.count", 1) > 1:
        raise BrokenModelError(SPLIT.format(printable_path(file.path)))
    return values
