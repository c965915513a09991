"""Log-probabilities against numpy in double precision, alone, side by side and with several tokens in one step."""

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
def test_as_in_numpy(data, rows, width, count, dtype):
    generator = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    logits = mx.array(generator.normal(size=(rows, width)).astype(np.float32) * 5).astype(dtype)
    drawn = generator.integers(0, width, rows)
    told = compute_logprobs(logits, mx.array(drawn.astype(np.uint32)), count).read(token_bytes)
    expected = log_softmax(np.array(logits.astype(mx.float32)))
    for row, one in enumerate(told):
        assert (one.sampled.token_id, one.sampled.data) == (drawn[row], token_bytes(drawn[row]))
        assert one.sampled.logprob == pytest.approx(expected[row, drawn[row]], abs=1e-4)
        assert one.sampled.logprob <= 1e-5
        best = np.sort(expected[row])[::-1][:count]
        np.testing.assert_allclose([each.logprob for each in one.top], best, atol=1e-4)
        assert len({each.token_id for each in one.top}) == min(count, width)
        for each in one.top:
            assert each.logprob == pytest.approx(expected[row, each.token_id], abs=1e-4)


def test_what_is_impossible_has_a_number_all_the_same():
    (told,) = compute_logprobs(mx.array([[0.0, -math.inf]]), mx.array([1], dtype=mx.uint32), 2).read(token_bytes)
    assert told.sampled.logprob == LEAST_LOGPROB
    assert [(each.token_id, each.logprob) for each in told.top] == [(0, 0.0), (1, LEAST_LOGPROB)]


def test_of_equals_the_first_comes_first():
    (told,) = compute_logprobs(mx.zeros((1, 4)), mx.array([2], dtype=mx.uint32), 4).read(token_bytes)
    assert [each.token_id for each in told.top] == [0, 1, 2, 3]
    assert math.exp(told.sampled.logprob) == pytest.approx(0.25)


def reference(model, prompt, tokens):
    """Return the log-softmax of the model's own logits in front of each token, from one whole forward pass."""
    logits = model(mx.array([[*prompt, *tokens[:-1]]]), cache=make_caches(MODELS["plain"]))[0]
    return log_softmax(logits[len(prompt) - 1 :])


def check(events, name, model, prompt, count):
    chunks = [event for event in events if isinstance(event, TextChunk) and event.request_id == name]
    tokens = finished(events, name).token_ids
    told = [one for chunk in chunks for one in chunk.logprobs]
    for chunk in chunks:
        assert tuple(one.sampled.token_id for one in chunk.logprobs) == chunk.token_ids
    expected = reference(model, prompt, tokens)
    assert len(told) == len(tokens)
    for row, one in zip(expected, told, strict=True):
        assert one.sampled.logprob == pytest.approx(row[one.sampled.token_id], abs=2e-3)
        np.testing.assert_allclose([each.logprob for each in one.top], np.sort(row)[::-1][:count], atol=2e-3)


@pytest.mark.parametrize("ahead", [0.0, math.inf])
@pytest.mark.parametrize("batches", [False, True])
def test_requests_are_told_what_the_model_itself_holds_likely(ahead, batches):
    prompts = {"a": PROMPT, "b": [5, 6, 7], "c": [8]}
    asked = {"a": 3, "b": None, "c": 0}
    tasks = [
        task(prompt, 12, request_id=name, sampling=HOT, logprobs=asked[name], token_bytes=token_bytes)
        for name, prompt in prompts.items()
    ]
    events = run("plain", empty("plain"), *tasks, ahead=ahead, batches=batches)
    for name in ("a", "c"):
        check(events, name, MODELS["plain"], prompts[name], asked[name])
    assert not any(event.logprobs for event in events if isinstance(event, TextChunk) and event.request_id == "b")
    # They change nothing else.
    plain = run("plain", empty("plain"), task(PROMPT, 12, sampling=HOT))
    assert finished(events, "a").token_ids == finished(plain).token_ids


@pytest.mark.parametrize("ahead", [0.0, math.inf])
def test_several_tokens_in_one_step_are_told_as_well(ahead):
    model = Echo("plain", [(token + 1) % 7 for token in range(VOCABULARY)])
    asked = task(PROMPT, 40, logprobs=4, token_bytes=token_bytes)
    events = run("plain", empty("plain"), asked, model=model, speculator=eager(), ahead=ahead)
    assert finished(events).accepted_tokens > 5
    check(events, "r", model, PROMPT, 4)


def test_nothing_is_computed_for_who_does_not_ask(monkeypatch):
    def called(*_):
        raise AssertionError("nobody asked")

    monkeypatch.setattr(generation, "compute_logprobs", called)
    found = finished(run("plain", empty("plain"), task(), task([3], request_id="b"), batches=True))
    assert len(found.token_ids) == 12


def test_they_are_those_that_ollama_tells():
    recorded = json.loads(material("ollama-api", "recorded.json").read_text())["gen-logprobs"]["json"]
    engine = Engine()
    engine.load(open_model(record_of(material("stories260k"))))
    asked = GenerateRequest("r", prompt="Once upon a time", sampling=GREEDY, num_predict=3, logprobs=3)
    events = list(engine.generate(engine.prepare(asked)))
    engine.unload()
    told = [one for event in events if isinstance(event, TextChunk) for one in event.logprobs]
    assert finished(events).text == recorded["response"]
    for mine, its in zip(told, recorded["logprobs"], strict=True):
        pairs = zip((mine.sampled, *mine.top), (its, *its["top_logprobs"]), strict=True)
        for token, row in pairs:
            assert list(token.data) == row["bytes"]
            assert token.logprob == pytest.approx(row["logprob"], abs=0.02)
