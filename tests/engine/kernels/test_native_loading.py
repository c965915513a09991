"""With the native kernels, 16-bit weights stay in 16 bits, which changes nothing but the memory."""

import json

import mlx.core as mx
import pytest
from mlx import nn
from mlx.utils import tree_flatten

from native_kernels import needs_kernels
from sotto.engine.architectures.zoo import build
from sotto.engine.footprint.model_needs import limits_here, needs_of
from sotto.engine.kernels import native, native_products
from sotto.engine.kernels.cpu_linear import adapt_to_cpu
from sotto.engine.weights.loader import load
from sotto.store.opening import open_model, record_of
from tiny_random import CONFIGS, VOCABULARY, write_model

pytestmark = needs_kernels
IDS = mx.array([[(7 * index) % VOCABULARY for index in range(40)]])


def written(folder, kind, bits):
    """Write a model as publishers do, with weights in bfloat16, or quantized with bfloat16 scales."""
    wide = {**CONFIGS[kind], "hidden_size": 64, "intermediate_size": 128, "moe_intermediate_size": 64}
    changes = {name: wide[name] for name in ("hidden_size", "intermediate_size", "moe_intermediate_size")}
    write_model(folder, kind, **(changes if kind != "plain" else {**changes, "moe_intermediate_size": None}))
    config = {**CONFIGS[kind], **changes}
    if bits:
        config["quantization"] = {"group_size": 32, "bits": bits}
    mx.random.seed(3)
    model, _ = build({name: value for name, value in config.items() if name != "quantization" and value is not None})
    model.set_dtype(mx.bfloat16)
    if bits:
        nn.quantize(model, group_size=32, bits=bits)
    path = folder / "config.json"
    text = json.loads(path.read_text())
    text.update({name: value for name, value in config.items() if value is not None})
    path.write_text(json.dumps({name: value for name, value in text.items() if value is not None}))
    mx.save_safetensors(str(folder / "model.safetensors"), dict(tree_flatten(model.parameters())), {"format": "mlx"})
    return open_model(record_of(folder))


def loaded(source):
    found = load(source, limits=limits_here(), progress=lambda _: None, cancelled=lambda: False)
    adapt_to_cpu(found.model)
    return found


@pytest.mark.one_in(2)
@pytest.mark.parametrize("bits", [None, 4, 8])
@pytest.mark.parametrize("kind", ["plain", "hybrid"])
def test_weights_stay_as_stored_and_activations_are_float32(kind, bits, tmp_path, monkeypatch):
    source = written(tmp_path, kind, bits)
    narrow = loaded(source)
    logits = narrow.model(IDS)
    assert logits.dtype == mx.float32
    kept = {name for name, array in tree_flatten(narrow.model.parameters()) if array.dtype == mx.bfloat16}
    assert kept
    assert kept <= native_products.as_stored(narrow.model)
    assert narrow.weight_bytes == needs_of(source, limits_here(), native.kernels()).weight_bytes
    native.uninstall()
    monkeypatch.setenv("SOTTO_NATIVE", "0")
    wide = loaded(source)
    assert wide.weight_bytes > narrow.weight_bytes
    expected = wide.model(IDS)
    assert mx.abs(logits - expected).max().item() <= 1e-4 * mx.abs(expected).max().item()
    assert (mx.argmax(logits, axis=-1) == mx.argmax(expected, axis=-1)).mean().item() > 0.97
