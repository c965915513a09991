"""Formats JSON for reading while it streams, however it was written."""

import json
import re

FENCE = "```json\n"
"""The fence before JSON in Markdown. No line of JSON can look like a fence, because its strings begin with a quote."""
_OPENING, _CLOSING = "{[", "}]"
_WHITESPACE = " \t\r\n"


def fence_code(code: str, language: str = "json") -> str:
    """Return a Markdown code block whose fences are longer than any in the code."""
    longest = max((len(run) for run in re.findall(r"`+", code)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{code}\n{fence}"


def format_json(value: object) -> str:
    """Return a value as indented JSON."""
    return json.dumps(value, indent=2, ensure_ascii=False)


class JsonLayout:
    """Puts each member on its own line. Only whitespace between tokens changes, so invalid JSON keeps its text, too.

    The output does not depend on how the text is divided into pieces.
    """

    def __init__(self) -> None:
        """Wait for the beginning of a text."""
        self._depth = 0
        self._in_string = self._escaped = False
        # Whether an object or array has just been opened, which may turn out to be empty.
        self._opened = False
        # Whether whitespace was seen, and whether it separates two tokens that nothing else separates.
        self._saw_blank = self._keeps_blank = False

    def feed(self, text: str) -> str:
        """Return the next piece of the text, formatted."""
        return "".join(map(self._format, text))

    def _format(self, letter: str) -> str:
        if self._in_string:
            self._in_string = self._escaped or letter != '"'
            self._escaped = letter == "\\" and not self._escaped
            return letter
        if letter in _WHITESPACE:
            self._saw_blank = True
            return ""
        parted = self._saw_blank and self._keeps_blank
        self._saw_blank, self._keeps_blank = False, letter not in "{[,:"
        if letter in _CLOSING:
            empty, self._opened = self._opened, False
            line = self._new_line(-1)
            return letter if empty else line + letter
        before = self._new_line(0) if self._opened else ""
        self._opened = letter in _OPENING
        if self._opened:
            self._depth += 1
        self._in_string = letter == '"'
        if letter in ",:":
            return before + letter + (self._new_line(0) if letter == "," else " ")
        return f"{before} {letter}" if parted else before + letter

    def _new_line(self, deeper: int) -> str:
        """Begin a new line, indented by `deeper` more levels."""
        self._depth = max(0, self._depth + deeper)
        return "\n" + "  " * self._depth
