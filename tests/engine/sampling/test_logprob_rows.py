"""Log-probabilities against numpy in double precision, for single and batched requests and with drafts."""

import json
import math

import mlx.core as mx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from generating import GREEDY, MODELS, PROMPT, Echo, eager, empty, finished, run, task
from material import material
from sotto.engine.caches.caches import make_caches
from sotto.engine.contract.events import TextChunk
from sotto.engine.contract.logprob_values import LEAST_LOGPROB
from sotto.engine.contract.requests import GenerateRequest, SamplingOptions
from sotto.engine.engine import Engine
from sotto.engine.generation import generation
from sotto.engine.sampling.logprob_rows import compute_logprobs
from sotto.store.opening import open_model, record_of
from thoroughness import examples
from tiny_random import VOCABULARY

HOT = SamplingOptions(temperature=1.5, seed=3, top_k=5, repeat_penalty=1.5, logit_bias=((4, 5.0),))


def log_softmax(rows):
    rows = np.array(rows, dtype=np.float64)
    largest = rows.max(axis=-1, keepdims=True)
    return rows - largest - np.log(np.exp(rows - largest).sum(axis=-1, keepdims=True))


def token_bytes(token):
    return bytes([token % 256])


@examples(80)
@given(
    data=st.data(),
    rows=st.integers(1, 4),
    width=st.sampled_from([1, 7, 64, 640]),
    count=st.integers(0, 20),
    dtype=st.sampled_from([mx.float32, mx.bfloat16]),
)
def test_log_probabilities_equal_numpy(data, rows, width, count, dtype):
    generator = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    logits = mx.array(generator.normal(size=(rows, width)).astype(np.float32) * 5).astype(dtype)
    sampled = generator.integers(0, width, rows)
    entries = compute_logprobs(logits, mx.array(sampled.astype(np.uint32)), count).read(token_bytes)
    expected = log_softmax(np.array(logits.astype(mx.float32)))
    for row, entry in enumerate(entries):
        assert (entry.sampled.token_id, entry.sampled.data) == (sampled[row], token_bytes(sampled[row]))
        assert entry.sampled.logprob == pytest.approx(expected[row, sampled[row]], abs=1e-4)
        assert entry.sampled.logprob <= 1e-5
        best = np.sort(expected[row])[::-1][:count]
        np.testing.assert_allclose([token.logprob for token in entry.top], best, atol=1e-4)
        assert len({token.token_id for token in entry.top}) == min(count, width)
        for token in entry.top:
            assert token.logprob == pytest.approx(expected[row, token.token_id], abs=1e-4)


def test_an_impossible_token_has_a_finite_log_probability():
    (entry,) = compute_logprobs(mx.array([[0.0, -math.inf]]), mx.array([1], dtype=mx.uint32), 2).read(token_bytes)
    assert entry.sampled.logprob == LEAST_LOGPROB
    assert [(token.token_id, token.logprob) for token in entry.top] == [(0, 0.0), (1, LEAST_LOGPROB)]


def test_equally_likely_tokens_are_sorted_by_id():
    (entry,) = compute_logprobs(mx.zeros((1, 4)), mx.array([2], dtype=mx.uint32), 4).read(token_bytes)
    assert [token.token_id for token in entry.top] == [0, 1, 2, 3]
    assert math.exp(entry.sampled.logprob) == pytest.approx(0.25)


def reference(model, prompt, tokens):
    """Return the log-softmax of the model's logits for each token, from one forward pass over the whole text."""
    logits = model(mx.array([[*prompt, *tokens[:-1]]]), cache=make_caches(MODELS["plain"]))[0]
    return log_softmax(logits[len(prompt) - 1 :])


def check(events, name, model, prompt, count):
    chunks = [event for event in events if isinstance(event, TextChunk) and event.request_id == name]
    tokens = finished(events, name).token_ids
    entries = [entry for chunk in chunks for entry in chunk.logprobs]
    for chunk in chunks:
        assert tuple(entry.sampled.token_id for entry in chunk.logprobs) == chunk.token_ids
    expected = reference(model, prompt, tokens)
    assert len(entries) == len(tokens)
    for row, entry in zip(expected, entries, strict=True):
        assert entry.sampled.logprob == pytest.approx(row[entry.sampled.token_id], abs=2e-3)
        np.testing.assert_allclose([token.logprob for token in entry.top], np.sort(row)[::-1][:count], atol=2e-3)


@pytest.mark.parametrize("ahead", [0.0, math.inf])
@pytest.mark.parametrize("batches", [False, True])
def test_log_probabilities_are_those_of_the_unchanged_logits(ahead, batches):
    prompts = {"a": PROMPT, "b": [5, 6, 7], "c": [8]}
    counts = {"a": 3, "b": None, "c": 0}
    tasks = [
        task(prompt, 12, request_id=name, sampling=HOT, logprobs=counts[name], token_bytes=token_bytes)
        for name, prompt in prompts.items()
    ]
    events = run("plain", empty("plain"), *tasks, ahead=ahead, batches=batches)
    for name in ("a", "c"):
        check(events, name, MODELS["plain"], prompts[name], counts[name])
    assert not any(event.logprobs for event in events if isinstance(event, TextChunk) and event.request_id == "b")
    # Log-probabilities do not change the answer.
    plain = run("plain", empty("plain"), task(PROMPT, 12, sampling=HOT))
    assert finished(events, "a").token_ids == finished(plain).token_ids


@pytest.mark.parametrize("ahead", [0.0, math.inf])
def test_tokens_from_drafts_have_log_probabilities_too(ahead):
    model = Echo("plain", [(token + 1) % 7 for token in range(VOCABULARY)])
    request = task(PROMPT, 40, logprobs=4, token_bytes=token_bytes)
    events = run("plain", empty("plain"), request, model=model, speculator=eager(), ahead=ahead)
    assert finished(events).accepted_tokens > 5
    check(events, "r", model, PROMPT, 4)


def test_log_probabilities_are_computed_only_on_request(monkeypatch):
    def called(*_):
        raise AssertionError("log-probabilities were computed without a request for them")

    monkeypatch.setattr(generation, "compute_logprobs", called)
    found = finished(run("plain", empty("plain"), task(), task([3], request_id="b"), batches=True))
    assert len(found.token_ids) == 12


def test_log_probabilities_equal_those_of_ollama():
    recorded = json.loads(material("ollama-api", "recorded.json").read_text())["gen-logprobs"]["json"]
    engine = Engine()
    engine.load(open_model(record_of(material("stories260k"))))
    request = GenerateRequest("r", prompt="Once upon a time", sampling=GREEDY, num_predict=3, logprobs=3)
    events = list(engine.generate(engine.prepare(request)))
    engine.unload()
    entries = [entry for event in events if isinstance(event, TextChunk) for entry in event.logprobs]
    assert finished(events).text == recorded["response"]
    for actual, expected in zip(entries, recorded["logprobs"], strict=True):
        pairs = zip((actual.sampled, *actual.top), (expected, *expected["top_logprobs"]), strict=True)
        for token, row in pairs:
            assert list(token.data) == row["bytes"]
            assert token.logprob == pytest.approx(row["logprob"], abs=0.02)
