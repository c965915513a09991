"""Preferences survive a restart, and a damaged file does not prevent the start."""

import json

import pytest
from PySide6.QtCore import QCoreApplication

from sotto.ui.preferences.preferences import Preferences, PreferenceStore


@pytest.fixture
def path(tmp_path):
    return tmp_path / "config" / "app.json"


def test_choices_survive_a_restart(qapp, path):
    store = PreferenceStore(path)
    changes = []
    store.changed.connect(changes.append)
    store.change(appearance="dark", zoom=1.5)
    store.change(zoom=1.5)
    store.close()
    assert changes == [Preferences(appearance="dark", zoom=1.5)]
    assert PreferenceStore(path).values == changes[0]


def test_values_that_follow_the_system_are_not_written(qapp, path):
    store = PreferenceStore(path)
    store.change(appearance="dark")
    store.change(appearance="")
    store.close()
    assert json.loads(path.read_text()) == {}


@pytest.mark.parametrize(
    ("name", "value", "right"),
    [
        ("appearance", "pink", "light, dark or empty"),
        ("appearance", 3, "a text"),
        ("zoom", "large", "a number"),
        ("zoom", True, "a number"),
        ("zoom", 100, "0.7 to 2.5"),
        ("zoom", float("nan"), "0.7 to 2.5"),
        ("api_enabled", 1, "true or false"),
        ("api_host", "", "an address to listen on"),
        ("api_port", 70_000, "a port from 1 to 65535"),
        ("api_port", 80.5, "a port from 1 to 65535"),
        ("api_key", "a\nb", "a key of one line"),
        ("api_origins", "a\nb", "addresses of pages"),
        ("options", {"think": "much"}, "options of answers that make sense"),
        ("options", {"format": "json"}, "options of answers that make sense"),
        ("last_used", {"tiny": "today"}, "times by the names of models"),
        ("last_used", {"tiny": float("inf")}, "times by the names of models"),
        ("models_widths", {"taste": 90.0}, "widths up to 10000 by columns"),
        ("models_widths", {"fit": -1}, "widths up to 10000 by columns"),
        ("models_widths", {"fit": True}, "widths up to 10000 by columns"),
    ],
)
def test_an_invalid_value_counts_as_not_chosen(qapp, path, caplog, name, value, right):
    path.parent.mkdir()
    path.write_text(json.dumps({name: value}))
    store = PreferenceStore(path)
    assert store.values == Preferences()
    with pytest.raises(ValueError, match=right):
        store.change(**{name: value})
    assert store.values == Preferences()


@pytest.mark.parametrize("text", ["", "[]", '{"zoom": ', "{" * 100_000])
def test_a_damaged_file_is_ignored(qapp, path, text, caplog):
    path.parent.mkdir()
    path.write_text(text)
    assert PreferenceStore(path).values == Preferences()
    assert "app.json" in caplog.text


def test_values_of_a_newer_version_are_kept(qapp, path):
    path.parent.mkdir()
    path.write_text('{"hologram": [1, 2], "zoom": 1.2}')
    store = PreferenceStore(path)
    store.change(zoom=1.3)
    store.close()
    assert json.loads(path.read_text()) == {"hologram": [1, 2], "zoom": 1.3}


def test_values_that_only_a_newer_version_knows_are_kept_until_they_are_changed(qapp, path):
    path.parent.mkdir()
    written = {"engine_host": "cluster", "appearance": "sepia", "zoom": 1.2}
    path.write_text(json.dumps(written))
    store = PreferenceStore(path)
    assert (store.values.engine_host, store.values.appearance) == ("thread", "")
    store.change(zoom=1.3)
    store.change(appearance="")
    store.close()
    assert json.loads(path.read_text()) == {"engine_host": "cluster", "zoom": 1.3}


@pytest.mark.parametrize("text", ["[]", '{"zoom": '])
def test_a_file_that_cannot_be_read_is_kept(qapp, path, text, caplog):
    path.parent.mkdir()
    path.write_text(text)
    store = PreferenceStore(path)
    store.change(zoom=1.3)
    store.close()
    assert json.loads(path.read_text()) == {"zoom": 1.3}
    assert path.with_name("app.json.unreadable").read_text() == text


def test_a_file_that_cannot_be_written_is_reported(qapp, tmp_path):
    (tmp_path / "config").write_text("")
    store = PreferenceStore(tmp_path / "config" / "app.json")
    failures = []
    store.failed.connect(failures.append)
    store.change(zoom=1.3)
    store.close()
    QCoreApplication.sendPostedEvents(store)
    assert len(failures) == 1
    assert "app.json cannot be written" in failures[0]
