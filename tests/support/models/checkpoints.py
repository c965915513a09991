"""Writing models with random weights in the layouts that the loader supports."""

import hashlib
import json
import struct
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import mlx.core as mx
import numpy as np

from sotto.engine.contract.events import LoadProgress
from sotto.engine.footprint.model_needs import limits_here
from sotto.engine.weights.loader import LoadedModel, load
from sotto.store.records import Format, ModelRecord, ModelSource, Source, TensorFile, TensorInfo

DTYPES = {mx.float32: "F32", mx.bfloat16: "BF16", mx.float16: "F16", mx.int32: "I32", mx.uint32: "U32", mx.uint8: "U8"}
# Ollama's types: MLX mode, bits, group size.
TYPES = {
    "int4": ("affine", 4, 64),
    "int8": ("affine", 8, 64),
    "mxfp4": ("mxfp4", 4, 32),
    "mxfp8": ("mxfp8", 8, 32),
    "nvfp4": ("nvfp4", 4, 16),
}

LLAMA = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 160,
    "max_position_embeddings": 256,
    "rms_norm_eps": 1e-5,
    "rope_theta": 10000.0,
    "tie_word_embeddings": False,
}
QWEN3_MOE = LLAMA | {
    "model_type": "qwen3_moe",
    "architectures": ["Qwen3MoeForCausalLM"],
    "head_dim": 16,
    "num_experts": 4,
    "num_experts_per_tok": 2,
    "decoder_sparse_step": 1,
    "mlp_only_layers": [],
    "moe_intermediate_size": 64,
    "norm_topk_prob": True,
}


def write_tensors(path: Path, tensors: Mapping[str, mx.array], metadata: Mapping[str, str] | None = None) -> None:
    """Write a safetensors file with an unpadded header, so that its data may begin at any offset."""
    header: dict[str, Any] = {"__metadata__": dict(metadata)} if metadata else {}
    offset = 0
    for name, array in tensors.items():
        header[name] = {
            "dtype": DTYPES[array.dtype],
            "shape": array.shape,
            "data_offsets": [offset, offset + array.nbytes],
        }
        offset += array.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for array in tensors.values():
            plain = array.view(mx.uint16) if array.dtype == mx.bfloat16 else array
            file.write(np.array(plain).tobytes())


def read_header(path: Path, digest: str = "") -> TensorFile:
    """Read the header of a file that this module or MLX wrote."""
    with path.open("rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
    metadata = header.pop("__metadata__", {})
    tensors = {
        name: TensorInfo(
            entry["dtype"], tuple(entry["shape"]), *(8 + length + offset for offset in entry["data_offsets"])
        )
        for name, entry in header.items()
    }
    return TensorFile(path, digest, tensors, metadata)


def write_blob(folder: Path, tensors: Mapping[str, mx.array], metadata: Mapping[str, str] | None = None) -> TensorFile:
    """Write a file named by the digest of its bytes, as Ollama does."""
    folder.mkdir(exist_ok=True)
    temporary = folder / "new"
    write_tensors(temporary, tensors, metadata)
    digest = hashlib.sha256(temporary.read_bytes()).hexdigest()
    return read_header(temporary.rename(folder / f"sha256-{digest}"), digest)


def quantize(
    name: str, weight: mx.array, kind: str, factor: float | None = None
) -> tuple[dict[str, mx.array], mx.array]:
    """Return the tensors of a quantized weight by Ollama's names, and the dequantized weight.

    Args:
        name: The name of the weight.
        weight: The weight.
        kind: One of `TYPES`.
        factor: A global scale; None for none.
    """
    mode, bits, group_size = TYPES[kind]
    parameters = {"mode": mode, "bits": bits, "group_size": group_size}
    packed, scales, *biases = mx.quantize(weight, **parameters)
    # With 16-bit scales, MLX would round the result to their type.
    exact = [array if array.dtype == mx.uint8 else array.astype(mx.float32) for array in (scales, *biases)]
    dequantized = mx.dequantize(packed, *exact, **parameters).astype(mx.float32)
    tensors = {f"{name}.scale": scales} | {f"{name}.bias": array for array in biases} | {name: packed}
    if factor is not None:
        tensors[f"{name}.global_scale"] = mx.array(factor)
        dequantized = dequantized * factor
    return tensors, dequantized


def metadata_of(kind: str) -> dict[str, str]:
    """Return the metadata that Ollama writes with a quantized weight."""
    return {"quant_type": kind, "group_size": str(TYPES[kind][2])}


def source_of(files: Iterable[TensorFile], config: Mapping[str, Any], draft_prefix: str = "") -> ModelSource:
    """Return a model with these files, as the store would open it."""
    files = tuple(files)
    record = ModelRecord(
        name="random:latest",
        digest="0" * 64,
        size=sum(file.nbytes for file in files),
        format=Format.SAFETENSORS,
        architecture=config["model_type"],
        parameters=None,
        quantization="",
        context_length=None,
        source=Source.FOLDER,
        path=files[0].path.parent,
        runnable=True,
    )
    return ModelSource(record, files, {"config.json": dict(config)}, "{}", draft_prefix=draft_prefix)


class Watch:
    """A `progress` callback that records its events, and a `cancelled` that returns true after some of them."""

    def __init__(self, stop_after: int | None = None) -> None:
        self.events: list[LoadProgress] = []
        self._stop_after = stop_after

    def __call__(self, event: LoadProgress) -> None:
        self.events.append(event)

    def cancelled(self) -> bool:
        """Return whether `stop_after` events have been recorded."""
        return self._stop_after is not None and len(self.events) >= self._stop_after


def folder_source(folder: Path) -> ModelSource:
    """Open the model in a folder with `config.json` and `model.safetensors`, and no tokenizer."""
    return source_of([read_header(folder / "model.safetensors")], json.loads((folder / "config.json").read_text()))


def load_folder(folder: Path) -> LoadedModel:
    """Load the model in a folder with `config.json` and `model.safetensors`."""
    return load(folder_source(folder), limits=limits_here(), progress=lambda _: None, cancelled=lambda: False)
