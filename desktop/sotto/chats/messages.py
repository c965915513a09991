"""A conversation as a value: who said what, in order."""

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Message:
    """One turn.

    Attributes:
        role: `user` or `assistant`.
        content: What was said, as Markdown when a model said it.
        model: Name of the model that answered; empty for what a person wrote.
    """

    role: str
    content: str
    model: str = ""


@dataclass(frozen=True, slots=True)
class Conversation:
    """Turns, oldest first. Changing it makes a new one."""

    messages: tuple[Message, ...] = ()

    def with_message(self, message: Message) -> "Conversation":
        """Return this conversation with one more turn."""
        return replace(self, messages=(*self.messages, message))

    def to_answer(self) -> tuple[Message, ...]:
        """Return the turns that a model should see to answer the newest one.

        A question that never got an answer, because it was stopped early, is left out: most chat templates insist
        that user and assistant take turns.
        """
        newest = len(self.messages) - 1
        return tuple(
            message
            for index, message in enumerate(self.messages)
            if index == newest or message.role != "user" or self.messages[index + 1].role != "user"
        )
