"""Connect a conversation with the widget that shows its messages."""

from sotto.ui.conversation.chat_session import Dialogue
from sotto.ui.transcript.transcript import Transcript


def follow(transcript: Transcript, dialogue: Dialogue) -> None:
    """Let `transcript` show what becomes of the messages of `dialogue`, and pass on what is wanted of them.

    Other conversations that come into view, and new questions, are left to whoever shows more than messages.
    """
    transcript.edited.connect(dialogue.edit)
    transcript.regenerate_wanted.connect(dialogue.regenerate)
    transcript.more_wanted.connect(dialogue.go_on)
    transcript.version_wanted.connect(dialogue.show_version)
    dialogue.pointed_at.connect(transcript.go_to)
    dialogue.turns_changed.connect(transcript.show_numbers)
    dialogue.answer_awaited.connect(transcript.await_answer)
    dialogue.answer_begun.connect(transcript.begin_answer)
    dialogue.answer_resumed.connect(transcript.resume_answer)
    dialogue.prefilled.connect(transcript.show_prefill)
    dialogue.pace.measured.connect(transcript.show_pace)
    dialogue.answer_grew.connect(transcript.grow_answer)
    dialogue.answer_ended.connect(transcript.end_answer)
    dialogue.retracted.connect(transcript.retract)
