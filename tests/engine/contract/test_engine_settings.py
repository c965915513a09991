import json

import pytest

from sotto.engine.contract import engine_settings as module
from sotto.engine.contract.engine_settings import change_settings, read_settings, settings_file, size_of
from sotto.errors import InvalidRequestError, StoreError


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def test_default_settings_depend_on_the_machine(monkeypatch):
    monkeypatch.setattr(module.shutil, "disk_usage", lambda _: type("Usage", (), {"free": 40 << 30}))
    found = read_settings()
    assert (found.prefix_budget, found.kv_bits, found.disk_budget) == (None, None, 10 << 30)
    assert found.disk_root == module.disk_root()


def test_a_nearly_full_disk_is_not_used(monkeypatch):
    monkeypatch.setattr(module.shutil, "disk_usage", lambda _: type("Usage", (), {"free": 5 << 30}))
    assert read_settings().disk_budget == 0


def test_settings_are_saved_and_can_be_reset():
    change_settings({"prefix_budget": 5, "disk_budget": 0, "kv_bits": 8, "memory_limit": 10**9})
    found = read_settings()
    assert (found.prefix_budget, found.disk_budget, found.kv_bits, found.memory_limit) == (5, 0, 8, 10**9)
    change_settings({"kv_bits": None})
    found = read_settings()
    assert (found.prefix_budget, found.kv_bits) == (5, None)
    assert [path.name for path in settings_file().parent.iterdir()] == ["engine.json"]


def test_heads_are_used_unless_they_are_switched_off():
    assert read_settings().prediction
    change_settings({"prediction": False})
    assert not read_settings().prediction
    change_settings({"prediction": None})
    assert read_settings().prediction


@pytest.mark.parametrize(
    "changes",
    [
        {"kv_bits": 3},
        {"kv_bits": True},
        {"disk_budget": -1},
        {"prefix_budget": "much"},
        {"kv_bits": 32},
        {"prediction": 1},
        {"prediction": "off"},
        {"memory_limit": 1000},
    ],
)
def test_an_invalid_setting_is_refused_and_changes_nothing(changes):
    change_settings({"prefix_budget": 7})
    with pytest.raises(InvalidRequestError, match="must be"):
        change_settings({"disk_budget": 9, **changes})
    assert json.loads(settings_file().read_text()) == {"prefix_budget": 7}


@pytest.mark.parametrize("content", ["", "{", "[1]", "null", '{"kv_bits": 5}', '{"disk_budget": "x"}', "\0"])
def test_a_damaged_file_is_ignored(content, caplog):
    settings_file().parent.mkdir(parents=True)
    settings_file().write_text(content)
    found = read_settings()
    assert (found.prefix_budget, found.kv_bits) == (None, None)
    assert "engine.json" in caplog.text


def test_what_a_newer_version_has_written_is_kept():
    settings_file().parent.mkdir(parents=True)
    settings_file().write_text('{"kv_bits": 2, "gpu_budget": 7, "disk_budget": 9}')
    change_settings({"disk_budget": 0})
    assert json.loads(settings_file().read_text()) == {"kv_bits": 2, "gpu_budget": 7, "disk_budget": 0}
    assert read_settings().kv_bits is None
    change_settings({"kv_bits": 4})
    assert json.loads(settings_file().read_text()) == {"kv_bits": 4, "gpu_budget": 7, "disk_budget": 0}


def test_a_file_that_cannot_be_written_is_reported(home):
    (home / "config").write_text("in the way")
    with pytest.raises(StoreError, match="cannot be written"):
        change_settings({"kv_bits": 8})


@pytest.mark.parametrize(
    ("text", "size"),
    [("0", 0), ("16G", 16 * 10**9), ("1.5gb", 15 * 10**8), ("800 M", 8 * 10**8), ("12", 12), ("3k", 3000)],
)
def test_sizes_are_read_in_common_notations(text, size):
    assert size_of(text) == size


@pytest.mark.parametrize("text", ["", "much", "-1", "1e99", "nan", "inf", "5X", "G"])
def test_other_texts_are_refused_as_sizes(text):
    with pytest.raises(InvalidRequestError, match="for example 16G"):
        size_of(text)
