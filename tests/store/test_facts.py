"""Facts about models: parameter counts for every layout, types and context lengths; and printable sizes and texts."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sotto.errors import BrokenModelError
from sotto.store.facts import as_tensors_allow, commonest_dtype, config_facts, parameter_count
from sotto.store.files import absolute, open_regular, resolve_inside
from sotto.store.printable import format_size, printable, printable_path
from sotto.store.records import TensorFile, TensorInfo
from stores import SIZES, assert_sentence

CONFIG = Path("/m/config.json")


def file(metadata=None, **tensors):
    infos = {}
    for name, (dtype, *shape) in tensors.items():
        size = SIZES.get(dtype, 1)
        for dimension in shape:
            size *= dimension
        infos[name.replace("__", ".")] = TensorInfo(dtype, tuple(shape), 0, size)
    return TensorFile(Path("/m/x.safetensors"), "", infos, metadata or {})


def count(files, **config):
    return parameter_count(files, config, CONFIG)


def quantization(**config):
    return config_facts(config, CONFIG).quantization


def test_plain_weights_are_counted_directly():
    assert count([file(a__weight=("F32", 3, 4), a__bias=("F32", 3)), file(b=("BF16", 5), scalar=("F32",))]) == 21


@pytest.mark.parametrize(
    ("metadata", "group"),
    [
        ({"quant_type": "int4", "group_size": "64"}, 64),
        ({"quant_type": "nvfp4", "group_size": "16"}, 16),
        ({"quant_type": "mxfp8"}, 32),
        ({"quant_type": "NVFP4"}, 16),
        ({"w.weight.group_size": "128", "group_size": "64"}, 128),
        ({"group_size": "0", "quant_type": "int8"}, 64),
        ({"group_size": "9" * 100}, 64),
        ({"group_size": "٣"}, 64),
        ({}, 64),
    ],
)
def test_ollamas_quantized_weights_are_counted_by_their_scales(metadata, group):
    tensors = {"w__weight": ("U32", 6, 8), "w__weight__scale": ("BF16", 6, 2), "w__weight__bias": ("BF16", 6, 2)}
    assert count([file(metadata, **tensors, w__weight__global_scale=("F32",), norm=("F32", 7))]) == 12 * group + 7


@pytest.mark.parametrize(
    ("said", "group"),
    [
        ({"bits": 4, "group_size": 64}, 64),
        ({"bits": 4, "group_size": 32}, 32),
        ({"mode": "nvfp4"}, 16),
        ({"bits": 4, "group_size": 64, "model.w": {"bits": 8, "group_size": 128}}, 128),
        ({"bits": 4, "group_size": 64, "model.w": False}, 64),
        ({"bits": 4, "group_size": -1}, 64),
        ({"bits": 4, "group_size": 10**400}, 64),
    ],
)
def test_mlx_quantized_weights_are_counted_by_their_scales(said, group):
    tensors = {
        "model__w__weight": ("U32", 6, 8),
        "model__w__scales": ("BF16", 6, 2),
        "model__w__biases": ("BF16", 6, 2),
    }
    assert count([file(**tensors)], quantization=said) == 12 * group
    # The scales of a tensor may be in another file.
    halves = [file(model__w__weight=("U32", 6, 8)), file(model__w__scales=("BF16", 6, 2))]
    assert count(halves, quantization_config=said) == 12 * group


def test_other_layouts_are_counted_by_their_packing_or_not_at_all():
    packed = {"w__qweight": ("U32", 4, 8), "w__scales": ("BF16", 4, 1), "w__qzeros": ("U32", 1, 1)}
    assert count([file(**packed)], quantization_config={"quant_method": "gptq", "bits": 4}) == 32 * 8
    blocks = file(experts_blocks=("U8", 2, 16), experts_scales=("U8", 2))
    assert count([blocks], quantization_config={"quant_method": "mxfp4"}) == 64
    assert count([file(w=("U8", 9))], quantization_config={"quant_method": "bitsandbytes"}) is None


def test_a_bias_of_a_layer_is_a_weight():
    assert count([file(w__weight=("F32", 2, 2), w__bias=("F32", 2), router__scale=("F32", 3))]) == 9


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({}, ""),
        ({"quantization": {"bits": 4, "group_size": 64}}, "int4"),
        ({"quantization": {"bits": 8, "group_size": 64, "mode": "affine"}}, "int8"),
        ({"quantization": {"bits": 6, "group_size": 32}}, "6-bit g32"),
        ({"quantization": {"bits": 4, "mode": "mxfp4", "group_size": 32}}, "mxfp4"),
        ({"quantization_config": {"quant_method": "awq", "bits": 4}}, "awq 4-bit"),
        ({"quantization_config": {"quant_method": "fp8"}}, "fp8"),
        ({"text_config": {"quantization_config": {"quant_method": "fp8"}}}, "fp8"),
        ({"quantization": {"bits": 4}, "quantization_config": {"quant_method": "awq"}}, "int4"),
        ({"quantization": {"bits": True}}, ""),
        ({"quantization": {"bits": -4}}, ""),
        ({"quantization": {"bits": 10**300}}, ""),
        ({"quantization_config": {"quant_method": ["x"]}}, ""),
        ({"quantization_config": {"quant_method": "a\nb"}}, "a\\x0ab"),
    ],
)
def test_quantization_is_named(config, said):
    assert quantization(**config) == said


def test_the_main_type_is_that_of_most_bytes():
    assert commonest_dtype([file(a=("F32", 4), b=("BF16", 9)), file(c=("BF16", 1))]) == "BF16"
    assert commonest_dtype([]) == ""


@pytest.mark.parametrize(
    ("config", "tokens"),
    [
        ({"max_position_embeddings": 8192}, 8192),
        ({"max_position_embeddings": 4096.0}, 4096),
        ({"n_positions": 1024, "n_ctx": 5}, 1024),
        ({"max_position_embeddings": 5, "text_config": {"max_position_embeddings": 7}}, 7),
        ({"max_position_embeddings": None}, None),
        ({}, None),
    ],
)
def test_the_context_is_that_of_the_text_model(config, tokens):
    assert config_facts(config, CONFIG).context_length == tokens


def test_images_and_audio_are_among_the_capabilities():
    config = {"model_type": "gemma4", "vision_config": {}, "audio_config": {}}
    assert config_facts(config, CONFIG).capabilities == ("completion", "vision", "audio")


@pytest.mark.parametrize(
    "config", [{"model_type": "kimi_vl", "vision_config": {}}, {"model_type": "gemma3"}, {"vision_config": {}}]
)
def test_models_without_a_tower_that_is_supported_do_not_see(config):
    assert config_facts(config, CONFIG).capabilities == ("completion",)


@pytest.mark.parametrize(
    ("name", "sees"),
    [
        ("vision_tower.vision_model.encoder.layers.0.self_attn.q_proj.weight", True),
        ("model.visual.blocks.0.attn.qkv.weight", True),
        ("visual.patch_embed.proj.weight", True),
        ("model.multi_modal_projector.linear_1.weight", True),
        ("model.connector.modality_projection.proj.weight", True),
        ("image_newline", True),
        ("model.embed_vision.embedding_projection.weight", True),
        ("vision_model.post_layernorm.weight", True),
        ("model.layers.0.self_attn.q_proj.weight", False),
        ("language_model.model.embed_tokens.weight", False),
        ("audio_tower.layers.0.weight", False),
    ],
)
def test_only_models_with_the_tensors_of_a_tower_see(name, sees):
    allowed = as_tensors_allow(("completion", "vision", "tools"), ["model.norm.weight", name])
    assert allowed == (("completion", "vision", "tools") if sees else ("completion", "tools"))


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1 kB"),
        (999_499, "999 kB"),
        (999_500, "1 MB"),
        (4_200_000, "4.2 MB"),
        (10**9, "1 GB"),
        (10**13, "10 TB"),
        (10**16, "10 PB"),
    ],
)
def test_sizes_are_in_powers_of_ten(size, text):
    assert format_size(size) == text


@given(st.text(), st.integers(4, 60))
def test_a_shown_text_is_printable_and_short(text, limit):
    result = printable(text, limit)
    assert result.isprintable()
    assert len(result) <= 10 * limit
    if text.isprintable() and len(text) <= limit:
        assert result == text


def test_a_long_text_keeps_its_ends():
    assert printable("a" * 100 + "b" * 100, 11) == "aaaaa…bbbbb"
    assert printable("a\u00a0b\u2028c\U000e0001\udc80") == "a b\\u2028c\\U000e0001\\udc80"
    assert printable_path(Path(os.fsdecode(b"/a\xff"))) == "/a\\udcff"


def test_anything_but_a_regular_file_is_not_opened(tmp_path):
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    (tmp_path / "file").write_bytes(b"")
    cases = {
        tmp_path: "is a folder; it should be a regular file",
        tmp_path / "gone": "is missing",
        tmp_path / "file" / "below": "one of the folders above it is a file",
        tmp_path / ("n" * 300): "its name is longer than a name can be",
        loop: "leads back to itself",
        Path("/dev/null"): "is a pipe, socket or device",
    }
    for path, wrong in cases.items():
        with pytest.raises(BrokenModelError) as refused, open_regular(path):
            pass
        assert_sentence(refused.value.message, path, wrong)


def test_a_path_must_stay_inside(tmp_path):
    inside, outside = tmp_path / "in", tmp_path / "inside-not"
    for path in (inside, outside):
        path.mkdir()
    base = os.path.realpath(inside)
    (inside / "link").symlink_to(outside)
    assert resolve_inside(inside, base) == base
    for path in (inside / "link", inside / ".." / "inside-not", outside):
        with pytest.raises(BrokenModelError, match="leads out of") as refused:
            resolve_inside(path, base)
        assert_sentence(refused.value.message, path)
    assert absolute(inside / ".." / "in" / "link") == inside / "link"
