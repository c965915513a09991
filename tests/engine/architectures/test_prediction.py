"""Heads for multi-token prediction, against logits made with transformers by packaging/references."""

from functools import cache

import mlx.core as mx
import pytest

from checkpoints import load_folder
from places import REFERENCES
from sotto.engine.architectures.prediction import PredictionCache
from sotto.engine.caches.batch import batch_caches
from sotto.engine.caches.caches import make_caches
from sotto.engine.caches.sequence import Sequence

CASES = sorted(path.name for path in REFERENCES.iterdir() if path.name.endswith("-mtp"))
# As in packaging/references/prediction_heads.py.
START, STEPS = 20, 4
TOLERANCE = 1e-3
cases = pytest.mark.parametrize("case", CASES)


@cache
def model_of(case):
    return load_folder(REFERENCES / case).model


@cache
def expected(case):
    return mx.load(str(REFERENCES / case / "expected.safetensors"))


def ids_of(case):
    return expected(case)["ids"].tolist()


def fed(case, tokens, sizes=(100,)):
    """Return a sequence that was fed tokens in pieces of these sizes, the last one over and over."""
    model, sequence, sizes = model_of(case), Sequence(lambda: make_caches(model_of(case))), list(sizes)
    while len(sequence.tokens) < len(tokens):
        feed(model, sequence, tokens[len(sequence.tokens) :][: sizes.pop(0) if len(sizes) > 1 else sizes[0]])
    return sequence


def feed(model, sequence, tokens):
    model(mx.array([tokens]), cache=sequence.caches)
    sequence.evaluate()
    sequence.tokens.extend(tokens)


def proposed(case, sequence, tokens):
    """Return the logits [n, V] of the head after each of n tokens that follow a sequence."""
    cache, rows = sequence.caches[-1], []
    hidden = cache.recent[:, -1:]
    for token in tokens:
        logits, hidden = model_of(case).predict(mx.array([[token]]), hidden, cache)
        rows.append(logits[0, 0])
    cache.forget_proposals(len(sequence.tokens))
    return mx.stack(rows)


def assert_predicts(case, sequence):
    """Check the head's first proposal after a sequence of some of the tokens of a case."""
    done = len(sequence.tokens)
    found = proposed(case, sequence, ids_of(case)[done : done + 1])[0]
    assert mx.abs(found - expected(case)["predicted"][done - 1]).max().item() < TOLERANCE


def test_there_is_a_case_for_each_family():
    assert len(CASES) == 6


@cases
@pytest.mark.parametrize("sizes", [(100,), (1,), (7, 2, 1, 5)])
def test_proposals_are_those_of_the_published_formula(case, sizes):
    for length in (1, 2, 9, 33):
        assert_predicts(case, fed(case, ids_of(case)[:length], sizes))


@cases
def test_the_head_continues_from_its_own_hidden_states(case):
    ids = ids_of(case)
    found = proposed(case, fed(case, ids[:START]), ids[START : START + STEPS + 1])
    assert mx.abs(found[0] - expected(case)["predicted"][START - 1]).max().item() < TOLERANCE
    assert mx.abs(found[1:] - expected(case)["chained"]).max().item() < TOLERANCE


@cases
def test_proposals_leave_no_trace(case):
    sequence = fed(case, ids_of(case)[:9])
    proposed(case, sequence, [5, 9, 11])
    feed(model_of(case), sequence, ids_of(case)[9:12])
    assert_predicts(case, sequence)


@cases
def test_tokens_that_were_taken_back_leave_no_trace(case):
    sequence, ids = fed(case, ids_of(case)[:12]), ids_of(case)
    states = sequence.capture()
    feed(model_of(case), sequence, [ids[12], 3, 4, 5, 6])
    sequence.rewind(12, states)
    assert_predicts(case, sequence)
    feed(model_of(case), sequence, ids[12:14])
    assert_predicts(case, sequence)


def test_a_long_way_back_leaves_no_hidden_state():
    """Proposals from one that is not known would only make the head look worse than it is."""
    sequence, ids = fed("glm4-moe-mtp", ids_of("glm4-moe-mtp")), ids_of("glm4-moe-mtp")
    sequence.rewind(20)
    assert sequence.caches[-1].recent is not None
    assert_predicts("glm4-moe-mtp", sequence)
    feed(model_of("glm4-moe-mtp"), sequence, ids[20:43])
    sequence.rewind(10)
    assert sequence.caches[-1].recent is None


@cases
def test_a_sequence_from_the_prefix_cache_proposes_almost_the_same(case):
    """The hidden state before the first token that it is fed is not known any more."""
    ids = ids_of(case)
    first, second = fed(case, ids[:12]), Sequence(lambda: make_caches(model_of(case)))
    second.fill(ids[:12], [first.copy_part(0, 12)], first.capture())
    assert second.caches[-1].recent is None
    for sequence in (first, second):
        feed(model_of(case), sequence, ids[12:20])
    one, other = (sequence.caches[-1] for sequence in (first, second))
    differs = [
        mx.abs(a[:, :, :20] - b[:, :, :20]).max(axis=(0, 1, 3)) > 1e-4
        for a, b in zip(one.buffers, other.buffers, strict=True)
    ]
    assert {index for each in differs for index, is_different in enumerate(each.tolist()) if is_different} == {12}
    assert mx.allclose(one.recent[:, -8:], other.recent[:, -8:], atol=1e-4)


@pytest.mark.parametrize("case", ["glm4-moe-mtp", "qwen3-next-mtp", "qwen3-5-mtp"])
def test_rows_of_a_batch_are_fed_as_if_they_were_alone(case):
    ids = ids_of(case)
    sequences = [fed(case, ids[:9]), fed(case, ids[3:17])]
    model_of(case)(mx.array([[ids[9]], [ids[17]]]), cache=batch_caches([each.caches for each in sequences]))
    for sequence, tokens in zip(sequences, (ids[:10], ids[3:18]), strict=True):
        sequence.evaluate()
        sequence.tokens.append(tokens[-1])
        alone = fed(case, tokens)
        assert mx.allclose(proposed(case, sequence, [7]), proposed(case, alone, [7]), atol=TOLERANCE)


@cases
def test_evaluating_the_logits_of_a_step_evaluates_all_that_the_head_keeps(case):
    sequence = fed(case, ids_of(case)[:9])
    before = mx.get_active_memory()
    for token in ids_of(case)[9:40]:
        mx.eval(model_of(case)(mx.array([[token]]), cache=sequence.caches))
    # Nothing but the growth of caches is left.
    assert mx.get_active_memory() - before < 100_000
    assert isinstance(sequence.caches[-1], PredictionCache)
