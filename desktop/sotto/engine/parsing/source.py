"""A source of text that arrives in chunks, for readers that are written as if all of it were there.

Readers are generators that yield where they need more text to continue. So results cannot depend on how the text is
split: a reader decides only when it has the text that it needs, or knows that the text has ended.
"""

import json
import re
from collections.abc import Callable, Collection, Generator
from typing import Any, NoReturn, TypeVar

from sotto.engine.contract.answer_parts import ToolCall

_T = TypeVar("_T")
Reading = Generator[None, None, _T]

_IN_STRING = re.compile(r'["\\]')
_OUTSIDE = re.compile(r'["\[\]{}]')


class NotACallError(Exception):
    """A text that looked like a tool call is not one."""


class CutOffError(NotACallError):
    """The text ends within a call.

    Attributes:
        source: The source, which has the state of the calls.
    """

    def __init__(self, source: "Source") -> None:
        """Take the source that has ended."""
        super().__init__()
        self.source = source


class Source:
    """The text of an answer so far, and the state of the calls that are being read.

    Attributes:
        text: The text from which readers may still read.
        at: How many characters of `text` have been read.
        ended: Whether no more text will come.
        cut: Whether that is because the answer was cut short.
        calls: The complete calls.
        name: The tool's name of the next call; empty where not known yet.
        arguments: The arguments of the next call that have been read.
        value: The unfinished JSON object or list within which the text ends; empty where it ends outside of JSON.
        dry: Whether a reader needed more text of the calls after the end.
    """

    def __init__(self) -> None:
        """Begin without text."""
        self.text = ""
        self.at = 0
        self.ended = self.cut = False
        self.begin_calls()

    def add(self, text: str) -> None:
        """Add more text."""
        self.text += text

    def forget(self) -> None:
        """Drop the text that has been read, to which no reader will return."""
        if self.at:
            self.text, self.at = self.text[self.at :], 0

    # The state of calls, from which `cut_calls` recovers those of an answer that was cut short.

    def begin_calls(self) -> list[ToolCall]:
        """Begin to read calls, and return the list that collects them."""
        self.calls: list[ToolCall] = []
        self.begin_call("")
        return self.calls

    def begin_call(self, name: str) -> dict[str, Any]:
        """Begin to read a call, and return the dictionary that collects its arguments."""
        self.name, self.arguments, self.value, self.dry = name, dict[str, Any](), "", False
        return self.arguments

    def add_calls(self, *calls: ToolCall) -> None:
        """Add complete calls."""
        self.calls += calls
        self.begin_call("")

    # Readers. Those that require something raise NotACallError where something else comes.

    def more(self) -> Reading[None]:
        """Wait for more text."""
        if self.ended:
            self.dry = True
            raise NotACallError
        yield

    def starts_with(self, text: str) -> Reading[bool]:
        """Return whether `text` comes next, without reading it."""
        while len(self.text) - self.at < len(text) and text.startswith(self.text[self.at :]) and not self.ended:
            yield
        rest = self.text[self.at : self.at + len(text)]
        self.dry = self.dry or (len(rest) < len(text) and text.startswith(rest))
        return rest == text

    def accept(self, text: str) -> Reading[bool]:
        """Read `text` if it comes next, and return whether it did."""
        found = yield from self.starts_with(text)
        self.at += len(text) if found else 0
        return found

    def expect(self, text: str) -> Reading[None]:
        """Read `text`, which must come next."""
        if not (yield from self.accept(text)):
            raise NotACallError

    def next(self) -> Reading[str]:
        """Return the next character without reading it; empty at the end."""
        while self.at == len(self.text) and not self.ended:
            yield
        self.dry = self.dry or self.at == len(self.text)
        return self.text[self.at : self.at + 1]

    def skip_space(self) -> Reading[None]:
        """Read white space, if there is any."""
        while (char := (yield from self.next())) and char.isspace():
            self.at += 1

    def while_in(self, pattern: re.Pattern[str]) -> Reading[str]:
        """Read at least one character, and as many as match `pattern`."""
        begin = self.at
        while (char := (yield from self.next())) and pattern.fullmatch(char):
            self.at += 1
        if self.at == begin:
            raise NotACallError
        return self.text[begin : self.at]

    def until(self, *ends: str) -> Reading[str]:
        """Read up to and past one of `ends`, none of which begins another; return the text before it."""
        begin = searched = self.at
        longest = max(map(len, ends))
        while True:
            places = [(place, end) for end in ends if (place := self.text.find(end, searched)) >= 0]
            if places:
                place, end = min(places)
                self.at = place + len(end)
                return self.text[begin:place]
            searched = max(begin, len(self.text) - longest + 1)
            yield from self.more()

    def json(self, *, texts: bool = False) -> Reading[Any]:
        """Read a JSON object or list and return it; with `texts`, a JSON string as well."""
        if (yield from self.next()) not in ("{", "[", *('"' if texts else ())):
            raise NotACallError
        begin = at = self.at
        depth, in_string = 0, False
        while True:
            found = (_IN_STRING if in_string else _OUTSIDE).search(self.text, at)
            if found is None:
                at = max(at, len(self.text))
                self.value = self.text[begin:] if self.ended else ""
                yield from self.more()
                continue
            at, char = found.end(), found[0]
            if char == "\\":
                at += 1  # the escaped character
            elif char == '"':
                in_string = not in_string
            else:
                depth += 1 if char in "{[" else -1
            if not (depth or in_string):
                break
        self.at = at
        return read_json(self.text[begin:at])


def read_whole(text: str, reader: Callable[[Source], Reading[_T]]) -> _T:
    """Return the result of a reader that must read all of a text.

    Raises:
        NotACallError: The reader fails, or leaves some of the text.
        CutOffError: The reader needs more text.
    """
    source = Source()
    source.add(text)
    source.ended = True
    reading = reader(source)
    while True:
        try:
            next(reading)
        except StopIteration as end:
            if text[source.at :].strip():
                raise NotACallError from None
            found: _T = end.value
            return found
        except NotACallError:
            if source.dry:
                raise CutOffError(source) from None
            raise


def overlap(text: str, marks: Collection[str]) -> int:
    """Return how many characters at the end of `text` may begin a mark."""
    longest = max(map(len, marks), default=1) - 1
    tail = text[max(0, len(text) - longest) :]
    return next((len(tail) - at for at in range(len(tail)) if any(mark.startswith(tail[at:]) for mark in marks)), 0)


def read_json(text: str) -> Any:
    """Return the value of a JSON text. Line breaks in strings, which models forget to escape, are accepted.

    Raises:
        NotACallError: It is not JSON.
    """
    try:
        return json.loads(text, strict=False, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise NotACallError from error


def _refuse(name: str) -> NoReturn:
    raise NotACallError(name)
