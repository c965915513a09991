"""The draft model that a manifest of Ollama brings along: tensors whose names have a prefix, and files of its own."""

import hashlib
from dataclasses import replace
from types import MappingProxyType

from sotto.errors import BrokenModelError, StoreError
from sotto.store.facts import config_facts
from sotto.store.printable import printable, printable_path
from sotto.store.records import ModelSource, TensorFile
from sotto.store.sources.ollama_layout import DRAFT_FILES


def own_draft(source: ModelSource) -> ModelSource:
    """Return the draft model that came with a model, as one by itself; both have one tokenizer.

    Args:
        source: An opened model.

    Raises:
        StoreError: None came with it.
        BrokenModelError: It lacks its configuration or its tensors, or a value of the configuration cannot be.
    """
    record, prefix = source.record, source.draft_prefix
    if not prefix:
        raise StoreError(
            f"{printable(record.name)} came without a draft model of its own; name one that is to propose."
        )
    own = {name.removeprefix(DRAFT_FILES): text for name, text in source.json_files.items() if _is_own(name)}
    files = tuple(found for file in source.tensor_files if (found := _own_part(file, prefix)).tensors)
    if "config.json" not in own or not files:
        lacking = "tensors" if "config.json" in own else f"{DRAFT_FILES}config.json"
        raise BrokenModelError(
            f"The draft model in {printable_path(record.path)} has no {lacking}; download the model again."
        )
    said = config_facts(own["config.json"], record.path)
    shared = {name: text for name, text in source.json_files.items() if not _is_own(name) and name != "config.json"}
    return ModelSource(
        record=replace(
            record,
            name=f"{record.name} (own draft)",
            # What is computed with it is kept apart from what is computed with the other one.
            digest=hashlib.sha256(f"{record.digest} {prefix}".encode()).hexdigest(),
            architecture=said.architecture,
            context_length=said.context_length,
            parameters=None,
        ),
        tensor_files=files,
        json_files=MappingProxyType(shared | own),
        tokenizer_json=source.tokenizer_json,
    )


def _is_own(name: str) -> bool:
    return name.startswith(DRAFT_FILES)


def _own_part(file: TensorFile, prefix: str) -> TensorFile:
    """Return a file with the draft model's tensors alone, named as in a model by itself."""
    tensors = {name.removeprefix(prefix): info for name, info in file.tensors.items() if name.startswith(prefix)}
    # What a file says of a tensor stands under its name.
    said = {name.removeprefix(prefix): text for name, text in file.metadata.items() if name.startswith(prefix)}
    return replace(file, tensors=tensors, metadata={**file.metadata, **said}, prefix=prefix)
