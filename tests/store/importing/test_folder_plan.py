"""Planning imports of folders: what is in them, what cannot be imported, and files that are hostile."""

import json
import struct

import pytest

from sotto.errors import InvalidRequestError, SottoError
from sotto.store.importing.folder_plan import plan_folder
from sotto.store.importing.import_plan import Computed, Segment
from sotto.store.sources.harvest import everything_runs
from stores import LLAMA, SIZES, assert_sentence, folder, repository, safetensors, with_header

MATRIX = ("BF16", (256, 128))
Q_PROJ = "model.layers.0.self_attn.q_proj"
EXPERTS = "model.layers.0.mlp.experts"

SIZES |= {"F8_E4M3": 1, "F8_E5M2": 1, "I32": 4}


def plan(path, quantize="", judge=everything_runs):
    return plan_folder(path, quantize, judge)


def refusal(path, quantize="", judge=everything_runs):
    with pytest.raises(SottoError) as raised:
        plan(path, quantize, judge)
    return raised.value.message


def tensors(found):
    return {blob.name: blob for blob in found.blobs if blob.kind == "tensor"}


def header(blob):
    (length,) = struct.unpack_from("<Q", blob.pieces[0])
    return json.loads(blob.pieces[0][8 : 8 + length])


def model(path, parts, config=LLAMA, **files):
    return folder(path, config=config, **{"model.safetensors": safetensors(parts)} | files)


def test_each_tensor_gets_a_blob_and_companions_follow_in_order(tmp_path):
    path = model(tmp_path / "m", {f"{Q_PROJ}.weight": MATRIX, "model.norm.weight": ("F32", (128,))})
    (path / "vocab.json").write_text("{}")
    (path / "chat_template.jinja").write_text("{{ messages }}")
    (path / "README.md").write_text("no part of it")
    found = plan(path)
    assert [(blob.kind, blob.name) for blob in found.blobs] == [
        ("tensor", f"{Q_PROJ}.weight"),
        ("tensor", "model.norm.weight"),
        ("json", "chat_template.json"),
        ("json", "config.json"),
        ("json", "tokenizer.json"),
        ("json", "vocab.json"),
    ]
    assert found.blobs[2].pieces == (b'{"chat_template":"{{ messages }}"}',)
    assert header(found.blobs[0]) == {
        f"{Q_PROJ}.weight": {"dtype": "BF16", "shape": [256, 128], "data_offsets": [0, 65536]}
    }
    assert found.parameters == 256 * 128 + 128
    assert (found.architecture, found.config["file_type"]) == ("llama", "")
    assert not any(blob.is_computed for blob in found.blobs)


def test_templates_for_particular_uses_are_kept_beside_the_usual_one(tmp_path):
    path = model(tmp_path / "m", {f"{Q_PROJ}.weight": MATRIX}, **{"chat_template.jinja": b"usual"})
    (path / "additional_chat_templates").mkdir()
    (path / "additional_chat_templates" / "tool_use.jinja").write_text("tools")
    (blob,) = [blob for blob in plan(path).blobs if blob.name == "chat_template.json"]
    assert json.loads(blob.pieces[0])["chat_template"] == [
        {"name": "default", "template": "usual"},
        {"name": "tool_use", "template": "tools"},
    ]


def test_the_size_is_known_beforehand(tmp_path):
    path = model(tmp_path / "m", {f"{Q_PROJ}.weight": MATRIX})
    blob = tensors(plan(path, "int4"))[f"{Q_PROJ}.weight"]
    assert header(blob) == {
        "__metadata__": {"quant_type": "int4", "group_size": "64"},
        f"{Q_PROJ}.weight": {"dtype": "U32", "shape": [256, 16], "data_offsets": [0, 16384]},
        f"{Q_PROJ}.weight.scale": {"dtype": "BF16", "shape": [256, 2], "data_offsets": [16384, 17408]},
        f"{Q_PROJ}.weight.bias": {"dtype": "BF16", "shape": [256, 2], "data_offsets": [17408, 18432]},
    }
    assert blob.size == len(blob.pieces[0]) + 18432


def test_experts_are_stacked_and_share_a_blob_if_quantized_alike(tmp_path):
    names = [f"{EXPERTS}.{number}.{part}_proj.weight" for number in range(12) for part in ("gate", "up", "down")]
    path = model(tmp_path / "m", dict.fromkeys(names, MATRIX))
    (blob,) = tensors(plan(path)).values()
    assert blob.name == EXPERTS
    gate = f"{EXPERTS}.gate_proj.weight"
    assert header(blob)[gate]["shape"] == [12, 256, 128]
    stacks = [piece for piece in blob.pieces if isinstance(piece, Computed)]
    starts = {part.start for part in stacks[0].parts}
    assert len(starts) == 12
    # Expert 10 comes after expert 9, although its name comes before.
    assert [part.start for part in stacks[1].parts] == sorted(part.start for part in stacks[1].parts)
    assert tensors(plan(path, "nvfp4")).keys() == {EXPERTS}
    apart = tensors(plan(path, "int4"))
    assert apart.keys() == {f"{EXPERTS}.{part}_proj.weight" for part in ("gate", "up", "down")}
    kinds = {name: header(blob)["__metadata__"]["quant_type"] for name, blob in apart.items()}
    assert kinds[f"{EXPERTS}.down_proj.weight"] == "int8"
    assert kinds[gate] == "int4"


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({f"{EXPERTS}.0.up_proj.weight": MATRIX, f"{EXPERTS}.2.up_proj.weight": MATRIX}, "missing"),
        ({f"{EXPERTS}.0.up_proj.weight": MATRIX, f"{EXPERTS}.1.up_proj.weight": ("BF16", (8, 8))}, "differ"),
        ({f"{EXPERTS}.0.up_proj.weight": MATRIX, f"{EXPERTS}.up_proj.weight": ("BF16", (1, 8, 8))}, "twice"),
    ],
)
def test_damaged_experts_are_refused(tmp_path, parts, words):
    message = refusal(model(tmp_path / "m", parts))
    assert_sentence(message, EXPERTS)
    assert words in message


def test_weights_that_mlx_quantized_keep_their_bits(tmp_path):
    parts = {
        f"{Q_PROJ}.weight": ("U32", (256, 16)),
        f"{Q_PROJ}.scales": ("BF16", (256, 2)),
        f"{Q_PROJ}.biases": ("BF16", (256, 2)),
        f"{Q_PROJ}.bias": ("BF16", (256,)),
        "lm_head.weight": ("U32", (64, 24)),
        "lm_head.scales": ("BF16", (64, 4)),
        "lm_head.biases": ("BF16", (64, 4)),
    }
    quantization = {"group_size": 64, "bits": 4, "lm_head": {"group_size": 32, "bits": 6}}
    path = model(tmp_path / "m", parts, LLAMA | {"quantization": quantization})
    found = tensors(plan(path))
    assert found.keys() == {f"{Q_PROJ}.weight", f"{Q_PROJ}.bias", "lm_head.weight"}
    blob = found[f"{Q_PROJ}.weight"]
    assert header(blob)["__metadata__"] == {"quant_type": "int4", "group_size": "64"}
    assert [name.removeprefix(Q_PROJ) for name in header(blob)][1:] == [".weight", ".weight.scale", ".weight.bias"]
    assert all(isinstance(piece, Segment) for piece in blob.pieces[1:])
    assert header(found["lm_head.weight"])["__metadata__"] == {"quant_type": "int6", "group_size": "32"}
    assert "__metadata__" not in header(found[f"{Q_PROJ}.bias"])
    assert plan(path).notes == ("Ollama cannot run it, as it does not know int6.",)
    assert plan(path).config["file_type"] == ""
    assert_sentence(refusal(path, "int4"), path.name, "int4")


@pytest.mark.parametrize(("words", "groups", "kind"), [(16, 8, "nvfp4"), (16, 4, "mxfp4"), (32, 4, "mxfp8")])
def test_types_with_scales_of_one_byte_are_told_by_their_shapes(tmp_path, words, groups, kind):
    path = model(tmp_path / "m", {f"{Q_PROJ}.weight": ("U32", (64, words)), f"{Q_PROJ}.scales": ("U8", (64, groups))})
    found = plan(path)
    assert header(tensors(found)[f"{Q_PROJ}.weight"])["__metadata__"]["quant_type"] == kind
    assert found.config["file_type"] == kind


def global_scale(blob):
    return struct.unpack("<f", blob.pieces[-1])[0]


def test_nvfp4_of_other_producers_is_relabelled(tmp_path):
    compressed = {
        f"{Q_PROJ}.weight_packed": ("U8", (64, 64)),
        f"{Q_PROJ}.weight_scale": ("F8_E4M3", (64, 8)),
        f"{Q_PROJ}.weight_global_scale": ("F32", (1,)),
        f"{Q_PROJ}.input_global_scale": ("F32", (1,)),
    }
    path = model(tmp_path / "c", compressed)
    content = bytearray((path / "model.safetensors").read_bytes())
    content[-8:-4] = struct.pack("<f", 8)
    (path / "model.safetensors").write_bytes(content)
    found = tensors(plan(path))
    assert found.keys() == {f"{Q_PROJ}.weight"}
    blob = found[f"{Q_PROJ}.weight"]
    entries = header(blob)
    assert entries["__metadata__"] == {"quant_type": "nvfp4", "group_size": "16"}
    assert (entries[f"{Q_PROJ}.weight"]["dtype"], entries[f"{Q_PROJ}.weight"]["shape"]) == ("U32", [64, 16])
    assert entries[f"{Q_PROJ}.weight.scale"]["dtype"] == "U8"
    assert entries[f"{Q_PROJ}.weight.global_scale"]["shape"] == []
    assert global_scale(blob) == 1 / 8

    modelopt = {
        f"{Q_PROJ}.input_scale": ("F32", ()),
        f"{Q_PROJ}.weight": ("U8", (64, 64)),
        f"{Q_PROJ}.weight_scale": ("F8_E4M3", (64, 8)),
        f"{Q_PROJ}.weight_scale_2": ("F32", ()),
    }
    path = model(tmp_path / "o", modelopt)
    content = bytearray((path / "model.safetensors").read_bytes())
    content[-4:] = struct.pack("<f", 8)
    (path / "model.safetensors").write_bytes(content)
    found = tensors(plan(path))
    assert found.keys() == {f"{Q_PROJ}.weight"}
    assert global_scale(found[f"{Q_PROJ}.weight"]) == 8


def test_a_zero_global_scale_cannot_be_inverted(tmp_path):
    parts = {
        f"{Q_PROJ}.weight_packed": ("U8", (64, 64)),
        f"{Q_PROJ}.weight_scale": ("F8_E4M3", (64, 8)),
        f"{Q_PROJ}.weight_global_scale": ("F32", (1,)),
    }
    path = model(tmp_path / "m", parts)
    content = bytearray((path / "model.safetensors").read_bytes())
    content[-4:] = bytes(4)
    (path / "model.safetensors").write_bytes(content)
    assert "is 0" in refusal(path)


FP8 = {"quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]}}
FP8_PARTS = {
    f"{Q_PROJ}.weight": ("F8_E4M3", (256, 192)),
    f"{Q_PROJ}.weight_scale_inv": ("F32", (2, 2)),
    "model.norm.weight": ("BF16", (256,)),
}


def test_block_fp8_becomes_mxfp8(tmp_path):
    found = plan(model(tmp_path / "m", FP8_PARTS, LLAMA | FP8))
    assert tensors(found).keys() == {f"{Q_PROJ}.weight", "model.norm.weight"}
    assert header(tensors(found)[f"{Q_PROJ}.weight"])["__metadata__"]["quant_type"] == "mxfp8"
    assert found.config["file_type"] == "mxfp8"


def test_experts_in_fp8_are_stacked_with_their_scales(tmp_path):
    parts = {}
    for number in range(3):
        parts[f"{EXPERTS}.{number}.up_proj.weight"] = ("F8_E4M3", (128, 128))
        parts[f"{EXPERTS}.{number}.up_proj.weight_scale_inv"] = ("F32", (1, 1))
    (blob,) = tensors(plan(model(tmp_path / "m", parts, LLAMA | FP8))).values()
    (stack,) = [piece for piece in blob.pieces if isinstance(piece, Computed)]
    assert (stack.shape, len(stack.scales)) == ((3, 128, 128), 3)


@pytest.mark.parametrize(
    ("parts", "config", "words"),
    [
        (FP8_PARTS, {}, "128 x 128"),
        (FP8_PARTS, {"quantization_config": {"quant_method": "fp8", "weight_block_size": [64, 64]}}, "128 x 128"),
        (FP8_PARTS | {f"{Q_PROJ}.weight_scale_inv": ("F32", (2, 1))}, FP8, "shape [2, 2]"),
        ({f"{Q_PROJ}.weight": ("F8_E4M3", (256, 192))}, FP8, "without scales"),
        ({f"{Q_PROJ}.weight": ("F8_E5M2", (256, 192))}, FP8, "F8_E5M2"),
        ({f"{Q_PROJ}.weight_packed": ("I32", (64, 16)), f"{Q_PROJ}.weight_scale": ("BF16", (64, 1))}, {}, "NVFP4"),
        ({f"{Q_PROJ}.weight": ("U32", (64, 16)), f"{Q_PROJ}.scales": ("BF16", (32, 2))}, {}, "fit each other"),
        ({f"{Q_PROJ}.scales": ("BF16", (32, 2))}, {}, "missing"),
    ],
)
def test_weights_that_cannot_be_imported(tmp_path, parts, config, words):
    message = refusal(model(tmp_path / "m", parts, LLAMA | config))
    assert words in message
    assert message.endswith(".")


def test_types_that_nothing_computes_with_are_refused(tmp_path):
    entry = {"dtype": "F4", "shape": [64, 16], "data_offsets": [0, 512]}
    content = with_header({f"{Q_PROJ}.weight": entry}, bytes(512))
    assert_sentence(refusal(folder(tmp_path / "m", **{"model.safetensors": content})), f"{Q_PROJ}.weight", "F4")


def test_a_quantized_model_is_not_quantized_again(tmp_path):
    path = model(tmp_path / "m", FP8_PARTS, LLAMA | FP8)
    with pytest.raises(InvalidRequestError, match="quantized already"):
        plan(path, "int4")


def test_what_does_not_run_here_is_refused_with_the_reason(tmp_path):
    path = model(tmp_path / "m", {f"{Q_PROJ}.weight": MATRIX})
    assert refusal(path, judge=lambda config: "It needs wings.") == "It needs wings."


def test_weights_in_pickles_are_refused(tmp_path):
    path = folder(tmp_path / "m", **{"model.safetensors": None, "pytorch_model.bin": b"\x80\x04cos\nsystem\n"})
    assert_sentence(refusal(path), "pytorch_model.bin", ".safetensors")


def test_a_folder_without_weights_or_tokenizer_is_refused(tmp_path):
    assert_sentence(refusal(folder(tmp_path / "a", **{"model.safetensors": None})), "no weights")
    assert_sentence(refusal(folder(tmp_path / "b", **{"tokenizer.json": None})), "tokenizer.json")
    assert_sentence(refusal(folder(tmp_path / "c", **{"config.json": None})), "config.json")


def index(**shards):
    return {"model.safetensors.index.json": {"weight_map": shards}}


def test_only_tensors_of_the_index_are_imported(tmp_path):
    parts = safetensors({"a.weight": MATRIX, "b.weight": MATRIX})
    path = folder(
        tmp_path / "m",
        **{"model.safetensors": None, "shard.safetensors": parts, "consolidated.safetensors": parts},
        **index(**{"a.weight": "shard.safetensors"}),
    )
    assert tensors(plan(path)).keys() == {"a.weight"}


@pytest.mark.parametrize(
    ("shards", "words"),
    [
        ({"a.weight": "../secret.safetensors"}, "shard"),
        ({"a.weight": "/etc/passwd"}, "shard"),
        ({"a.weight": "other.safetensors"}, "incomplete"),
        ({"missing.weight": "model.safetensors"}, "incomplete"),
    ],
)
def test_indexes_that_lie_are_refused(tmp_path, shards, words):
    (tmp_path / "secret.safetensors").write_bytes(safetensors({"a.weight": MATRIX}))
    path = folder(tmp_path / "m", **{"model.safetensors": safetensors({"a.weight": MATRIX})}, **index(**shards))
    assert words in refusal(path)


@pytest.mark.parametrize(
    "name", ["model.safetensors", "config.json", "tokenizer.json", "notes.json", "chat_template.jinja"]
)
def test_links_out_of_the_folder_are_refused(tmp_path, name):
    path = model(tmp_path / "m", {f"{Q_PROJ}.weight": MATRIX})
    (path / name).unlink(missing_ok=True)
    secret = tmp_path / "secret"
    secret.write_bytes(safetensors({f"{Q_PROJ}.weight": MATRIX}))
    (path / name).symlink_to(secret)
    assert "leads out of" in refusal(path)


def test_links_within_a_cache_of_hugging_face_are_followed(tmp_path):
    files = {name: path.read_bytes() for path in folder(tmp_path / "m").iterdir() for name in [path.name]}
    assert tensors(plan(repository(tmp_path / "hub", "org/m", files))).keys() == {"model.embed_tokens.weight"}


def test_headers_with_nan_are_refused(tmp_path):
    raw = b'{"a.weight":{"dtype":"F32","shape":[NaN],"data_offsets":[0,4]}}'
    path = folder(tmp_path / "m", **{"model.safetensors": with_header(raw, bytes(4))})
    assert_sentence(refusal(path), "NaN")


def test_the_capabilities_parser_and_renderer_are_ollamas(tmp_path):
    template = "{% if thinking %}<think>{{ x }}</think>{% endif %}"
    config = {"model_type": "qwen3", "architectures": ["Qwen3ForCausalLM"]}
    path = model(tmp_path / "m", {f"{Q_PROJ}.weight": MATRIX}, config, **{"chat_template.jinja": template.encode()})
    assert plan(path).config == {
        "model_format": "safetensors",
        "model_family": "",
        "model_families": None,
        "model_type": "",
        "file_type": "",
        "renderer": "qwen3-coder",
        "parser": "qwen3",
        "requires": "0.19.0",
        "capabilities": ["completion", "tools", "thinking"],
        "architecture": "",
        "os": "",
    }


@pytest.mark.parametrize(
    ("config", "template", "parser", "renderer"),
    [
        ({"architectures": ["LlamaForCausalLM"]}, "", None, None),
        ({"architectures": ["MuseGlimmerForConditionalGeneration"]}, "", "glimmer", "glimmer"),
        ({"architectures": ["LagunaForCausalLM"]}, "laguna_glm_thinking_v8", "poolside-v1", "poolside-v1"),
        ({"architectures": ["LagunaForCausalLM"]}, "", "laguna", "laguna"),
        ({"model_type": "qwen3_5"}, "resolved_reasoning_effort preserve_thinking", "qwen3.5", "qwen3.8"),
        ({"model_type": "qwen3_5"}, "", "qwen3.5", "qwen3.5"),
        ({"llm_config": {"model_type": "nemotron_h"}}, "{reasoning effort: efficient}", *["nemotron-3.5-nano"] * 2),
        ({"architectures": ["Glm4MoeLiteForCausalLM"]}, "", "glm-4.7", "glm-4.7"),
    ],
)
def test_parsers_and_renderers(tmp_path, config, template, parser, renderer):
    path = model(
        tmp_path / "m", {f"{Q_PROJ}.weight": MATRIX}, config, **{"tokenizer_config.json": {"chat_template": template}}
    )
    found = plan(path).config
    assert (found.get("parser"), found.get("renderer")) == (parser, renderer)
