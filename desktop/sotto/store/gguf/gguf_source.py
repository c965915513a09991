"""From a GGUF file to what the engine loads."""

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
# Lists as long as the vocabulary that only cutting texts needs.
_LONG = frozenset({"tokenizer.ggml.merges", "tokenizer.ggml.scores"})


def open_gguf(record: ModelRecord, path: Path, digest: str = "") -> ModelSource:
    """Return what the engine needs to load a GGUF file: its values as the JSON files that other models have.

    Args:
        record: The row it is opened for.
        path: The file.
        digest: What the store calls it, if it does.

    Raises:
        BrokenModelError: The file cannot be read, is damaged or lies, or is of a kind that cannot run.
    """
    file = read_gguf_file(path)
    values = _whole_file(file)
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
    """Return what a GGUF file says of its model beside the tensors; of its vocabulary only the added tokens.

    Args:
        record: The row it is opened for.
        path: The file.

    Raises:
        BrokenModelError: As `open_gguf`, as far as this is concerned.
    """
    values = _whole_file(read_gguf_file(path, lambda key: key not in _LONG))
    vocabulary = added_tokens_of(values)
    return ModelSource(
        record=record,
        tensor_files=(),
        json_files=MappingProxyType({"config.json": config_of(values), **vocabulary.files}),
        tokenizer_json=vocabulary.tokenizer,
        modules=sentence_modules(values),
    )


def _whole_file(file: GgufFile) -> Values:
    values = Values(file)
    if values.whole("split.count", 1) > 1:
        raise BrokenModelError(SPLIT.format(printable_path(file.path)))
    return values
