"""What modules.json and its companions mean, and what is refused of them."""

from dataclasses import replace
from pathlib import Path

import pytest

from checkpoints import source_of
from sotto.engine.config.pooling_config import PoolingConfig, read_pooling_config
from sotto.errors import SottoError
from sotto.store.records import SentenceModule, TensorFile

PLAIN = source_of([TensorFile(Path("model.safetensors"), "", {}, {})], {"model_type": "bert"})


def said(*modules):
    return read_pooling_config(replace(PLAIN, modules=tuple(SentenceModule(*module) for module in modules)))


def pooled(**config):
    return said(("Transformer", {}), ("Pooling", config))


def test_without_modules_it_is_the_mean_normalised():
    assert read_pooling_config(PLAIN) == PoolingConfig(("mean",), True, None, False)


@pytest.mark.parametrize(
    ("config", "pooling"),
    [
        ({"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": False}, ("mean",)),
        ({"pooling_mode_mean_tokens": False, "pooling_mode_cls_token": True}, ("cls",)),
        ({"pooling_mode_lasttoken": True}, ("lasttoken",)),
        ({"pooling_mode_cls_token": True, "pooling_mode_max_tokens": True}, ("cls", "max")),
        ({"pooling_mode": "cls"}, ("cls",)),
        ({"pooling_mode": ["mean", "max"]}, ("mean", "max")),
        ({}, ("mean",)),
    ],
)
def test_pooling_by_its_old_and_new_names(config, pooling):
    assert pooled(**config).pooling == pooling


def test_normalising_the_length_and_the_case_are_as_the_files_say():
    steps = ("Transformer", {"max_seq_length": 128, "do_lower_case": True}), ("Pooling", {})
    assert said(*steps) == PoolingConfig(("mean",), False, 128, True)
    assert said(*steps, ("Normalize", {})).normalise


@pytest.mark.parametrize(
    ("modules", "words"),
    [
        ([("Transformer", {}), ("Pooling", {}), ("Dense", {})], "by the steps Transformer, Pooling, Dense"),
        ([("Transformer", {})], "by the steps Transformer;"),
        ([("Transformer", {"max_seq_length": 0}), ("Pooling", {})], "max_seq_length"),
        ([("Transformer", {"max_seq_length": "many"}), ("Pooling", {})], "max_seq_length"),
        ([("Transformer", {}), ("Pooling", {"pooling_mode": "guess"})], "'guess'"),
        ([("Transformer", {}), ("Pooling", {"pooling_mode": [3]})], "should be a text"),
        ([("Transformer", {}), ("Pooling", {"pooling_mode": []})], "should be a text"),
    ],
)
def test_what_cannot_be_done_is_refused_in_a_sentence(modules, words):
    with pytest.raises(SottoError, match=words):
        said(*modules)
