"""Text that comes in pieces, read as if it were all there.

What reads is a generator that yields where it cannot go on without more text. So nothing that is read can depend on
where the text was cut: a reader looks further only when it has what it needs, or knows that nothing more comes.
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
    """What looked like the call of a tool is none; it is text."""


class CutOffError(NotACallError):
    """The text ends where more of a call must come.

    Attributes:
        source: What was read, with how far its calls were.
    """

    def __init__(self, source: "Source") -> None:
        """Say where the text ends."""
        super().__init__()
        self.source = source


class Source:
    """The text of an answer as far as it has come.

    Attributes:
        text: What has come and may still be looked at.
        at: How much of `text` has been read.
        ended: Whether nothing more comes.
        cut: Whether that is because the answer was cut short.
        calls: The calls that have been read of those that are being read.
        name: What the one behind them is called, where that is known.
        arguments: What has been read of its arguments.
        value: The JSON object or list that the text ends in; empty where it ends in none.
        dry: Whether more of the calls was looked for at the end of the text.
    """

    def __init__(self) -> None:
        """Begin with nothing."""
        self.text = ""
        self.at = 0
        self.ended = self.cut = False
        self.begin_calls()

    def add(self, text: str) -> None:
        """Take more."""
        self.text += text

    def forget(self) -> None:
        """Drop what has been read; nobody goes back to it."""
        if self.at:
            self.text, self.at = self.text[self.at :], 0

    # Calls, so that it is known how far they were where they end too early.

    def begin_calls(self) -> list[ToolCall]:
        """Begin to read calls, and return where they are kept."""
        self.calls: list[ToolCall] = []
        self.calling("")
        return self.calls

    def calling(self, name: str) -> dict[str, Any]:
        """Begin with the arguments of a call, and return where they are kept."""
        self.name, self.arguments, self.value, self.dry = name, dict[str, Any](), "", False
        return self.arguments

    def called(self, *calls: ToolCall) -> None:
        """Keep calls that are complete."""
        self.calls += calls
        self.calling("")

    # Reading. Each raises NotACallError where there is something else.

    def more(self) -> Reading[None]:
        """Wait for more text."""
        if self.ended:
            self.dry = True
            raise NotACallError
        yield

    def starts_with(self, text: str) -> Reading[bool]:
        """Return whether `text` comes next; it is not read."""
        while len(self.text) - self.at < len(text) and text.startswith(self.text[self.at :]) and not self.ended:
            yield
        rest = self.text[self.at : self.at + len(text)]
        self.dry = self.dry or (len(rest) < len(text) and text.startswith(rest))
        return rest == text

    def accept(self, text: str) -> Reading[bool]:
        """Read `text` if it comes next, and tell whether it did."""
        found = yield from self.starts_with(text)
        self.at += len(text) if found else 0
        return found

    def expect(self, text: str) -> Reading[None]:
        """Read `text`, which must come next."""
        if not (yield from self.accept(text)):
            raise NotACallError

    def next(self) -> Reading[str]:
        """Return the character that comes next, which is not read; nothing at the end."""
        while self.at == len(self.text) and not self.ended:
            yield
        self.dry = self.dry or self.at == len(self.text)
        return self.text[self.at : self.at + 1]

    def blanks(self) -> Reading[None]:
        """Read white space, if there is any."""
        while (char := (yield from self.next())) and char.isspace():
            self.at += 1

    def while_in(self, pattern: re.Pattern[str]) -> Reading[str]:
        """Read characters as long as each of them matches `pattern`, at least one."""
        begin = self.at
        while (char := (yield from self.next())) and pattern.fullmatch(char):
            self.at += 1
        if self.at == begin:
            raise NotACallError
        return self.text[begin : self.at]

    def until(self, *ends: str) -> Reading[str]:
        """Read up to one of `ends`, none of which begins another, and past it; return what stands in front of it."""
        begin = looked = self.at
        longest = max(map(len, ends))
        while True:
            places = [(place, end) for end in ends if (place := self.text.find(end, looked)) >= 0]
            if places:
                place, end = min(places)
                self.at = place + len(end)
                return self.text[begin:place]
            looked = max(begin, len(self.text) - longest + 1)
            yield from self.more()

    def json(self, *, texts: bool = False) -> Reading[Any]:
        """Read an object or a list in JSON and return it; a text as well where there may be `texts`."""
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
                at += 1  # whatever it is that is escaped
            elif char == '"':
                in_string = not in_string
            else:
                depth += 1 if char in "{[" else -1
            if not (depth or in_string):
                break
        self.at = at
        return read_json(self.text[begin:at])


def read_whole(text: str, reader: Callable[[Source], Reading[_T]]) -> _T:
    """Return what all of a text is read as.

    Raises:
        NotACallError: It is something else, or more.
        CutOffError: More must come.
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
    """Return how many characters at the end of `text` may be the beginning of a mark."""
    longest = max(map(len, marks), default=1) - 1
    tail = text[max(0, len(text) - longest) :]
    return next((len(tail) - at for at in range(len(tail)) if any(mark.startswith(tail[at:]) for mark in marks)), 0)


def read_json(text: str) -> Any:
    """Return what a text is in JSON. Line ends in strings, which models forget to escape, are taken as they are.

    Raises:
        NotACallError: It is no JSON.
    """
    try:
        return json.loads(text, strict=False, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise NotACallError from error


def _refuse(name: str) -> NoReturn:
    raise NotACallError(name)
