import mlx.core as mx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from generating import MODELS, PLENTY
from prefixing import answer
from sotto.engine.caches import prefix_tree
from sotto.engine.caches.caches import make_caches
from sotto.engine.caches.prefix_cache import PrefixCache
from sotto.engine.caches.prefix_disk import PrefixDisk
from thoroughness import examples
from tiny_random import CONFIGS, VOCABULARY

kinds = pytest.mark.parametrize("kind", sorted(CONFIGS))
LONG = [(7 * index) % VOCABULARY for index in range(90)]


def opened(kind, folder, budget=PLENTY, disk_budget=PLENTY, kv_bits=None):
    disks = [PrefixDisk(folder, f"{kind} {kv_bits} {way}", disk_budget) for way in range(2)]
    return PrefixCache(lambda: make_caches(MODELS[kind], kv_bits), budget, disks)


def assert_same(kind, logits, prompt, kv_bits=None):
    fresh = MODELS[kind](mx.array([list(prompt)]), cache=make_caches(MODELS[kind], kv_bits))[:, -1, :]
    assert mx.abs(logits - fresh).max().item() <= (1e-4 if kv_bits is None else 0.1) * mx.abs(fresh).max().item()


@kinds
@pytest.mark.parametrize("kv_bits", [None, 16, 8])
def test_a_conversation_goes_on_after_a_restart(kind, kv_bits, tmp_path):
    before = opened(kind, tmp_path, kv_bits=kv_bits)
    answer(MODELS[kind], before, LONG, [40])
    before.close()
    after = opened(kind, tmp_path, kv_bits=kv_bits)
    assert after.nbytes == 0
    logits, cached = answer(MODELS[kind], after, [*LONG, 1, 2, 3])
    assert cached == (len(LONG) if kind == "plain" else len(LONG) - 1)
    assert_same(kind, logits, [*LONG, 1, 2, 3], kv_bits)


@kinds
def test_a_branch_goes_on_from_the_middle_after_a_restart(kind, tmp_path):
    before = opened(kind, tmp_path)
    answer(MODELS[kind], before, LONG, [40])
    answer(MODELS[kind], before, [*LONG[:50], 1, 2, 3, 4], [40])
    before.close()
    after = opened(kind, tmp_path)
    branch = [*LONG[:45], 9, 8]
    logits, cached = answer(MODELS[kind], after, branch)
    assert cached == (45 if kind == "plain" else 40)
    assert_same(kind, logits, branch)


@kinds
def test_evicted_sequences_come_back_from_the_disk(kind, tmp_path):
    prefix = opened(kind, tmp_path, budget=0)
    answer(MODELS[kind], prefix, LONG, [40])
    assert prefix.nbytes == 0
    logits, cached = answer(MODELS[kind], prefix, [*LONG, 5])
    assert cached >= len(LONG) - 1
    assert_same(kind, logits, [*LONG, 5])


@kinds
def test_long_nodes_are_stored_as_several_entries(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(prefix_tree, "MAX_ENTRY_TOKENS", 16)
    before = opened(kind, tmp_path)
    answer(MODELS[kind], before, LONG)
    before.close()
    assert len(list(tmp_path.rglob("*.safetensors"))) >= 6
    logits, cached = answer(MODELS[kind], opened(kind, tmp_path), [*LONG, 5])
    assert cached >= len(LONG) - 1
    assert_same(kind, logits, [*LONG, 5])


@kinds
def test_another_models_entries_are_not_read(kind, tmp_path):
    before = opened(kind, tmp_path)
    answer(MODELS[kind], before, LONG)
    before.close()
    disks = [PrefixDisk(tmp_path, f"other {way}", PLENTY) for way in range(2)]
    other = PrefixCache(lambda: make_caches(MODELS[kind]), PLENTY, disks)
    assert answer(MODELS[kind], other, LONG)[1] == 0


@pytest.mark.one_in(2)
@kinds
@examples(12, 5)
@given(data=st.data())
def test_answers_are_right_despite_damaged_and_missing_files(kind, data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("disk")
    before = opened(kind, folder)
    answer(MODELS[kind], before, LONG, [30, 60])
    answer(MODELS[kind], before, [*LONG[:50], 1, 2, 3, 4], [30])
    before.close()
    after = opened(kind, folder, budget=data.draw(st.sampled_from([0, PLENTY])))
    for file in sorted(folder.rglob("*.safetensors")):
        damage = data.draw(st.sampled_from(["none", "flip", "cut", "gone"]))
        content = bytearray(file.read_bytes())
        if damage == "flip":
            content[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
            file.write_bytes(content)
        elif damage == "cut":
            file.write_bytes(content[: data.draw(st.integers(0, len(content) - 1))])
        elif damage == "gone":
            file.unlink()
    for prompt in ([*LONG, 7, 8], [*LONG[:50], 1, 2, 3, 4, 5], LONG[:35]):
        logits, _ = answer(MODELS[kind], after, prompt)
        assert_same(kind, logits, prompt)


def test_a_few_tokens_are_not_worth_a_file(tmp_path):
    before = opened("plain", tmp_path)
    answer(MODELS["plain"], before, LONG[:40])
    before.close()
    assert not list(tmp_path.rglob("*.safetensors"))


def test_a_budget_of_zero_on_disk_stores_nothing(tmp_path):
    before = opened("plain", tmp_path, disk_budget=0)
    answer(MODELS["plain"], before, LONG)
    before.close()
    assert not list(tmp_path.rglob("*.safetensors"))
    assert answer(MODELS["plain"], opened("plain", tmp_path, disk_budget=0), LONG)[1] == 0
