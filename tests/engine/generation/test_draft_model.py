import logging
import math
from functools import cache
from itertools import product

import mlx.core as mx
import pytest
from hypothesis import given
from hypothesis import strategies as st

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
    reference,
    run,
    scheduler,
    task,
)
from sotto.engine.caches.caches import make_caches
from sotto.engine.contract.events import DoneReason, Failed, TextChunk
from sotto.engine.contract.requests import SamplingOptions
from sotto.engine.generation.chunk_sizing import ChunkSize
from sotto.engine.generation.draft_depth import Costs, DraftDepth
from sotto.engine.generation.draft_model import DraftModel
from sotto.engine.generation.speculation import LookupDepths
from sotto.engine.generation.speculator import Speculator
from sotto.engine.prompt.overflow import shift_context
from sotto.engine.sampling.sampler import Sampler
from thoroughness import examples, share, some
from tiny_random import CONFIGS, VOCABULARY, WINDOW

pytestmark = pytest.mark.slow

KINDS = sorted(CONFIGS)
kinds = pytest.mark.parametrize("kind", some(list(KINDS), 2))
draft_kinds = pytest.mark.parametrize("draft_kind", KINDS)
SAMPLINGS = [GREEDY, SamplingOptions(seed=5, temperature=1.5), SamplingOptions(seed=6, repeat_penalty=1.3)]
MIN_P = SamplingOptions(seed=3, top_k=0, top_p=1.0, min_p=0.01)


class Sometimes:
    """A model that predicts token 11 after every token whose id is a multiple of `every`."""

    def __init__(self, kind, every=5):
        self.counting, self._every = Counting(kind), every

    def __call__(self, ids, cache):
        wrong = 50.0 * (mx.arange(VOCABULARY) == 11)
        return self.counting(ids, cache) + mx.where(ids[..., None] % self._every == 0, wrong, 0.0)


class Resized:
    """A model with logits for more or fewer tokens, which must not be fed any others."""

    def __init__(self, kind, rows):
        self._model, self.rows = MODELS[kind], rows

    def __call__(self, ids, cache):
        assert ids.max().item() < self.rows
        logits = self._model(ids, cache=cache)[..., : self.rows]
        # The highest logits are those of the padding, for which no tokens exist.
        return mx.concatenate([logits, mx.full((*logits.shape[:2], max(0, self.rows - VOCABULARY)), 99.0)], axis=-1)


def drafting(kind, model=None, limit=4, rows=VOCABULARY, chunk=24, depths=None, **more):
    draft = DraftModel(
        "small",
        model or MODELS[kind],
        empty(kind),
        rows=rows,
        width=VOCABULARY,
        chunk=ChunkSize(largest=chunk),
        limit=limit,
        **more,
    )
    draft.depths = depths or Always(limit)
    return draft


def only(draft):
    """Return a speculator with a draft model and without prompt lookup."""
    return Speculator(LookupDepths(0), draft)


def with_draft(kind, draft, *tasks, ahead=0.0, prefix=None, **more):
    return run(kind, prefix or empty(kind), *tasks, ahead=ahead, speculator=only(draft), **more)


def alone(kind, *arguments, **options):
    return finished(run(kind, empty(kind), task(*arguments, **options)))


@cache
def usual(kind, length, sampling=GREEDY):
    return alone(kind, PROMPT, length, sampling=sampling).token_ids


def checked_cache_length(kind, draft, tokens):
    """Return how many of `tokens` a draft model has cached, and check the cache against a fresh forward pass."""
    sequence = draft.prefix.begin(tokens)
    held = len(sequence.tokens)
    assert sequence.tokens == list(tokens[:held])
    logits = MODELS[kind](mx.array([tokens[held:]]), cache=sequence.caches)[0, -1]
    fresh = MODELS[kind](mx.array([tokens]), cache=make_caches(MODELS[kind]))[0, -1]
    draft.prefix.drop(sequence)
    assert mx.abs(logits - fresh).max().item() <= 1e-4 * mx.abs(fresh).max().item()
    return held


@pytest.mark.covering(1)
@kinds
@draft_kinds
@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_a_draft_model_does_not_change_the_answer(kind, draft_kind, sampling):
    found = finished(with_draft(kind, drafting(draft_kind), task(max_tokens=2 * WINDOW, sampling=sampling)))
    assert found.token_ids == usual(kind, 2 * WINDOW, sampling)
    assert found.drafted_tokens >= 20


@pytest.mark.covering(1)
@kinds
@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_the_same_model_agrees_with_itself(kind, sampling):
    model = Counting(kind)
    found = finished(with_draft(kind, drafting(kind), task(max_tokens=41, sampling=sampling), model=model))
    assert found.token_ids == usual(kind, 41, sampling)
    # A step with several rows rounds differently than single steps.
    assert found.accepted_tokens >= 0.9 * found.drafted_tokens
    assert found.drafted_tokens >= 24


@pytest.mark.covering(1)
@kinds
@pytest.mark.parametrize("padded", list(product([VOCABULARY - 30, VOCABULARY + 31], [*SAMPLINGS, MIN_P])))
def test_vocabularies_may_be_padded_differently(kind, padded):
    rows, sampling = padded
    draft = drafting(kind, Resized(kind, rows), rows=rows)
    found = finished(with_draft(kind, draft, task(max_tokens=24, sampling=sampling)))
    assert found.token_ids == usual(kind, 24, sampling)
    assert found.drafted_tokens > 0


@kinds
@examples(6, 4)
@given(data=st.data())
def test_a_draft_model_does_not_change_the_answer_to_any_request(kind, data):
    draft = drafting(kind, Sometimes(kind), limit=data.draw(st.integers(1, 8)), chunk=data.draw(st.integers(1, 40)))
    prefix, history = empty(kind), []
    for _ in range(data.draw(st.integers(1, 3))):
        history += data.draw(st.lists(st.integers(0, VOCABULARY - 1), min_size=1, max_size=2 * WINDOW))
        room = data.draw(st.integers(1, 40))
        options = {
            "max_tokens": data.draw(st.integers(1, room)),
            "eos_ids": data.draw(st.sets(st.integers(0, VOCABULARY - 1), max_size=6)),
            "stop": tuple(chr(200 + token) for token in data.draw(st.sets(st.integers(0, VOCABULARY - 1), max_size=3))),
            "sampling": SamplingOptions(
                temperature=data.draw(st.sampled_from([0.0, 1.0])),
                seed=data.draw(st.integers(0, 99)),
                repeat_penalty=data.draw(st.sampled_from([1.0, 1.4])),
                repeat_last_n=data.draw(st.sampled_from([3, 64])),
            ),
            "boundaries": tuple(sorted(data.draw(st.sets(st.integers(1, len(history)), max_size=2)))),
            "context": len(history) + room,
        }
        polls = data.draw(st.integers(0, 60))
        cancelled = cancel_after(polls) if data.draw(st.booleans()) else cancel_after(math.inf)
        ahead = data.draw(st.sampled_from([0.0, math.inf]))
        request = task(list(history), cancelled=cancelled, **options)
        found = finished(with_draft(kind, draft, request, prefix=prefix, ahead=ahead))
        whole = alone(kind, list(history), **options)
        assert found.token_ids == whole.token_ids[: len(found.token_ids)]
        if found.done_reason is not DoneReason.CANCELLED:
            assert (found.token_ids, found.text, found.done_reason) == (
                whole.token_ids,
                whole.text,
                whole.done_reason,
            )
        assert draft.prefix.live_nbytes == 0
        history += found.token_ids
        checked_cache_length(kind, draft, [*history, 1])


@kinds
def test_both_models_continue_the_next_turn_from_their_caches(kind):
    model = Counting(kind)
    draft, prefix = drafting(kind, model), empty(kind)
    answer = finished(with_draft(kind, draft, task(max_tokens=20), prefix=prefix)).token_ids
    turn = [*PROMPT, *answer, *range(20)]
    model.shapes.clear()
    second = finished(with_draft(kind, draft, task(turn, 9), prefix=prefix))
    assert second.token_ids == reference(kind, turn, 9)
    assert second.cached_tokens >= len(PROMPT) + 19
    assert sum(model.lengths) < 20 + draft.depths.limit + 20
    again = [*turn, *second.token_ids, 1]
    assert checked_cache_length(kind, draft, again) >= len(turn) + 9 - draft.depths.limit - 1


@kinds
def test_an_end_token_among_the_drafts_ends_the_answer(kind):
    whole = usual(kind, 30)
    for end in list(dict.fromkeys(whole[5:]))[:5]:
        found = finished(with_draft(kind, drafting(kind), task(max_tokens=30, eos_ids={end})))
        assert found.token_ids == whole[: whole.index(end)]
        assert found.done_reason is DoneReason.STOP


@kinds
def test_a_failing_draft_model_ends_the_drafts_but_not_the_answer(kind, caplog):
    for failing in (1, 2, 9):
        caplog.clear()
        model = Counting(kind, failing=failing)
        draft = drafting(kind, model)
        found = finished(with_draft(kind, draft, task(max_tokens=24)))
        assert found.token_ids == usual(kind, 24)
        assert len(model.shapes) == failing
        assert [record.levelno for record in caplog.records] == [logging.WARNING]
        assert "small" in caplog.text
        assert draft.prefix.live_nbytes == 0
        # The next answer has drafts again.
        again = finished(with_draft(kind, draft, task(max_tokens=24)))
        assert again.token_ids == found.token_ids
        assert again.accepted_tokens > 0


def test_a_failing_model_ends_its_answer_and_frees_the_draft_models_caches():
    draft = drafting("plain")
    model = Counting("plain", failing=14)
    events = with_draft("plain", draft, task(max_tokens=40), model=model)
    assert isinstance(events[-1], Failed)
    assert draft.prefix.live_nbytes == 0
    found = finished(with_draft("plain", draft, task(max_tokens=40)))
    assert found.token_ids == reference("plain", PROMPT, 40)


def test_a_round_that_fails_is_repeated_without_drafts(caplog):
    class Spoiling(Counting):
        """Leaves an array in its caches that fails when it is evaluated, which is after the logits."""

        def __call__(self, ids, cache):
            logits = super().__call__(ids, cache)
            if len(self.shapes) == 6:
                cache[0].keys = cache[0].keys + mx.linalg.inv(mx.zeros((2, 2)), stream=mx.cpu)[0, 0]
            return logits

    model = Spoiling("plain")
    draft, prefix = drafting("plain", model, limit=2), empty("plain")
    found = finished(with_draft("plain", draft, task(max_tokens=24), prefix=prefix))
    assert found.token_ids == usual("plain", 24)
    assert found.drafted_tokens == 2
    assert len(model.shapes) == 6
    assert "Inverse" in caplog.text
    assert draft.prefix.live_nbytes == prefix.live_nbytes == 0
    again = finished(with_draft("plain", draft, task([*PROMPT, *found.token_ids, 4]), prefix=prefix))
    assert again.token_ids == reference("plain", [*PROMPT, *found.token_ids, 4], 12)


def test_the_draft_model_catches_up_with_a_long_prompt_in_chunks_between_tokens():
    prompt = [(5 * index) % VOCABULARY for index in range(150)]
    model = Counting("plain")
    running = scheduler("plain", chunk=200, ahead=0.0, speculator=only(drafting("plain", model, chunk=20)))
    running.add(task(prompt, 40))
    tokens = []
    while running.count:
        before = len(model.shapes)
        new = [token for event in running.step() if isinstance(event, TextChunk) for token in event.token_ids]
        tokens += new
        if any(length > 1 for length in model.lengths[before:]):
            assert len(model.shapes) == before + 1 or len(new) > 1
            assert new
    assert max(model.lengths) == 20
    assert tuple(tokens) == reference("plain", prompt, 40)


@kinds
def test_the_draft_model_computes_a_common_prefix_once(kind):
    prompt = [(5 * index) % VOCABULARY for index in range(150)]
    model = Counting(kind)
    draft = drafting(kind, model, chunk=50)
    for branch in (3, 4):
        model.shapes.clear()
        events = with_draft(kind, draft, task([*prompt, branch, 9], 12, boundaries=(len(prompt),)))
        assert finished(events).token_ids == alone(kind, [*prompt, branch, 9], 12).token_ids
    assert sum(model.lengths) < 40


def test_there_are_no_drafts_while_two_requests_run_but_again_for_the_remaining_one():
    model = Counting("plain")
    speculator = only(drafting("plain", model))
    running = scheduler("plain", chunk=64, ahead=0.0, batches=True, speculator=speculator)
    running.add(task(max_tokens=12, request_id="a"))
    running.add(task(max_tokens=40, request_id="b"))
    events = []
    while running.count == 2:
        events += running.step()
    assert not model.shapes
    events += drain(running)
    for name, length in (("a", 12), ("b", 40)):
        assert finished(events, name).token_ids == reference("plain", PROMPT, length)
    assert finished(events, "a").drafted_tokens == 0
    assert finished(events, "b").accepted_tokens > 10


@kinds
def test_the_draft_model_follows_a_shifted_context(kind):
    def shift(tokens):
        return shift_context(tokens, 4, 50, ())

    limits = {"context": 80, "shift": shift}
    found = finished(with_draft(kind, drafting(kind), task(max_tokens=100, **limits)))
    plain = alone(kind, PROMPT, 100, **limits)
    assert found.token_ids == plain.token_ids
    assert found.accepted_tokens > 50


def test_there_are_no_drafts_beyond_the_draft_models_own_context():
    found = finished(with_draft("plain", drafting("plain", context=len(PROMPT) + 10), task(max_tokens=40)))
    assert found.token_ids == reference("plain", PROMPT, 40)
    assert 0 < found.accepted_tokens <= 10


def test_aborted_answers_leave_nothing_active():
    draft = drafting("plain")
    speculator = only(draft)
    running = scheduler("plain", ahead=0.0, speculator=speculator)
    running.add(task(max_tokens=40))
    while not draft.prefix.live_nbytes:
        running.step()
    running.close()
    assert draft.prefix.live_nbytes == 0
    assert not speculator._sources


class Fixed(Costs):
    """Known costs of rounds."""

    measured = tuple(range(9))

    def took(self, drafts, seconds):
        pass

    def up_to(self, drafts):
        return [1 + 0.2 * fed for fed in range(drafts + 1)]


def test_a_draft_model_that_is_never_right_is_not_used():
    wrong = Sometimes("plain", every=1)
    draft = drafting("plain", wrong, depths=DraftDepth(4, Fixed()))
    prefix = empty("plain")
    for _ in range(3):
        found = finished(with_draft("plain", draft, task(max_tokens=150), prefix=prefix))
        assert found.token_ids == reference("plain", PROMPT, 150)
    assert found.drafted_tokens < 10
    # While it is not used, it is not fed either.
    assert sum(wrong.counting.lengths) < 450


def test_a_draft_model_that_is_right_proposes_more_and_more():
    draft = drafting("plain", depths=DraftDepth(4, Fixed()))
    prefix = empty("plain")
    for _ in range(2):
        found = finished(with_draft("plain", draft, task(max_tokens=150), prefix=prefix))
        assert found.token_ids == reference("plain", PROMPT, 150)
    assert found.accepted_tokens > 110


@pytest.mark.parametrize("sampling", [GREEDY, SamplingOptions(seed=2)])
def test_there_are_drafts_while_decoding_runs_ahead(sampling):
    model = Counting("plain")
    found = finished(
        with_draft("plain", drafting("plain"), task(max_tokens=41, sampling=sampling), ahead=math.inf, model=model)
    )
    assert found.token_ids == usual("plain", 41, sampling)
    assert found.accepted_tokens >= 25
    assert len(model.shapes) < 30


def test_prompt_lookup_is_preferred_if_its_gain_is_higher():
    repeats = [3, 1, 4, 1, 5, 9, 2, 6] * 6

    class Modest(Always):
        def gain(self, available):
            return 1.01

    depths = LookupDepths(4)
    depths.costs = Fixed()
    for matched in depths._by_length:
        depths.controller(matched).costs = depths.costs
    draft = drafting("plain", depths=Modest(4))
    found = finished(run("plain", empty("plain"), task(repeats, 60), ahead=0.0, speculator=Speculator(depths, draft)))
    assert found.token_ids == reference("plain", repeats, 60)
    assert found.accepted_tokens > 0
    assert sum(depths.controller(matched)._samples[0] for matched in depths._by_length) > 0


def test_drafts_do_not_change_the_distribution():
    """Check that the second and third tokens of many answers with different seeds have the model's distribution."""
    model, draft = MODELS["plain"], drafting("plain", Sometimes("plain", every=2), limit=3)
    draft.prefix.budget, prompt = 0, PROMPT[:9]
    sampling = {"temperature": 1.2, "top_k": 3, "top_p": 0.98}
    answers = share(400, 150)
    counts, drafted, accepted = {}, 0, 0
    for seed in range(answers):
        request = task(prompt, 4, sampling=SamplingOptions(**sampling, seed=7 * seed + 1))
        found = finished(with_draft("plain", draft, request, chunk=64))
        drafted, accepted = drafted + found.drafted_tokens, accepted + found.accepted_tokens
        counts[found.token_ids[1:3]] = counts.get(found.token_ids[1:3], 0) + 1
    assert drafted > answers
    assert 0 < accepted < drafted
    expected = _pairs(model, prompt, SamplingOptions(**sampling))
    assert counts.keys() <= expected.keys()
    often = [pair for pair, share in expected.items() if share * answers >= 8]
    rest = 1 - sum(expected[pair] for pair in often)
    seen = [counts.get(pair, 0) for pair in often]
    observed = [*seen, answers - sum(seen)]
    shares = [*(expected[pair] for pair in often), rest]
    wanted = [share * answers for share in shares]
    distance = sum((count - mean) ** 2 / mean for count, mean in zip(observed, wanted, strict=True))
    freedom = len(wanted) - 1
    # The Wilson-Hilferty approximation; the seeds are fixed, so that the test always passes or always fails.
    assert ((distance / freedom) ** (1 / 3) - (1 - 2 / (9 * freedom))) / math.sqrt(2 / (9 * freedom)) < 3


def _pairs(model, prompt, options):
    """Return the probability of each pair of a second and a third token, summed over all first tokens."""
    from sotto.engine.sampling.distribution import distribution

    def following(tokens):
        logits = model(mx.array([tokens]), cache=make_caches(model))[0, -1:]
        log_probs, ids = distribution(logits.astype(mx.float32), options)
        pairs = zip(ids[0].tolist(), mx.exp(log_probs[0]).tolist(), strict=True)
        return [(token, share) for token, share in pairs if share > 0]

    shares = {}
    for first, chance in following(prompt):
        for second, second_chance in following([*prompt, first]):
            for third, third_chance in following([*prompt, first, second]):
                pair = second, third
                shares[pair] = shares.get(pair, 0.0) + chance * second_chance * third_chance
    return shares


def test_sampling_from_a_fork_does_not_affect_the_sampler():
    sampler = Sampler(SamplingOptions(seed=1, repeat_penalty=1.5), PROMPT)
    twin = Sampler(SamplingOptions(seed=1, repeat_penalty=1.5), PROMPT)
    logits = mx.random.normal((1, VOCABULARY), key=mx.random.key(0))
    fork = sampler.fork()
    for _ in range(3):
        fork.sample(logits)
    assert [sampler.sample(logits).item() for _ in range(6)] == [twin.sample(logits).item() for _ in range(6)]


def test_the_budget_of_the_draft_models_prefix_cache_is_respected():
    draft = drafting("plain")
    draft.prefix.budget = 0
    found = finished(with_draft("plain", draft, task(max_tokens=24)))
    assert found.token_ids == reference("plain", PROMPT, 24)
    assert draft.prefix.nbytes == 0
