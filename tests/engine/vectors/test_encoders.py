"""Tiny random encoders against transformers; packaging/references/make_embeddings.py made the references."""

import json
from functools import cache

import mlx.core as mx
import numpy as np
import pytest
from mlx.utils import tree_flatten

from checkpoints import LLAMA, load_folder, source_of, write_blob
from embedding import minilm
from places import EMBEDDINGS
from sotto.engine.architectures.zoo import build
from sotto.engine.config.supported_models import refusal
from sotto.engine.footprint.model_needs import limits_here, needs_of
from sotto.engine.kernels import native
from sotto.engine.vectors.hidden_states import batch_tokens
from sotto.engine.weights.loader import load
from sotto.errors import UnsupportedModelError
from sotto.store.opening import open_model, record_of

CASES = sorted(path.name for path in EMBEDDINGS.iterdir() if path.is_dir())
TOLERANCE = 1e-4
NOMIC_NAMES = {
    "encoder.layers": "layers",
    "emb_ln": "embeddings.LayerNorm",
    "attn.out_proj": "self_attn.o_proj",
    "fc11": "up_proj",
    "fc12": "gate_proj",
    "fc2": "down_proj",
    "norm1": "post_attention_layernorm",
    "norm2": "post_mlp_layernorm",
}
NOMIC_KEYS = {
    "hidden_size": "n_embd",
    "intermediate_size": "n_inner",
    "layer_norm_eps": "layer_norm_epsilon",
    "max_position_embeddings": "max_trained_positions",
    "num_attention_heads": "n_head",
    "num_hidden_layers": "n_layer",
}
cases = pytest.mark.parametrize("case", CASES)


@cache
def model_of(case):
    return load_folder(EMBEDDINGS / case).model


@cache
def expected(case):
    found = mx.load(str(EMBEDDINGS / case / "expected.safetensors"))
    return found["ids"], found["lengths"].tolist(), np.array(found["hidden"])


def test_every_family_has_a_reference():
    kinds = {json.loads((EMBEDDINGS / case / "config.json").read_text())["model_type"] for case in CASES}
    assert kinds == {"bert", "jina_embeddings_v3", "modernbert", "nomic_bert", "roberta", "xlm-roberta"}


@cases
def test_hidden_states_of_a_batch_are_those_of_transformers(case):
    ids, lengths, wanted = expected(case)
    mask = mx.arange(ids.shape[1])[None] < mx.array(lengths)[:, None]
    hidden = np.array(model_of(case)(ids, mask))
    for row, length in enumerate(lengths):
        assert np.abs(hidden[row, :length] - wanted[row, :length]).max() < TOLERANCE


@cases
def test_hidden_states_of_a_single_text_are_those_of_transformers(case):
    ids, lengths, wanted = expected(case)
    for row, length in enumerate(lengths):
        hidden = np.array(model_of(case)(ids[row : row + 1, :length]))[0]
        assert np.abs(hidden - wanted[row, :length]).max() < TOLERANCE


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"is_decoder": True}, "is_decoder"),
        ({"position_embedding_type": "relative_key"}, "position_embedding_type"),
        ({"hidden_act": "mystery"}, "hidden_act is 'mystery'"),
        ({"num_attention_heads": 5}, "not a multiple of 5 heads"),
        ({"max_position_embeddings": 0}, "leaves no position"),
        ({"vocab_size": None}, "not describe a bert model"),
    ],
)
def test_a_config_that_cannot_be_computed_is_refused_in_a_sentence(change, words):
    config = json.loads((EMBEDDINGS / "bert" / "config.json").read_text()) | change
    with pytest.raises(UnsupportedModelError, match=words):
        build(config)


def test_a_classifier_is_refused_because_of_its_additional_weights(tmp_path):
    folder = EMBEDDINGS / "bert"
    file = write_blob(tmp_path, {**mx.load(str(folder / "model.safetensors")), "classifier.weight": mx.zeros((1, 32))})
    source = source_of([file], json.loads((folder / "config.json").read_text()))
    with pytest.raises(UnsupportedModelError, match=r"hold classifier\.weight, which the definition"):
        load(source, limits=limits_here(), progress=lambda _: None, cancelled=lambda: False)


def test_names_of_other_checkpoints_are_known(tmp_path):
    """Check a prefix of models for a task, weights of that task, and the old names of norms."""
    folder = EMBEDDINGS / "bert"
    tensors = mx.load(str(folder / "model.safetensors"))
    names = {name: name.replace("Norm.weight", "Norm.gamma").replace("Norm.bias", "Norm.beta") for name in tensors}
    old = {f"bert.{old}": tensors[name] for name, old in names.items()}
    old |= {"cls.predictions.bias": mx.zeros(64), "bert.embeddings.position_ids": mx.zeros((1, 24), dtype=mx.int32)}
    source = source_of([write_blob(tmp_path, old)], json.loads((folder / "config.json").read_text()))
    model = load(source, limits=limits_here(), progress=lambda _: None, cancelled=lambda: False).model
    ids, lengths, wanted = expected("bert")
    assert np.abs(np.array(model(ids[:1]))[0] - wanted[0]).max() < TOLERANCE
    assert lengths[0] == ids.shape[1]


def test_other_names_of_nomic_bert_are_known(tmp_path):
    """Check names as transformers has them in memory, and config keys of the first checkpoints."""
    folder = EMBEDDINGS / "nomic-bert"
    tensors = {}
    for name, array in mx.load(str(folder / "model.safetensors")).items():
        for old, new in NOMIC_NAMES.items():
            name = name.replace(old, new)
        if "Wqkv" in name:
            for part, piece in zip("qkv", mx.split(array, 3), strict=True):
                tensors[f"nomic_bert.{name}".replace("attn.Wqkv", f"self_attn.{part}_proj")] = piece
        else:
            tensors[f"nomic_bert.{name}"] = array
    saved = json.loads((folder / "config.json").read_text())
    config = {new: saved[old] for old, new in NOMIC_KEYS.items()} | {
        "model_type": "nomic_bert", "rotary_emb_base": 100.0, "vocab_size": 64, "activation_function": "swiglu"
    }  # fmt: skip
    source = source_of([write_blob(tmp_path, tensors)], config)
    model = load(source, limits=limits_here(), progress=lambda _: None, cancelled=lambda: False).model
    assert model.args.longest == 24
    ids, _, wanted = expected("nomic-bert")
    assert np.abs(np.array(model(ids[:1]))[0] - wanted[0]).max() < TOLERANCE
    for key, value in (("activation_function", "gelu"), ("prenorm", True), ("rotary_emb_fraction", 0.5)):
        with pytest.raises(UnsupportedModelError, match=key):
            build(config | {key: value})


def test_neither_encoders_nor_generative_models_are_refused():
    assert refusal(json.loads((EMBEDDINGS / "roberta" / "config.json").read_text())) == ""
    assert refusal(LLAMA) == ""


def test_the_planned_memory_is_enough_and_not_far_off():
    source = open_model(record_of(minilm()))
    needs = needs_of(source, limits_here(), native.kernels())
    model = load_folder(minilm()).model
    longest = source.record.context_length
    tokens = mx.zeros((batch_tokens() // longest, longest), dtype=mx.int32)
    mx.eval(model(tokens, tokens == 0))
    before = mx.get_active_memory()
    mx.reset_peak_memory()
    mx.eval(model(tokens, tokens == 0))
    taken = mx.get_peak_memory() - before
    assert needs.weight_bytes == sum(array.nbytes for _, array in tree_flatten(model.parameters()))
    assert needs.layers == ()
    assert needs.longest_context == longest == 256
    assert 0.5 * needs.work_bytes(256, 256) <= taken <= 1.1 * needs.work_bytes(256, 256)
