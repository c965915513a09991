"""GGUF files of nothing but a vocabulary, and the tokenizers that they stand for."""

import gguf
import numpy as np

from sotto.engine.tokens.tokenizer import Tokenizer
from sotto.store.gguf.file import read_gguf_file
from sotto.store.gguf.metadata_values import Values
from sotto.store.gguf.vocabulary import vocabulary_of


def written(path, values, count=None, architecture="llama"):
    """Write a file with such values and an embedding of as many tokens, and return its values."""
    writer = gguf.GGUFWriter(path, architecture)
    for key, value in values.items():
        key = f"tokenizer.{key}"
        if isinstance(value, bool):
            writer.add_bool(key, value)
        elif isinstance(value, int):
            writer.add_uint32(key, value)
        elif isinstance(value, str):
            writer.add_string(key, value)
        elif key == "tokenizer.chat_template":
            writer.add_chat_template(value)
        else:
            writer.add_array(key, value)
    return finished(writer, path, count or len(values["ggml.tokens"]))


def finished(writer, path, count):
    """Write a file that a vocabulary of so many tokens was added to, and return its values."""
    writer.add_tensor("token_embd.weight", np.zeros((count, 1), np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return Values(read_gguf_file(path))


def tokenizer_of(values):
    """Return the tokenizer that a file's values stand for."""
    found = vocabulary_of(values)
    return Tokenizer(found.tokenizer, found.files)
