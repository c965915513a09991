"""Answers that are a list of messages: a head, which says what a message is, its text, and a mark that ends it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sotto.engine.contract.answer_parts import CutCall, Kind, ToolCall
from sotto.engine.parsing.broken_off import broken_off
from sotto.engine.parsing.calls import Tools
from sotto.engine.parsing.output import Output
from sotto.engine.parsing.source import CutOffError, NotACallError, Reading, Source, overlap

_LONGEST_HEAD = 256


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a model writes messages.

    Attributes:
        opening: What each of its messages begins with; the prompt ends with it.
        thought: The head, behind that, of a message that is a thought.
        final: The head of the answer itself.
        heads: What a head may begin with.
        bodies: What a head ends with.
        stops: What ends a message; the first of them does where another follows.
        starts: What a message that was never ended is followed by.
        marks: Other texts of it that are special tokens.
        thinks: Tells by a head whether a message is a thought.
        calls: Tells by a head whether a message is to call tools.
        read_calls: Returns the calls that such a message is, by its head and text; NotACallError where it is none.
    """

    opening: str
    thought: str
    final: str
    heads: tuple[str, ...]
    bodies: tuple[str, ...]
    stops: tuple[str, ...]
    starts: tuple[str, ...]
    thinks: Callable[[str], bool]
    calls: Callable[[str], bool]
    read_calls: Callable[[str, str, Tools], Sequence[ToolCall]]
    marks: tuple[str, ...] = ()

    @property
    def closing(self) -> str:
        """What is written to end a thought and begin the answer."""
        return f"{self.stops[0]}{self.opening}{self.final}"

    @property
    def ends(self) -> tuple[str, ...]:
        """What shows that a message ends."""
        return (*self.stops, *self.starts)


class MessageReader:
    """Reads one answer.

    Attributes:
        thought_end: What the model would have to write to end the thought that it is in; empty where it is in none.
    """

    def __init__(
        self, dialect: Dialect, tools: Tools, source: Source, out: Output, head: str = "", *, begun: bool = False
    ) -> None:
        """Begin with an answer.

        Args:
            dialect: How it is written.
            tools: Parameters of the tools that the model was given, by name.
            source: What it is read from.
            out: Takes what is told apart.
            head: That of the message which the prompt ends inside of; empty for none.
            begun: Whether some of this message is there already.
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
        """Return what stands in front of a message's text, which may be nothing."""
        source = self._source
        for beginning in self._dialect.heads:
            if (yield from source.starts_with(beginning)):
                break
        else:
            return ""
        begin = source.at
        most = begin + _LONGEST_HEAD
        while not (end := self._head_end(begin, most)) and len(source.text) < most and not source.ended:
            yield
        head = source.text[begin:]
        if not end and source.cut and len(head) < _LONGEST_HEAD and (beginning[0] == "<" or " " not in head.strip()):
            # The answer was cut short in it.
            source.at = len(source.text)
            if self._tools and self._dialect.calls(head):
                self._out.begin_calls()
                self._out.break_off((), CutCall(), head)
            return ""
        if not end:
            # No message after all: the mark is text, and so is what follows it.
            self._out.say(Kind.TEXT, beginning)
            source.at += len(beginning)
            return ""
        source.at = end
        return source.text[begin:end]

    def _head_end(self, begin: int, most: int) -> int:
        """Return where a head ends; 0 for not yet."""
        text = self._source.text
        ends = [place + len(mark) for mark in self._dialect.bodies if (place := text.find(mark, begin, most)) >= 0]
        return min(ends, default=0)

    def _read_body(self, head: str, *, begins: bool = True) -> Reading[None]:
        if self._dialect.calls(head):
            yield from self._read_call(head)
        elif self._dialect.thinks(head):
            if begins:
                self._out.begin_thought()
            self.thought_end = self._dialect.closing
            if (yield from self._pass(Kind.THOUGHT)):
                self._out.end_thought()
            self.thought_end = ""
        else:
            if head and begins:
                self._out.space()
            yield from self._pass(Kind.TEXT)

    def _read_call(self, head: str) -> Reading[None]:
        self._out.begin_calls()
        source, begin = self._source, self._source.at
        while (place := self._end(begin))[0] < 0 and not source.ended:
            yield
        body = source.text[begin : place[0]] if place[0] >= 0 else source.text[begin:]
        source.at = begin + len(body) + place[1]
        if place[0] < 0 and source.cut:
            # What ends it may have begun.
            body = body[: len(body) - overlap(body, self._dialect.ends)]
        try:
            self._out.end_calls(self._dialect.read_calls(head, body, self._tools))
        except NotACallError as error:
            if source.cut and place[0] < 0 and self._tools and isinstance(error, CutOffError):
                self._out.break_off(*broken_off(error.source), f"{head}{body}")
                return
            self._out.end_calls(())
            self._out.space()
            self._out.say(Kind.TEXT, f"{head}{body}")

    def _pass(self, kind: Kind) -> Reading[bool]:
        """Pass on the text of a message; tell whether it is complete."""
        source = self._source
        while True:
            place, length = self._end(source.at)
            stop = (
                place
                if place >= 0
                else len(source.text) - (0 if source.ended else overlap(source.text[source.at :], self._dialect.ends))
            )
            self._out.say(kind, source.text[source.at : stop])
            source.at = stop + length
            if place >= 0:
                return True
            if source.ended:
                return False
            source.forget()
            yield

    def _end(self, begin: int) -> tuple[int, int]:
        """Return where a message ends, -1 for not yet, and how long that is which ends it and no other begins with."""
        places = [(place, end) for end in self._dialect.ends if (place := self._source.text.find(end, begin)) >= 0]
        place, end = min(places, default=(-1, ""))
        return place, len(end) if end in self._dialect.stops else 0
