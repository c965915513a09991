"""Multi-head latent attention with the native kernels: queries are projected, not keys, and results stay equal."""

import mlx.core as mx
import numpy as np
import pytest
from mlx import nn
from mlx.utils import tree_flatten

from families import FAMILIES
from native_kernels import KERNELS, assert_close, needs_kernels, normal
from sotto.engine.architectures.attention import Projected
from sotto.engine.architectures.zoo import build
from sotto.engine.caches.caches import make_caches
from sotto.engine.kernels import native, native_products

pytestmark = needs_kernels

LATENT = ["bailing_moe_v3", "deepseek_v32", "glm4_moe_lite", "glm_moe_dsa", "kimi_linear", "longcat_flash", "mistral4"]
IDS = [5, 9, 2, 33, 7, 1, 60, 12, 8, 8, 3, 41, 17]


@pytest.fixture
def kernels():
    """Use the kernels in the layers, as they may already be used or not."""
    before = native_products.is_installed()
    native.install()
    yield KERNELS
    if not before:
        native.uninstall()


def logits(model, parts):
    """Return the logits of a prompt that is fed in parts."""
    caches = make_caches(model)
    found, at = [], 0
    for length in parts:
        found.append(model(mx.array([IDS[at : at + length]]), cache=caches))
        at += length
    return np.array(mx.concatenate(found, axis=1), dtype=np.float64)


@pytest.mark.parametrize("bits", [None, 4])
@pytest.mark.parametrize("name", LATENT)
def test_models_give_the_logits_of_plain_mlx(kernels, name, bits):
    mx.random.seed(4)
    model, _ = build(FAMILIES[name] | ({"kv_lora_rank": 32, "v_head_dim": 32, "qk_nope_head_dim": 32} if bits else {}))
    if bits:
        layers = [path for path, layer in model.named_modules() if path.endswith(("embed_q", "unembed_out"))]
        assert layers
        nn.quantize(model, 32, bits, class_predicate=lambda path, _: path in layers)
    parts = (6, 1, 5, 1)
    native.uninstall()
    wanted = logits(model, parts)
    native.install()
    native_products.absorb_projections(model)
    found = logits(model, parts)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=2e-4 * np.abs(wanted).max())


@pytest.mark.parametrize("length", [1, 7])
def test_products_with_a_matrix_for_each_head(kernels, length):
    from mlx_lm.models.mla import MultiLinear

    rng = np.random.default_rng(0)
    layer = MultiLinear(64, 96, 5)
    layer.weight = mx.array(normal(rng, 5, 96, 64))
    x = normal(rng, 2, 5, length, 64)
    assert_close(layer(mx.array(x)), np.einsum("bhli,hoi->bhlo", x.astype(np.float64), np.array(layer.weight)))
    packed = layer.to_quantized(32, 4)
    weight = np.array(mx.dequantize(packed.weight, packed.scales, packed.biases, 32, 4), dtype=np.float64)
    assert_close(packed(mx.array(x)), np.einsum("bhli,hoi->bhlo", x.astype(np.float64), weight))


def test_keys_are_not_made_of_a_context(kernels):
    model, _ = build(FAMILIES["glm4_moe_lite"])
    attention = model.model.layers[0].self_attn
    latent = mx.zeros((1, 1, 9, FAMILIES["glm4_moe_lite"]["kv_lora_rank"]))
    assert isinstance(attention.embed_q(latent, transpose=False), mx.array)
    weights = [name for name, _ in tree_flatten(model.parameters())]
    native_products.absorb_projections(model)
    assert [name for name, _ in tree_flatten(model.parameters())] == weights
    assert isinstance(attention.embed_q(latent, transpose=False), Projected)
    assert isinstance(attention.unembed_out(latent), Projected)
    native.uninstall()
    assert isinstance(attention.embed_q(latent, transpose=False), mx.array)
