"""Error messages for models that cannot be loaded: they name the file, and for a GGUF file its own keys and tensors."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from sotto.engine.contract.failure_events import is_out_of_memory
from sotto.engine.gguf.gguf_names import name_in_file
from sotto.errors import BrokenModelError, EngineError, UnsupportedModelError
from sotto.store.printable import printable, printable_path, with_path
from sotto.store.records import Format, ModelSource

# The keys of a GGUF file, without the architecture's name in front, by the keys of config.json.
_GGUF_KEYS: Mapping[str, str] = {
    "head_dim": "attention.key_length",
    "hidden_size": "embedding_length",
    "intermediate_size": "feed_forward_length",
    "max_position_embeddings": "context_length",
    "n_routed_experts": "expert_count",
    "norm_topk_prob": "expert_weights_norm",
    "num_attention_heads": "attention.head_count",
    "num_experts": "expert_count",
    "num_hidden_layers": "block_count",
    "num_key_value_heads": "attention.head_count_kv",
    "num_local_experts": "expert_count",
    "scoring_func": "expert_gating_func",
}
_CONFIG_KEY = re.compile(r"\b(\w+) in its config\.json")
_CONFIG_FILE = re.compile(r"\b([Ii]ts )?config\.json")
# The name of a tensor in a definition, such as `model.layers.0.mlp.up_proj.weight`.
_TENSOR = re.compile(r"(?<![\w/.])(?:model|lm_head|layers|embeddings)\.[\w.]*\w")
_LEADING_FILE = re.compile(r"(\w+\.json): ")
_WORD = re.compile(r"[^\s,:;']+")
# The end of a longer message would help only readers who know the library.
_MAX_REASON_CHARACTERS = 300
_VOCABULARY = re.compile(r"\b(?:tokenizer|tokenizer_config|generation_config)\.json")


@contextmanager
def name_file_in_errors(source: ModelSource) -> Iterator[None]:
    """Make the errors raised inside name the model's file, unless they do already."""
    try:
        yield
    except (BrokenModelError, EngineError) as error:
        # Running out of memory is recognised by its message, so that stays. Other subclasses are not about the file.
        if type(error) not in (BrokenModelError, UnsupportedModelError, EngineError) or is_out_of_memory(error):
            raise
        message = _with_file(error.message, source)
        if message == error.message:
            raise
        raise type(error)(message) from error


@contextmanager
def as_load_error(source: ModelSource) -> Iterator[None]:
    """Turn any error of a definition's first forward pass into one that names the file.

    Raises:
        UnsupportedModelError: Anything was raised inside.
    """
    try:
        yield
    except Exception as error:
        # Definitions check nothing before they compute, so any exception can mean an unsupported model.
        with name_file_in_errors(source):
            raise UnsupportedModelError(
                f"The definition of {source.record.architecture} models cannot compute it: {reason_of(error)}."
            ) from error


def reason_of(error: Exception) -> str:
    """Return the message of a library's error as the end of a sentence: one line, without a full stop."""
    text = " ".join(str(error).split())
    if isinstance(error, KeyError):
        text = f"{text} is missing"
    elif isinstance(error, TypeError) and "missing" in text and "argument" in text:
        text = f"{text.rpartition(': ')[2]} missing"
    return printable(text, _MAX_REASON_CHARACTERS).rstrip(".") or type(error).__name__


def _with_file(message: str, source: ModelSource) -> str:
    """Return the message with the name of the file that it is about."""
    if any(printable_path(adapter.path) in message for adapter in source.adapters):
        return message
    gguf = next((file for file in source.tensor_files if file.format is Format.GGUF), None)
    if gguf is not None:
        return with_path(gguf.path, _in_gguf_terms(message, printable_path(gguf.path), source))
    if any(printable_path(file.path) in message for file in source.tensor_files):
        return message
    words = {word.rstrip(".") for word in _WORD.findall(message)}
    owners = [file.path for file in source.tensor_files if words & file.tensors.keys()]
    path = source.record.path
    # The files that a manifest lists have no names that users would know.
    folder = any(file.path.parent == path for file in source.tensor_files)
    if folder and (match := _LEADING_FILE.match(message)):
        return with_path(path / match[1], message[match.end() :])
    return with_path(owners[0] if folder and len(owners) == 1 else path, message)


def _in_gguf_terms(message: str, path: str, source: ModelSource) -> str:
    """Return the message with the keys and tensor names of the GGUF file."""
    prefix = source.record.architecture

    def key(match: re.Match[str]) -> str:
        name = _GGUF_KEYS.get(match[1])
        return f"{prefix}.{name} of {path}" if name else f"{match[1]}, as the header of {path} has it,"

    message = _TENSOR.sub(lambda match: name_in_file(match[0], source.config), message)
    message = _CONFIG_KEY.sub(key, message)
    message = _CONFIG_FILE.sub(
        lambda match: f"{'The' if (match[1] or '').startswith('I') else 'the'} header of {path}", message
    )
    return _VOCABULARY.sub(f"The vocabulary of {path}", message)
