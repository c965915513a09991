"""A forward pass that is stopped between two layers leaves the caches as they were."""

import mlx.core as mx
import numpy as np
import pytest

from generating import MODELS
from sotto.engine.caches.caches import make_caches
from sotto.engine.caches.sequence import Sequence
from tiny_random import VOCABULARY

bits = pytest.mark.parametrize("kv_bits", [None, 16, 8, 4])


def made(kind, kv_bits=None):
    return Sequence(lambda: make_caches(MODELS[kind], kv_bits))


def feed(kind, sequence, tokens, *, stop=lambda: False, steps=99):
    """Compute some tokens; return whether that was not stopped, and the logits after them if so."""
    logits = []
    whole = sequence.compute(
        lambda: logits.append(MODELS[kind](mx.array([tokens]), cache=sequence.caches)), stop, steps
    )
    if whole:
        sequence.tokens.extend(tokens)
    return whole, np.array(logits[0]) if whole else None


@bits
@pytest.mark.parametrize("before", [0, 5, 300])
def test_a_stopped_pass_leaves_the_caches_as_they_were(kv_bits, before):
    tokens = np.random.default_rng(3).integers(0, VOCABULARY, 600).tolist()
    stopped, plain = made("plain", kv_bits), made("plain", kv_bits)
    for sequence in (stopped, plain):
        if before:
            assert feed("plain", sequence, tokens[:before])[0]
    room = [buffer.shape for buffer in stopped.ranged[-1].buffers]
    # More than there is room for, so that all layers would get larger buffers.
    assert feed("plain", stopped, tokens[before:], stop=lambda: True) == (False, None)
    assert stopped.tokens == tokens[:before]
    # Otherwise the rest of the pass would be computed with the next one.
    assert [buffer.shape for buffer in stopped.ranged[-1].buffers] == room
    assert [leaf.offset for leaf in stopped.ranged] == [before] * len(stopped.ranged)
    end = before + 40
    (_, found), (_, wanted) = (feed("plain", sequence, tokens[before:end]) for sequence in (stopped, plain))
    assert found.tobytes() == wanted.tobytes()
    assert [leaf.offset for leaf in stopped.ranged] == [end] * len(stopped.ranged)


@pytest.mark.parametrize("kind", list(MODELS))
def test_steps_compute_the_same_as_a_single_one(kind):
    tokens = np.random.default_rng(3).integers(0, VOCABULARY, 50).tolist()
    apart, at_once = made(kind), made(kind)
    for sequence, steps in ((apart, 99), (at_once, 1)):
        for first in range(0, 50, 20):
            _, logits = feed(kind, sequence, tokens[first : first + 20], steps=steps)
        sequence.logits = logits
    assert apart.logits.tobytes() == at_once.logits.tobytes()


def test_a_pass_is_not_stopped_where_its_states_could_not_be_restored():
    kind = next(kind for kind in MODELS if made(kind).stateful)
    assert feed(kind, made(kind), [1, 2, 3], stop=lambda: True)[0]


def test_no_question_follows_the_last_layer():
    sequence, asked = made("plain"), []
    assert feed("plain", sequence, [1, 2, 3], stop=lambda: asked.append(1))[0]
    assert len(asked) == len(sequence.caches) - 1
    asked.clear()
    assert feed("plain", sequence, [1, 2, 3], stop=lambda: asked.append(1), steps=1)[0]
    assert not asked


def test_buffers_are_changed_in_place():
    """Check that what is held for a stop is released before each layer is computed."""
    sequence = made("plain")
    feed("plain", sequence, [1] * 3000)
    layer = sum(buffer.nbytes for buffer in sequence.ranged[0].buffers)
    peaks = []
    for steps in (1, 99):
        feed("plain", sequence, [1], steps=steps)
        mx.clear_cache()
        mx.reset_peak_memory()
        feed("plain", sequence, [1], steps=steps)
        peaks.append(mx.get_peak_memory())
    assert peaks[1] - peaks[0] < layer / 4
