"""The fill level of the context, and what a person can do when it is nearly full."""

import threading

import pytest

from searched_text import SearchedText
from sotto.chats.chat_records import Attachment
from sotto.engine.contract.requests import Overflow
from sotto.ui.conversation.context_meter import ContextUse
from sotto.ui.state.model_state import Phase


def measured(stage, tokens):
    """Return whether the gauge shows this many tokens, measured for the current draft."""
    meter = stage.window.composing.meter
    return meter.fresh and meter.use is not None and meter.use.tokens == tokens


def ask(stage, qtbot, text, answer):
    stage.script.chunks = [answer]
    stage.window.send(text)
    qtbot.waitUntil(lambda: len(stage.chat_session.turns) > 1 and not stage.chat_session.busy)


def labels(stage):
    return [button.text() for button in stage.window.chat.composer.panel.buttons]


def press(stage, text):
    (button,) = [button for button in stage.window.chat.composer.panel.buttons if button.text().startswith(text)]
    button.click()


def test_the_gauge_holds_history_draft_and_attachments(ready, qtbot, loop):
    composer = ready.window.chat.composer
    assert composer.gauge.isHidden()
    composer.draft.setPlainText("x" * 100)
    # The scripted tokenizer counts one token for each character, and four more for each message.
    qtbot.waitUntil(lambda: measured(ready, 104))
    assert composer.gauge.isVisible()
    assert composer.gauge.text == "104 / 4,096"
    assert composer.gauge.accessibleName() == "Context: 104 of 4,096 tokens, 3 %."
    composer.draft.clear()
    ask(ready, qtbot, "question", "answer")
    qtbot.waitUntil(lambda: measured(ready, 8 + 6 + 8))
    composer.draft.setPlainText("more")
    qtbot.waitUntil(lambda: measured(ready, 22 + 8))
    document = Attachment("a.txt", "words", 5, 0, 5)
    ready.chat_session.draft.attach([document])
    qtbot.waitUntil(lambda: measured(ready, 22 + 4 + len(document.shown) + 2 + 4))
    assert ready.chat_session.draft.attachments[0].tokens == len(document.shown)
    ready.chat_session.draft.set_choices("Be brief.", {})
    qtbot.waitUntil(lambda: measured(ready, 22 + 4 + len(document.shown) + 2 + 4 + 9 + 4))
    ready.window.current.new_chat()
    qtbot.waitUntil(composer.gauge.isHidden)


def test_the_gauge_grows_with_the_answer(ready, qtbot, loop):
    gauge, meter, chat = ready.window.chat.composer.gauge, ready.window.composing.meter, ready.chat_session
    ask(ready, qtbot, "question", "answer")
    qtbot.waitUntil(lambda: measured(ready, 8 + 6 + 8))
    ready.script.chunks, ready.script.hold_answer = ["an", "swer"], threading.Event()
    ready.window.send("question")
    qtbot.waitUntil(lambda: chat.answering)
    for tokens in (5, 9):
        chat.pace.measured.emit(tokens, 5.0)
        assert gauge.text == f"{meter.use.tokens + tokens} / 4,096"
    assert not meter.use.tight
    ready.script.hold_answer.set()
    qtbot.waitUntil(lambda: not chat.busy and measured(ready, 2 * (8 + 6 + 8)))
    assert gauge.text == "44 / 4,096"


def test_tokens_are_counted_while_typing_one_count_at_a_time(ready, qtbot, loop):
    draft = ready.window.chat.composer.draft
    for letter in "one after the other":
        qtbot.keyClicks(draft, letter)
        qtbot.wait(20)
    qtbot.waitUntil(lambda: measured(ready, len("one after the other") + 4))
    assert 1 < len(ready.script.counts) < len("one after the other")


def test_a_long_document_is_hardly_looked_at_while_typing(ready, qtbot, loop):
    text = SearchedText("A line of a long document.\n" * 25_000)
    document = Attachment("long.pdf", text, len(text), 0, len(text))
    ready.chat_session.draft.attach([document])
    tokens = len(document.shown) + 2 + 4
    for number, draft in enumerate("abc", 1):
        searches = SearchedText.searches
        ready.window.chat.composer.draft.setPlainText(draft * number)
        qtbot.waitUntil(lambda: measured(ready, tokens + number))  # noqa: B023
        # Once for the whole prompt, and once for the size of the document.
        assert 0 < SearchedText.searches - searches <= 2 * 2


def test_a_nearly_full_context_warns_before_sending(ready, qtbot, loop):
    composer = ready.window.chat.composer
    ask(ready, qtbot, "x" * 1000, "y" * 2000)
    composer.draft.setPlainText("z" * 500)
    qtbot.waitUntil(lambda: measured(ready, 3512))
    assert composer.panel.isHidden()
    composer.draft.setPlainText("z" * 800)
    qtbot.waitUntil(composer.panel.isVisible)
    assert composer.panel.title.text() == "Context nearly full"
    assert composer.panel.message.text() == "284 of 4,096 tokens are left for the answer."
    assert labels(ready) == ["Drop oldest messages", "Continue in a new chat with a summary"]
    # It can be sent as it is, without leaving anything out.
    composer.button.click()
    qtbot.waitUntil(lambda: len(ready.script.requests) == 2)
    assert ready.script.requests[-1].overflow is Overflow.ERROR
    assert composer.panel.isHidden()


def test_a_message_that_does_not_fit_is_not_sent(ready, qtbot, loop):
    composer = ready.window.chat.composer
    composer.draft.setPlainText("z" * 5000)
    qtbot.waitUntil(composer.panel.isVisible)
    assert composer.panel.title.text() == "Too long"
    assert composer.panel.message.text() == "5,004 of 4,096 tokens."
    composer.button.click()
    assert ready.script.requests == []
    assert composer.text == "z" * 5000
    composer.draft.setPlainText("short")
    qtbot.waitUntil(composer.panel.isHidden)
    composer.button.click()
    qtbot.waitUntil(lambda: len(ready.script.requests) == 1)


def test_the_oldest_turns_are_left_out_once_the_person_agrees(ready, qtbot, loop):
    composer = ready.window.chat.composer
    ask(ready, qtbot, "x" * 1500, "y" * 2000)
    composer.draft.setPlainText("z" * 900)
    qtbot.waitUntil(composer.panel.isVisible)
    press(ready, "Drop oldest messages")
    qtbot.waitUntil(composer.panel.isHidden)
    assert composer.gauge.text == "3,072 / 4,096"
    assert "The oldest messages are dropped; with them it would be 4,412" in composer.gauge.accessibleName()
    composer.button.click()
    qtbot.waitUntil(lambda: len(ready.script.requests) == 2 and not ready.chat_session.busy)
    assert ready.script.requests[-1].overflow is Overflow.SHIFT
    # That applies only to this conversation, and still does when it is opened again.
    chat = ready.chat_session.chat
    ready.window.current.new_chat()
    assert not ready.chat_session.draft.trims
    ready.window.current.open(chat)
    qtbot.waitUntil(lambda: ready.chat_session.draft.trims)
    # A message that is too long on its own is still not sent.
    composer.draft.setPlainText("z" * 3500)
    qtbot.waitUntil(composer.panel.isVisible)
    assert composer.panel.message.text() == "3,504 of 3,072 tokens, even without the oldest messages."
    composer.button.click()
    assert len(ready.script.requests) == 2


def test_the_context_is_raised_for_a_model_that_was_trained_for_more(ready, qtbot, loop):
    composer = ready.window.chat.composer
    ready.script.loaded_context = 1000
    ready.session.load(ready.session.library.models[1])
    qtbot.waitUntil(lambda: ready.session.state.phase is Phase.READY)
    composer.draft.setPlainText("z" * 1600)
    qtbot.waitUntil(composer.panel.isVisible)
    # The model was trained for at most 4,096 tokens.
    assert labels(ready) == ["Raise the context to 4,000 (up to 3.1 MB more memory)"]
    ready.script.loaded_context = None
    press(ready, "Raise the context")
    qtbot.waitUntil(lambda: ready.session.state.phase is Phase.READY)
    assert ready.script.loads[-1][1] == 4000
    qtbot.waitUntil(lambda: measured(ready, 1604) and composer.gauge.text == "1,604 / 4,000")
    assert composer.panel.isHidden()
    assert composer.text == "z" * 1600
    assert ready.window.chat.notice.isHidden()


def test_a_context_other_than_the_requested_one_is_reported(ready, qtbot, loop):
    ready.script.loaded_context = 2048
    ready.session.reload(4000)
    notice = ready.window.chat.notice
    qtbot.waitUntil(notice.isVisible)
    assert notice.title.text() == "The context is shorter than requested"
    assert notice.message.text() == "4,000 tokens were requested; the engine loaded 2,048."
    assert "2,048 tokens of context" in ready.window.chat.header.line.text()
    ready.window.chat.composer.draft.setPlainText("x")
    qtbot.waitUntil(lambda: ready.window.chat.composer.gauge.text == "5 / 2,048")


def test_a_new_chat_begins_with_a_summary(ready, qtbot, loop):
    composer = ready.window.chat.composer
    ask(ready, qtbot, "x" * 1500, "y" * 2000)
    first = ready.chat_session.chat
    document = Attachment("a.txt", "words", 5, 0, 5)
    ready.chat_session.draft.attach([document])
    composer.draft.setPlainText("And now " + "z" * 400)
    qtbot.waitUntil(composer.panel.isVisible)
    ready.script.chunks = ["They spoke ", "of letters."]
    press(ready, "Continue in a new chat with a summary")
    assert ready.window.chat.notice.title.text() == "Writing a summary"
    qtbot.waitUntil(lambda: ready.chat_session.chat != first and not ready.chat_session.turns)
    messages = ready.script.requests[-1].messages
    assert [message.role for message in messages] == ["user", "assistant", "user"]
    assert messages[-1].content.startswith("Summarise our conversation")
    assert composer.text.startswith("Summary of our previous conversation:\n\nThey spoke of letters.\n\nAnd now z")
    assert [attachment.name for attachment in ready.chat_session.draft.attachments] == ["a.txt"]
    assert ready.window.chat.notice.isHidden()
    assert ready.session.state.phase is Phase.READY
    # The old conversation is unchanged except for its draft.
    ready.window.current.open(first)
    qtbot.waitUntil(lambda: len(ready.chat_session.turns) == 2)
    assert composer.text == ""
    assert ready.chat_session.draft.attachments == ()


def test_a_summary_can_be_stopped(ready, qtbot, loop):
    ask(ready, qtbot, "x" * 10, "y" * 20)
    ready.script.chunks, ready.script.hold_answer = ["Some ", "summary"], threading.Event()
    ready.chat_session.summarize()
    assert ready.chat_session.busy
    ready.chat_session.stop()
    assert not ready.chat_session.busy
    qtbot.wait(50)
    assert len(ready.chat_session.turns) == 2
    assert ready.window.chat.composer.text == ""


def test_a_part_of_a_document_is_sent_when_the_person_selects_it(ready, qtbot, loop):
    composer = ready.window.chat.composer
    text = "".join(f"line {number}\n" for number in range(1000))
    ready.chat_session.draft.attach([Attachment("long.txt", text, len(text), 0, len(text))])
    qtbot.waitUntil(lambda: composer.panel.isVisible() and len(labels(ready)) == 2)
    assert labels(ready) == ["Only the beginning of long.txt", "Only the end of long.txt"]
    press(ready, "Only the beginning")
    qtbot.waitUntil(composer.panel.isHidden)
    (attachment,) = ready.chat_session.draft.attachments
    assert (attachment.begins, attachment.text) == (0, text)
    assert 0 < attachment.ends < 3072
    assert " · first " in composer.attachments.chips[0].line.text()
    ready.window.send("What is in it?")
    qtbot.waitUntil(lambda: len(ready.script.requests) == 1)
    (message,) = ready.script.requests[0].messages
    assert message.content.startswith(f"long.txt, characters 1 to {attachment.ends:,} of {len(text):,}:\n```\nline 0\n")
    assert message.content.endswith("```\n\nWhat is in it?")


@pytest.mark.parametrize(
    ("use", "used", "tight", "over"),
    [
        (ContextUse(900, 1000, 900, 750), 900, False, False),
        (ContextUse(901, 1000, 901, 750), 901, True, False),
        (ContextUse(1000, 1000, 20, 750), 1000, True, True),
        (ContextUse(5000, 1000, 20, 750, trims=True), 750, False, False),
        (ContextUse(5000, 1000, 800, 750, trims=True), 800, True, True),
        (ContextUse(700, 1000, 700, 750, trims=True), 700, False, False),
    ],
)
def test_the_thresholds_for_tight_and_over(use, used, tight, over):
    assert (use.used, use.tight, use.over) == (used, tight, over)


def test_the_length_to_which_a_context_is_raised():
    use = ContextUse(5000, 1000, 5000, 750)
    assert [use.larger_context(longest) for longest in (None, 1000, 1500, 100_000)] == [None, None, 1500, 8000]
