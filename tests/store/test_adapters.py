"""Opening adapters: from the folders of mlx-lm and PEFT, from manifests, and by the user's choice."""

import json
from pathlib import Path

import pytest

from sotto.errors import BrokenModelError, SottoError
from sotto.store.adapters import user_adapters
from sotto.store.adapters.adapter_files import open_adapter
from sotto.store.adapters.user_adapters import read_user_adapter, save_user_adapter
from sotto.store.opening import open_model, record_of
from sotto.store.verify import verify
from stores import Store, assert_sentence, gguf, gguf_text, safetensors

CONFIG = {"peft_type": "LORA", "r": 2, "lora_alpha": 4}
NAME = "base_model.model.model.layers.0.self_attn.q_proj"
TENSORS = {f"{NAME}.lora_A.weight": ("F32", (2, 4)), f"{NAME}.lora_B.weight": ("F32", (4, 2))}


@pytest.fixture(autouse=True)
def settings(tmp_path, monkeypatch):
    monkeypatch.setattr(user_adapters.paths, "config_dir", lambda: tmp_path / "config")


def write(folder, name="adapter_model.safetensors", config=CONFIG, fill=0):
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(safetensors(TENSORS, fill=fill))
    (folder / "adapter_config.json").write_text(json.dumps(config))
    return folder


def gguf_adapter(kind="adapter", adapter="lora"):
    texts = {"general.architecture": "llama", "general.type": kind, "adapter.type": adapter}
    return gguf([(key, 8, gguf_text(text)) for key, text in texts.items()])


@pytest.mark.parametrize("name", ["adapter_model.safetensors", "adapters.safetensors"])
def test_a_folder_of_peft_or_mlx_lm_is_an_adapter_with_the_name_of_the_folder(tmp_path, name):
    adapter = open_adapter(write(tmp_path / "poet", name))
    assert (adapter.name, adapter.path, adapter.config) == ("poet", tmp_path / "poet", CONFIG)
    assert adapter.tensor_file.tensors.keys() == TENSORS.keys()


def test_a_file_in_a_folder_can_be_named_such_as_an_earlier_state_of_a_training(tmp_path):
    folder = write(tmp_path / "poet", "adapters.safetensors")
    write(folder, "0000100_adapters.safetensors", fill=9)
    earlier = open_adapter(folder / "0000100_adapters.safetensors")
    assert (earlier.name, earlier.config) == ("0000100_adapters", CONFIG)
    assert earlier.digest != open_adapter(folder).digest


def test_a_gguf_file_is_an_adapter_if_it_says_so(tmp_path):
    path = tmp_path / "poet.gguf"
    path.write_bytes(gguf_adapter())
    assert open_adapter(path).name == open_adapter(tmp_path).name == "poet"
    for kind, adapter, sentence in (
        ("model", "", "is a model of its own, and not an adapter."),
        ("adapter", "ia3", "adapter.type is 'ia3'; only lora can be applied."),
    ):
        path.write_bytes(gguf_adapter(kind, adapter))
        with pytest.raises(SottoError) as caught:
            open_adapter(path)
        assert_sentence(caught.value.message, path, sentence)


def test_the_digest_follows_every_byte(tmp_path):
    first = open_adapter(write(tmp_path / "a")).digest
    assert open_adapter(write(tmp_path / "b")).digest == first
    assert open_adapter(write(tmp_path / "b", fill=1)).digest != first
    assert open_adapter(write(tmp_path / "b", config=CONFIG | {"lora_alpha": 5})).digest != first


def test_what_is_no_adapter_is_refused_in_a_sentence(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "pickle").mkdir()
    (tmp_path / "pickle" / "adapter_model.bin").write_bytes(b"\x80\x04.")
    both = write(tmp_path / "both")
    write(both, "adapters.safetensors")
    bare = write(tmp_path / "bare")
    (bare / "adapter_config.json").unlink()
    cut = write(tmp_path / "cut")
    (cut / "adapter_model.safetensors").write_bytes(b"cut off")
    for path, sentence in (
        (tmp_path / "nowhere.safetensors", "is missing"),
        (tmp_path / "empty", "holds no adapter; it should have adapter_config.json with adapters.safetensors or"),
        (tmp_path / "pickle", "can run code; save the adapter as safetensors."),
        (both, "has both adapters.safetensors and adapter_model.safetensors; name the file that is meant."),
        (bare, "adapter_config.json is missing; it tells how the adapter is applied."),
        (cut, "is only 7 bytes long"),
        (tmp_path / "pickle" / "adapter_model.bin", "is not an adapter that is read"),
    ):
        with pytest.raises(SottoError) as caught:
            open_adapter(path)
        assert_sentence(caught.value.message, path, sentence)


class TestOfModels:
    def test_a_manifest_may_list_one(self, tmp_path):
        store = Store(tmp_path / "store")
        adapter = store.layer("adapter", safetensors(TENSORS))
        config = store.layer("json", json.dumps(CONFIG).encode(), "adapter_config.json")
        source = open_model(record_of(store.manifest("m", [*store.layers(), adapter, config])))
        (found,) = source.adapters
        assert found.config == CONFIG
        assert found.tensor_file.tensors.keys() == TENSORS.keys()
        assert source.adapter_names == "m:latest (own adapter)"

    def test_safetensors_without_their_configuration_are_refused(self, tmp_path):
        store = Store(tmp_path / "store")
        record = record_of(store.manifest("m", [*store.layers(), store.layer("adapter", safetensors(TENSORS))]))
        with pytest.raises(BrokenModelError, match=r"its manifest should have a JSON layer adapter_config\.json"):
            open_model(record)

    def test_the_choice_of_the_user_holds_until_another(self, tmp_path):
        record = record_of(Store(tmp_path / "store").model("m"))
        plain = open_model(record)
        assert (plain.adapters, plain.digest) == ((), record.digest)
        save_user_adapter(record.digest, write(tmp_path / "poet"))
        chosen = open_model(record)
        assert chosen.adapter_names == "poet"
        assert chosen.digest not in (plain.digest, "")
        assert chosen.weight_bytes == plain.weight_bytes + 64
        assert open_model(record, []).adapters == ()
        named = open_model(record, [write(tmp_path / "other", fill=1)])
        assert named.adapter_names == "other"
        assert named.digest not in (plain.digest, chosen.digest)
        save_user_adapter(record.digest, None)
        save_user_adapter(record.digest, None)
        assert open_model(record).adapters == ()

    def test_a_chosen_adapter_that_is_gone_is_named_with_the_model(self, tmp_path):
        record = record_of(Store(tmp_path / "store").model("m"))
        save_user_adapter(record.digest, tmp_path / "gone")
        with pytest.raises(BrokenModelError) as caught:
            open_model(record)
        start = f"The adapter that was chosen for {record.name} cannot be added: "
        assert_sentence(caught.value.message, start, tmp_path / "gone")
        assert verify(record, lambda done, total: None, lambda: False).problems == ()

    def test_any_path_can_be_chosen(self):
        for path in (Path("/a folder/é"), Path("/not\udcffutf8")):
            save_user_adapter("ab" * 32, path)
            assert read_user_adapter("ab" * 32) == path
