"""What is said of a model that cannot be loaded: its file is named, and a GGUF file is spoken of in its own words."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from sotto.engine.contract.failure_events import is_out_of_memory
from sotto.engine.gguf.gguf_names import name_in_file
from sotto.errors import BrokenModelError, EngineError, UnsupportedModelError
from sotto.store.printable import printable, printable_path, with_path
from sotto.store.records import Format, ModelSource

# By what others call it: the key of a file, behind the architecture's name.
_KEYS: Mapping[str, str] = {
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
_KEY = re.compile(r"\b(\w+) in its config\.json")
_CONFIG = re.compile(r"\b([Ii]ts )?config\.json")
# Wherever a definition has tensors: `model.layers.0.mlp.up_proj.weight`.
_TENSOR = re.compile(r"(?<![\w/.])(?:model|lm_head|layers|embeddings)\.[\w.]*\w")
_FILE = re.compile(r"(\w+\.json): ")
_WORD = re.compile(r"[^\s,:;']+")
# More of an error helps nobody who does not know the library.
_MAX_REASON_CHARACTERS = 300
_VOCABULARY = re.compile(r"\b(?:tokenizer|tokenizer_config|generation_config)\.json")


@contextmanager
def name_file_in_errors(source: ModelSource) -> Iterator[None]:
    """Let the sentence that a model is refused with name the model's file, once, however deep inside it was raised."""
    try:
        yield
    except (BrokenModelError, EngineError) as error:
        # A want of memory is recognised by its sentence, and a stop is no refusal.
        if type(error) not in (BrokenModelError, UnsupportedModelError, EngineError) or is_out_of_memory(error):
            raise
        said = _sentence(error.message, source)
        if said == error.message:
            raise
        raise type(error)(said) from error


@contextmanager
def as_load_error(source: ModelSource) -> Iterator[None]:
    """Turn any error of a definition's first computation into a sentence that names the file."""
    try:
        yield
    except Exception as error:
        # A definition checks nothing before it computes.
        with name_file_in_errors(source):
            raise UnsupportedModelError(
                f"The definition of {source.record.architecture} models cannot compute it: {reason_of(error)}."
            ) from error


def reason_of(error: Exception) -> str:
    """Return what an error of a library says, as the end of a sentence: one line, without its point."""
    text = " ".join(str(error).split())
    if isinstance(error, KeyError):
        text = f"{text} is missing"
    elif isinstance(error, TypeError) and "missing" in text and "argument" in text:
        text = f"{text.rpartition(': ')[2]} missing"
    return printable(text, _MAX_REASON_CHARACTERS).rstrip(".") or type(error).__name__


def _sentence(message: str, source: ModelSource) -> str:
    """Return a sentence that names the file that it is about."""
    gguf = next((file for file in source.tensor_files if file.format is Format.GGUF), None)
    if gguf is not None:
        return with_path(gguf.path, _in_gguf_terms(message, printable_path(gguf.path), source))
    if any(printable_path(file.path) in message for file in source.tensor_files):
        return message
    words = {word.rstrip(".") for word in _WORD.findall(message)}
    owners = [file.path for file in source.tensor_files if words & file.tensors.keys()]
    path = source.record.path
    # Of a manifest's many files none is called anything that a person knows.
    folder = any(file.path.parent == path for file in source.tensor_files)
    if folder and (match := _FILE.match(message)):
        return with_path(path / match[1], message[match.end() :])
    return with_path(owners[0] if folder and len(owners) == 1 else path, message)


def _in_gguf_terms(message: str, path: str, source: ModelSource) -> str:
    """Return a sentence with the file's own names for what it is about."""
    prefix = source.record.architecture

    def key(match: re.Match[str]) -> str:
        name = _KEYS.get(match[1])
        return f"{prefix}.{name} of {path}" if name else f"{match[1]}, as the header of {path} has it,"

    message = _TENSOR.sub(lambda match: name_in_file(match[0], source.config), message)
    message = _KEY.sub(key, message)
    message = _CONFIG.sub(
        lambda match: f"{'The' if (match[1] or '').startswith('I') else 'the'} header of {path}", message
    )
    return _VOCABULARY.sub(f"The vocabulary of {path}", message)
