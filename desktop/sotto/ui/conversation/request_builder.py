"""Builds the requests for answers from a conversation, its options and the settings."""

from collections.abc import Sequence

from sotto.chats.chat_records import Turn, with_attachments
from sotto.chats.messages import Conversation, Message
from sotto.engine.contract import requests as engine
from sotto.engine.contract.requests import GenerateRequest, Overflow
from sotto.ui.conversation.draft_state import DraftState
from sotto.ui.conversation.prefix_reuse import PrefixReuse, PromptState
from sotto.ui.preferences.answer_options import AnswerOptions, read_answer_options
from sotto.ui.session.session import Session


def to_conversation(turns: Sequence[Turn]) -> Conversation:
    """Convert turns into a conversation; empty turns are left out."""
    messages = (Message(turn.role.value, turn.content, turn.model) for turn in turns)
    return Conversation(tuple(message for message in messages if message.content))


def build_messages(conversation: Conversation, system: str) -> tuple[engine.Message, ...]:
    """Return the messages for a model: the system prompt, if there is one, and the conversation."""
    prompt = (engine.Message("system", system),) if system.strip() else ()
    return (*prompt, *(engine.Message(message.role, message.content) for message in conversation.to_answer()))


class RequestBuilder:
    """Builds requests to the model of a session, for one conversation.

    Attributes:
        reuse: Explains why a model reads a prompt again.
    """

    def __init__(self, session: Session, draft: DraftState) -> None:
        """Use the choices of `draft`, and the settings of `session` for anything not chosen there."""
        self._session, self._draft = session, draft
        self.reuse = PrefixReuse()

    @property
    def _system(self) -> str:
        return self._session.settings.system_for(self._draft.system)

    @property
    def answer_options(self) -> AnswerOptions:
        """The options of the next answer."""
        return read_answer_options(self._session.settings.options_for(self._draft.options), self._session.state.info)

    def messages(self, turns: Sequence[Turn]) -> tuple[engine.Message, ...]:
        """Return the messages for a model that answers these turns."""
        return build_messages(to_conversation(turns), self._system)

    def with_draft(self, turns: Sequence[Turn]) -> tuple[engine.Message, ...]:
        """Return the messages as they would be if the draft were sent after these turns; empty if there are none."""
        conversation, content = to_conversation(turns), with_attachments(self._draft.text, self._draft.attachments)
        if content.strip():
            conversation = conversation.with_message(Message("user", content))
        return build_messages(conversation, self._system) if conversation.messages else ()

    def build(self, request_id: str, turns: Sequence[Turn], answer_options: AnswerOptions) -> GenerateRequest:
        """Return the request for an answer.

        Args:
            request_id: The id of the request, which its events will carry.
            turns: The turns to answer.
            answer_options: The options of the answer.
        """
        messages, record, trims = self.messages(turns), self._session.state.record, self._draft.trims
        settings = self._session.settings
        self.reuse.begin(PromptState(record.digest if record else "", messages, trims, answer_options.think))
        return GenerateRequest(
            request_id,
            messages=messages,
            sampling=settings.sampling,
            options=answer_options.sampling,
            num_predict=settings.num_predict,
            grammar=answer_options.grammar,
            ignore_eos=settings.ignore_eos,
            # Nothing is left out unless the user has allowed it.
            overflow=Overflow.SHIFT if trims else Overflow.ERROR,
            think=answer_options.think,
            think_budget=answer_options.think_budget,
        )
