"""What a person meets in an hour of ordinary use: text sizes, menus, the trash, files and notices."""

from sotto.ui.transcript.user_message import UserMessage


def answered(stage, qtbot, question="Hi"):
    """Ask a question, and return the number of the conversation once the answer is saved."""
    stage.window.send(question)
    qtbot.waitUntil(lambda: len(stage.chat_session.turns) % 2 == 0 and not stage.chat_session.busy)
    qtbot.waitUntil(lambda: stage.chat_session.turns[-1].id > 0)
    return stage.chat_session.chat


def test_a_short_question_stays_on_one_line_at_every_text_size(ready, qtbot, loop, preferences):
    # At this width, the column is as wide with small text as with text of the usual size.
    ready.window.resize(1120, 760)
    answered(ready, qtbot, "hi there")
    text = ready.window.findChild(UserMessage).text
    usual = text.width()
    preferences.change(zoom=0.7)
    qtbot.waitUntil(lambda: text.width() < usual)
    preferences.change(zoom=1.0)
    qtbot.waitUntil(lambda: text.width() == usual)
    assert text.document().firstBlock().layout().lineCount() == 1
