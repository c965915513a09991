"""An embedding model, which cannot generate text, in the window."""

import pytest

from embedding import minilm
from scripted_loop import record
from sotto.runner.host import THREAD
from sotto.ui.models.model_description import abilities, model_details
from sotto.ui.session.engine_hosts import make_host
from sotto.ui.state.drop_contents import DropContents
from sotto.ui.state.model_state import Phase

WAIT = 30_000
WHY = "This model makes embeddings and cannot chat: use it with sotto embed, or through the API."


@pytest.fixture
def window(real_window):
    """Return the window over the real engine."""
    return real_window(make_host(THREAD))


def test_an_embedding_model_says_so_and_accepts_no_questions(qtbot, window, loop):
    session, chat, current = window.session, window.chat, window.current
    window.composing.send("Who are you?")
    qtbot.waitUntil(lambda: not current.session.busy and current.session.turns[-1].id > 0, timeout=WAIT)
    turns, question = len(current.session.turns), current.session.turns[0]
    # A question sent while it loads becomes a back in the composer.
    session.library.open(DropContents((minilm(),), ()))
    qtbot.waitUntil(lambda: session.state.phase is Phase.LOADING, timeout=WAIT)
    chat.composer.draft.setPlainText("Are you there?")
    window.composing.send("Are you there?")
    qtbot.waitUntil(lambda: session.state.phase is Phase.READY, timeout=WAIT)
    assert not session.state.info.writes
    qtbot.waitUntil(lambda: chat.composer.text == "Are you there?" and not current.session.busy, timeout=WAIT)
    assert len(current.session.turns) == turns
    assert (chat.notice.title.text(), chat.notice.message.text()) == ("This model cannot chat", WHY)

    assert not chat.composer.button.isEnabled()
    assert chat.composer.hint.text() == WHY
    assert chat.composer.draft.placeholderText() == "This model cannot chat"
    assert not chat.composer.think.isVisible()
    assert "makes embeddings" in chat.header.line.text()
    qtbot.waitUntil(lambda: not window.composing.meter.use, timeout=WAIT)
    for act in (
        lambda: chat.composer.draft.entered.emit(),
        lambda: window.send("x"),
        lambda: current.session.regenerate(current.session.turns[-1].id),
        lambda: current.session.edit(question.id, "y"),
        lambda: current.session.continue_answer(current.session.turns[-1].id),
        current.session.summarize,
    ):
        act()
        assert not current.session.busy
    assert len(current.session.turns) == turns
    current.new_chat()
    assert chat.welcome.greeting.text() == WHY
    assert not any(chip.isVisible() for chip in chat.welcome.chips)

    # The list and the card say so too.
    row = next(row for row in window.sidebar.rows if row.record.path == minilm())
    assert " · vectors · " in model_details(row.record)
    row.click()
    line = "Embeddings, with sotto embed or the API"
    assert window.models.card.abilities.text() == line

    # Chat is possible again with the next model.
    window.sidebar.rows[0].click()
    session.load(next(model for model in session.library.models if model.builtin))
    qtbot.waitUntil(lambda: session.state.phase is Phase.READY, timeout=WAIT)
    assert chat.composer.hint.text() != WHY
    assert chat.welcome.greeting.text() != WHY


def test_a_model_for_text_and_vectors_is_described_as_both():
    both = record(capabilities=("completion", "embedding"))
    assert abilities(both) == "Text · Embeddings"
    assert "vectors" not in model_details(both)
