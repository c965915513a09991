"""GGUF files with only a vocabulary, and the tokenizers made from them."""

import gguf
import numpy as np

from sotto.engine.tokens.tokenizer import Tokenizer
from sotto.store.gguf.file import read_gguf_file
from sotto.store.gguf.metadata_values import Values
from sotto.store.gguf.vocabulary import vocabulary_of


def write_vocabulary(path, values, count=None, architecture="llama"):
    """Write a file with values of `tokenizer` keys, and return the values read back.

    Args:
        path: The file to write.
        values: The values by key, without `tokenizer.`.
        count: Number of rows of the embedding; None for one row per token.
        architecture: The architecture of the file.
    """
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
    return finish_file(writer, path, count or len(values["ggml.tokens"]))


def finish_file(writer, path, count):
    """Add an embedding of `count` tokens, write the file, and return the values read back."""
    writer.add_tensor("token_embd.weight", np.zeros((count, 1), np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return Values(read_gguf_file(path))


def tokenizer_of(values):
    """Return the tokenizer of a file."""
    vocabulary = vocabulary_of(values)
    return Tokenizer(vocabulary.tokenizer, vocabulary.files)
