"""Answers that continue from the prefix cache have the logits of a fresh forward pass, for every kind of cache."""

from functools import cache

import mlx.core as mx
import pytest

from checkpoints import load_folder
from generating import PLENTY
from places import REFERENCES
from prefixing import answer
from sotto.engine.architectures.cache_types import PlannedKVCache
from sotto.engine.caches.caches import make_caches
from sotto.engine.caches.prefix_cache import PrefixCache
from sotto.engine.caches.prefix_disk import PrefixDisk

CASES = sorted(path.name for path in REFERENCES.iterdir())
BOUNDARIES = (9, 20, 33)


@cache
def model_of(case):
    return load_folder(REFERENCES / case).model


@cache
def prompt_of(case):
    ids = mx.load(str(REFERENCES / case / "expected.safetensors"))["ids"].tolist()
    # Longer than any window, and than the boundary beyond which some models compute differently.
    return tuple((ids * 3)[:70])


def fresh(case, prompt, kv_bits=None):
    caches = make_caches(model_of(case), kv_bits)
    for layer_cache in caches:
        if isinstance(layer_cache, PlannedKVCache):
            layer_cache.planned = len(prompt)
    return model_of(case)(mx.array([list(prompt)]), cache=caches)[:, -1, :]


def assert_near(found, wanted, bound):
    assert mx.abs(found - wanted).max().item() <= bound * mx.abs(wanted).max().item()


@pytest.mark.covering(1)
@pytest.mark.parametrize("stored", [False, True], ids=["memory", "disk"])
@pytest.mark.parametrize("case", CASES)
def test_a_branch_at_every_boundary_equals_a_fresh_forward_pass(case, stored, tmp_path):
    def opened():
        disks = [PrefixDisk(tmp_path, f"{case} {way}", PLENTY) for way in range(2)] if stored else ()
        return PrefixCache(lambda: make_caches(model_of(case)), PLENTY, disks)

    prompt, prefix = prompt_of(case), opened()
    answer(model_of(case), prefix, prompt, BOUNDARIES)
    if stored:
        prefix.close()
        prefix = opened()
    for boundary in (len(prompt) - 1, *BOUNDARIES):
        branch = [*prompt[:boundary], 5, 3, 4]
        logits, cached = answer(model_of(case), prefix, branch)
        # A shorter context may be computed differently, so that nothing can be reused.
        assert cached >= boundary or case == "phi3-longrope"
        assert_near(logits, fresh(case, branch), 1e-4)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("kv_bits", [8, 4])
@pytest.mark.parametrize("case", CASES)
def test_every_kind_of_cache_works_quantized_or_stays_unquantized(case, kv_bits):
    prompt = prompt_of(case)
    prefix = PrefixCache(lambda: make_caches(model_of(case), kv_bits), PLENTY)
    answer(model_of(case), prefix, prompt, BOUNDARIES)
    branch = [*prompt[:20], 5, 3, 4]
    logits, cached = answer(model_of(case), prefix, branch)
    assert cached >= 20 or case == "phi3-longrope"
    assert_near(logits, fresh(case, branch, kv_bits), 0.02)
    # Rounding changes little, but more than in real models, because tiny ones have few values to average over.
    assert_near(logits, fresh(case, branch), 0.1 if kv_bits == 8 else 1.0)
