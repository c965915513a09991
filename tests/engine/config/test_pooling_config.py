"""Pooling as configured by modules.json and the files that belong to it, and unsupported configurations."""

from dataclasses import replace
from pathlib import Path

import pytest

from checkpoints import source_of
from sotto.engine.config.pooling_config import PoolingConfig, read_pooling_config
from sotto.errors import SottoError
from sotto.store.records import SentenceModule, TensorFile

PLAIN = source_of([TensorFile(Path("model.safetensors"), "", {}, {})], {"model_type": "bert"})


def config_of(*modules):
    return read_pooling_config(replace(PLAIN, modules=tuple(SentenceModule(*module) for module in modules)))


def config_with_pooling(**config):
    return config_of(("Transformer", {}), ("Pooling", config))


def test_the_default_is_the_normalised_mean():
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
    assert config_with_pooling(**config).pooling == pooling


def test_normalisation_longest_text_and_lower_case_come_from_the_files():
    steps = ("Transformer", {"max_seq_length": 128, "do_lower_case": True}), ("Pooling", {})
    assert config_of(*steps) == PoolingConfig(("mean",), False, 128, True)
    assert config_of(*steps, ("Normalize", {})).normalise


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
def test_unsupported_and_meaningless_configurations_are_refused(modules, words):
    with pytest.raises(SottoError, match=words):
        config_of(*modules)
