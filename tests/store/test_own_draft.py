import json

import pytest

from sotto.errors import BrokenModelError, StoreError
from sotto.store.opening import open_model, record_of
from sotto.store.own_draft import own_draft
from stores import LLAMA, TOKENIZER, Store, assert_sentence, folder, safetensors

CONFIG = LLAMA | {"max_position_embeddings": 128, "num_hidden_layers": 1}


def open_small_model(store, *layers, prefix="draft.", **entries):
    """Open a small model with additional manifest layers."""
    blob = store.config(**({"draft": {"tensor_prefix": prefix}} | entries))
    return open_model(record_of(store.manifest("m", [*store.layers(), *layers], blob)))


def tensor(store, name, dtype="F32", shape=(2, 4), **metadata):
    return store.layer("tensor", safetensors({name: (dtype, shape)}, metadata), name)


def config(store):
    return store.layer("json", json.dumps(CONFIG).encode(), "draft/config.json")


def test_a_draft_has_its_own_tensors_and_files_and_shares_the_tokenizer(tmp_path):
    store = Store(tmp_path)
    metadata = {"draft.model.w.quant_type": "int4", "quant_type": "int8"}
    source = open_small_model(
        store,
        tensor(store, "draft.model.w", **metadata),
        config(store),
        store.layer("json", b'{"eos_token": "</s>"}', "tokenizer_config.json"),
        store.layer("json", b'{"eos_token_id": 1}', "generation_config.json"),
        store.layer("json", b'{"eos_token_id": 2}', "draft/generation_config.json"),
    )
    draft = own_draft(source)
    (file,) = draft.tensor_files
    assert list(file.tensors) == ["model.w"]
    assert (file.prefix, file.metadata["model.w.quant_type"], file.metadata["quant_type"]) == ("draft.", "int4", "int8")
    assert draft.config == CONFIG
    assert draft.json_files["tokenizer_config.json"] == {"eos_token": "</s>"}
    assert draft.json_files["generation_config.json"] == {"eos_token_id": 2}
    assert draft.tokenizer_json == TOKENIZER.decode()
    assert (draft.record.context_length, draft.record.architecture) == (128, "llama")
    assert draft.record.name == "m:latest (own draft)"
    assert draft.record.digest not in ("", source.record.digest)
    assert draft.draft_prefix == ""


def test_the_sizes_of_a_model_and_its_draft_are_separate(tmp_path):
    store = Store(tmp_path)
    alone = open_model(record_of(store.model("alone"))).weight_bytes
    source = open_small_model(store, tensor(store, "draft.model.w"), config(store))
    assert source.weight_bytes == alone
    assert own_draft(source).weight_bytes == 2 * 4 * 4


def test_another_prefix_is_respected_and_one_file_may_have_tensors_of_both(tmp_path):
    store = Store(tmp_path)
    both = {"small.model.w": ("F32", (2, 4)), "model.more": ("F32", (1, 4))}
    source = open_small_model(store, store.layer("tensor", safetensors(both), "both"), config(store), prefix="small.")
    assert [list(file.tensors) for file in own_draft(source).tensor_files] == [["model.w"]]


def test_a_configuration_for_a_draft_is_enough_to_have_one(tmp_path):
    store = Store(tmp_path)
    source = open_small_model(store, tensor(store, "draft.model.w"), config(store), draft=None)
    assert source.draft_prefix == "draft."
    assert list(own_draft(source).tensor_files[0].tensors) == ["model.w"]


def test_a_model_without_a_draft_is_reported(tmp_path):
    for path in (Store(tmp_path / "store").model("m"), folder(tmp_path / "m")):
        with pytest.raises(StoreError) as refused:
            own_draft(open_model(record_of(path)))
        assert "has no draft model of its own" in refused.value.message


@pytest.mark.parametrize(("part", "lacking"), [("config", "tensors"), ("tensor", "draft/config.json")])
def test_an_incomplete_draft_is_reported(tmp_path, part, lacking):
    store = Store(tmp_path)
    source = open_small_model(store, config(store) if part == "config" else tensor(store, "draft.model.w"))
    with pytest.raises(BrokenModelError) as refused:
        own_draft(source)
    assert_sentence(refused.value.message, source.record.path)
    assert f"has no {lacking}" in refused.value.message
