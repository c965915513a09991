"""A conversation as a value: its messages in order."""

from dataclasses import dataclass, replace

from sotto.chats.chat_records import Content


@dataclass(frozen=True, slots=True)
class Message:
    """One turn.

    Attributes:
        role: `user` or `assistant`.
        content: What it says; Markdown in answers.
        model: Name of the model that answered; empty in questions.
    """

    role: str
    content: Content
    model: str = ""


@dataclass(frozen=True, slots=True)
class Conversation:
    """Turns, oldest first; immutable."""

    messages: tuple[Message, ...] = ()

    def with_message(self, message: Message) -> "Conversation":
        """Return this conversation with one more turn."""
        return replace(self, messages=(*self.messages, message))

    def to_answer(self) -> tuple[Message, ...]:
        """Return the turns that a model should see to answer the newest one.

        A question without an answer, because it was stopped early, is left out, as most chat templates require user and
        assistant to alternate.
        """
        newest = len(self.messages) - 1
        return tuple(
            message
            for index, message in enumerate(self.messages)
            if index == newest or message.role != "user" or self.messages[index + 1].role != "user"
        )
