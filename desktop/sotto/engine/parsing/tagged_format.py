"""The reader of answers that are text with thoughts and tool calls between tags.

A tag counts only where a model would put it: outside of code, and for thoughts at the beginning of a line. Anything
that is not a complete tool call stays text, and text without tags stays as it is. White space next to tags belongs to
the tags.

Some templates open the thought at the end of the prompt, so that the answer has only the closing tag. Where that is
known, the answer begins within the thought; otherwise the text so far becomes a thought when the closing tag comes.
"""

import re

from sotto.engine.contract.answer_parts import CutCall, Kind
from sotto.engine.parsing.calls import Tools
from sotto.engine.parsing.cut_calls import recover_calls
from sotto.engine.parsing.families import Calls, Family, Thoughts
from sotto.engine.parsing.lines import Lines
from sotto.engine.parsing.output import Output
from sotto.engine.parsing.source import NotACallError, Reading, Source, overlap

# How many texts may look like calls without being any. Each may make the reader go through the whole text.
_MAX_FAILURES = 16
# What part of a mark at the end of a cut answer counts as one, here more than a third: `<too` begins `<tool_call>`.
_MARK_DIVISOR = 3


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
        """Begin with an answer.

        Args:
            family: How the model marks thoughts and calls.
            tools: JSON schemas of the available tools' parameters, by the tools' names.
            source: The text to read.
            out: Takes the pieces of the answer.
            opened: The thought inside which the answer begins; None where it begins outside of thoughts.
            begun: Whether the prompt ends with the beginning of the answer.
        """
        self._family, self._tools = family, tools
        self._source, self._out = source, out
        self._opened, self._begun = opened, begun
        self._lines = Lines()
        self._thought: Thoughts | None = None
        self._failures = 0
        self._plain = opened is None and not begun  # only text so far
        self._marks = _marks_of(family)
        self._pattern = re.compile("|".join(map(re.escape, self._marks)) or "(?!)")

    @property
    def thought_end(self) -> str:
        """The text by which the model would end the current thought; empty outside of thoughts."""
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
        """Pass on text up to an opening tag, and return what it opens; None at the end of the answer."""
        source = self._source
        while True:
            found = self._pattern.search(source.text, source.at)
            if found is None:
                held = 0 if source.ended and not source.cut else overlap(source.text[source.at :], self._marks)
                self._pass(len(source.text) - held)
                if source.ended:
                    self._pass_tail()
                    return None
                source.forget()
                yield
                continue
            self._pass(found.start())
            text = found[0]
            mark = self._syntax_of(text)
            if mark is not None and self._counts(mark):
                source.at += len(text)
                self._plain = False
                return mark
            if text in self._family.dropped or (yield from self._ends_thought(text)):
                source.at += len(text)
                yield from source.skip_space()
            else:
                # Another mark may begin within this one.
                self._pass(source.at + 1)

    def _pass_tail(self) -> None:
        """Pass on the last characters of a cut answer, as an incomplete call if enough of its mark is there."""
        tail = self._source.text[self._source.at :]
        most = max((len(syntax.opens) for syntax in self._family.calls if syntax.opens.startswith(tail)), default=0)
        if self._tools and _MARK_DIVISOR * len(tail) > most > 0:
            self._out.begin_calls()
            self._out.break_off((), CutCall(), tail)
        elif not any(mark in tail for mark in self._family.marks):
            self._pass(len(self._source.text))

    def _pass(self, end: int) -> None:
        """Pass on text up to a place in the source."""
        text = self._source.text[self._source.at : end]
        self._source.at += len(text)
        self._lines.take(text)
        self._out.add_text(Kind.TEXT, text)

    def _syntax_of(self, text: str) -> Thoughts | Calls | None:
        syntaxes: tuple[Thoughts | Calls, ...] = (*self._family.calls, *self._family.thoughts)
        return next((syntax for syntax in syntaxes if syntax.opens == text), None)

    def _counts(self, mark: Thoughts | Calls) -> bool:
        """Return whether a tag counts at this place."""
        if isinstance(mark, Thoughts):
            return self._lines.blank and not self._lines.fence
        if mark.first:
            return bool(self._tools) and not self._out.begun
        return self._failures < _MAX_FAILURES and (mark.anywhere or not self._lines.fence)

    def _ends_thought(self, text: str) -> Reading[bool]:
        """Return whether a closing tag, alone on a line or at its end, makes all text so far a thought."""
        closers = [pair.closes for pair in self._family.thoughts]
        if not self._plain or self._lines.fence or text not in closers:
            return False
        if not self._lines.blank:
            following = yield from self._next_on_line(len(text))
            if following not in ("\n", ""):
                return False
        self._plain = False
        self._out.end_thought(turned=True)
        self._lines.begin()
        return True

    def _next_on_line(self, length: int) -> Reading[str]:
        """Return the next character on the line that is not white space, `length` ahead or later; empty at the end."""
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
            yield from source.skip_space()
            # A model may repeat the tag with which the prompt ends.
            if by_prompt and (yield from source.accept(pair.opens)):
                yield from source.skip_space()
        while True:
            end = source.text.find(pair.closes, source.at)
            held = 0 if end >= 0 or source.ended else overlap(source.text[source.at :], (pair.closes,))
            text = source.text[source.at : end if end >= 0 else len(source.text) - held]
            source.at += len(text)
            self._out.add_text(Kind.THOUGHT, text)
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
        yield from source.skip_space()

    def _read_calls(self, syntax: Calls) -> Reading[None]:
        source = self._source
        start = source.at
        self._out.begin_calls()
        source.begin_calls()
        try:
            calls = yield from syntax.read(source, self._tools)
        except NotACallError:
            if self._try_break_off(syntax, start - len(syntax.opens)):
                return
            self._failures += 1
            self._out.end_calls(())
            source.at = start - len(syntax.opens)
            self._pass(start)
            return
        self._out.end_calls(calls)
        self._lines.begin()
        yield from source.skip_space()

    def _try_break_off(self, syntax: Calls, begin: int) -> bool:
        """Output calls that begin at `begin` as cut short, if that is why reading failed; return whether it was."""
        if not (self._source.cut and self._source.dry and self._tools):
            return False
        calls, cut = recover_calls(self._source)
        if syntax.first and cut is not None and cut.name not in self._tools:
            return False
        self._out.break_off(calls, cut, self._source.text[begin:])
        self._source.at = len(self._source.text)
        return True


def _marks_of(family: Family) -> tuple[str, ...]:
    """Return all texts that may be marks."""
    syntaxes: tuple[Thoughts | Calls, ...] = (*family.calls, *family.thoughts)
    return tuple(
        sorted({*(syntax.opens for syntax in syntaxes), *(pair.closes for pair in family.thoughts), *family.dropped})
    )
