"""The values that the store hands to the rest of Sotto."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Any


class Source(StrEnum):
    """Whose store a model was found in."""

    BUILTIN = "builtin"
    SOTTO = "sotto"
    OLLAMA = "ollama"
    HUGGINGFACE = "huggingface"
    LMSTUDIO = "lmstudio"
    FOLDER = "folder"


class Format(StrEnum):
    """How the weights are kept."""

    SAFETENSORS = "safetensors"
    GGUF = "gguf"


@dataclass(frozen=True, slots=True)
class Place:
    """One place that holds a model: a manifest file or a folder, and the name it has there."""

    name: str
    source: Source
    path: Path


@dataclass(frozen=True, slots=True)
class ModelRecord:
    """One distinct model, as a row of the list.

    Attributes:
        name: What a person types to mean it; unique within one listing.
        digest: 64 hex digits that identify the model: of the manifest's bytes, or of a folder's files.
        size: Bytes of all its files.
        format: How the weights are kept; None when that could not be read.
        architecture: `model_type` of its configuration, for example `llama`; empty when unknown.
        parameters: Number of weights, or None when unknown.
        quantization: For example `int4`, `Q4_K_M`, `F32`; empty when unknown.
        context_length: The longest context it was made for, in tokens; None when unknown.
        source: Whose store it was found in first.
        path: Its manifest file or folder.
        runnable: Whether nothing that the store can see keeps it from running.
        reason: One sentence why it cannot run; empty when runnable.
        capabilities: What its files claim, for example `completion`.
        also: Other places that hold the same digest.
        present: Whether its files are there; they are not while the disk that they are on is away.
    """

    name: str
    digest: str
    size: int
    format: Format | None
    architecture: str
    parameters: int | None
    quantization: str
    context_length: int | None
    source: Source
    path: Path
    runnable: bool
    reason: str = ""
    capabilities: tuple[str, ...] = ()
    also: tuple[Place, ...] = ()
    present: bool = True

    @property
    def builtin(self) -> bool:
        """Whether it came with Sotto."""
        return self.source is Source.BUILTIN

    @property
    def places(self) -> tuple[Place, ...]:
        """Every place that holds it."""
        return Place(self.name, self.source, self.path), *self.also

    @property
    def own(self) -> bool:
        """Whether it lies in Sotto's own store, where it may be deleted."""
        return self.source is Source.SOTTO


def described(record: ModelRecord) -> dict[str, Any]:
    """Return what is known of a record itself, by name, as JSON has it; its path may not be UTF-8."""
    return {
        "name": record.name,
        "digest": record.digest,
        "size": record.size,
        "format": record.format.value if record.format else None,
        "architecture": record.architecture,
        "parameters": record.parameters,
        "quantization": record.quantization,
        "context_length": record.context_length,
        "source": record.source.value,
        "path": str(record.path),
        "runnable": record.runnable,
        "reason": record.reason,
        "capabilities": list(record.capabilities),
    }


@dataclass(frozen=True, slots=True)
class TensorInfo:
    """One tensor of a file.

    Attributes:
        dtype: The format's own name: `F32`, `BF16`, `U32`, ..., and of GGUF files `Q4_K`, ...
        shape: Dimensions, the fastest last.
        start: First byte, counted from the start of the file.
        end: One past the last byte.
    """

    dtype: str
    shape: tuple[int, ...]
    start: int
    end: int

    @property
    def nbytes(self) -> int:
        """Bytes of data."""
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class TensorFile:
    """A file of tensors whose header was read and validated.

    Attributes:
        path: The file.
        digest: 64 hex digits when the store names the file by its digest, else empty.
        tensors: By name, in the header's order.
        metadata: A safetensors header's `__metadata__`, text to text.
        prefix: What all these names begin with in the file, and not here.
        format: How the file keeps them.
    """

    path: Path
    digest: str
    tensors: Mapping[str, TensorInfo]
    metadata: Mapping[str, str]
    prefix: str = ""
    format: Format = Format.SAFETENSORS

    @property
    def nbytes(self) -> int:
        """Bytes of tensor data."""
        return sum(tensor.nbytes for tensor in self.tensors.values())

    @property
    def read_bytes(self) -> int:
        """Bytes that are read for it."""
        return self.nbytes


@dataclass(frozen=True, slots=True)
class SentenceModule:
    """One step from a text to its vector, as sentence-transformers keeps it.

    Attributes:
        kind: What it does: `Transformer`, `Pooling`, `Normalize`, ...
        config: How; empty where there is nothing to say.
    """

    kind: str
    config: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ModelSource:
    """Everything the engine needs to load a model: validated headers and parsed JSON, no tensor data.

    Attributes:
        record: The row it was opened from.
        tensor_files: Each distinct file once.
        json_files: Parsed JSON objects by file name: `config.json`, `tokenizer_config.json`, ...
        tokenizer_json: The text of `tokenizer.json`, unparsed: it can be many megabytes.
        chat_template: Jinja source of a `chat_template.jinja` file, if there is one; a template inside
            `tokenizer_config.json` or `chat_template.json` stays there.
        more_templates: Jinja sources of files for particular uses, by their names without an end: `tool_use`, `rag`.
        params: Option defaults of the manifest, keys as in Ollama's API.
        system: The manifest's system prompt.
        go_template: The manifest's Go template.
        renderer: What the config blob calls the way in which prompts are made, for example `qwen3-coder`; empty where
            it says nothing of that.
        user_template: A template that a person gave for this model, Jinja or Go, which goes before all others.
        draft_prefix: Tensors whose names begin so belong to a draft model; empty when there is none.
        modules: How it makes vectors of texts; empty where its files do not say.
    """

    record: ModelRecord
    tensor_files: tuple[TensorFile, ...]
    json_files: Mapping[str, Mapping[str, Any]]
    tokenizer_json: str
    chat_template: str = ""
    more_templates: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    params: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    system: str = ""
    go_template: str = ""
    renderer: str = ""
    user_template: str = ""
    draft_prefix: str = ""
    modules: tuple[SentenceModule, ...] = ()

    @property
    def config(self) -> Mapping[str, Any]:
        """`config.json`, as written."""
        return self.json_files["config.json"]

    @property
    def weight_bytes(self) -> int:
        """Bytes of all tensor data but a draft model's."""
        aside = self.draft_prefix
        return sum(
            tensor.nbytes
            for file in self.tensor_files
            for name, tensor in file.tensors.items()
            if not aside or not name.startswith(aside)
        )


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that was found and is no whole model.

    Attributes:
        path: The file or folder.
        message: One sentence that names it and says what is wrong.
    """

    path: Path
    message: str
