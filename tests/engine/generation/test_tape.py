"""Decode steps from a tape are bit-identical to those of the model definition, and leave the same caches."""

import gc
import logging
import math

import mlx.core as mx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mlx import nn

from families import FAMILIES, vocabulary_of
from generating import MODELS, PROMPT, finished, reference, run, task
from native_kernels import KERNELS, bits, kernels_at_each_level, needs_kernels
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
from taped_steps import LENGTHS, check_joining, compare, contents, fed, loaded, tolerance_of
from thoroughness import examples
from tiny_random import CONFIGS, VOCABULARY, random_model

pytestmark = needs_kernels
__all__ = ["kernels_at_each_level"]

# Models whose steps must be recorded on a tape.
CASES = (
    "ernie4-5-moe gemma gemma3 gemma3n gemma4 gemma4-moe gemma4-shared glm glm4 gpt-neox gpt-oss granite hunyuan-moe "
    "llama llama-linear llama-llama3 llama-tied llama-yarn minimax-m2 ministral3 mistral-window mixtral mixtral-window "
    "olmo2 phi3 qwen2 qwen3 qwen3-moe smollm3 starcoder2"
).split()
TINY = (
    "afmoe cohere cohere2 deepseek_v2 dots1 ernie4_5 exaone4 exaone_moe gemma3n glm4_moe gptj granitemoe helium "
    "hunyuan_v1_dense laguna llama4_text mellum mimo_v2_flash minicpm3 nemotron olmo3 olmoe phi qwen2_moe seed_oss "
    "solar_open youtu"
).split()
# Definitions whose latent attention is computed in another order on tapes: in one pass over the keys.
LATENT = ("glm4_moe_lite", "kimi_linear", "mistral4")


def computed(model, ids, caches):
    """Return the logits of a sequence's next tokens as bytes, from single steps where a tape takes them at once."""
    parts = [[token] for token in ids] if len(ids) <= KERNELS.few_rows() else [ids]
    return bits(mx.concatenate([model(mx.array([part]), cache=caches) for part in parts], axis=1))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("lengths", [LENGTHS[:1], LENGTHS])
@pytest.mark.parametrize("case", CASES)
def test_models_give_the_same_bits(case, lengths):
    model, config = loaded(case)
    compare(model, config, vocabulary_of(config), lengths)


@pytest.mark.parametrize("kv_bits", [4, 8, 16])
@pytest.mark.parametrize("lengths", [LENGTHS[:1], LENGTHS])
@pytest.mark.parametrize("case", ["gemma3", "gemma4-shared", "llama", "qwen3"])
def test_models_with_caches_of_fewer_bits_give_the_same_bits(case, lengths, kv_bits):
    model, config = loaded(case)
    compare(model, config, config["vocab_size"], lengths, kv_bits=kv_bits)


@pytest.mark.parametrize("kv_bits", [None, 4, 16])
@pytest.mark.parametrize("case", ["llama", "mistral-window", "qwen3"])
def test_several_tokens_of_one_sequence_are_bit_identical_to_single_steps(case, kv_bits):
    model, config = loaded(case)
    taped, plain = fed(model, config["vocab_size"], 9, 9, kv_bits=kv_bits)
    with_tape = with_tapes(model, config, taped)
    for count in (2, 5, KERNELS.few_rows(), 3):
        ids = [(11 * at + count) % config["vocab_size"] for at in range(count)]
        found = with_tape(mx.array([ids]), cache=taped)
        assert found.shape == (1, count, config["vocab_size"])
        assert bits(found) == computed(model, ids, plain)
        for layer in (*taped, *plain):
            layer.rewind(layer.offset - 1)


@pytest.mark.parametrize("lengths", [LENGTHS[:1], LENGTHS])
@pytest.mark.parametrize("name", TINY)
def test_families_give_the_same_bits(name, lengths):
    mx.random.seed(7)
    model, config = build(FAMILIES[name])
    compare(model, config, vocabulary_of(config), lengths, tolerance=tolerance_of(name, lengths))


@pytest.mark.parametrize("lengths", [LENGTHS[:1], LENGTHS])
@pytest.mark.parametrize("case", ["glm4-moe-mtp", "qwen3-5-mtp", "qwen3-5-moe-mtp", "qwen3-next-mtp"])
def test_models_with_a_prediction_head_give_the_same_bits(case, lengths):
    model, config = loaded(case)
    compare(model, config, vocabulary_of(config), lengths, tolerance=tolerance_of(case, lengths))


@pytest.mark.parametrize("case", ["deepseek-v3-mtp", "glm4-moe-lite-mtp"])
def test_models_with_a_prediction_head_and_latent_attention_give_the_same_numbers(case):
    model, config = loaded(case)
    compare(model, config, config["vocab_size"], LENGTHS, tolerance=1e-5)


def test_a_round_feeds_a_prediction_head_with_all_its_tokens():
    model, config = loaded("glm4-moe-mtp")
    taped, plain = fed(model, config["vocab_size"], 9, 9)
    with_tape = with_tapes(model, config, taped)
    assert isinstance(with_tape, TapedModel)
    for ids in ([3, 7, 11], [5, 2], [8]):
        assert bits(with_tape(mx.array([ids]), cache=taped)) == computed(model, ids, plain)
        assert contents(taped) == contents(plain)
        assert bits(taped[-1].recent) == bits(plain[-1].recent)
        for layer in (*taped, *plain):
            layer.rewind(layer.offset - len(ids) // 2)


def test_tokens_without_an_input_for_each_layer_give_the_same_bits():
    model, config = loaded("gemma3n")
    inner = {**config["text_config"], "vocab_size_per_layer_input": 40}
    model, config = build({**config, "text_config": inner})
    compare(model, config, inner["vocab_size"], LENGTHS)


@pytest.mark.parametrize("heads", [4, 20])
@pytest.mark.parametrize("lengths", [LENGTHS[:1], LENGTHS])
@pytest.mark.parametrize("name", LATENT)
def test_latent_attention_gives_the_same_numbers(name, lengths, heads):
    mx.random.seed(7)
    model, config = build({**FAMILIES[name], "num_attention_heads": heads})
    compare(model, config, config["vocab_size"], lengths, tolerance=1e-5)


@pytest.mark.parametrize("case", ["deepseek-v3", "mistral4"])
def test_models_with_latent_attention_give_the_same_numbers(case):
    model, config = loaded(case)
    compare(model, config, vocabulary_of(config), LENGTHS, tolerance=1e-5)


@pytest.mark.parametrize("kv_bits", [4, 8, 16])
@pytest.mark.parametrize("heads", [4, 20])
def test_latent_attention_to_a_quantized_cache_gives_the_same_numbers(heads, kv_bits):
    mx.random.seed(7)
    changes = {"num_attention_heads": heads, "kv_lora_rank": 64, "qk_rope_head_dim": 32}
    model, config = build({**FAMILIES["glm4_moe_lite"], **changes})
    rounded = 2**-7 if kv_bits == 4 else 2**-11
    compare(model, config, config["vocab_size"], LENGTHS, kv_bits=kv_bits, tolerance=1e-5, rounded=rounded)


@pytest.mark.usefixtures("kernels")
def test_keys_and_values_at_the_ends_of_float16_have_the_same_bits():
    model = random_model("plain")
    for layer in model.layers:
        # Some keys are too large, and values are so small that they lose digits.
        layer.self_attn.k_proj.weight *= 1e5
        layer.self_attn.v_proj.weight *= 1e-6
    compare(model, CONFIGS["plain"], VOCABULARY, LENGTHS, kv_bits=16)


@pytest.mark.parametrize("name", [*LATENT, "glm4_moe", "llama4_text", "solar_open"])
def test_rows_are_bit_identical_to_single_steps(name):
    mx.random.seed(7)
    model, config = build(FAMILIES[name])
    adapt_to_cpu(model)
    shared, alone = (fed(model, config["vocab_size"], *LENGTHS) for _ in range(2))
    with_tape = with_tapes(model, config, shared[0])
    for step in range(5):
        tokens = mx.array([[step], [step + 9], [step + 4]])
        found = with_tape(tokens, cache=batch_caches(shared))
        each = [with_tape(tokens[row : row + 1], cache=alone[row]) for row in range(len(LENGTHS))]
        assert bits(found) == bits(mx.concatenate(each))


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
def test_rows_in_parallel_or_in_sequence_give_the_same_bits(lengths):
    model, config = build(CONFIGS["plain"])
    compare(model, config, VOCABULARY, lengths, steps=3)


def test_products_with_the_same_input_are_merged():
    model, config = loaded("llama")
    # The embedding, the last norm and the output layer; and in each of two layers: two norms, four products (one
    # merges three matrices, another one two), two rotations, an attention, an activation and two sums.
    tape = with_tapes(model, config, make_caches(model)).tape(1, make_caches(model))
    assert KERNELS.operations(tape) == 3 + 2 * (2 + 4 + 2 + 1 + 1 + 2)


@pytest.mark.parametrize("lengths", [LENGTHS[:1], LENGTHS])
@pytest.mark.parametrize("bits_held", [4, 8])
def test_quantized_experts_give_the_same_bits(bits_held, lengths):
    mx.random.seed(7)
    model, config = build({**FAMILIES["olmoe"], "hidden_size": 64, "intermediate_size": 64})
    nn.quantize(model, group_size=32, bits=bits_held)
    compare(model, config, config["vocab_size"], lengths)


def rated(gates):
    """Return a mixture whose router has the same weights for all experts."""
    mx.random.seed(7)
    model, config = build(FAMILIES["olmoe"])
    for layer in model.layers:
        layer.mlp.gate.weight = mx.full(layer.mlp.gate.weight.shape, gates)
    return model, config


@pytest.mark.parametrize("lengths", [LENGTHS[:1], LENGTHS])
def test_experts_that_are_rated_alike_are_chosen_in_the_same_order(lengths):
    model, config = rated(0.5)
    compare(model, config, config["vocab_size"], lengths)


def test_experts_that_are_rated_by_no_numbers_do_not_end_the_program():
    model, config = rated(math.nan)
    adapt_to_cpu(model)
    (caches,) = fed(model, config["vocab_size"], 9)
    with_tape = with_tapes(model, config, caches)
    assert with_tape.tape(1, caches) is not None
    assert mx.all(mx.isnan(with_tape(mx.array([[1]]), cache=caches))).item()


def tiny(kind="plain"):
    adapt_to_cpu(MODELS[kind])
    return with_tapes(MODELS[kind], {**CONFIGS[kind]}, make_caches(MODELS[kind]))


def test_a_token_that_is_not_evaluated_yet_can_be_fed():
    model, ((caches, plain)) = tiny(), fed(MODELS["plain"], VOCABULARY, 9, 9)
    token, wanted = mx.array([4]), mx.array([4])
    sampled, expected = [], []
    for _ in range(20):
        token = mx.argmax(model(token[:, None], cache=caches)[:, -1], axis=-1)
        mx.async_eval(token)
        sampled.append(token)
        wanted = mx.argmax(MODELS["plain"](wanted[:, None], cache=plain)[:, -1], axis=-1)
        expected.append(wanted.item())
    assert [token.item() for token in sampled] == expected


def test_steps_write_in_place_while_others_are_in_flight():
    model, (caches,) = tiny(), fed(MODELS["plain"], VOCABULARY, 9)
    token = mx.array([[4]])
    mx.eval(model(token, cache=caches))
    # The buffers keep their addresses, although nothing waits between the steps.
    before = [np.array(layer.keys, copy=False).ctypes.data for layer in caches]
    for _ in range(8):
        token = mx.argmax(model(token, cache=caches)[:, -1], axis=-1)[:, None]
    assert [np.array(layer.keys, copy=False).ctypes.data for layer in caches] == before


def test_buffers_grow():
    compare(MODELS["plain"], CONFIGS["plain"], VOCABULARY, (253, 255, 300), steps=8)
    compare(MODELS["plain"], CONFIGS["plain"], VOCABULARY, (255,), steps=4)


def test_arrays_that_share_a_buffer_do_not_change():
    model, (caches, plain) = tiny(), fed(MODELS["plain"], VOCABULARY, 9, 9)
    shared = [mx.stop_gradient(layer.keys) for layer in caches]
    mx.eval(shared)
    before = [bits(buffer) for buffer in shared]
    for layer in (*caches, *plain):
        layer.rewind(6)
    for token in (1, 2, 3):
        found = model(mx.array([[token]]), cache=caches)
        assert bits(found) == bits(MODELS["plain"](mx.array([[token]]), cache=plain))
    assert [bits(buffer) for buffer in shared] == before
    assert contents(caches) == contents(plain)


def test_a_slice_that_is_not_evaluated_yet_keeps_the_old_contents():
    model, (caches,) = tiny(), fed(MODELS["plain"], VOCABULARY, 9)
    before = contents(caches)
    parts = [part for layer in caches for part in layer.part(0, 9)]
    for layer in caches:
        layer.rewind(5)
    mx.eval(model(mx.array([[1]]), cache=caches))
    assert [bits(part) for part in parts] == before


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
def test_any_operations_on_caches_give_the_same_bits(operations):
    model, (taped, plain) = tiny(), fed(MODELS["plain"], VOCABULARY, 3, 3)
    original = MODELS["plain"]
    for index, (kind, number) in enumerate(operations):
        length = taped[0].offset
        if kind == "rewind":
            for layer in (*taped, *plain):
                layer.rewind(max(1, length - number))
        elif kind == "shrink":
            for layer in (*taped, *plain):
                layer.shrink()
        elif kind == "copy":
            # Like the prefix cache: copy the contents into new caches.
            end = max(1, length - number)
            for caches in (taped, plain):
                parts = [layer.part(0, end) for layer in caches]
                caches[:] = [FullKVCache() for _ in caches]
                for layer, part in zip(caches, parts, strict=True):
                    layer.put(part, end)
                mx.eval([layer.buffers for layer in caches])
        elif kind == "feed":
            ids = [(index + 3 * at) % VOCABULARY for at in range(number)]
            assert bits(model(mx.array([ids]), cache=taped)) == computed(original, ids, plain)
        else:
            pairs = []
            for at in range(number):
                ids = mx.array([[(index + 5 * at) % VOCABULARY]])
                pairs.append((model(ids, cache=taped), original(ids, cache=plain)))
                if kind == "step":
                    mx.eval(pairs[-1])
            assert all(bits(first) == bits(second) for first, second in pairs)
    assert contents(taped) == contents(plain)


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
def test_any_operations_on_sliding_windows_give_the_same_bits(operations):
    model, original = tiny("window"), MODELS["window"]
    pair = [Sequence(lambda: make_caches(original)) for _ in range(2)]
    for index, (kind, number) in enumerate((("feed", 3), *operations)):
        length = len(pair[0].tokens)
        back = max(1, length - number)
        if kind == "rewind" and pair[0].can_rewind(back):
            for sequence in pair:
                sequence.rewind(back)
        elif kind == "copy":
            # Like the prefix cache: a new sequence continues from a captured state and a copied part.
            copies = [Sequence(lambda: make_caches(original)) for _ in pair]
            for copy, sequence in zip(copies, pair, strict=True):
                copy.fill(range(length), [sequence.copy_part(0, length)], sequence.capture())
            pair = copies
        elif kind in ("feed", "step"):
            ids = [(index + 3 * at) % VOCABULARY for at in range(number)]
            for part in [ids] if kind == "feed" else [[token] for token in ids]:
                found = model(mx.array([part]), cache=pair[0].caches)
                assert bits(found) == computed(original, part, pair[1].caches)
                for sequence in pair:
                    sequence.tokens.extend(part)
    # Caches return the keys and values that the last call saw, so both need one.
    last = mx.array([[1]])
    assert bits(model(last, cache=pair[0].caches)) == bits(original(last, cache=pair[1].caches))
    assert contents(pair[0].caches) == contents(pair[1].caches)


def test_any_number_of_threads_gives_the_same_bits():
    before = KERNELS.threads()
    try:
        for count in (1, 3, 2):
            KERNELS.set_threads(count)
            compare(MODELS["plain"], CONFIGS["plain"], VOCABULARY, LENGTHS)
    finally:
        KERNELS.set_threads(before)


def test_a_definition_with_unknown_operations_is_called_directly(caplog):
    model, config = build(FAMILIES["phimoe"])
    adapt_to_cpu(model)
    (taped, plain) = fed(model, config["vocab_size"], 7, 7)
    with_tape = with_tapes(model, config, taped)
    with caplog.at_level(logging.DEBUG, "sotto.engine.generation.tape"):
        found = with_tape(mx.array([[5]]), cache=taped)
    assert bits(found) == bits(model(mx.array([[5]]), cache=plain))
    assert "without a tape: it does not know" in caplog.text
    assert with_tape.tape(1, taped) is None


def test_a_definition_with_attention_of_unknown_shapes_is_called_directly(caplog):
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


def test_a_definition_that_computes_with_all_keys_is_called_directly():
    original = MODELS["plain"]

    def model(tokens, cache):
        keys = mx.ones((1, 2, tokens.shape[1], 8))
        found, _ = cache[0].update_and_fetch(keys, keys)
        return original(tokens, cache=make_caches(original)) + mx.sum(found * 2)

    taped, plain = [FullKVCache()], [FullKVCache()]
    for cache in (*taped, *plain):
        cache.update_and_fetch(mx.ones((1, 2, 3, 8)), mx.ones((1, 2, 3, 8)))
    with_tape = TapedModel(model, KERNELS)
    assert bits(with_tape(mx.array([[5]]), cache=taped)) == bits(model(mx.array([[5]]), cache=plain))
    assert with_tape.tape(1, taped) is None


def test_a_definition_that_chooses_nothing_is_called_directly():
    original = MODELS["plain"]

    def model(tokens, cache):
        logits = original(tokens, cache=cache)
        chosen = mx.take_along_axis(logits, mx.argpartition(logits, kth=2, axis=-1)[..., :0], axis=-1)
        return logits + mx.sum(chosen, axis=-1, keepdims=True)

    taped, plain = fed(original, VOCABULARY, 5, 5)
    with_tape = TapedModel(model, KERNELS)
    assert bits(with_tape(mx.array([[5]]), cache=taped)) == bits(original(mx.array([[5]]), cache=plain))
    assert with_tape.tape(1, taped) is None


def test_models_with_other_caches_have_no_tapes():
    assert (
        with_tapes(MODELS["recurrent"], CONFIGS["recurrent"], make_caches(MODELS["recurrent"])) is MODELS["recurrent"]
    )


def test_an_empty_cache_and_a_larger_batch_are_left_to_the_definition():
    model, taped, plain = tiny(), make_caches(MODELS["plain"]), make_caches(MODELS["plain"])
    for token in (3, 4):
        ids = mx.array([[token]])
        assert bits(model(ids, cache=taped)) == bits(MODELS["plain"](ids, cache=plain))
    lengths = range(2, KERNELS.few_rows() + 3)
    many, others = fed(MODELS["plain"], VOCABULARY, *lengths), fed(MODELS["plain"], VOCABULARY, *lengths)
    ids = mx.array([[token] for token in range(len(lengths))])
    assert bits(model(ids, cache=batch_caches(many))) == bits(MODELS["plain"](ids, cache=batch_caches(others)))


def test_batches_and_rounds_are_small_enough_to_be_bit_identical_to_single_steps():
    assert KERNELS.few_rows() >= MAX_BATCH_ROWS
    assert KERNELS.few_rows() >= MOST_DRAFTS + 1


def test_a_token_beyond_the_vocabulary_fails_the_step():
    model, (caches,) = tiny(), fed(MODELS["plain"], VOCABULARY, 9)
    with pytest.raises(RuntimeError, match="beyond the end"):
        mx.eval(model(mx.array([[VOCABULARY]]), cache=caches))


def test_the_scheduler_gives_the_same_answers_with_tapes(caplog):
    model = tiny()
    prefix = PrefixCache(lambda: make_caches(MODELS["plain"]), 1 << 30)
    for _ in range(2):
        events = run("plain", prefix, task(max_tokens=30), model=model)
        assert finished(events).token_ids == reference("plain", PROMPT, 30)
    check_joining("plain", prefix, model)
    assert not caplog.records, "a batched step failed"


def test_a_deleted_tape_frees_all_memory():
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
