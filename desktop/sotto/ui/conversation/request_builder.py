"""Builds the requests for answers from a conversation, its options and the settings."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from sotto.chats.chat_records import Content, Picture, Turn, with_attachments
from sotto.chats.messages import Conversation, Message
from sotto.engine.contract import requests as engine
from sotto.engine.contract.message_content import ImagePart, Part, TextPart, content_of
from sotto.engine.contract.requests import GenerateRequest, Overflow
from sotto.ui.conversation.draft_state import DraftState
from sotto.ui.conversation.pictures.chat_images import ChatImages
from sotto.ui.conversation.prefix_reuse import PrefixReuse, PromptState
from sotto.ui.preferences.answer_options import AnswerOptions, read_answer_options
from sotto.ui.session.session import Session


def to_conversation(turns: Sequence[Turn]) -> Conversation:
    """Convert turns into a conversation; empty turns are left out."""
    messages = (Message(turn.role.value, turn.content, turn.model) for turn in turns)
    return Conversation(tuple(message for message in messages if message.content))


def build_messages(
    conversation: Conversation, system: str, images: Mapping[str, ImagePart]
) -> tuple[engine.Message, ...]:
    """Return the messages for a model: the system prompt, if there is one, and the conversation.

    Args:
        conversation: The conversation.
        system: The system prompt.
        images: Its images, by digest; in place of others, the model is told that it cannot see them.
    """
    prompt = (engine.Message("system", system),) if system.strip() else ()
    said = (engine.Message(turn.role, _content(turn.content, images)) for turn in conversation.to_answer())
    return (*prompt, *said)


def pictures_in(conversation: Conversation) -> tuple[str, ...]:
    """Return the digests of the images that a model sees when it answers a conversation."""
    parts = (part for turn in conversation.to_answer() if not isinstance(turn.content, str) for part in turn.content)
    return tuple(part.digest for part in parts if isinstance(part, Picture))


def _content(content: Content, images: Mapping[str, ImagePart]) -> str | tuple[Part, ...]:
    if isinstance(content, str):
        return content
    return content_of(
        TextPart(part) if isinstance(part, str) else images.get(part.digest, _unseen(part)) for part in content
    )


def _unseen(picture: Picture) -> TextPart:
    """Return what stands for an image that is missing, or that a model does not see."""
    return TextPart(f"(Here is an image, {picture.name}, which cannot be shown to you.)\n\n")


def _without_images(message: engine.Message) -> engine.Message:
    """Return a message with the digests of its images in their place: what is only compared must not hold them."""
    parts = (TextPart(part.digest) if isinstance(part, ImagePart) else part for part in message.parts)
    return replace(message, content=content_of(parts)) if message.images else message


class RequestBuilder:
    """Builds requests to the model of a session, for one conversation.

    Attributes:
        reuse: Explains why a model reads a prompt again.
    """

    def __init__(self, session: Session, draft: DraftState, images: ChatImages) -> None:
        """Use the choices of `draft`, the settings of `session` for anything not chosen there, and `images`."""
        self._session, self._draft, self._images = session, draft, images
        self.reuse = PrefixReuse()

    @property
    def _system(self) -> str:
        return self._session.settings.system_for(self._draft.system)

    @property
    def answer_options(self) -> AnswerOptions:
        """The options of the next answer."""
        return read_answer_options(self._session.settings.options_for(self._draft.options), self._session.state.info)

    def options_to_continue(self, answer: Turn) -> AnswerOptions:
        """Return the options for the rest of an answer; one that began without a grammar continues without one."""
        options = self.answer_options
        return options if "format" in answer.figures else replace(options, grammar=None)

    def fills_context(self, answer: Turn) -> bool:
        """Return whether an answer ended where the context does, and nothing may be left out to make room."""
        info, figures = self._session.state.info, answer.figures
        used = figures.get("prompt", 0) + figures.get("tokens", 0)
        return info is not None and used >= info.context_length and not self._draft.trims

    def read_messages(self, turns: Sequence[Turn], then: Callable[[tuple[engine.Message, ...]], None]) -> None:
        """Call `then` with the messages for a model that answers these turns, as soon as their images are read."""
        self._read(to_conversation(turns), then)

    def read_with_draft(self, turns: Sequence[Turn], then: Callable[[tuple[engine.Message, ...]], None]) -> None:
        """Call `then` with the messages as they would be if the draft were sent after these turns, or with none."""
        conversation, content = to_conversation(turns), with_attachments(self._draft.text, self._draft.attachments)
        if not isinstance(content, str) or content.strip():
            conversation = conversation.with_message(Message("user", content))
        if conversation.messages:
            self._read(conversation, then)
        else:
            then(())

    def _read(self, conversation: Conversation, then: Callable[[tuple[engine.Message, ...]], None]) -> None:
        system = self._system
        wanted = pictures_in(conversation) if self._session.state.sees else ()
        self._images.load(wanted, lambda images: then(build_messages(conversation, system, images)))

    def build(
        self, request_id: str, messages: tuple[engine.Message, ...], answer_options: AnswerOptions
    ) -> GenerateRequest:
        """Return the request for an answer.

        Args:
            request_id: The id of the request, which its events will carry.
            messages: The messages to answer.
            answer_options: The options of the answer.
        """
        record, trims = self._session.state.record, self._draft.trims
        compared = tuple(map(_without_images, messages))
        settings = self._session.settings
        self.reuse.begin(PromptState(record.digest if record else "", compared, trims, answer_options.think))
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
