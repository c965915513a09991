"""Whoever joins a batch, and whenever, gets what it gets alone, on every kind of cache."""

import json
import math
from functools import cache

import mlx.core as mx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mlx.utils import tree_map

from checkpoints import read_header, source_of
from families import FAMILIES
from generating import PLENTY, PROMPT, Counting, drain, finished, run, scheduler, task
from places import REFERENCES
from sotto.engine.architectures.cache_types import (
    ArraysCache,
    CacheList,
    FullKVCache,
    PlannedKVCache,
    QuantizedKVCache,
    SlidingKVCache,
)
from sotto.engine.architectures.zoo import build
from sotto.engine.caches.batch import can_batch
from sotto.engine.caches.caches import leaves, make_caches
from sotto.engine.caches.prefix_cache import PrefixCache
from sotto.engine.contract.events import Failed, Finished
from sotto.engine.footprint.model_needs import limits_here
from sotto.engine.generation.tape import with_tapes
from sotto.engine.weights.loader import load
from thoroughness import examples, some
from tiny_random import CONFIGS, random_model

# By name: what the caches of a model are made of, and in how many bits keys and values are held.
KINDS = {
    "plain": ({FullKVCache}, None),
    "plain in 8 bits": ({QuantizedKVCache}, 8),
    "plain in 4 bits": ({QuantizedKVCache}, 4),
    "window": ({FullKVCache, SlidingKVCache}, None),
    "hybrid": ({FullKVCache, ArraysCache}, None),
    "hybrid in 8 bits": ({QuantizedKVCache, ArraysCache}, 8),
    "recurrent": ({ArraysCache}, None),
    "falcon_h1": ({CacheList, FullKVCache, ArraysCache}, None),
    "granite_hybrid_dense": ({FullKVCache, ArraysCache}, None),
    "lfm2_moe": ({FullKVCache, ArraysCache}, None),
    "nemotron_h": ({FullKVCache, ArraysCache}, None),
    "olmo_hybrid": ({FullKVCache, ArraysCache}, None),
    "recurrent_gemma": ({SlidingKVCache, ArraysCache}, None),
    "gemma3n": ({FullKVCache, SlidingKVCache}, None),
    "glm4_moe_lite": ({FullKVCache}, None),
    "kimi_linear": ({FullKVCache, ArraysCache}, None),
    "phi3-longrope": ({PlannedKVCache}, None),
    "mamba2": ({ArraysCache}, None),
}
# Definitions that mix rows, and contexts that are computed in two ways, are computed one by one.
ONE_BY_ONE = {"recurrent", "phi3-longrope"}


@cache
def model_of(name):
    """Return a model and its config."""
    base = name.split(" in ")[0]
    if base in CONFIGS:
        return random_model(base), CONFIGS[base]
    if base in FAMILIES:
        mx.random.seed(7)
        model, config = build(FAMILIES[base])
        model.update(
            tree_map(
                lambda one: one + 0.1 * mx.random.normal(one.shape) if mx.issubdtype(one.dtype, mx.floating) else one,
                model.parameters(),
            )
        )
        model.eval()
        return model, config
    config = json.loads((REFERENCES / base / "config.json").read_text())
    source = source_of([read_header(REFERENCES / base / "model.safetensors")], config)
    return load(source, limits=limits_here(), progress=lambda _: None, cancelled=lambda: False).model, config


def fresh(name):
    """Return a prefix cache for a model, with nothing in it."""
    return PrefixCache(lambda: make_caches(model_of(name)[0], KINDS[name][1]), PLENTY)


@cache
def alone(name, prompt, length):
    return finished(run(name, fresh(name), task(prompt, length), model=model_of(name)[0])).token_ids


def step_all(name, arrivals, ahead, *, tape=False):
    """Return the events of tasks, each added some steps after the one before, and the shapes that were computed."""
    model, config = model_of(name)
    counting = Counting(None, model=model)
    caches = make_caches(model, KINDS[name][1])
    steps = with_tapes(model, config, caches) if tape else None
    batches = can_batch(config, caches)
    running = scheduler(name, fresh(name), ahead=ahead, batches=batches, model=counting, steps=steps)
    events = []
    for added, steps in arrivals:
        running.add(added)
        for _ in range(steps):
            events.extend(running.step())
    return events + drain(running), counting.shapes


def check(name, asked, events):
    assert not [event for event in events if isinstance(event, Failed)]
    # A step that fails is computed again for each by itself, so a fault in sharing would only show as slowness.
    assert not [event.shared_fault for event in events if isinstance(event, Finished) and event.shared_fault]
    for request, (prompt, length) in asked.items():
        assert finished(events, request).token_ids == alone(name, tuple(prompt), length)


@pytest.mark.parametrize("name", KINDS)
def test_each_kind_has_the_caches_that_it_stands_for(name):
    model, config = model_of(name)
    caches = make_caches(model, KINDS[name][1])
    assert {type(one) for one in [*caches, *leaves(caches)]} - {type(None)} == KINDS[name][0]
    assert can_batch(config, caches) is (name not in ONE_BY_ONE)


# How the first prompt begins and after how many steps the second one joins; others join at random below.
JOINING = [
    pytest.param(first, between, marks=() if (len(first), between) in ((1, 0), (10, 2)) else pytest.mark.full)
    for first in ([50], [3, 4, 5, 6, 7] * 2)
    for between in (0, 1, 2, 5)
]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize(("first", "between"), JOINING)
def test_a_prompt_of_one_token_joins_others(name, first, between):
    second = [50] if len(first) > 1 else [3, 4, 5, 6, 7] * 2
    asked = {"first": (first, 20), "second": (second, 20)}
    arrivals = [(task(prompt, 20, request_id=request), between) for request, (prompt, _) in asked.items()]
    events, shapes = step_all(name, arrivals, math.inf)
    check(name, asked, events)
    assert max(rows for rows, _ in shapes) == (1 if name in ONE_BY_ONE else 2)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", some(list(KINDS), 8))
@examples(15, 4)
@given(data=st.data())
def test_joining_at_random_changes_no_answer(name, data):
    tokens = st.integers(0, 60)
    prompts = st.one_of(
        st.lists(tokens, min_size=1, max_size=1),
        st.lists(tokens, min_size=2, max_size=40),
        st.integers(2, 40).map(lambda length: [token % 60 for token in PROMPT[:length]]),
    )
    asked, arrivals = {}, []
    for number in range(data.draw(st.integers(2, 5))):
        request = str(number)
        asked[request] = (data.draw(prompts), data.draw(st.integers(1, 12)))
        arrivals.append((task(*asked[request], request_id=request), data.draw(st.integers(0, 8))))
    ahead, tape = data.draw(st.sampled_from([0.0, math.inf])), data.draw(st.booleans())
    events, _ = step_all(name, arrivals, ahead, tape=tape)
    check(name, asked, events)
