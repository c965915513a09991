"""What a model is given of a conversation."""

from collections.abc import Sequence

from sotto.chats.conversation import Conversation, Message
from sotto.chats.records import Turn, with_attachments
from sotto.engine import types as engine
from sotto.engine.types import GenerateRequest, Overflow
from sotto.ui.states import ChatSettings
from sotto.ui.unsent import Unsent


def said(turns: Sequence[Turn]) -> Conversation:
    """Return what was said in some turns; those in which nothing was are left out."""
    messages = (Message(turn.role.value, turn.content, turn.model) for turn in turns)
    return Conversation(tuple(message for message in messages if message.content))


def told(conversation: Conversation, system: str) -> tuple[engine.Message, ...]:
    """Return a conversation as a model is given it, behind a system prompt where there is one."""
    first = (engine.Message("system", system),) if system.strip() else ()
    return (*first, *(engine.Message(message.role, message.content) for message in conversation.to_answer()))


def drafted(turns: Sequence[Turn], draft: Unsent, system: str) -> tuple[engine.Message, ...]:
    """Return what a model would be given if the draft were sent behind these turns; empty where there is nothing."""
    whole, content = said(turns), with_attachments(draft.draft, draft.attachments)
    if content.strip():
        whole = whole.with_message(Message("user", content))
    return told(whole, system) if whole.messages else ()


def request(name: str, messages: tuple[engine.Message, ...], settings: ChatSettings, chosen: Unsent) -> GenerateRequest:
    """Return what the engine is asked: to answer `messages`, as was chosen for the conversation or else in general."""
    return GenerateRequest(
        name,
        messages=messages,
        sampling=settings.sampling,
        options=settings.options_for(chosen.options),
        num_predict=settings.num_predict,
        ignore_eos=settings.ignore_eos,
        # Nothing is left out unless the person has chosen so.
        overflow=Overflow.SHIFT if chosen.trims else Overflow.ERROR,
    )
