"""Logits against transformers, at tiny random size, with configs and weights as transformers 5 saves them.

The references are made by packaging/references/make_references.py.
"""

import json
from functools import cache

import mlx.core as mx
import pytest

from checkpoints import load_folder
from generating import PLENTY, add, drain, task
from places import REFERENCES
from sotto.engine.architectures.cache_types import PlannedKVCache, RotatingKVCache
from sotto.engine.caches.caches import make_caches
from sotto.engine.caches.prefix_cache import PrefixCache
from sotto.engine.contract.events import Finished
from sotto.engine.generation.chunk_sizing import ChunkSize, ChunkSizing
from sotto.engine.generation.scheduler import Scheduler

CASES = sorted(path.name for path in REFERENCES.iterdir())
FAMILIES = {
    "apertus", "deepseek_v3", "deepseek_v32", "ernie4_5", "ernie4_5_moe", "exaone4", "falcon_h1", "gemma",
    "gemma2", "gemma3_text", "gemma3n", "gemma4_text", "glm", "glm4", "glm4_moe", "glm4_moe_lite",
    "glm_moe_dsa", "gpt_neox", "gpt_oss", "granite", "granitemoehybrid", "hunyuan_v1_dense", "hunyuan_v1_moe",
    "lfm2", "lfm2_moe", "llama", "mamba", "mamba2", "minimax_m2", "ministral3", "mistral", "mistral3",
    "mixtral", "nemotron_h", "olmo2", "olmo3", "phi3", "qwen2", "qwen3", "qwen3_5_moe_text", "qwen3_5_text",
    "qwen3_moe", "qwen3_next", "seed_oss", "smollm3", "stablelm", "starcoder2",
}  # fmt: skip
TOLERANCE = 1e-3
cases = pytest.mark.parametrize("case", CASES)


@cache
def model_of(case):
    return load_folder(REFERENCES / case).model


@cache
def expected(case):
    return mx.load(str(REFERENCES / case / "expected.safetensors"))


def in_pieces(model, ids, sizes, planned=0):
    """Feed the prompt in pieces of these sizes, the last one over and over, and return all logits [T, V]."""
    caches, rows, done = make_caches(model), [], 0
    for one in caches:
        if isinstance(one, PlannedKVCache):
            one.planned = planned
    while done < len(ids):
        size = sizes.pop(0) if len(sizes) > 1 else sizes[0]
        logits = model(mx.array(ids[done : done + size])[None], cache=caches)[0]
        mx.eval(logits, [one.state for one in caches])
        rows.append(logits)
        done += size
    return mx.concatenate(rows)


def distance(found, wanted):
    assert found.shape == wanted.shape
    return mx.abs(found.astype(mx.float32) - wanted).max().item()


def test_every_family_has_a_reference():
    kinds = {json.loads((REFERENCES / case / "config.json").read_text())["model_type"] for case in CASES}
    assert kinds == FAMILIES


@cases
def test_one_forward_pass(case):
    model, wanted = model_of(case), expected(case)
    assert distance(model(wanted["ids"][None])[0], wanted["whole"]) < TOLERANCE
    assert distance(in_pieces(model, wanted["ids"].tolist(), [len(wanted["ids"])]), wanted["whole"]) < TOLERANCE
    assert distance(model(wanted["short_ids"][None])[0], wanted["short_whole"]) < TOLERANCE


@cases
def test_token_by_token(case):
    wanted = expected(case)
    steps = wanted.get("steps", wanted["whole"])
    assert distance(in_pieces(model_of(case), wanted["ids"].tolist(), [1]), steps) < TOLERANCE


@cases
@pytest.mark.parametrize(
    "sizes",
    [[7, 13, 5, 1], pytest.param([30, 1], marks=pytest.mark.full), pytest.param([3, 20], marks=pytest.mark.full)],
)
def test_in_chunks_and_then_token_by_token(case, sizes):
    wanted = expected(case)
    ids = wanted["ids"].tolist()
    assert distance(in_pieces(model_of(case), ids, list(sizes), planned=len(ids)), wanted["whole"]) < TOLERANCE


@pytest.mark.parametrize("case", ["gemma2", "gemma3", "mistral-window", "mixtral-window", "phi3", "starcoder2"])
def test_windows_keep_no_more_than_they_see(case):
    caches = make_caches(model_of(case))
    assert any(isinstance(one, RotatingKVCache) and one.max_size == 16 for one in caches)


class TestLongRope:
    """A model that computes everything in another way once the context outgrows the original one of 32 tokens."""

    def test_the_reference_tells_one_way_from_the_other(self):
        wanted = expected("phi3-longrope")
        differs = mx.abs(wanted["each"] - wanted["whole"]).max(axis=-1).tolist()
        assert max(differs[:32]) > 0.1
        assert max(differs[32:]) < TOLERANCE

    def test_an_answer_that_outgrows_the_original_context_is_what_one_long_prompt_would_give(self):
        model, wanted = model_of("phi3-longrope"), expected("phi3-longrope")
        ids = wanted["ids"].tolist()
        prefix = PrefixCache(lambda: make_caches(model), PLENTY)
        for prompt in range(20, len(ids)):
            found = answered(model, prefix, ids[:prompt], ids)
            assert distance(found, wanted["each"][prompt - 1 :]) < TOLERANCE, prompt

    def test_a_prompt_that_is_cut_back_is_computed_in_the_first_way_again(self):
        model, wanted = model_of("phi3-longrope"), expected("phi3-longrope")
        ids = wanted["ids"].tolist()
        prefix = PrefixCache(lambda: make_caches(model), PLENTY)
        answered(model, prefix, ids[:40], ids)
        sequence = prefix.begin(ids[:12])
        assert sequence.tokens == []
        prefix.end(sequence)
        assert distance(answered(model, prefix, ids[:12], ids[:12]), wanted["each"][11:12]) < TOLERANCE


def answered(model, prefix, prompt, ids):
    """Let the scheduler answer `prompt` with the rest of `ids`; return the logits that each token was drawn from."""
    forced = Forced([*ids[len(prompt) :], 2])
    running = Scheduler(model, prefix, ChunkSizing(ChunkSize(largest=8)))
    add(running, task(prompt, len(ids) - len(prompt) + 1, sampler=forced))
    finished = drain(running)[-1]
    assert isinstance(finished, Finished), finished
    assert list(finished.token_ids) == [*ids[len(prompt) :], 2]
    return mx.stack(forced.rows)


class Forced:
    """Draws given tokens, and keeps the logits."""

    def __init__(self, tokens):
        self._tokens, self.rows = iter(tokens), []

    def sample(self, logits):
        self.rows.append(logits[0])
        return mx.array([next(self._tokens)])

    def fork(self):
        return self
