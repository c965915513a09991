"""What a model is given of a conversation, and how it is asked to answer."""

from collections.abc import Sequence

from sotto.chats.chat_records import Turn, with_attachments
from sotto.chats.messages import Conversation, Message
from sotto.engine.contract import requests as engine
from sotto.engine.contract.requests import GenerateRequest, Overflow
from sotto.ui.conversation.draft_state import DraftState
from sotto.ui.conversation.prefix_reuse import Asked, PrefixReuse
from sotto.ui.preferences.answer_options import AnswerOptions, read_answer_options
from sotto.ui.session.session import Session


def conversation_of(turns: Sequence[Turn]) -> Conversation:
    """Return what was said in some turns; those in which nothing was are left out."""
    messages = (Message(turn.role.value, turn.content, turn.model) for turn in turns)
    return Conversation(tuple(message for message in messages if message.content))


def build_messages(conversation: Conversation, system: str) -> tuple[engine.Message, ...]:
    """Return a conversation as a model is given it, behind a system prompt where there is one."""
    first = (engine.Message("system", system),) if system.strip() else ()
    return (*first, *(engine.Message(message.role, message.content) for message in conversation.to_answer()))


class RequestBuilder:
    """Builds what the model of a session is asked, as was chosen for a conversation or else in general.

    Attributes:
        reuse: Knows why a model reads again what it has read before.
    """

    def __init__(self, session: Session, draft: DraftState) -> None:
        """Ask the model of `session` as was chosen in `draft`."""
        self._session, self._draft = session, draft
        self.reuse = PrefixReuse()

    @property
    def _system(self) -> str:
        return self._session.settings.system_for(self._draft.system)

    @property
    def answer_options(self) -> AnswerOptions:
        """How the model is asked now."""
        return read_answer_options(self._session.settings.options_for(self._draft.options), self._session.state.info)

    def messages(self, turns: Sequence[Turn]) -> tuple[engine.Message, ...]:
        """Return what a model is given of some turns."""
        return build_messages(conversation_of(turns), self._system)

    def with_draft(self, turns: Sequence[Turn]) -> tuple[engine.Message, ...]:
        """Return what a model would be given if the draft were sent behind these turns; empty where there is none."""
        whole, content = conversation_of(turns), with_attachments(self._draft.text, self._draft.attachments)
        if content.strip():
            whole = whole.with_message(Message("user", content))
        return build_messages(whole, self._system) if whole.messages else ()

    def build(self, name: str, turns: Sequence[Turn], answer_options: AnswerOptions) -> GenerateRequest:
        """Return the request for an answer to some turns; what the engine says of that carries `name`."""
        messages, record, trims = self.messages(turns), self._session.state.record, self._draft.trims
        settings = self._session.settings
        self.reuse.begin(Asked(record.digest if record else "", messages, trims, answer_options.think))
        return GenerateRequest(
            name,
            messages=messages,
            sampling=settings.sampling,
            options=answer_options.sampling,
            num_predict=settings.num_predict,
            grammar=answer_options.grammar,
            ignore_eos=settings.ignore_eos,
            # Nothing is left out unless the person has chosen so.
            overflow=Overflow.SHIFT if trims else Overflow.ERROR,
            think=answer_options.think,
            think_budget=answer_options.think_budget,
        )
