"""Sequences of different lengths in one forward pass have the same logits as alone, except for rounding."""

import json
from functools import cache

import mlx.core as mx
import pytest
from mlx.utils import tree_map

from checkpoints import read_header, source_of
from families import FAMILIES, vocabulary_of
from places import REFERENCES
from sotto.engine.architectures.zoo import build
from sotto.engine.caches.batch import batch_caches, can_batch
from sotto.engine.caches.caches import leaves, make_caches
from sotto.engine.config.architecture_table import architecture
from sotto.engine.footprint.model_needs import limits_here
from sotto.engine.weights.loader import load

CASES = sorted(path.name for path in REFERENCES.iterdir())
LENGTHS = (5, 23, 11)
# As a fraction of the largest logit: a product of several rows may be summed in another order than that of one.
BOUND = 1e-4


@cache
def reference(case):
    config = json.loads((REFERENCES / case / "config.json").read_text())
    source = source_of([read_header(REFERENCES / case / "model.safetensors")], config)
    return load(source, limits=limits_here(), progress=lambda _: None, cancelled=lambda: False).model, config


def family(name):
    mx.random.seed(7)
    model, config = build(FAMILIES[name])

    def noise(weight):
        return weight + 0.1 * mx.random.normal(weight.shape) if mx.issubdtype(weight.dtype, mx.floating) else weight

    model.update(tree_map(noise, model.parameters()))
    model.eval()
    return model, config


def compare(model, vocabulary, kv_bits=None, steps=8):
    ids = [(7 * index + 3) % vocabulary for index in range(80)]
    together, alone = [], []
    for length in LENGTHS:
        for sequences in (together, alone):
            caches = make_caches(model, kv_bits)
            model(mx.array([ids[:length]]), cache=caches)
            mx.eval([layer_cache.state for layer_cache in caches])
            sequences.append(caches)
    for step in range(steps):
        tokens = [ids[length + step] for length in LENGTHS]
        found = model(mx.array(tokens)[:, None], cache=batch_caches(together))
        wanted = mx.concatenate(
            [model(mx.array([[token]]), cache=caches) for token, caches in zip(tokens, alone, strict=True)]
        )
        assert mx.abs(found - wanted).max().item() <= BOUND * mx.abs(wanted).max().item()
    for shared, separate in zip(together, alone, strict=True):
        assert [leaf.offset for leaf in leaves(shared) if hasattr(leaf, "offset")] == [
            leaf.offset for leaf in leaves(separate) if hasattr(leaf, "offset")
        ]


@pytest.mark.covering(1)
@pytest.mark.parametrize("kv_bits", [None, 8])
@pytest.mark.parametrize("case", CASES)
def test_models_that_may_share_a_pass_do_not_mix_their_rows(case, kv_bits):
    model, config = reference(case)
    if not can_batch(config, make_caches(model, kv_bits)):
        pytest.skip(f"{case} is computed one by one")
    compare(model, vocabulary_of(config), kv_bits)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", sorted(FAMILIES))
def test_families_that_may_share_a_pass_do_not_mix_their_rows(name):
    model, config = family(name)
    if not can_batch(config, make_caches(model)):
        pytest.skip(f"{name} is computed one by one")
    compare(model, vocabulary_of(config), steps=4)


def test_a_model_that_holds_one_that_mixes_rows_is_computed_one_by_one():
    model, config = reference("mistral4")
    assert (config["model_type"], config["text_config"]["model_type"]) == ("mistral3", "mistral4")
    assert can_batch(config, make_caches(model))
    assert not architecture({"model_type": "internlm3"}).batches
    assert not can_batch({**config, "text_config": {"model_type": "internlm3"}}, make_caches(model))


def test_most_families_can_share_a_pass():
    shared = [case for case in CASES if can_batch(reference(case)[1], make_caches(reference(case)[0]))]
    assert len(shared) >= 45
    assert {"llama", "qwen3", "gemma3", "gpt-oss", "qwen3-next", "granite-hybrid", "mixtral"} <= set(shared)
