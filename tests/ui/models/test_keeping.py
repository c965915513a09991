"""Models that are renamed, duplicated, kept from other programs, deleted and brought back in the window."""

import pytest
from PySide6.QtCore import Qt

from sotto.paths import data_dir
from sotto.ui.models.model_trash import trash_menu
from sotto.ui.session.engine_thread import EngineThread
from stores import Store, fingerprint, folder


@pytest.fixture
def theirs(tmp_path, own_home, monkeypatch):
    made = Store(tmp_path / "ollama")
    made.model("theirs", fill=3)
    monkeypatch.setenv("OLLAMA_MODELS", str(made.root))
    return made


@pytest.fixture
def window(real_window, theirs):
    """Return the real window, with two models of Sotto's own and one of Ollama's."""
    store = Store(data_dir() / "models")
    store.model("one")
    store.model("two", fill=1)
    return real_window(EngineThread())


def names(window):
    return {row.record.name for row in window.sidebar.rows if not row.record.builtin}


def choose(window, name, entry):
    """Choose an entry of the menu of a model."""
    (row,) = [row for row in window.sidebar.rows if row.record.name == name]
    actions = {action.text(): action for action in window.models.panel.menu_of(row.record).actions()}
    actions[entry].trigger()
    return window.models.keeper.form


def submit(qtbot, form, name):
    """Write a name into the form and press Enter."""
    assert form.isVisible()
    assert form.field.hasFocus()
    qtbot.keyClicks(form.field, name)
    qtbot.keyClick(form.field, Qt.Key.Key_Return)


def test_a_model_is_renamed_and_the_renaming_undone(window, qtbot, loop):
    form = choose(window, "one:latest", "Rename…")
    assert (form.title.text(), form.field.text()) == ("Rename one", "one")
    submit(qtbot, form, "two")
    qtbot.waitUntil(lambda: "There is a two:latest already" in form.error.text())
    form.field.selectAll()
    submit(qtbot, form, "ns/other:v1")
    qtbot.waitUntil(lambda: names(window) == {"ns/other:v1", "two:latest", "theirs:latest"})
    assert form.isHidden()
    notice = window.chat.notice
    assert (notice.title.text(), notice.button.text()) == ("one was renamed", "Undo")
    notice.button.click()
    qtbot.waitUntil(lambda: names(window) == {"one:latest", "two:latest", "theirs:latest"})


def test_a_model_is_duplicated(window, qtbot, loop):
    form = choose(window, "one:latest", "Duplicate…")
    assert form.field.text() == "one-copy"
    qtbot.mouseClick(form.button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.chat.notice.title.text() == "one was duplicated")
    places = {place.name for row in window.sidebar.rows for place in row.record.places}
    qtbot.waitUntil(
        lambda: (
            {place.name for row in window.sidebar.rows for place in row.record.places} == places | {"one-copy:latest"}
        )
    )


def test_a_model_of_another_program_is_kept_by_its_card(window, theirs, qtbot, loop):
    before, card = fingerprint(theirs.root), window.models.card
    choose(window, "theirs:latest", "Details")
    qtbot.waitUntil(card.keep.isVisible)
    card.keep.click()
    form = window.models.keeper.form
    assert "a link, which is one file with two names" in form.hint.text()
    submit(qtbot, form, "mine")
    qtbot.waitUntil(lambda: window.chat.notice.title.text() == "mine is kept")
    assert "shared with Ollama" in window.chat.notice.message.text() or "copied" in window.chat.notice.message.text()
    qtbot.waitUntil(lambda: any(row.record.own and "mine" in row.record.name for row in window.sidebar.rows))
    choose(window, "mine:latest", "Details")
    qtbot.waitUntil(lambda: "deleting frees" in card.disk.text())
    assert not card.keep.isVisible()
    assert fingerprint(theirs.root) == before


def test_a_folder_of_another_program_is_kept_by_its_menu(window, own_home, qtbot, loop):
    path = folder(own_home / ".lmstudio" / "models" / "org" / "model")
    window.session.library.rescan()
    qtbot.waitUntil(lambda: "org/model" in names(window))
    before = fingerprint(path)
    submit(qtbot, choose(window, "org/model", "Keep a Copy…"), "mine")
    qtbot.waitUntil(lambda: window.chat.notice.title.text() == "mine is kept")
    qtbot.waitUntil(lambda: names(window) >= {"org/model", "mine:latest"})
    assert fingerprint(path) == before


def test_a_name_that_is_taken_is_said_in_the_form(window, theirs, qtbot, loop):
    form = choose(window, "theirs:latest", "Keep a Copy…")
    form.field.selectAll()
    submit(qtbot, form, "one")
    qtbot.waitUntil(lambda: "There is a one:latest already" in form.error.text())
    assert form.isVisible()
    assert form.field.hasFocus()
    assert not form.stop.isVisible()


def test_keeping_a_copy_can_be_stopped(window, theirs, qtbot, loop):
    form = choose(window, "theirs:latest", "Keep a Copy…")
    window.models.keeper.form.submitted.connect(window.models.keeper._stopping.set)
    submit(qtbot, form, "mine")
    qtbot.waitUntil(form.isHidden)
    qtbot.wait(50)
    assert names(window) == {"one:latest", "two:latest", "theirs:latest"}


def test_deleted_models_come_back_from_the_page(window, qtbot, loop):
    models = window.models
    models.open_page()
    page = models.page
    assert not page.trash.isVisible()
    for name in ("one:latest", "two:latest"):
        choose(window, name, "Delete")
        qtbot.waitUntil(lambda name=name: name not in names(window))
    qtbot.waitUntil(lambda: page.trash.text() == "2 deleted models…")
    menu = trash_menu(models.trash, page)
    entries = {action.text(): action for action in menu.actions() if action.text()}
    assert list(entries) == ["Restore two", "Restore one", "Empty the Trash"]
    entries["Restore two"].trigger()
    qtbot.waitUntil(lambda: "two:latest" in names(window))
    qtbot.waitUntil(lambda: page.trash.text() == "1 deleted model…")
    entries["Empty the Trash"].trigger()
    qtbot.waitUntil(lambda: not page.trash.isVisible())
    assert names(window) == {"two:latest", "theirs:latest"}
