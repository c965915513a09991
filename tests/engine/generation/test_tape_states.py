"""Decode steps of recurrent layers from a tape: the same bits as the definition's, and the same states after them."""

import gc
import weakref

import mlx.core as mx
import pytest

from families import FAMILIES, vocabulary_of
from generating import MODELS, PROMPT, finished, reference, run, task
from native_kernels import KERNELS, bits, needs_kernels
from sotto.engine.architectures.cache_types import ArraysCache
from sotto.engine.architectures.zoo import build
from sotto.engine.caches.caches import make_caches
from sotto.engine.caches.prefix_cache import PrefixCache
from sotto.engine.caches.sequence import Sequence
from sotto.engine.generation.tape import TapedModel, with_tapes
from sotto.engine.kernels.cpu_linear import adapt_to_cpu
from taped_steps import LENGTHS, check_joining, compare, contents, fed, loaded, together, tolerance_of
from tiny_random import CONFIGS, VOCABULARY

pytestmark = needs_kernels

CASES = "granite-hybrid granite-hybrid-moe lfm2 lfm2-moe mamba2 nemotron-h nemotron-h-moe qwen3-next".split()
TINY = "falcon_h1 nemotron_h_latent olmo_hybrid qwen3_5 qwen3_5_moe".split()


def hybrid():
    model = MODELS["hybrid"]
    return TapedModel(model, KERNELS)


@pytest.mark.parametrize("lengths", [LENGTHS[:1], LENGTHS])
@pytest.mark.parametrize("case", CASES)
def test_models_give_the_same_bits(case, lengths):
    model, config = loaded(case)
    compare(model, config, config["vocab_size"], lengths, tolerance=tolerance_of(case, lengths))


@pytest.mark.parametrize("lengths", [LENGTHS[:1], LENGTHS])
@pytest.mark.parametrize("name", TINY)
def test_families_give_the_same_bits(name, lengths):
    mx.random.seed(7)
    model, config = build(FAMILIES[name])
    compare(model, config, vocabulary_of(config), lengths)


def test_several_tokens_and_empty_states_are_left_to_the_definition():
    model, plain = hybrid(), MODELS["hybrid"]
    taped, others = make_caches(plain), make_caches(plain)
    for ids in ([[3]], [[4]], [[5, 6, 7]], [[8]]):
        assert bits(model(mx.array(ids), cache=taped)) == bits(plain(mx.array(ids), cache=others))
    assert contents(taped) == contents(others)


def test_a_captured_state_stays_as_it_was():
    model = hybrid()
    sequence = Sequence(lambda: make_caches(MODELS["hybrid"]))
    model(mx.array([list(PROMPT)]), cache=sequence.caches)
    sequence.tokens.extend(PROMPT)
    model(mx.array([[1]]), cache=sequence.caches)
    sequence.tokens.append(1)
    before, captured = contents(sequence.caches), sequence.capture(computed=False)
    logits = [model(mx.array([[token]]), cache=sequence.caches) for token in (2, 3)]
    sequence.tokens += [2, 3]
    mx.eval(logits)
    assert contents(sequence.caches) != before
    sequence.rewind(len(PROMPT) + 1, captured)
    assert contents(sequence.caches) == before
    again = [model(mx.array([[token]]), cache=sequence.caches) for token in (2, 3)]
    assert [bits(one) for one in again] == [bits(one) for one in logits]


def test_states_are_written_in_place_while_other_steps_are_in_flight():
    model, ((taped, plain),) = hybrid(), (fed(MODELS["hybrid"], VOCABULARY, 9, 9),)
    mx.eval(model(mx.array([[1]]), cache=taped), MODELS["hybrid"](mx.array([[1]]), cache=plain))
    states = [state for layer in taped if isinstance(layer, ArraysCache) for state in layer.cache]
    found = [model(mx.array([[token]]), cache=taped) for token in range(12)]
    wanted = [MODELS["hybrid"](mx.array([[token]]), cache=plain) for token in range(12)]
    assert [bits(one) for one in found] == [bits(one) for one in wanted]
    assert contents(taped) == contents(plain)
    kept = [state for layer in taped if isinstance(layer, ArraysCache) for state in layer.cache]
    assert all(one is other for one, other in zip(states, kept, strict=True))


def test_sequences_join_and_leave_a_batch():
    model = hybrid()
    taped, plain = (fed(MODELS["hybrid"], VOCABULARY, *LENGTHS) for _ in range(2))
    for rows in ((0, 1, 2), (0, 2), (1,), (2, 1), (0, 1, 2)):
        tokens = mx.array([[row + 3] for row in rows])
        found = model(tokens, cache=together([taped[row] for row in rows]))
        wanted = MODELS["hybrid"](tokens, cache=together([plain[row] for row in rows]))
        assert bits(found) == bits(wanted)
    assert [contents(caches) for caches in taped] == [contents(caches) for caches in plain]


@pytest.mark.parametrize("change", ["reads a changed state", "keeps a state of another shape"])
def test_a_definition_that_uses_its_states_otherwise_is_called_directly(change):
    original = MODELS["hybrid"]

    def model(tokens, cache):
        states = next(layer for layer in cache if not hasattr(layer, "update_and_fetch"))
        before = states[1]
        logits = original(tokens, cache=cache)
        if change == "reads a changed state":
            return logits if before is None else logits + 0 * mx.sum(before.flatten(1), axis=-1)[:, None, None]
        states[0] = states[0][:, -2:] if states[0].shape[1] > 2 else mx.pad(states[0], [(0, 0), (1, 0), (0, 0)])
        return logits

    (taped,) = fed(original, VOCABULARY, 5)
    assert TapedModel(model, KERNELS).tape(1, taped) is None


def test_the_scheduler_gives_the_same_answers():
    prefix = PrefixCache(lambda: make_caches(MODELS["hybrid"]), 1 << 30)
    model = with_tapes(MODELS["hybrid"], CONFIGS["hybrid"], prefix.begin([1, 2]).caches)
    assert isinstance(model, TapedModel)
    for _ in range(2):
        events = run("hybrid", prefix, task(max_tokens=30), model=model)
        assert finished(events).token_ids == reference("hybrid", PROMPT, 30)
    check_joining("hybrid", prefix, model)


def test_a_tape_is_freed_without_a_garbage_collection():
    model, config = build(FAMILIES["falcon_h1"])
    adapt_to_cpu(model)
    (caches,) = fed(model, config["vocab_size"], 9)
    with_tape = with_tapes(model, config, caches)
    assert with_tape.tape(1, caches) is not None
    kept = weakref.ref(with_tape)
    gc.disable()
    try:
        del with_tape
        assert kept() is None
    finally:
        gc.enable()
