"""The value types of the store: models, where they are, and their tensors and files."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Any


class Source(StrEnum):
    """The kind of store that a model was found in."""

    BUILTIN = "builtin"
    SOTTO = "sotto"
    OLLAMA = "ollama"
    HUGGINGFACE = "huggingface"
    LMSTUDIO = "lmstudio"
    FOLDER = "folder"


class Format(StrEnum):
    """The file format of the weights."""

    SAFETENSORS = "safetensors"
    GGUF = "gguf"


@dataclass(frozen=True, slots=True)
class Place:
    """One place that holds a model: a manifest file, a folder or a GGUF file, and the model's name there."""

    name: str
    source: Source
    path: Path


@dataclass(frozen=True, slots=True)
class ModelRecord:
    """One distinct model, as a row of the list.

    Attributes:
        name: The name that the user refers to it by; unique within one listing.
        digest: 64 hex digits that identify the model: the sha256 of the manifest, or of samples of a folder's files.
        size: Bytes of all its files.
        format: The file format of the weights; None if it could not be determined.
        architecture: `model_type` of its configuration, for example `llama`; empty if unknown.
        parameters: Number of weights; None if unknown.
        quantization: For example `int4`, `Q4_K_M`, `F32`; empty if unknown.
        context_length: The longest context it was trained for, in tokens; None if unknown.
        source: The kind of store where it was found first.
        path: Its manifest file, folder or GGUF file.
        runnable: Whether it can run, as far as the store can tell.
        reason: One sentence saying why it cannot run; empty if runnable.
        capabilities: What its files say it can do, for example `completion`.
        vision_reason: One sentence saying why images are not shown to it although its files hold a tower; else empty.
        also: Other places that hold a model of the same digest.
        present: Whether its files can be read now; false while their disk is not mounted.
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
    vision_reason: str = ""
    also: tuple[Place, ...] = ()
    present: bool = True

    @property
    def builtin(self) -> bool:
        """Whether it is the model bundled with Sotto."""
        return self.source is Source.BUILTIN

    @property
    def places(self) -> tuple[Place, ...]:
        """Every place that holds the model, the first one found first."""
        return Place(self.name, self.source, self.path), *self.also

    @property
    def own(self) -> bool:
        """Whether it is in Sotto's own store, where it may be deleted."""
        return self.source is Source.SOTTO


def is_adoptable(record: ModelRecord) -> bool:
    """Return whether a copy of another program's model can be kept in Sotto's own store."""
    return record.present and not (record.own or record.builtin)


def record_fields(record: ModelRecord) -> dict[str, Any]:
    """Return the fields of a record as JSON values, without `also` and `present`; the path may not be valid UTF-8."""
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
        "vision_reason": record.vision_reason,
    }


@dataclass(frozen=True, slots=True)
class TensorInfo:
    """One tensor of a file.

    Attributes:
        dtype: The file format's name of the type: `F32`, `BF16`, `U32`, ..., in GGUF files also `Q4_K`, ...
        shape: Dimensions, the one that varies fastest last.
        start: Offset of the first byte in the file.
        end: Offset one past the last byte.
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
class FilePart:
    """One of several files whose bytes are counted as if they followed each other.

    Attributes:
        path: The file.
        start: Offset of its first byte.
    """

    path: Path
    start: int


@dataclass(frozen=True, slots=True)
class TensorFile:
    """A file of tensors with a validated header.

    Attributes:
        path: The file.
        digest: 64 hex digits if the store names the file by its digest, else empty.
        tensors: The tensors by name, in the header's order.
        metadata: `__metadata__` of a safetensors header, strings by key.
        prefix: A prefix that the names have in the file, and not in `tensors`.
        format: The format of the file.
        more_parts: The files after the first of a model that is split into several, with offsets as tensors have them.
    """

    path: Path
    digest: str
    tensors: Mapping[str, TensorInfo]
    metadata: Mapping[str, str]
    prefix: str = ""
    format: Format = Format.SAFETENSORS
    more_parts: tuple[FilePart, ...] = ()

    @property
    def parts(self) -> tuple[FilePart, ...]:
        """All its files."""
        return FilePart(self.path, 0), *self.more_parts

    @property
    def nbytes(self) -> int:
        """Bytes of tensor data."""
        return sum(tensor.nbytes for tensor in self.tensors.values())

    @property
    def read_bytes(self) -> int:
        """Bytes that loading reads from the file."""
        return self.nbytes


@dataclass(frozen=True, slots=True)
class SentenceModule:
    """One step from a text to its embedding, as sentence-transformers describes it.

    Attributes:
        kind: The class of the step: `Transformer`, `Pooling`, `Normalize`, ...
        config: Its settings; may be empty.
    """

    kind: str
    config: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Adapter:
    """Small tensors that change what a model computes, in a file of their own.

    Attributes:
        name: What people call it: the name of its folder or file.
        path: Its folder, or its file if it has no configuration beside it.
        digest: 64 hex digits that identify its contents.
        tensor_file: Its tensors.
        config: The contents of `adapter_config.json`; for a GGUF file, `lora_alpha` from its header.
    """

    name: str
    path: Path
    digest: str
    tensor_file: TensorFile
    config: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ModelSource:
    """Everything the engine needs to load a model: validated headers and parsed JSON, no tensor data.

    Attributes:
        record: The model.
        tensor_files: Each distinct file once.
        json_files: Parsed JSON objects by file name: `config.json`, `tokenizer_config.json`, ...
        tokenizer_json: The text of `tokenizer.json`, unparsed because it can be many megabytes.
        chat_template: Jinja source of a `chat_template.jinja` file, or empty; templates inside `tokenizer_config.json`
            or `chat_template.json` stay in `json_files`.
        more_templates: Jinja sources for particular uses by file name without suffix: `tool_use`, `rag`.
        params: The manifest's default options, keys as in Ollama's API.
        system: The manifest's system prompt.
        go_template: The manifest's Go template.
        renderer: The built-in prompt renderer that the config blob names, for example `qwen3-coder`; empty if none.
        user_template: The template that the user set for this model, Jinja or Go; it overrides all others.
        chosen_template: The template that was chosen when the model was made, Jinja or Go; it overrides those of its
            files.
        messages: What stands at the beginning of each conversation, after the system prompt: objects with `role`,
            `content` and perhaps `thinking`.
        draft_prefix: Prefix of the names of a draft model's tensors; empty if the model contains no draft model.
        modules: The steps from a text to its embedding; empty if its files do not list them.
        adapters: What is added to its weights.
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
    chosen_template: str = ""
    messages: tuple[Mapping[str, str], ...] = ()
    draft_prefix: str = ""
    modules: tuple[SentenceModule, ...] = ()
    adapters: tuple[Adapter, ...] = ()

    @property
    def digest(self) -> str:
        """64 hex digits that identify what is computed: the record's digest, or one of its own with each adapter."""
        if not self.adapters:
            return self.record.digest
        return hashlib.sha256(
            " ".join([self.record.digest, *(each.digest for each in self.adapters)]).encode()
        ).hexdigest()

    @property
    def adapter_names(self) -> str:
        """What people call its adapters; empty without any."""
        return " and ".join(adapter.name for adapter in self.adapters)

    @property
    def config(self) -> Mapping[str, Any]:
        """The contents of `config.json`."""
        return self.json_files["config.json"]

    @property
    def weight_bytes(self) -> int:
        """Bytes of all tensor data except a draft model's."""
        draft = self.draft_prefix
        return sum(adapter.tensor_file.nbytes for adapter in self.adapters) + sum(
            tensor.nbytes
            for file in self.tensor_files
            for name, tensor in file.tensors.items()
            if not draft or not name.startswith(draft)
        )


@dataclass(frozen=True, slots=True)
class Problem:
    """A file or folder that was found and is not a complete model.

    Attributes:
        path: The file or folder.
        message: One sentence that names it and says what is wrong.
    """

    path: Path
    message: str
