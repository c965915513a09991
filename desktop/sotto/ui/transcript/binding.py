"""Connects a chat session with a transcript."""

from sotto.ui.conversation.chat_session import ChatSession
from sotto.ui.conversation.subscription import Subscription
from sotto.ui.transcript.transcript import Transcript


def bind(transcript: Transcript, session: ChatSession) -> Subscription:
    """Show `session` in `transcript` and pass on the user's requests, until the returned subscription is closed."""
    transcript.show_turns(session.turns, session.draft.edits.texts)
    if session.answering:
        transcript.resume_answer(session.turns[-1])
    elif session.awaiting:
        transcript.await_answer(*session.awaited)
    requests, branches = transcript.requests, session.branches
    return Subscription(
        (requests.edited, session.edit),
        (requests.edit_typed, session.draft.edits.set_text),
        (requests.regenerate_wanted, session.regenerate),
        (requests.more_wanted, session.continue_answer),
        (requests.answer_edited, branches.edit_answer),
        (requests.version_wanted, branches.show_version),
        (requests.branch_wanted, branches.branch_off),
        (requests.delete_wanted, branches.delete),
        (session.branch_changed, transcript.change_turns),
        (session.turns_saved, transcript.update_turns),
        (branches.found, transcript.go_to),
        (session.question_added, transcript.add_question),
        (session.answer_awaited, transcript.await_answer),
        (session.answer_begun, transcript.begin_answer),
        (session.answer_resumed, transcript.resume_answer),
        (session.prefilled, transcript.show_prefill),
        (session.pace.measured, transcript.show_pace),
        (session.answer_grew, transcript.grow_answer),
        (session.answer_ended, transcript.end_answer),
        (session.retracted, transcript.retract),
    )
