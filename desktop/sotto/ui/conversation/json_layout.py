"""JSON laid out for people, however it was written, while it comes."""

import json
import re

FENCE = "```json\n"
"""What JSON stands behind in Markdown. A line of it begins with no such thing: texts begin with a quote."""
_OPENS, _CLOSES = "{[", "}]"
_BLANKS = " \t\r\n"


def fenced(code: str, language: str = "json") -> str:
    """Return code in Markdown, between fences that nothing in it closes."""
    longest = max((len(run) for run in re.findall(r"`+", code)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{code}\n{fence}"


def shown_json(value: object) -> str:
    """Return a value as JSON, laid out for people."""
    return json.dumps(value, indent=2, ensure_ascii=False)


class JsonLayout:
    """Puts each member on a line of its own. Nothing but the blanks between parts changes, and nothing has to be JSON.

    What comes out does not depend on where the text is cut.
    """

    def __init__(self) -> None:
        """Wait for the beginning of a text."""
        self._depth = 0
        self._in_text = self._escaped = False
        # Whether an object or a list has just begun: it may be empty.
        self._begun = False
        # Whether there were blanks, and whether they part two things that nothing else parts.
        self._blank = self._parts = False

    def feed(self, text: str) -> str:
        """Take more of it, and return that as it is laid out."""
        return "".join(map(self._laid_out, text))

    def _laid_out(self, letter: str) -> str:
        if self._in_text:
            self._in_text = self._escaped or letter != '"'
            self._escaped = letter == "\\" and not self._escaped
            return letter
        if letter in _BLANKS:
            self._blank = True
            return ""
        parted = self._blank and self._parts
        self._blank, self._parts = False, letter not in "{[,:"
        if letter in _CLOSES:
            empty, self._begun = self._begun, False
            line = self._line(-1)
            return letter if empty else line + letter
        before = self._line(0) if self._begun else ""
        self._begun = letter in _OPENS
        if self._begun:
            self._depth += 1
        self._in_text = letter == '"'
        if letter in ",:":
            return before + letter + (self._line(0) if letter == "," else " ")
        return f"{before} {letter}" if parted else before + letter

    def _line(self, deeper: int) -> str:
        """Begin another line, farther in or out."""
        self._depth = max(0, self._depth + deeper)
        return "\n" + "  " * self._depth
