import mlx.core as mx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefixing import answer, feed, prefill
from sotto.engine.caches import prefix_cache
from sotto.engine.caches.caches import make_caches
from sotto.engine.caches.prefix_cache import PrefixCache
from thoroughness import examples
from tiny_random import CONFIGS, VOCABULARY, WINDOW, random_model

MODELS = {kind: random_model(kind) for kind in CONFIGS}
kinds = pytest.mark.parametrize("kind", sorted(CONFIGS))
tokens = st.integers(0, VOCABULARY - 1)
PLENTY = 1 << 30


def empty(kind, budget=PLENTY, kv_bits=None):
    return PrefixCache(lambda: make_caches(MODELS[kind], kv_bits), budget)


def assert_same(kind, logits, prompt, kv_bits=None):
    fresh, cached = answer(MODELS[kind], empty(kind, kv_bits=kv_bits), prompt)
    assert cached == 0
    scale = mx.abs(fresh).max().item()
    assert mx.abs(logits - fresh).max().item() <= 1e-4 * scale
    assert mx.argmax(logits).item() == mx.argmax(fresh).item()


@kinds
def test_a_prompt_that_continues_an_answer_feeds_only_what_is_new(kind):
    prefix = empty(kind)
    first = [*range(20)]
    answer(MODELS[kind], prefix, first, generated=[40, 41, 42])
    second = [*first, 40, 41, 42, 50, 51]
    logits, cached = answer(MODELS[kind], prefix, second)
    assert cached == 23
    assert_same(kind, logits, second)


@kinds
@pytest.mark.parametrize("generated", [0, 5, WINDOW + 9])
def test_the_same_prompt_again_leaves_one_token(kind, generated):
    prefix = empty(kind)
    prompt = [(7 * index) % VOCABULARY for index in range(30)]
    answer(MODELS[kind], prefix, prompt, generated=[3] * generated)
    logits, cached = answer(MODELS[kind], prefix, prompt)
    assert cached == len(prompt) - 1
    assert_same(kind, logits, prompt)


@pytest.mark.one_in(2)
@kinds
def test_an_answer_rendered_differently_restarts_at_the_end_of_the_messages(kind):
    prefix = empty(kind)
    messages = [(5 * index) % VOCABULARY for index in range(40)]
    answer(MODELS[kind], prefix, [*messages, 90, 91, 92], [len(messages)], [*range(90)] * 4)
    turn = [*messages, 90, 1, 2, 3, 60, 61, 62]
    logits, cached = answer(MODELS[kind], prefix, turn, [len(turn) - 2])
    assert cached == (len(messages) + 1 if kind == "plain" else len(messages))
    assert_same(kind, logits, turn)


@kinds
def test_a_branch_does_not_forget_the_other(kind):
    prefix = empty(kind)
    shared = [(3 * index) % VOCABULARY for index in range(25)]
    first, second = [*shared, 1, 2, 3, 4, 5], [*shared, 9, 8, 7, 6]
    for prompt in (first, second):
        answer(MODELS[kind], prefix, prompt, [len(shared)], [11, 12, 13])
    for prompt in (first, second, first):
        longer = [*prompt, 11, 12, 13, 50]
        logits, cached = answer(MODELS[kind], prefix, longer)
        assert cached >= len(prompt) - 1
        assert_same(kind, logits, longer)


@kinds
def test_running_answers_share_their_common_prefix(kind):
    prefix = empty(kind)
    shared = [(3 * index) % VOCABULARY for index in range(25)]
    prompts = [[*shared, number, number + 1] for number in (10, 20, 30)]
    running = []
    for prompt in prompts:
        sequence, logits, cached = prefill(MODELS[kind], prefix, prompt, [len(shared)])
        assert cached == (0 if not running else len(shared))
        assert_same(kind, logits, prompt)
        running.append(sequence)
    for prompt, sequence in zip(prompts, running, strict=True):
        logits = feed(MODELS[kind], sequence, [5, 6])
        assert_same(kind, logits, [*prompt, 5, 6])
        prefix.end(sequence)


@kinds
def test_a_sequence_that_failed_is_forgotten_with_what_only_it_held(kind):
    prefix = empty(kind)
    prompt = [*range(30)]
    answer(MODELS[kind], prefix, prompt[:10])
    sequence, *_ = prefill(MODELS[kind], prefix, prompt)
    prefix.drop(sequence)
    assert prefix.nbytes == 0
    logits, cached = answer(MODELS[kind], prefix, prompt)
    assert cached == 0
    assert_same(kind, logits, prompt)


@kinds
def test_a_budget_of_zero_keeps_nothing(kind):
    prefix = empty(kind, budget=0)
    prompt = [*range(30)]
    answer(MODELS[kind], prefix, prompt)
    assert prefix.nbytes == 0
    logits, cached = answer(MODELS[kind], prefix, prompt)
    assert cached == 0
    assert_same(kind, logits, prompt)


@kinds
def test_the_least_recently_used_conversation_is_evicted(kind):
    prefix = empty(kind)
    conversations = [[number, *range(40)] for number in (60, 70, 80)]
    for prompt in conversations:
        answer(MODELS[kind], prefix, prompt)
    answer(MODELS[kind], prefix, conversations[0])
    prefix.budget = int(0.68 * prefix.nbytes)
    prefix.make_room()
    assert 0 < prefix.nbytes <= prefix.budget
    assert answer(MODELS[kind], prefix, conversations[0])[1] == 40
    assert answer(MODELS[kind], prefix, conversations[2])[1] == 40
    assert answer(MODELS[kind], prefix, conversations[1])[1] == 0


def test_a_shared_prefix_stays_when_one_of_its_branches_is_evicted():
    prefix = empty("plain")
    shared = [*range(50)]
    answer(MODELS["plain"], prefix, [*shared, 60, 61])
    answer(MODELS["plain"], prefix, [*shared, 70, 71])
    answer(MODELS["plain"], prefix, [*shared, 60, 61, 62])
    prefix.budget = prefix.nbytes - 1
    prefix.make_room()
    assert answer(MODELS["plain"], prefix, [*shared, 60, 61, 62, 63])[1] == 53
    assert answer(MODELS["plain"], prefix, [*shared, 80, 81])[1] == 50


def test_a_long_tail_is_not_thrown_away_for_a_short_beginning():
    prefix = empty("plain")
    long = [*range(5), *([7] * 150)]
    answer(MODELS["plain"], prefix, long)
    answer(MODELS["plain"], prefix, [0, 1, 2, 3, 50])
    assert answer(MODELS["plain"], prefix, [*long, 8])[1] == len(long)


def test_running_sequences_count_but_are_never_evicted():
    prefix = empty("plain", budget=1)
    sequence, *_ = prefill(MODELS["plain"], prefix, [*range(30)])
    assert prefix.nbytes == prefix.live_nbytes > 1
    assert_same("plain", feed(MODELS["plain"], sequence, [5]), [*range(30), 5])
    prefix.end(sequence)
    assert prefix.nbytes == 0


@pytest.mark.parametrize("kind", ["window", "recurrent", "hybrid"])
def test_a_branch_of_a_long_prompt_starts_at_the_last_snapshot(kind, monkeypatch):
    monkeypatch.setattr(prefix_cache, "SNAPSHOT_INTERVAL", 16)
    prefix = empty(kind)
    prompt = [(11 * index) % VOCABULARY for index in range(600)]
    answer(MODELS[kind], prefix, prompt)
    branch = [*prompt[:60], 1, 2, 3]
    logits, cached = answer(MODELS[kind], prefix, branch)
    assert cached == 48
    assert_same(kind, logits, branch)


@kinds
@pytest.mark.parametrize("kv_bits", [16, 8, 4])
def test_caches_of_fewer_bits_come_back_as_they_were(kind, kv_bits):
    prefix = empty(kind, kv_bits=kv_bits)
    prompt = [(7 * index) % VOCABULARY for index in range(30)]
    answer(MODELS[kind], prefix, prompt, [20], [4, 5, 6])
    branch = [*prompt[:25], 1, 2, 3]
    logits, cached = answer(MODELS[kind], prefix, branch)
    assert cached == (25 if kind == "plain" else 20) or (kind == "window" and cached == 25)
    assert_same(kind, logits, branch, kv_bits)


@pytest.mark.one_in(2)
@examples(40, 5)
@given(data=st.data())
@kinds
def test_logits_equal_those_of_a_fresh_forward_pass_after_any_history(kind, data):
    prefix = PrefixCache(lambda: make_caches(MODELS[kind]), data.draw(st.sampled_from([PLENTY, 60_000, 20_000])))
    known = [[]]
    running = []
    for _ in range(data.draw(st.integers(1, 6))):
        base = data.draw(st.sampled_from(known))
        cut = data.draw(st.integers(0, len(base)))
        prompt = base[:cut] + data.draw(st.lists(tokens, min_size=1, max_size=30))
        boundaries = data.draw(st.lists(st.integers(1, len(prompt)), max_size=2))
        sequence, logits, cached = prefill(MODELS[kind], prefix, prompt, boundaries)
        assert cached < len(prompt)
        assert_same(kind, logits, prompt)
        generated = data.draw(st.lists(tokens, max_size=WINDOW))
        feed(MODELS[kind], sequence, generated, size=1)
        known.append([*prompt, *generated])
        assert sequence.tokens == known[-1]
        if data.draw(st.booleans()):
            prefix.end(sequence)
        else:
            running.append(sequence)
        if running and data.draw(st.booleans()):
            ended = running.pop(0)
            (prefix.drop if data.draw(st.integers(0, 3)) == 0 else prefix.end)(ended)
    for sequence in running:
        prefix.end(sequence)
    assert prefix.nbytes <= prefix.budget
    prefix.clear()
    assert prefix.nbytes == 0


@kinds
def test_a_prefix_does_not_end_inside_what_is_fed_as_a_whole(kind):
    prefix = empty(kind)
    prompt = [(7 * index) % VOCABULARY for index in range(40)]
    answer(MODELS[kind], prefix, prompt, generated=[3, 4])
    other = [*prompt[:25], 99, 98, 97, 96, 95, 94]
    whole = [range(5, 12), range(20, 30)]
    sequence = prefix.begin(other, whole)
    # Inside the second part both prompts are the same, and then differ.
    assert len(sequence.tokens) <= 20
    assert not any(part.start < len(sequence.tokens) < part.stop for part in whole)
    stops = prefix.stops(sequence, len(other), [7, 22, 25], whole)
    assert not any(part.start < stop < part.stop for part in whole for stop in stops)
    assert stops[-1] == len(other) - 1
