"""Reads answers that are a text with thoughts and calls of tools in it.

A tag counts where a model would put it: outside of code, and for thoughts at the beginning of a line. What is not the
complete call of a tool is text, and of a text in which nothing is marked nothing is lost. White space next to tags
belongs to the tags.

Some templates open the thought at the end of the prompt, so that the answer has the closing tag alone: where that is
known, the answer begins inside the thought; where it is not, what was taken for text becomes a thought when its end is
seen.
"""

import re

from sotto.engine.contract.answer_parts import CutCall, Kind
from sotto.engine.parsing.broken_off import broken_off
from sotto.engine.parsing.calls import Tools
from sotto.engine.parsing.families import Calls, Family, Thoughts
from sotto.engine.parsing.lines import Lines
from sotto.engine.parsing.output import Output
from sotto.engine.parsing.source import NotACallError, Reading, Source, overlap

# So often may something look like a call and be none. Each time may mean a look at all of a text.
_MOST_FAILURES = 16
# Which part of a mark shows that it is one, as a divisor: `<` may be anything, `<too` begins `<tool_call>`.
_LEAST_OF_A_MARK = 3


class TaggedReader:
    """Reads one answer."""

    def __init__(
        self,
        family: Family,
        tools: Tools,
        source: Source,
        out: Output,
        opened: Thoughts | None = None,
        *,
        begun: bool = False,
    ) -> None:
        """Begin with an answer; see `Parser` for what it is given."""
        self._family, self._tools = family, tools
        self._source, self._out = source, out
        self._opened, self._begun = opened, begun
        self._lines = Lines()
        self._thought: Thoughts | None = None
        self._failures = 0
        self._plain = opened is None and not begun  # nothing but text so far
        self._marks = _marks_of(family)
        self._pattern = re.compile("|".join(map(re.escape, self._marks)) or "(?!)")

    @property
    def thought_end(self) -> str:
        """What the model would have to write to end the thought that it is in; empty where it is in none."""
        return self._thought.end if self._thought is not None else ""

    def read(self) -> Reading[None]:
        """Read the answer."""
        if self._opened is not None:
            yield from self._read_thought(self._opened, by_prompt=True, begins=not self._begun)
        while (mark := (yield from self._read_text())) is not None:
            if isinstance(mark, Calls):
                yield from self._read_calls(mark)
            else:
                yield from self._read_thought(mark)
        self._out.end()

    def _read_text(self) -> Reading[Thoughts | Calls | None]:
        """Pass on text up to something that is marked, and return how; None at the end of the answer."""
        source = self._source
        while True:
            found = self._pattern.search(source.text, source.at)
            if found is None:
                held = 0 if source.ended and not source.cut else overlap(source.text[source.at :], self._marks)
                self._pass(len(source.text) - held)
                if source.ended:
                    self._pass_beginning()
                    return None
                source.forget()
                yield
                continue
            self._pass(found.start())
            text = found[0]
            mark = self._begun_by(text)
            if mark is not None and self._counts(mark):
                source.at += len(text)
                self._plain = False
                return mark
            if text in self._family.dropped or (yield from self._ends_thought(text)):
                source.at += len(text)
                yield from source.blanks()
            else:
                # Another mark may begin within this one.
                self._pass(source.at + 1)

    def _pass_beginning(self) -> None:
        """Pass on what an answer that was cut short ends with, unless it is too much of a mark for a text."""
        tail = self._source.text[self._source.at :]
        most = max((len(way.opens) for way in self._family.calls if way.opens.startswith(tail)), default=0)
        if self._tools and _LEAST_OF_A_MARK * len(tail) > most > 0:
            self._out.begin_calls()
            self._out.break_off((), CutCall(), tail)
        elif not any(mark in tail for mark in self._family.marks):
            self._pass(len(self._source.text))

    def _pass(self, end: int) -> None:
        """Pass on text up to a place in the source."""
        text = self._source.text[self._source.at : end]
        self._source.at += len(text)
        self._lines.take(text)
        self._out.say(Kind.TEXT, text)

    def _begun_by(self, text: str) -> Thoughts | Calls | None:
        ways: tuple[Thoughts | Calls, ...] = (*self._family.calls, *self._family.thoughts)
        return next((way for way in ways if way.opens == text), None)

    def _counts(self, mark: Thoughts | Calls) -> bool:
        """Return whether a tag at this place is one."""
        if isinstance(mark, Thoughts):
            return self._lines.blank and not self._lines.fence
        if mark.first:
            return bool(self._tools) and not self._out.begun
        return self._failures < _MOST_FAILURES and (mark.anywhere or not self._lines.fence)

    def _ends_thought(self, text: str) -> Reading[bool]:
        """Return whether all text so far is a thought that ends here: its end mark is alone, or closes a line."""
        closers = [pair.closes for pair in self._family.thoughts]
        if not self._plain or self._lines.fence or text not in closers:
            return False
        if not self._lines.blank:
            following = yield from self._behind(len(text))
            if following not in ("\n", ""):
                return False
        self._plain = False
        self._out.end_thought(turned=True)
        self._lines.begin()
        return True

    def _behind(self, length: int) -> Reading[str]:
        """Return the first character behind so many that is no blank on the same line; nothing at the end."""
        source, place = self._source, self._source.at + length
        while True:
            following = source.text[place : place + 1]
            if following and (following == "\n" or not following.isspace()):
                return following
            if following:
                place += 1
            elif source.ended:
                return ""
            else:
                yield

    def _read_thought(self, pair: Thoughts, *, by_prompt: bool = False, begins: bool = True) -> Reading[None]:
        source, self._thought = self._source, pair
        if begins:
            self._out.begin_thought()
            yield from source.blanks()
            # A model may write once more the tag that the prompt ends with.
            if by_prompt and (yield from source.accept(pair.opens)):
                yield from source.blanks()
        while True:
            end = source.text.find(pair.closes, source.at)
            held = 0 if end >= 0 or source.ended else overlap(source.text[source.at :], (pair.closes,))
            text = source.text[source.at : end if end >= 0 else len(source.text) - held]
            source.at += len(text)
            self._out.say(Kind.THOUGHT, text)
            if end >= 0:
                break
            if source.ended:
                return
            source.forget()
            yield
        source.at += len(pair.closes)
        self._out.end_thought()
        self._thought = None
        self._lines.begin()
        yield from source.blanks()

    def _read_calls(self, way: Calls) -> Reading[None]:
        source = self._source
        behind = source.at
        self._out.begin_calls()
        source.begin_calls()
        try:
            calls = yield from way.read(source, self._tools)
        except NotACallError:
            if self._broke_off(way, behind - len(way.opens)):
                return
            self._failures += 1
            self._out.end_calls(())
            source.at = behind - len(way.opens)
            self._pass(behind)
            return
        self._out.end_calls(calls)
        self._lines.begin()
        yield from source.blanks()

    def _broke_off(self, way: Calls, begin: int) -> bool:
        """Tell that the answer was cut short in calls that begin in a place, if that is why they cannot be read."""
        if not (self._source.cut and self._source.dry and self._tools):
            return False
        calls, cut = broken_off(self._source)
        if way.first and cut is not None and cut.name not in self._tools:
            return False
        self._out.break_off(calls, cut, self._source.text[begin:])
        self._source.at = len(self._source.text)
        return True


def _marks_of(family: Family) -> tuple[str, ...]:
    """Return all texts that may mark something in a text."""
    ways: tuple[Thoughts | Calls, ...] = (*family.calls, *family.thoughts)
    return tuple(sorted({*(way.opens for way in ways), *(pair.closes for pair in family.thoughts), *family.dropped}))
