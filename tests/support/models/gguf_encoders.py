"""Writing encoders as GGUF files with the gguf package, arranged as llama.cpp's converter arranges them.

The converter: https://github.com/ggml-org/llama.cpp (conversion/bert.py).
"""

import json
from pathlib import Path

import gguf
import mlx.core as mx
import numpy as np

F32 = gguf.GGMLQuantizationType.F32
_SPACE = "\u2581"
_ARCHITECTURES = {"jina_embeddings_v3": "jina-bert-v3", "nomic_bert": "nomic-bert"}
# Tensors that converters never quantize because they are small.
_PLAIN = ("position_embd", "token_types")


def write_encoder(
    path, folder, kind=F32, *, vocabulary=None, pooling=gguf.PoolingType.MEAN, change=lambda writer: None
):
    """Write an encoder in transformers' format as a GGUF file, and return the path.

    Args:
        path: The file to write.
        folder: The encoder's folder with config.json and weights.
        kind: The type of the matrices, from the gguf package.
        vocabulary: Writes the vocabulary, given the writer and the number of tokens; None for `letters`.
        pooling: The pooling type; None to omit it.
        change: Called with the writer before the file is written.
    """
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    architecture = _ARCHITECTURES.get(config["model_type"], "bert")
    # Positions up to that of the padding token are removed.
    unused = config["pad_token_id"] + 1 if "roberta" in config["model_type"] else 0
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_type("model")
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_context_length(config["max_position_embeddings"] - unused)
    writer.add_embedding_length(config["hidden_size"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_layer_norm_eps(config["layer_norm_eps"])
    writer.add_causal_attention(False)
    if pooling is not None:
        writer.add_pooling_type(pooling)
    if "rope_parameters" in config:
        writer.add_rope_freq_base(config["rope_parameters"]["rope_theta"])
    (vocabulary or letters)(writer, config["vocab_size"])
    writer.add_token_type_count(config["type_vocab_size"])
    change(writer)
    arch = next(key for key, name in gguf.MODEL_ARCH_NAMES.items() if name == architecture)
    known = gguf.get_tensor_name_map(arch, config["num_hidden_layers"])
    for name, array in mx.load(str(folder / "model.safetensors")).items():
        if name.startswith("pooler.") or name.endswith("position_ids"):
            continue
        tensor = known.get_name(name, try_suffixes=(".weight", ".bias"))
        assert tensor, name
        values = np.array(array.astype(mx.float32))
        values = values[unused:] if tensor.startswith("position_embd") else values
        if values.ndim < 2 or tensor.startswith(_PLAIN) or values.shape[-1] % gguf.GGML_QUANT_SIZES[kind][0]:
            writer.add_tensor(tensor, values)
        else:
            writer.add_tensor(tensor, gguf.quants.quantize(values, kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return Path(path)


def letters(writer, count):
    """Write a vocabulary of `count` pieces that consist of repeated letters."""
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    pieces = [chr(ord("a") + index % 26) * (1 + index // 26) for index in range(count)]
    write_pieces(writer, [*special, *pieces][:count])


def of_minilm(writer, count):
    """Write the vocabulary of all-MiniLM-L6-v2."""
    from embedding import minilm

    pieces = (minilm() / "vocab.txt").read_text(encoding="utf-8").splitlines()
    assert len(pieces) == count
    write_pieces(writer, pieces)


def write_pieces(writer, pieces, *, old=False):
    """Write a WordPiece vocabulary given with `##` marks; `old` leaves all pieces in brackets unmarked."""
    special = {"[PAD]": "padding", "[UNK]": "unknown", "[CLS]": "cls", "[SEP]": "seperator", "[MASK]": "mask"}
    kept = [piece in special or (old and piece.startswith("[") and piece.endswith("]")) for piece in pieces]
    writer.add_tokenizer_model("bert")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(
        [
            piece if keep else piece[2:] if piece.startswith("##") else _SPACE + piece
            for piece, keep in zip(pieces, kept, strict=True)
        ]
    )
    writer.add_token_types([gguf.TokenType.CONTROL if piece in special else gguf.TokenType.NORMAL for piece in pieces])
    for piece, name in special.items():
        if piece in pieces:
            writer.add_uint32(f"tokenizer.ggml.{name}_token_id", pieces.index(piece))
