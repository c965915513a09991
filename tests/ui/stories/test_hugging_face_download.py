"""A model of Hugging Face in the real window: its address is pasted, it arrives, and it answers."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QKeySequence

from builtin_repository import builtin_files
from hub_server import hub_serving
from pulling import HASTY, leftovers
from sotto.paths import data_dir
from sotto.store.pull.queue import PullQueue
from sotto.ui.models.downloads import _refusal, _room
from sotto.ui.session.engine_thread import EngineThread
from sotto.ui.state.model_state import Phase

WAIT = 20_000
NAME = "Org/Sotto-8bit"


@pytest.fixture
def hub(monkeypatch):
    """Serve the built-in model as a repository of Hugging Face."""
    for variable in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_TOKEN_PATH"):
        monkeypatch.delenv(variable, raising=False)
    with hub_serving() as (hub, storage):
        monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
        hub.add(NAME, builtin_files(), card={"license": "mit"})
        hub.other = storage
        yield hub


@pytest.fixture
def window(real_window, monkeypatch):
    """Return the window with a queue that uses no TLS and has short timeouts."""

    def open_queue(tell):
        return PullQueue(data_dir() / "models", tell, judge=_refusal, room=_room, insecure=True, patience=HASTY)

    monkeypatch.setattr("sotto.ui.models.downloads.open_queue", open_queue)
    return real_window(EngineThread())


def paste(qtbot, window, text):
    """Request a model as people do: open the form, paste, and press Return."""
    card = window.models.downloading.form
    window.models.downloading.open()
    QGuiApplication.clipboard().setText(text)
    qtbot.keySequence(card.field, QKeySequence(QKeySequence.StandardKey.Paste))
    assert card.origin.text() == "From Hugging Face, where Org publishes it."
    qtbot.keyClick(card.field, Qt.Key.Key_Return)
    return card


def test_a_pasted_address_becomes_a_model_that_answers(qtbot, window, loop, hub):
    hub.other.pause = 0.005
    card = paste(qtbot, window, f"https://huggingface.co/{NAME}")
    assert card.isHidden(), card.error.text()
    notes = set()

    def arrived():
        notes.update(row.note.text() for row in window.models.panel.downloads.rows if row.note.isVisible())
        return f"hf.co/{NAME}:latest" in [row.record.name for row in window.sidebar.rows]

    qtbot.waitUntil(arrived, timeout=WAIT)
    qtbot.waitUntil(lambda: window.models.panel.downloads.rows == [], timeout=WAIT)
    assert notes == {"The licence is mit."}
    assert leftovers(data_dir() / "models") == []
    notice = window.chat.notice
    qtbot.waitUntil(lambda: notice.title.text() == f"hf.co/{NAME} is here", timeout=WAIT)
    (row,) = (row for row in window.sidebar.rows if row.record.name.startswith("hf.co/"))
    window.models.load(row.record)
    session = window.session
    qtbot.waitUntil(
        lambda: session.state.phase is Phase.READY and session.state.record.digest == row.record.digest, timeout=WAIT
    )
    draft = window.chat.composer.draft
    qtbot.keyClicks(draft, "Who are you?")
    qtbot.keyClick(draft, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: len(window.current.session.conversation.messages) >= 2, timeout=WAIT)
    qtbot.waitUntil(
        lambda: session.state.phase is Phase.READY and window.chat.transcript.answer is None, timeout=2 * WAIT
    )
    assert "Sotto" in window.current.session.conversation.messages[-1].content


def test_a_gated_model_is_refused_with_its_page(qtbot, window, loop, hub):
    hub.repositories[NAME].gated = frozenset()
    paste(qtbot, window, NAME)
    panel = window.models.panel
    qtbot.waitUntil(lambda: [row.status.text() for row in panel.downloads.rows] == ["Failed"], timeout=WAIT)
    (row,) = panel.downloads.rows
    assert f"{hub.endpoint}/{NAME} is gated: ask for access on that page" in row.note.text()
