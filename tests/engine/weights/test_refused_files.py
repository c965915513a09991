"""A model that cannot be loaded is refused in a sentence that names the file and the fault."""

import json
from dataclasses import replace
from pathlib import Path

import gguf
import mlx.core as mx
import numpy as np
import pytest

import gguf_writing
import tiny_random
from checkpoints import LLAMA, write_tensors
from embedding import minilm
from loading import PLENTY, load, random_weights
from sotto.engine.config.pooling_config import read_pooling_config
from sotto.engine.footprint.model_needs import needs_of
from sotto.engine.gguf.gguf_names import name_in_file, place_of
from sotto.engine.kernels import native
from sotto.engine.prompt.request_preparation import Preparer
from sotto.errors import SottoError
from sotto.store.opening import open_model, record_of
from stores import Store, assert_sentence

UP = "model.layers.0.mlp.up_proj.weight"
ODD = "model.layers.1.mlp.odd_proj.weight"
WEIGHTS = random_weights(LLAMA)
# For each fault: a function that makes tensors faulty, and the name that the message must mention.
FAULTS = {
    "missing": (lambda weights: {name: array for name, array in weights.items() if name != UP}, UP),
    "surplus": (lambda weights: weights | {ODD: mx.zeros((4, 64))}, ODD),
    "shape": (lambda weights: weights | {UP: mx.zeros((96, 64))}, UP),
    "type": (lambda weights: weights | {UP: mx.zeros((128, 64), mx.int32)}, UP),
}
I32 = gguf.GGMLQuantizationType.I32


def written_folder(folder, weights):
    path = tiny_random.write_model(folder / "model", "window")
    (path / "config.json").write_text(json.dumps(LLAMA))
    write_tensors(path / "model.safetensors", weights)
    return path


def written_shards(folder, weights):
    path = written_folder(folder, weights)
    (path / "model.safetensors").unlink()
    names = list(weights)
    shards = {f"model-0000{1 + half}-of-00002.safetensors": names[half::2] for half in (0, 1)}
    for shard, held in shards.items():
        write_tensors(path / shard, {name: weights[name] for name in held})
    places = {name: shard for shard, held in shards.items() for name in held}
    (path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": places}))
    return path


def written_manifest(folder, weights):
    files, store = written_folder(folder, weights), Store(folder / "store")
    layers = []
    for name, array in weights.items():
        write_tensors(folder / "tensor", {name: array})
        layers.append(store.layer("tensor", (folder / "tensor").read_bytes(), name))
    layers += [store.layer("json", (files / name).read_bytes(), name) for name in ("config.json", "tokenizer.json")]
    return store.manifest("tiny", layers)


def written_gguf(folder, weights):
    """Write a GGUF file; an odd name or type is written into its header afterwards."""
    extra = weights.get(ODD)
    plain = {name: np.array(array.astype(mx.float32)) for name, array in weights.items() if name != ODD}
    path = gguf_writing.write_model(folder / "model.gguf", LLAMA, plain)
    raw = path.read_bytes()
    if extra is not None:
        raw = raw.replace(b"blk.1.ffn_up.weight", b"blk.1.ffn_op.weight")
    if UP in weights and weights[UP].dtype == mx.int32:
        place = raw.index(b"blk.0.ffn_up.weight") + len(b"blk.0.ffn_up.weight") + 4 + 2 * 8
        raw = raw[:place] + int(I32).to_bytes(4, "little") + raw[place + 4 :]
    path.write_bytes(raw)
    return path


LAYOUTS = {"folder": written_folder, "shards": written_shards, "manifest": written_manifest, "GGUF": written_gguf}
IN_GGUF = {UP: "blk.0.ffn_up.weight", ODD: "blk.1.ffn_op.weight"}


def refusals(path):
    """Yield the messages with which loading and planning a model are refused."""

    def planned(source):
        return needs_of(source, PLENTY, native.kernels())

    for use in (load, planned):
        with pytest.raises(SottoError) as refused:
            use(open_model(record_of(path)))
        yield refused.value.message


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_file_and_the_tensor_are_named(tmp_path, layout, fault):
    wrong, name = FAULTS[fault]
    path = LAYOUTS[layout](tmp_path, wrong(WEIGHTS))
    for message in refusals(path):
        assert_sentence(message, path, IN_GGUF[name] if layout == "GGUF" else name)


def test_of_several_files_the_one_with_the_tensor_is_named(tmp_path):
    path = written_shards(tmp_path, FAULTS["shape"][0](WEIGHTS))
    shard = json.loads((path / "model.safetensors.index.json").read_text())["weight_map"][UP]
    for message in refusals(path):
        assert message.startswith(f"{path / shard}: {UP} is 96 x 64")


def changed(folder, name, value):
    """Write a complete model with one value of its config changed."""
    path = written_folder(folder, WEIGHTS)
    (path / "config.json").write_text(json.dumps(LLAMA | {name: value}))
    return path


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("model_type", "mystery"),
        ("hidden_size", -1),
        ("num_attention_heads", "many"),
        ("rope_scaling", {"rope_type": "odd", "factor": 2.0}),
    ],
)
def test_a_config_that_cannot_be_built_is_named(tmp_path, name, value):
    path = changed(tmp_path, name, value)
    for message in refusals(path):
        assert_sentence(message, path)


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("tokenizer.json", '{"model": {"type": "XYZ"}}'),
        ("chat_template.jinja", "{% for"),
        ("tokenizer_config.json", '{"add_bos_token": 7}'),
        ("generation_config.json", '{"eos_token_id": "x"}'),
    ],
)
def test_text_files_that_cannot_be_read_are_named(tmp_path, file, content):
    path = written_folder(tmp_path, WEIGHTS)
    (path / file).write_text(content)
    with pytest.raises(SottoError) as refused:
        Preparer(open_model(record_of(path)))
    assert_sentence(refused.value.message, path if file.endswith(".jinja") else path / file)


def test_an_invalid_step_of_embeddings_is_named():
    source = open_model(record_of(minilm()))
    steps = (replace(source.modules[0], config={"max_seq_length": "long"}), *source.modules[1:])
    with pytest.raises(SottoError) as refused:
        read_pooling_config(replace(source, modules=steps))
    assert_sentence(refused.value.message, minilm(), "max_seq_length")


def test_a_file_that_cannot_run_is_named(tmp_path):
    path: Path = written_gguf(tmp_path, WEIGHTS)
    path.write_bytes(path.read_bytes().replace(b"llama", b"lamia"))
    with pytest.raises(SottoError) as refused:
        open_model(record_of(path))
    assert_sentence(refused.value.message, path, "lamia")


@pytest.mark.parametrize(
    "kind",
    [
        "llama",
        "gemma3_text",
        "gemma3n",
        "gpt_oss",
        "deepseek_v3",
        "nemotron_h",
        "qwen3_5_text",
        "qwen3_moe",
        "nomic_bert",
    ],
)
def test_names_of_definitions_are_converted_back_to_those_of_files(kind):
    config = {"model_type": kind, "num_attention_heads": 4, "num_key_value_heads": 2, "num_hidden_layers": 8}
    names = ["token_embd.weight", "blk.7.ffn_down.weight", "blk.7.attn_output.weight", "blk.0.ffn_up.weight"]
    if kind in ("nemotron_h", "qwen3_5_text"):
        names += ["blk.3.ssm_a", "blk.3.ssm_dt.bias", "blk.3.ssm_conv1d.weight", "output_norm.weight"]
    if kind == "gpt_oss":
        names += ["blk.3.attn_sinks.weight", "blk.3.ffn_gate_inp.bias", "blk.3.ffn_up_exps.weight"]
    if kind == "nomic_bert":
        names += ["position_embd.weight", "token_embd_norm.bias", "blk.3.attn_qkv.weight"]
    for name in names:
        assert name_in_file(place_of(name, config).name, config) == name
    assert name_in_file("model.visual.patch.weight", config) == "model.visual.patch.weight"
