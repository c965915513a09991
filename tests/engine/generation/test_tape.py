"""Decode steps from a tape give the bits that the definition gives, and leave caches as it does."""

import gc
import logging
from functools import cache

import mlx.core as mx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mlx import nn

from checkpoints import load_folder
from families import FAMILIES
from generating import MODELS, PROMPT, drain, finished, reference, run, scheduler, task
from native_kernels import KERNELS, bits, needs_kernels
from places import REFERENCES
from sotto.engine.architectures.attention import attend
from sotto.engine.architectures.cache_types import FullKVCache
from sotto.engine.architectures.zoo import build
from sotto.engine.caches.batch import MAX_BATCH_ROWS, batch_caches
from sotto.engine.caches.caches import make_caches
from sotto.engine.caches.prefix_cache import PrefixCache
from sotto.engine.caches.sequence import Sequence
from sotto.engine.generation.speculation import MOST_DRAFTS
from sotto.engine.generation.tape import TapedModel, with_tapes
from sotto.engine.kernels.cpu_linear import adapt_to_cpu
from thoroughness import examples
from tiny_random import CONFIGS, VOCABULARY

pytestmark = needs_kernels

# Those whose steps must be on a tape.
CASES = (
    "gemma gemma3 glm glm4 gpt-neox granite llama llama-linear llama-llama3 llama-tied llama-yarn mistral-window olmo2 "
    "phi3 qwen2 qwen3 smollm3 starcoder2"
).split()
TINY = "cohere cohere2 ernie4_5 exaone4 helium hunyuan_v1_dense nemotron olmo3 seed_oss".split()
LENGTHS = (5, 23, 11)


@cache
def loaded(case):
    found = load_folder(REFERENCES / case)
    adapt_to_cpu(found.model)
    return found.model, found.config


def fed(model, vocabulary, *lengths):
    """Return caches that hold so many tokens each."""
    sequences = []
    for length in lengths:
        caches = make_caches(model)
        model(mx.array([[(7 * index + length) % vocabulary for index in range(length)]]), cache=caches)
        mx.eval([one.state for one in caches])
        sequences.append(caches)
    return sequences


def together(sequences):
    return sequences[0] if len(sequences) == 1 else batch_caches(sequences)


def computed(model, ids, caches):
    """Return the bits of the logits of tokens of one sequence: of single steps, where a tape takes all in one."""
    parts = [[token] for token in ids] if len(ids) <= KERNELS.few_rows() else [ids]
    return bits(mx.concatenate([model(mx.array([part]), cache=caches) for part in parts], axis=1))


def held(caches):
    """Return what caches hold, as bytes."""
    return [bits(part) for one in caches for part in one.keys_and_values()]


def compare(model, config, vocabulary, lengths, steps=20):
    """Take the same steps with a tape and without, and compare all of them and what the caches hold in the end."""
    adapt_to_cpu(model)
    plain, own = fed(model, vocabulary, *lengths), fed(model, vocabulary, *lengths)
    with_tape = with_tapes(model, config, plain[0])
    assert isinstance(with_tape, TapedModel)
    assert with_tape.tape(len(lengths), own[0]) is not None
    for step in range(steps):
        tokens = mx.array([[(5 * step + row) % vocabulary] for row in range(len(lengths))])
        wanted = model(tokens, cache=together(plain))
        found = with_tape(tokens, cache=together(own))
        assert found.shape == wanted.shape
        assert bits(found) == bits(wanted)
    for mine, its in zip(own, plain, strict=True):
        assert [one.offset for one in mine] == [one.offset for one in its]
        assert held(mine) == held(its)


@pytest.mark.parametrize("lengths", [LENGTHS[:1], LENGTHS])
@pytest.mark.parametrize("case", CASES)
def test_models_give_the_same_bits(case, lengths):
    model, config = loaded(case)
    compare(model, config, config["vocab_size"], lengths)


@pytest.mark.parametrize("case", ["llama", "mistral-window", "qwen3"])
def test_several_tokens_of_one_sequence_get_the_bits_of_single_steps(case):
    model, config = loaded(case)
    own, plain = fed(model, config["vocab_size"], 9, 9)
    with_tape = with_tapes(model, config, own)
    for count in (2, 5, KERNELS.few_rows(), 3):
        ids = [(11 * at + count) % config["vocab_size"] for at in range(count)]
        found = with_tape(mx.array([ids]), cache=own)
        assert found.shape == (1, count, config["vocab_size"])
        assert bits(found) == computed(model, ids, plain)
        for one in (*own, *plain):
            one.rewind(one.offset - 1)


@pytest.mark.parametrize("lengths", [LENGTHS[:1], LENGTHS])
@pytest.mark.parametrize("name", TINY)
def test_families_give_the_same_bits(name, lengths):
    mx.random.seed(7)
    model, config = build(FAMILIES[name])
    compare(model, config, config["vocab_size"], lengths)


STORED = [
    {"bits": 4, "group_size": 32},
    {"bits": 8, "group_size": 64},
    mx.bfloat16,
    mx.float16,
]


def stored(how, **changes):
    """Build a model whose weights are stored in a type, or quantized."""
    mx.random.seed(3)
    model, config = build({**CONFIGS["plain"], "hidden_size": 64, "tie_word_embeddings": True, **changes})
    if isinstance(how, dict):
        model.set_dtype(mx.bfloat16, lambda kind: kind == mx.float32)
        nn.quantize(model, **how)
    for layer in model.modules():
        for name in [name for name in layer if isinstance(layer.get(name), mx.array)]:
            matrix = name in ("weight", "scales", "biases") and type(layer).__name__ != "RMSNorm"
            if matrix and not isinstance(how, dict):
                layer[name] = layer[name].astype(how)
            elif not matrix:
                layer[name] = layer[name].astype(mx.float32)
    mx.eval(model.parameters())
    return model, config


@pytest.mark.parametrize("lengths", [LENGTHS[:1], LENGTHS])
@pytest.mark.parametrize("how", STORED, ids=str)
def test_weights_of_every_type_give_the_same_bits(how, lengths):
    model, config = stored(how)
    compare(model, config, VOCABULARY, lengths)


@pytest.mark.parametrize("lengths", [(300, 20, 90, 7), (9000, 5)])
def test_rows_are_computed_beside_each_other_or_one_after_the_other_with_the_same_bits(lengths):
    model, config = build(CONFIGS["plain"])
    compare(model, config, VOCABULARY, lengths, steps=3)


def test_products_of_the_same_numbers_are_computed_together():
    model, config = loaded("llama")
    # Beside the embedding, the last norm and the last product each of two layers has two norms, four products (of which
    # three and two are one), two rotations, an attention, an activation and two sums.
    tape = with_tapes(model, config, make_caches(model)).tape(1, make_caches(model))
    assert KERNELS.operations(tape) == 3 + 2 * (2 + 4 + 2 + 1 + 1 + 2)


def tiny(kind="plain"):
    adapt_to_cpu(MODELS[kind])
    return with_tapes(MODELS[kind], {**CONFIGS[kind]}, make_caches(MODELS[kind]))


def test_a_token_that_is_not_computed_yet_can_be_fed():
    model, ((caches, plain)) = tiny(), fed(MODELS["plain"], VOCABULARY, 9, 9)
    token, wanted = mx.array([4]), mx.array([4])
    drawn, expected = [], []
    for _ in range(20):
        token = mx.argmax(model(token[:, None], cache=caches)[:, -1], axis=-1)
        mx.async_eval(token)
        drawn.append(token)
        wanted = mx.argmax(MODELS["plain"](wanted[:, None], cache=plain)[:, -1], axis=-1)
        expected.append(wanted.item())
    assert [one.item() for one in drawn] == expected


def test_steps_write_in_place_while_others_are_on_their_way():
    model, (caches,) = tiny(), fed(MODELS["plain"], VOCABULARY, 9)
    token = mx.array([[4]])
    mx.eval(model(token, cache=caches))
    # The memory is where it was, though nothing waits between the steps.
    before = [np.array(one.keys, copy=False).ctypes.data for one in caches]
    for _ in range(8):
        token = mx.argmax(model(token, cache=caches)[:, -1], axis=-1)[:, None]
    assert [np.array(one.keys, copy=False).ctypes.data for one in caches] == before


def test_buffers_grow():
    compare(MODELS["plain"], CONFIGS["plain"], VOCABULARY, (253, 255, 300), steps=8)
    compare(MODELS["plain"], CONFIGS["plain"], VOCABULARY, (255,), steps=4)


def test_what_shares_a_buffer_stays_as_it_was():
    model, (caches, plain) = tiny(), fed(MODELS["plain"], VOCABULARY, 9, 9)
    shared = [mx.stop_gradient(one.keys) for one in caches]
    mx.eval(shared)
    before = [bits(one) for one in shared]
    for one in (*caches, *plain):
        one.rewind(6)
    for token in (1, 2, 3):
        found = model(mx.array([[token]]), cache=caches)
        assert bits(found) == bits(MODELS["plain"](mx.array([[token]]), cache=plain))
    assert [bits(one) for one in shared] == before
    assert held(caches) == held(plain)


def test_a_slice_that_is_not_computed_yet_sees_what_was_held():
    model, (caches,) = tiny(), fed(MODELS["plain"], VOCABULARY, 9)
    before = held(caches)
    taken = [part for one in caches for part in one.part(0, 9)]
    for one in caches:
        one.rewind(5)
    mx.eval(model(mx.array([[1]]), cache=caches))
    assert [bits(part) for part in taken] == before


@examples(25)
@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("step"), st.integers(1, 9)),
            st.tuples(st.just("ahead"), st.integers(1, 9)),
            st.tuples(st.just("rewind"), st.integers(1, 12)),
            st.tuples(st.just("feed"), st.one_of(st.integers(2, 20), st.integers(2, 120))),
            st.tuples(st.just("copy"), st.integers(0, 4)),
            st.tuples(st.just("shrink"), st.just(0)),
        ),
        max_size=14,
    )
)
def test_whatever_is_done_to_caches_gives_the_same_bits(doings):
    model, (own, plain) = tiny(), fed(MODELS["plain"], VOCABULARY, 3, 3)
    original = MODELS["plain"]
    for index, (what, number) in enumerate(doings):
        length = own[0].offset
        if what == "rewind":
            for one in (*own, *plain):
                one.rewind(max(1, length - number))
        elif what == "shrink":
            for one in (*own, *plain):
                one.shrink()
        elif what == "copy":
            # As the prefix cache does: what is held is put into other caches.
            end = max(1, length - number)
            for caches in (own, plain):
                parts = [one.part(0, end) for one in caches]
                caches[:] = [FullKVCache() for _ in caches]
                for one, part in zip(caches, parts, strict=True):
                    one.put(part, end)
                mx.eval([one.buffers for one in caches])
        elif what == "feed":
            ids = [(index + 3 * at) % VOCABULARY for at in range(number)]
            assert bits(model(mx.array([ids]), cache=own)) == computed(original, ids, plain)
        else:
            pairs = []
            for at in range(number):
                ids = mx.array([[(index + 5 * at) % VOCABULARY]])
                pairs.append((model(ids, cache=own), original(ids, cache=plain)))
                if what == "step":
                    mx.eval(pairs[-1])
            assert all(bits(mine) == bits(its) for mine, its in pairs)
    assert held(own) == held(plain)


@examples(25)
@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("step"), st.integers(1, 40)),
            st.tuples(st.just("rewind"), st.integers(1, 70)),
            st.tuples(st.just("feed"), st.one_of(st.integers(2, 20), st.integers(2, 120))),
            st.tuples(st.just("copy"), st.just(0)),
        ),
        max_size=14,
    )
)
def test_whatever_is_done_to_sliding_windows_gives_the_same_bits(doings):
    model, original = tiny("window"), MODELS["window"]
    pair = [Sequence(lambda: make_caches(original)) for _ in range(2)]
    for index, (what, number) in enumerate((("feed", 3), *doings)):
        length = len(pair[0].tokens)
        back = max(1, length - number)
        if what == "rewind" and pair[0].can_rewind(back):
            for one in pair:
                one.rewind(back)
        elif what == "copy":
            # As the prefix cache does: another one goes on from what was captured and taken.
            copies = [Sequence(lambda: make_caches(original)) for _ in pair]
            for copy, one in zip(copies, pair, strict=True):
                copy.fill(range(length), [one.copy_part(0, length)], one.capture())
            pair = copies
        elif what in ("feed", "step"):
            ids = [(index + 3 * at) % VOCABULARY for at in range(number)]
            for part in [ids] if what == "feed" else [[token] for token in ids]:
                found = model(mx.array([part]), cache=pair[0].caches)
                assert bits(found) == computed(original, part, pair[1].caches)
                for one in pair:
                    one.tokens.extend(part)
    # What is seen is that of the last call.
    last = mx.array([[1]])
    assert bits(model(last, cache=pair[0].caches)) == bits(original(last, cache=pair[1].caches))
    assert held(pair[0].caches) == held(pair[1].caches)


def test_one_thread_or_several_give_the_same_bits():
    before = KERNELS.threads()
    try:
        for count in (1, 3, 2):
            KERNELS.set_threads(count)
            compare(MODELS["plain"], CONFIGS["plain"], VOCABULARY, LENGTHS)
    finally:
        KERNELS.set_threads(before)


def test_a_definition_that_computes_something_unknown_is_called_as_ever(caplog):
    model, config = loaded("mixtral")
    (own, plain) = fed(model, config["vocab_size"], 7, 7)
    with_tape = with_tapes(model, config, own)
    with caplog.at_level(logging.DEBUG, "sotto.engine.generation.tape"):
        found = with_tape(mx.array([[5]]), cache=own)
    assert bits(found) == bits(model(mx.array([[5]]), cache=plain))
    assert "without a tape: it does not know" in caplog.text
    assert with_tape.tape(1, own) is None


def test_an_attention_of_other_shapes_is_called_as_ever(caplog):
    original = MODELS["plain"]

    def model(tokens, cache):
        # Two queries for one token.
        queries = mx.zeros((1, 2, 2, 8))
        keys = mx.zeros((1, 2, tokens.shape[1], 8))
        attend(queries, *cache[0].update_and_fetch(keys, keys), cache[0], 1.0, None)
        return original(tokens, cache=make_caches(original))

    cache = FullKVCache()
    cache.update_and_fetch(mx.zeros((1, 2, 3, 8)), mx.zeros((1, 2, 3, 8)))
    with caplog.at_level(logging.DEBUG, "sotto.engine.generation.tape"):
        found = TapedModel(model, KERNELS)(mx.array([[5]]), cache=[cache])
    assert bits(found) == bits(original(mx.array([[5]]), cache=make_caches(original)))
    assert "it does not know an attention of other shapes" in caplog.text


def test_models_with_other_caches_have_no_tapes():
    for kind in ("recurrent", "hybrid"):
        assert with_tapes(MODELS[kind], CONFIGS[kind], make_caches(MODELS[kind])) is MODELS[kind]
    caches = make_caches(MODELS["plain"], 8)
    assert with_tapes(MODELS["plain"], CONFIGS["plain"], caches) is MODELS["plain"]


def test_an_empty_cache_and_a_larger_batch_are_left_to_the_definition():
    model, own, plain = tiny(), make_caches(MODELS["plain"]), make_caches(MODELS["plain"])
    for token in (3, 4):
        ids = mx.array([[token]])
        assert bits(model(ids, cache=own)) == bits(MODELS["plain"](ids, cache=plain))
    lengths = range(2, KERNELS.few_rows() + 3)
    many, others = fed(MODELS["plain"], VOCABULARY, *lengths), fed(MODELS["plain"], VOCABULARY, *lengths)
    ids = mx.array([[token] for token in range(len(lengths))])
    assert bits(model(ids, cache=batch_caches(many))) == bits(MODELS["plain"](ids, cache=batch_caches(others)))


def test_as_many_answers_share_a_step_as_get_the_bits_of_single_ones():
    assert KERNELS.few_rows() >= MAX_BATCH_ROWS
    assert KERNELS.few_rows() >= MOST_DRAFTS + 1


def test_a_token_beyond_the_vocabulary_fails_the_step():
    model, (caches,) = tiny(), fed(MODELS["plain"], VOCABULARY, 9)
    with pytest.raises(RuntimeError, match="beyond the end"):
        mx.eval(model(mx.array([[VOCABULARY]]), cache=caches))


def test_the_scheduler_answers_as_ever(caplog):
    model = tiny()
    prefix = PrefixCache(lambda: make_caches(MODELS["plain"]), 1 << 30)
    for _ in range(2):
        events = run("plain", prefix, task(max_tokens=30), model=model)
        assert finished(events).token_ids == reference("plain", PROMPT, 30)
    # One joins while the others are at it.
    together = scheduler("plain", prefix, model=model, batches=True)
    events = []
    for one in range(3):
        together.add(task(PROMPT[: 20 + 7 * one], 25, request_id=str(one)))
        for _ in range(5):
            events += together.step()
    events += drain(together)
    for one in range(3):
        assert finished(events, str(one)).token_ids == reference("plain", PROMPT[: 20 + 7 * one], 25)
    assert not caplog.records, "a step of several failed"


def test_nothing_is_left_of_a_tape():
    gc.collect()
    mx.clear_cache()
    before = mx.get_active_memory()
    model, config = stored(mx.bfloat16)
    adapt_to_cpu(model)
    (caches,) = fed(model, VOCABULARY, 9)
    with_tape = with_tapes(model, config, caches)
    for token in range(5):
        logits = with_tape(mx.array([[token]]), cache=caches)
    mx.synchronize()
    assert with_tape.tape(1, caches) is not None
    assert mx.get_active_memory() > before
    del model, with_tape, caches, logits
    gc.collect()
    mx.random.seed(0)
    assert mx.get_active_memory() <= before
