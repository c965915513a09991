"""Answers that must be something: their tokens are those of single steps under a mask, however they are computed."""

import json
import math
import re
from dataclasses import replace
from functools import cache

import mlx.core as mx
import numpy as np
import pytest

from generating import (
    GREEDY,
    MODELS,
    PROMPT,
    Always,
    Counting,
    cancel_after,
    drain,
    empty,
    finished,
    run,
    scheduler,
    task,
)
from sotto.engine.caches.caches import make_caches
from sotto.engine.contract.events import DoneReason, Failed
from sotto.engine.contract.requests import Grammar, GrammarKind, SamplingOptions
from sotto.engine.generation.draft_depth import Costs
from sotto.engine.generation.draft_model import DraftModel
from sotto.engine.generation.speculation import LookupDepths
from sotto.engine.generation.speculator import Speculator
from sotto.engine.grammar.guides import Vocabulary
from sotto.engine.grammar.token_masks import mask_logits
from sotto.engine.tokens.tokenizer import Tokenizer
from sotto.store.opening import open_model, record_of
from thoroughness import some
from tiny_random import CONFIGS, EOS, VOCABULARY, write_model

pytestmark = pytest.mark.slow

kinds = pytest.mark.parametrize("kind", sorted(CONFIGS))
aheads = pytest.mark.parametrize("ahead", [0.0, math.inf])
WORDS = Grammar(GrammarKind.REGEX, "([a-c]{3}[d-z]+;){2}(end|END)")
HOT = SamplingOptions(temperature=1.0, top_k=0, top_p=0.95, min_p=0.01, repeat_penalty=1.3, seed=11)


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    return Tokenizer.from_source(open_model(record_of(write_model(tmp_path_factory.mktemp("m") / "plain", "plain"))))


@pytest.fixture(scope="module")
def vocabulary(tokenizer):
    return Vocabulary(tokenizer, VOCABULARY)


@pytest.fixture
def guided(tokenizer, vocabulary):
    def make(grammar=WORDS, **options):
        options = {"eos_ids": {EOS}, "max_tokens": 30, "text": tokenizer.detokenizer()} | options
        return task(guide=vocabulary.guide(grammar), **options)

    return make


@pytest.fixture
def reference(vocabulary):
    """Decode greedily under masks, with one whole forward pass for each token, in numpy."""

    @cache
    def decode(kind, prompt, length, grammar=WORDS):
        guide, ids = vocabulary.guide(grammar), list(prompt)
        while not guide.complete and len(ids) < len(prompt) + length:
            scores = np.array(MODELS[kind](mx.array([ids]), cache=make_caches(MODELS[kind]))[0, -1])
            bits = np.unpackbits(np.frombuffer(guide.mask(), np.uint8), bitorder="little")[:VOCABULARY]
            token = int(np.where(bits == 1, scores, -np.inf).argmax())
            guide.take(token)
            if token == EOS:
                break
            ids.append(token)
        return tuple(ids[len(prompt) :])

    return lambda kind, length=30, **more: decode(kind, tuple(PROMPT), length, **more)


def proposing():
    return Speculator(LookupDepths(limit=6))


@pytest.mark.one_in(2)
@kinds
@aheads
def test_single_steps(kind, ahead, guided, reference):
    found = finished(run(kind, empty(kind), guided(), ahead=ahead))
    assert found.token_ids == reference(kind)
    complete = found.text.endswith((";end", ";END"))
    assert found.done_reason is (DoneReason.STOP if complete else DoneReason.LENGTH)


@kinds
@aheads
def test_an_answer_that_is_cut_has_a_length(kind, ahead, guided, reference):
    found = finished(run(kind, empty(kind), guided(max_tokens=5), ahead=ahead))
    assert (found.token_ids, found.done_reason) == (reference(kind, 5), DoneReason.LENGTH)


@aheads
def test_the_last_token_that_is_allowed_may_complete_it(ahead, guided):
    for most, reason in ((2, DoneReason.LENGTH), (3, DoneReason.STOP)):
        found = finished(run("plain", empty("plain"), guided(Grammar(GrammarKind.REGEX, "yes"), max_tokens=most)))
        assert (len(found.token_ids), found.done_reason) == (most, reason)


@pytest.mark.covering(2)
@kinds
@aheads
@pytest.mark.parametrize("sampling", [GREEDY, HOT])
def test_proposals_change_nothing(kind, ahead, sampling, guided, monkeypatch):
    monkeypatch.setattr("sotto.engine.generation.speculation.DraftDepth", Always)
    # What comes again and again is proposed, and is not always what comes, or may come, next.
    repeating = Grammar(GrammarKind.REGEX, "(abcdef[g-z]){2}abc[g-z]def(abcdefg|ABC){9}")
    plain = finished(run(kind, empty(kind), guided(repeating, sampling=sampling), ahead=ahead))
    found = finished(run(kind, empty(kind), guided(repeating, sampling=sampling), ahead=ahead, speculator=proposing()))
    assert (found.token_ids, found.text, found.done_reason) == (plain.token_ids, plain.text, plain.done_reason)
    assert found.drafted_tokens > 0
    assert plain.drafted_tokens == 0


def test_proposals_give_no_object_a_key_twice(guided, tokenizer, monkeypatch):
    """What was said a moment ago is proposed, and is what may not come again."""
    monkeypatch.setattr("sotto.engine.generation.speculation.DraftDepth", Always)
    schema = {"patternProperties": {"^a+$": {"enum": [1]}}, "additionalProperties": False, "type": "object"}
    grammar, (ends,) = Grammar(GrammarKind.JSON_SCHEMA, json.dumps(schema)), tokenizer.encode("}", add_bos=False)
    options = {"sampling": replace(HOT, logit_bias=((ends, -100.0),)), "max_tokens": 100}
    plain = finished(run("plain", empty("plain"), guided(grammar, **options)))
    found = finished(run("plain", empty("plain"), guided(grammar, **options), speculator=proposing()))
    assert (found.token_ids, found.text, found.done_reason) == (plain.token_ids, plain.text, plain.done_reason)
    assert found.drafted_tokens > found.accepted_tokens > 0
    keys = re.findall(r'"(a*)"\s*:', found.text)
    assert len(keys) == len(set(keys)) > 5


def test_a_model_without_an_end_comes_to_one(tmp_path):
    """Whether its tokens are drawn one by one or proposed: behind a whole number nothing must follow."""
    folder = write_model(tmp_path / "plain", "plain")
    settings = folder / "tokenizer_config.json"
    settings.write_text(json.dumps({**json.loads(settings.read_text()), "eos_token": None}))
    for name in ("config.json", "generation_config.json"):
        if (file := folder / name).exists():
            file.write_text(json.dumps({**json.loads(file.read_text()), "eos_token_id": None}))
    endless = Tokenizer.from_source(open_model(record_of(folder)))
    assert not endless.eos_ids
    for schema in ({"type": "integer"}, {"type": "number", "multipleOf": 3, "minimum": -7, "maximum": 7}):
        guide = Vocabulary(endless, VOCABULARY).guide(Grammar(GrammarKind.JSON_SCHEMA, json.dumps(schema)))
        for speculator in (None, proposing()):
            one = task(guide=guide.fork(), eos_ids=set(), max_tokens=30, text=endless.detokenizer(), sampling=HOT)
            found = finished(run("plain", empty("plain"), one, speculator=speculator))
            assert found.done_reason is DoneReason.STOP
            assert isinstance(json.loads(found.text), int)


def test_a_draft_model_proposes_nothing_to_it(guided, reference):
    counting = Counting("plain")
    draft = DraftModel("small", counting, empty("plain"), rows=VOCABULARY, width=VOCABULARY, limit=4)
    draft.depths = Always(4, Costs())
    speculator = Speculator(LookupDepths(limit=0), draft)
    found = finished(run("plain", empty("plain"), guided(), speculator=speculator))
    assert (found.token_ids, found.drafted_tokens, counting.shapes) == (reference("plain"), 0, [])
    free = finished(run("plain", empty("plain"), task(max_tokens=20), speculator=speculator))
    assert free.drafted_tokens > 0


# RWKV mixes the rows of a batch, so its requests are computed one by one.
@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("kind", "batches"),
    [
        ("plain", True),
        ("hybrid", True),
        ("recurrent", False),
        pytest.param("plain", False, marks=pytest.mark.full),
        pytest.param("window", True, marks=pytest.mark.full),
    ],
)
@aheads
def test_several_at_once_and_others_between_them(kind, ahead, batches, guided, reference):
    short = Grammar(GrammarKind.REGEX, "[0-9]{4}")
    free = finished(run(kind, empty(kind), task(max_tokens=15), ahead=ahead))
    tasks = [
        guided(request_id="words"),
        task(max_tokens=15, request_id="free"),
        guided(short, request_id="short"),
        guided(request_id="cut", max_tokens=7),
        guided(request_id="hot", sampling=HOT),
    ]
    alone = finished(run(kind, empty(kind), guided(sampling=HOT), ahead=ahead))
    events = run(kind, empty(kind), *tasks, ahead=ahead, batches=batches)
    assert finished(events, "words").token_ids == reference(kind)
    assert finished(events, "free").token_ids == free.token_ids
    assert finished(events, "short").token_ids == reference(kind, grammar=short)
    assert finished(events, "short").done_reason is DoneReason.STOP
    assert finished(events, "cut").token_ids == reference(kind, 7)
    assert finished(events, "hot").token_ids == alone.token_ids


@aheads
@pytest.mark.parametrize("failing", some([9, 10, 13, 15], 2))
def test_after_a_shared_step_that_failed_each_goes_on(ahead, failing, guided):
    """Draws depend on their number, so this also tells whether the right ones are done again."""
    alone = {
        name: finished(run("plain", empty("plain"), guided(sampling=sampling), ahead=ahead)).token_ids
        for name, sampling in (("greedy", GREEDY), ("hot", HOT))
    }
    tasks = [guided(request_id="greedy"), guided(request_id="hot", sampling=HOT)]
    model = Counting("plain", failing=failing)
    events = run("plain", empty("plain"), *tasks, ahead=ahead, batches=True, model=model, chunk=2048)
    assert len(model.shapes) > failing
    assert {name: finished(events, name).token_ids for name in alone} == alone


@aheads
def test_a_cancelled_answer_ends_and_the_next_one_is_whole(ahead, guided, reference):
    prefix = empty("plain")
    cut = finished(run("plain", prefix, guided(cancelled=cancel_after(12)), ahead=ahead))
    assert cut.done_reason is DoneReason.CANCELLED
    assert cut.token_ids == reference("plain")[: len(cut.token_ids)]
    again = finished(run("plain", prefix, guided(), ahead=ahead))
    assert again.token_ids == reference("plain")
    assert again.cached_tokens > 40


@kinds
@aheads
def test_what_an_answer_left_behind_serves_the_next(kind, ahead, guided):
    """A cache that holds another token than it says would change what comes of it."""
    prefix = empty(kind)
    first = finished(run(kind, prefix, guided(Grammar(GrammarKind.REGEX, "[a-c]{6}")), ahead=ahead))
    longer = [*PROMPT, *first.token_ids, 7, 8]
    fresh = finished(run(kind, empty(kind), task(prompt=longer), ahead=ahead))
    reused = finished(run(kind, prefix, task(prompt=longer), ahead=ahead))
    assert reused.token_ids == fresh.token_ids
    assert reused.cached_tokens > 0


def test_a_full_context_shifts_under_a_grammar(guided):
    counted = Grammar(GrammarKind.REGEX, "([a-m]{4}[n-z]{4}){9}")
    shifting = guided(counted, max_tokens=100, context=60, shift=lambda tokens: tokens[:5] + tokens[-20:])
    found = finished(run("plain", empty("plain"), shifting))
    assert (len(found.token_ids), found.done_reason) == (72, DoneReason.STOP)
    assert found.dropped_tokens > 0


@aheads
def test_a_grammar_that_no_token_goes_on_with_fails_that_answer_alone(ahead, tokenizer, vocabulary, reference, guided):
    stuck = task(
        guide=vocabulary.guide(Grammar(GrammarKind.REGEX, "[a-z]{3}é")),
        request_id="stuck", max_tokens=60, eos_ids={EOS}, text=tokenizer.detokenizer(),
    )  # fmt: skip
    events = run("plain", empty("plain"), stuck, guided(request_id="r"), ahead=ahead, batches=True)
    (failure,) = [event for event in events if isinstance(event, Failed)]
    assert (failure.request_id, failure.bug) == ("stuck", False)
    assert failure.message == "format could not be followed to its end: no token of this model goes on as it asks."
    assert finished(events).token_ids == reference("plain")


def test_masks_are_laid_over_logits_as_bits():
    generator = np.random.default_rng(5)
    for width in (1, 31, 32, 33, 97, 1000):
        for dtype in (mx.float32, mx.bfloat16):
            logits = mx.array(generator.normal(size=(3, width)).astype(np.float32)).astype(dtype)
            bits = generator.integers(0, 2, size=(2, width))
            masks = [np.packbits(row, bitorder="little").tobytes() for row in bits]
            found = mask_logits(logits, [masks[0], None, masks[1] + b"\xff" * 9])
            assert found.dtype == dtype
            rows = np.array(logits.astype(mx.float32))
            expected = np.where(np.stack([bits[0], np.ones(width), bits[1]]) == 1, rows, -np.inf)
            assert np.array_equal(np.array(found.astype(mx.float32)), expected)
    narrow = mask_logits(mx.zeros((1, 40)), [b"\xff"])
    assert np.isfinite(np.array(narrow)).sum() == 8


def test_the_mask_is_made_while_the_scores_are(guided, monkeypatch):
    """The forward pass is on its way before anything is asked of the grammar."""
    order = []
    evaluate = mx.async_eval
    monkeypatch.setattr(mx, "async_eval", lambda *arrays: (order.append("scores"), evaluate(*arrays)))
    running = scheduler("plain", ahead=math.inf)
    one = guided()
    mask = type(one.guide).mask
    monkeypatch.setattr(type(one.guide), "mask", lambda guide: (order.append("mask"), mask(guide))[1])
    running.add(one)
    drain(running)
    assert order.count("mask") > 10
    assert all(order[at - 1] == "scores" for at, what in enumerate(order) if what == "mask")


@aheads
@pytest.mark.parametrize("at", some([3, 5, 9], 2))
def test_after_draws_that_failed_each_goes_on(ahead, at, guided, monkeypatch):
    """Here the scores are there, and the tokens before them have been read and fed."""
    options = {"greedy": GREEDY, "hot": HOT}
    alone = {
        name: finished(run("plain", empty("plain"), guided(sampling=sampling), ahead=ahead)).token_ids
        for name, sampling in options.items()
    }
    calls = []

    def failing(logits, masks):
        calls.append(len(masks))
        if len(calls) == at:
            raise RuntimeError("[metal] something went wrong")
        return mask_logits(logits, masks)

    monkeypatch.setattr("sotto.engine.generation.scheduler.mask_logits", failing)
    tasks = [guided(request_id=name, sampling=sampling) for name, sampling in options.items()]
    events = run("plain", empty("plain"), *tasks, ahead=ahead, batches=True, chunk=2048)
    assert calls[at - 1] == 2
    assert set(calls[at:]) == {1}
    assert {name: finished(events, name).token_ids for name in alone} == alone
