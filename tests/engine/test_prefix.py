import mlx.core as mx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mlx_lm.models.cache import KVCache

from sotto.engine import prefix
from sotto.engine.caches import make_caches
from sotto.engine.prefix import PrefixCache
from tiny_random import CONFIGS, VOCABULARY, WINDOW, random_model

MODELS = {kind: random_model(kind) for kind in CONFIGS}
kinds = pytest.mark.parametrize("kind", sorted(CONFIGS))
tokens = st.integers(0, VOCABULARY - 1)


def empty(kind):
    return PrefixCache(lambda: make_caches(MODELS[kind]))


def feed(kind, live, ids, size=7):
    """Feed ids the way a prefill does, then return the logits of the last one."""
    logits = None
    for start in range(0, len(ids), size):
        chunk = list(ids[start : start + size])
        logits = MODELS[kind](mx.array([chunk]), cache=live.caches)[:, -1, :]
        mx.eval(logits, live.states())
        live.tokens.extend(chunk)
    return logits


def answer(kind, live, prompt, boundary=0):
    """Run a prompt through the cache with its snapshots; return its last logits and how much was cached."""
    cached = live.begin(prompt)
    for stop in live.stops(len(prompt), boundary):
        feed(kind, live, prompt[len(live.tokens) : stop])
        live.snapshot()
    feed(kind, live, prompt[len(live.tokens) : -1])
    return feed(kind, live, prompt[-1:]), cached


def assert_same(kind, logits, prompt):
    fresh, cached = answer(kind, empty(kind), prompt)
    assert cached == 0
    scale = mx.abs(fresh).max().item()
    assert mx.abs(logits - fresh).max().item() <= 1e-4 * scale
    assert mx.argmax(logits).item() == mx.argmax(fresh).item()


@kinds
def test_a_prompt_that_continues_the_live_tokens_feeds_only_what_is_new(kind):
    live = empty(kind)
    first = [*range(20)]
    answer(kind, live, first)
    feed(kind, live, [40, 41, 42], size=1)
    second = [*first, 40, 41, 42, 50, 51]
    logits, cached = answer(kind, live, second)
    assert cached == 23
    assert_same(kind, logits, second)


@kinds
@pytest.mark.parametrize("generated", [0, 5, WINDOW + 9])
def test_the_same_prompt_again_leaves_one_token(kind, generated):
    live = empty(kind)
    prompt = [(7 * index) % VOCABULARY for index in range(30)]
    answer(kind, live, prompt)
    feed(kind, live, [3] * generated, size=1)
    logits, cached = answer(kind, live, prompt)
    assert cached == len(prompt) - 1
    assert_same(kind, logits, prompt)


@kinds
def test_an_answer_rendered_differently_restarts_at_the_end_of_the_messages(kind):
    live = empty(kind)
    messages = [(5 * index) % VOCABULARY for index in range(40)]
    answer(kind, live, [*messages, 90, 91, 92], boundary=len(messages))
    feed(kind, live, [*range(WINDOW + 4)], size=1)
    turn = [*messages, 90, 1, 2, 3, 60, 61, 62]
    logits, cached = answer(kind, live, turn, boundary=len(turn) - 2)
    assert cached == (len(messages) + 1 if kind == "plain" else len(messages))
    assert_same(kind, logits, turn)


def test_a_window_that_is_not_full_goes_back_anywhere():
    live = empty("window")
    answer("window", live, [*range(WINDOW - 4)])
    prompt = [0, 1, 2, 3, 50, 51]
    logits, cached = answer("window", live, prompt)
    assert cached == 4
    assert_same("window", logits, prompt)


@kinds
def test_snapshots_of_an_abandoned_branch_are_dropped(kind):
    live = empty(kind)
    answer(kind, live, [*range(40)], boundary=20)
    answer(kind, live, [*range(25), 80, 81, 82, 83], boundary=27)
    assert all(length <= len(live.tokens) for length in live.snapshot_lengths)
    prompt = [*range(40)]
    logits, cached = answer(kind, live, prompt)
    assert cached == (25 if kind == "plain" else 20)
    assert_same(kind, logits, prompt)


@kinds
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_any_sequence_of_prompts_gives_what_a_fresh_cache_gives(kind, data):
    live = empty(kind)
    for _ in range(data.draw(st.integers(2, 4))):
        kept = data.draw(st.integers(0, len(live.tokens)))
        prompt = live.tokens[:kept] + data.draw(st.lists(tokens, min_size=1, max_size=WINDOW + 5))
        boundary = data.draw(st.integers(0, len(prompt)))
        logits, cached = answer(kind, live, prompt, boundary)
        assert cached < len(prompt)
        assert live.tokens == prompt
        assert_same(kind, logits, prompt)
        feed(kind, live, data.draw(st.lists(tokens, max_size=WINDOW + 5)), size=1)


def test_nothing_in_common_gives_the_memory_back():
    live = empty("plain")
    answer("plain", live, [*range(90)] * 5)
    assert live.nbytes > 0
    assert live.begin([95, 96]) == 0
    assert live.nbytes == 0


def test_going_far_back_gives_most_of_the_memory_back():
    live = empty("plain")
    prompt = [index % VOCABULARY for index in range(3000)]
    live.begin(prompt)
    feed("plain", live, prompt, size=500)
    before = live.nbytes
    short = [*prompt[:200], 96, 95]
    logits, cached = answer("plain", live, short)
    assert cached == 200
    assert live.nbytes < before / 4
    assert_same("plain", logits, short)


def test_long_prompts_are_kept_at_intervals(monkeypatch):
    monkeypatch.setattr(prefix, "SNAPSHOT_INTERVAL", 30)
    live = empty("recurrent")
    prompt = [(11 * index) % VOCABULARY for index in range(100)]
    answer("recurrent", live, prompt)
    assert live.snapshot_lengths == (30, 60, 90, 99)
    other = [*prompt[:70], 1, 2]
    logits, cached = answer("recurrent", live, other)
    assert cached == 60
    assert_same("recurrent", logits, other)


def test_snapshots_stay_within_their_budget(monkeypatch):
    monkeypatch.setattr(prefix, "SNAPSHOT_INTERVAL", 10)
    live = empty("recurrent")
    answer("recurrent", live, [*range(15)])
    monkeypatch.setattr(prefix, "SNAPSHOT_BUDGET", 2 * live.nbytes // 3)  # two of the three states that there are now
    answer("recurrent", live, [*range(90)])
    assert live.snapshot_lengths == (80, 89)


def test_layers_that_can_go_back_are_not_copied():
    live = empty("hybrid")
    answer("hybrid", live, [*range(20)])
    before = live.nbytes
    live.begin([*range(20), 21])
    live.snapshot()
    attention = sum(leaf.nbytes for leaf in live.caches if isinstance(leaf, KVCache))
    assert attention > 0
    assert live.nbytes - before < attention


def test_plain_caches_tell_what_a_token_costs():
    live = empty("plain")
    assert live.bytes_per_token is None
    feed("plain", live, [1, 2, 3])
    assert live.bytes_per_token == 3 * 2 * 2 * 8 * 4  # layers, keys and values, heads, head size, float32
    for kind in ("window", "recurrent", "hybrid"):
        other = empty(kind)
        feed(kind, other, [1, 2, 3])
        assert other.bytes_per_token is None
