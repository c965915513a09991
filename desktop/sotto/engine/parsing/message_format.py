"""The reader of answers that are a list of messages, each with a head that says its kind, a text, and an end mark."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sotto.engine.contract.answer_parts import CutCall, Kind, ToolCall
from sotto.engine.parsing.calls import Tools
from sotto.engine.parsing.cut_calls import recover_calls
from sotto.engine.parsing.output import Output
from sotto.engine.parsing.source import CutOffError, NotACallError, Reading, Source, overlap

_MAX_HEAD_LENGTH = 256


@dataclass(frozen=True, slots=True)
class Dialect:
    """The syntax of a model's messages.

    Attributes:
        opening: The text with which each message begins, and the prompt ends.
        thought: The rest of the head of a thought.
        final: The rest of the head of the answer itself.
        heads: Texts with which a head may begin.
        bodies: Texts with which a head may end.
        stops: Marks that end a message, first the one that is used where another message follows.
        starts: Texts that also end a message, as they begin the next one.
        is_thought: Returns whether a head is that of a thought.
        is_call: Returns whether a head is that of a tool call.
        read_calls: Returns the calls of a message by its head, its text and the available tools; raises NotACallError
            where it has none.
        marks: Other texts of the syntax that are special tokens.
    """

    opening: str
    thought: str
    final: str
    heads: tuple[str, ...]
    bodies: tuple[str, ...]
    stops: tuple[str, ...]
    starts: tuple[str, ...]
    is_thought: Callable[[str], bool]
    is_call: Callable[[str], bool]
    read_calls: Callable[[str, str, Tools], Sequence[ToolCall]]
    marks: tuple[str, ...] = ()

    @property
    def closing(self) -> str:
        """The text that ends a thought and begins the answer."""
        return f"{self.stops[0]}{self.opening}{self.final}"

    @property
    def ends(self) -> tuple[str, ...]:
        """All texts that end a message."""
        return (*self.stops, *self.starts)


class MessageReader:
    """Reads one answer.

    Attributes:
        thought_end: The text by which the model would end the current thought; empty outside of thoughts.
    """

    def __init__(
        self, dialect: Dialect, tools: Tools, source: Source, out: Output, head: str = "", *, begun: bool = False
    ) -> None:
        """Begin with an answer.

        Args:
            dialect: The syntax of its messages.
            tools: JSON schemas of the available tools' parameters, by the tools' names.
            source: The text to read.
            out: Takes the pieces of the answer.
            head: The head of the message within which the prompt ends; empty where it ends before a head.
            begun: Whether the prompt has a part of this message's text.
        """
        self._dialect, self._tools = dialect, tools
        self._source, self._out, self._head, self._begun = source, out, head, begun
        self.thought_end = ""

    def read(self) -> Reading[None]:
        """Read the answer."""
        source = self._source
        if self._head:
            yield from self._read_body(self._head, begins=not self._begun)
        while (yield from source.next()):
            yield from self._read_body((yield from self._read_head()))
        self._out.end()

    def _read_head(self) -> Reading[str]:
        """Read the head of a message and return it; empty if there is none."""
        source = self._source
        for beginning in self._dialect.heads:
            if (yield from source.starts_with(beginning)):
                break
        else:
            return ""
        begin = source.at
        most = begin + _MAX_HEAD_LENGTH
        while not (end := self._head_end(begin, most)) and len(source.text) < most and not source.ended:
            yield
        head = source.text[begin:]
        if not end and source.cut and len(head) < _MAX_HEAD_LENGTH and (beginning[0] == "<" or " " not in head.strip()):
            # The answer was cut short in it.
            source.at = len(source.text)
            if self._tools and self._dialect.is_call(head):
                self._out.begin_calls()
                self._out.break_off((), CutCall(), head)
            return ""
        if not end:
            # Not a head after all: the mark is text, and so is what follows.
            self._out.add_text(Kind.TEXT, beginning)
            source.at += len(beginning)
            return ""
        source.at = end
        return source.text[begin:end]

    def _head_end(self, begin: int, most: int) -> int:
        """Return where a head ends; 0 if its end has not come yet."""
        text = self._source.text
        ends = [place + len(mark) for mark in self._dialect.bodies if (place := text.find(mark, begin, most)) >= 0]
        return min(ends, default=0)

    def _read_body(self, head: str, *, begins: bool = True) -> Reading[None]:
        if self._dialect.is_call(head):
            yield from self._read_call(head)
        elif self._dialect.is_thought(head):
            if begins:
                self._out.begin_thought()
            self.thought_end = self._dialect.closing
            if (yield from self._pass(Kind.THOUGHT)):
                self._out.end_thought()
            self.thought_end = ""
        else:
            if head and begins:
                self._out.add_separator()
            yield from self._pass(Kind.TEXT)

    def _read_call(self, head: str) -> Reading[None]:
        self._out.begin_calls()
        source, begin = self._source, self._source.at
        while (place := self._end(begin))[0] < 0 and not source.ended:
            yield
        body = source.text[begin : place[0]] if place[0] >= 0 else source.text[begin:]
        source.at = begin + len(body) + place[1]
        if place[0] < 0 and source.cut:
            # The end mark may have begun.
            body = body[: len(body) - overlap(body, self._dialect.ends)]
        try:
            self._out.end_calls(self._dialect.read_calls(head, body, self._tools))
        except NotACallError as error:
            if source.cut and place[0] < 0 and self._tools and isinstance(error, CutOffError):
                self._out.break_off(*recover_calls(error.source), f"{head}{body}")
                return
            self._out.end_calls(())
            self._out.add_separator()
            self._out.add_text(Kind.TEXT, f"{head}{body}")

    def _pass(self, kind: Kind) -> Reading[bool]:
        """Pass on the text of a message; return whether it is complete."""
        source = self._source
        while True:
            place, length = self._end(source.at)
            stop = (
                place
                if place >= 0
                else len(source.text) - (0 if source.ended else overlap(source.text[source.at :], self._dialect.ends))
            )
            self._out.add_text(kind, source.text[source.at : stop])
            source.at = stop + length
            if place >= 0:
                return True
            if source.ended:
                return False
            source.forget()
            yield

    def _end(self, begin: int) -> tuple[int, int]:
        """Return where a message ends, or -1, and the length of its end mark: 0 for a text that begins the next one."""
        places = [(place, end) for end in self._dialect.ends if (place := self._source.text.find(end, begin)) >= 0]
        place, end = min(places, default=(-1, ""))
        return place, len(end) if end in self._dialect.stops else 0
