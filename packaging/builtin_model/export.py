"""Exports the trained model to resources/store, quantized and in Ollama's layout for MLX models.

    python packaging/builtin_model/export.py --model build/builtin_model --store resources/store

The export is deterministic: the same folder always yields the same bytes.
"""

import argparse
import hashlib
import json
import shutil
import struct
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file

BITS, GROUP = 8, 64
# Greedy decoding is the most reliable; the longest answer in training has about 110 tokens.
PARAMS = {"num_predict": 256, "temperature": 0}
NAME = "registry.ollama.ai/library/sotto/latest"
MEDIA = "application/vnd.ollama.image."
LIMIT = 12_000_000
_TYPES = {"float32": "F32", "uint32": "U32"}


class Store:
    """A store under construction: blobs named by digest, and the layers of the manifest."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.layers: list[dict[str, object]] = []
        (root / "blobs").mkdir(parents=True)

    def blob(self, content: bytes, media_type: str, name: str = "") -> dict[str, object]:
        """Write a blob, and return the layer that names it."""
        digest = hashlib.sha256(content).hexdigest()
        (self._root / "blobs" / f"sha256-{digest}").write_bytes(content)
        return {"mediaType": media_type, "digest": f"sha256:{digest}", "size": len(content)} | (
            {"name": name} if name else {}
        )

    def add(self, content: bytes, kind: str, name: str = "") -> None:
        """Write a blob as the next layer of the manifest."""
        self.layers.append(self.blob(content, MEDIA + kind, name))


def compact(value: object) -> bytes:
    """Return JSON without white space, with sorted keys."""
    return json.dumps(value, separators=(",", ":"), sort_keys=True, ensure_ascii=False).encode()


def safetensors(tensors: dict[str, np.ndarray], metadata: dict[str, str]) -> bytes:
    """Return a safetensors file: header length in 8 bytes, JSON header padded to a multiple of 8, then the data."""
    header: dict[str, object] = {"__metadata__": metadata} if metadata else {}
    offset = 0
    for name, tensor in tensors.items():
        header[name] = {
            "dtype": _TYPES[str(tensor.dtype)],
            "shape": list(tensor.shape),
            "data_offsets": [offset, offset + tensor.nbytes],
        }
        offset += tensor.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return (
        struct.pack("<Q", len(text))
        + text
        + b"".join(np.ascontiguousarray(tensor).tobytes() for tensor in tensors.values())
    )


def quantize(weight: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Quantize a matrix [out, in]: w ≈ scale * q + bias, with a scale and bias per group of inputs.

    Returns:
        U32 words [out, in * BITS / 32], lowest bits first; scales and biases F32 [out, in / GROUP].
    """
    groups = weight.astype(np.float32).reshape(weight.shape[0], -1, GROUP)
    bias = groups.min(axis=2, keepdims=True)
    scale = np.maximum((groups.max(axis=2, keepdims=True) - bias) / np.float32(2**BITS - 1), np.float32(1e-8))
    levels = np.clip(np.rint((groups - bias) / scale), 0, 2**BITS - 1).astype(np.uint32)
    parts = levels.reshape(weight.shape[0], -1, 32 // BITS)
    words = np.zeros(parts.shape[:2], np.uint32)
    for index in range(32 // BITS):
        words |= parts[:, :, index] << np.uint32(BITS * index)
    return words, scale[:, :, 0], bias[:, :, 0]


def export(model: Path, target: Path, license_text: bytes) -> int:
    """Write the store, replacing any earlier one, and return its size in bytes."""
    if target.exists():
        shutil.rmtree(target)
    store = Store(target)
    for name, tensor in sorted(load_file(model / "model.safetensors").items()):
        if tensor.ndim == 2:
            words, scale, bias = quantize(tensor)
            parts = {name: words, f"{name}.scale": scale, f"{name}.bias": bias}
            content = safetensors(parts, {"group_size": str(GROUP), "quant_type": f"int{BITS}"})
        else:
            content = safetensors({name: tensor.astype(np.float32)}, {})
        store.add(content, "tensor", name)
    for name in ("config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json"):
        store.add(compact(json.loads((model / name).read_text(encoding="utf-8"))), "json", name)
    store.add(license_text, "license")
    store.add(compact(PARAMS) + b"\n", "params")
    config = {
        "model_format": "safetensors",
        "model_family": "",
        "model_families": None,
        "model_type": "",
        "file_type": f"int{BITS}",
        "requires": "0.19.0",
        "capabilities": ["completion"],
        "architecture": "",
        "os": "",
    }
    text = json.dumps(config, separators=(",", ":")).encode()
    manifest = {
        "schemaVersion": 2,
        "mediaType": "application/vnd.docker.distribution.manifest.v2+json",
        "config": store.blob(text, "application/vnd.docker.container.image.v1+json"),
        "layers": store.layers,
    }
    path = target / "manifests" / NAME
    path.parent.mkdir(parents=True)
    path.write_bytes(json.dumps(manifest, separators=(",", ":")).encode() + b"\n")
    return sum(file.stat().st_size for file in target.rglob("*") if file.is_file())


def main() -> None:
    """Export the model and print the size of the store."""
    root = Path(__file__).parents[2]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, default=Path("build/builtin_model"))
    parser.add_argument("--store", type=Path, default=root / "resources" / "store")
    arguments = parser.parse_args()
    size = export(arguments.model, arguments.store, (root / "LICENSE").read_bytes())
    print(f"{arguments.store}: {size:,} bytes")
    if size > LIMIT:
        raise SystemExit(f"The store must stay under {LIMIT:,} bytes.")


if __name__ == "__main__":
    main()
