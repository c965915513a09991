"""The draft model inside an Ollama model: tensors whose names have a prefix, and JSON files of its own."""

import hashlib
from dataclasses import replace
from types import MappingProxyType

from sotto.errors import BrokenModelError, StoreError
from sotto.store.facts import config_facts
from sotto.store.printable import printable, printable_path
from sotto.store.records import ModelSource, TensorFile
from sotto.store.sources.ollama_layout import DRAFT_FILES


def own_draft(source: ModelSource) -> ModelSource:
    """Return the draft model inside a model as a model in its own right; both share the tokenizer.

    Args:
        source: An opened model.

    Raises:
        StoreError: The model contains no draft model.
        BrokenModelError: The draft model lacks its configuration or tensors, or its configuration is invalid.
    """
    record, prefix = source.record, source.draft_prefix
    if not prefix:
        raise StoreError(f"{printable(record.name)} has no draft model of its own; name another model as its draft.")
    own = {name.removeprefix(DRAFT_FILES): value for name, value in source.json_files.items() if _is_own(name)}
    files = tuple(part for file in source.tensor_files if (part := _draft_part(file, prefix)).tensors)
    if "config.json" not in own or not files:
        lacking = "tensors" if "config.json" in own else f"{DRAFT_FILES}config.json"
        raise BrokenModelError(
            f"The draft model in {printable_path(record.path)} has no {lacking}; download the model again."
        )
    facts = config_facts(own["config.json"], record.path)
    shared = {name: value for name, value in source.json_files.items() if not _is_own(name) and name != "config.json"}
    return ModelSource(
        record=replace(
            record,
            name=f"{record.name} (own draft)",
            # A digest of its own keeps its cached results apart from those of the whole model.
            digest=hashlib.sha256(f"{record.digest} {prefix}".encode()).hexdigest(),
            architecture=facts.architecture,
            context_length=facts.context_length,
            parameters=None,
        ),
        tensor_files=files,
        json_files=MappingProxyType(shared | own),
        tokenizer_json=source.tokenizer_json,
    )


def _is_own(name: str) -> bool:
    return name.startswith(DRAFT_FILES)


def _draft_part(file: TensorFile, prefix: str) -> TensorFile:
    """Return a file with only the draft model's tensors, without the prefix in their names."""
    tensors = {name.removeprefix(prefix): info for name, info in file.tensors.items() if name.startswith(prefix)}
    # Metadata keys begin with the name of the tensor that they describe.
    metadata = {name.removeprefix(prefix): text for name, text in file.metadata.items() if name.startswith(prefix)}
    return replace(file, tensors=tensors, metadata={**file.metadata, **metadata}, prefix=prefix)
