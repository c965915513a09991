"""The lexer of Go templates: splits them into text and the words of actions."""

import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass

from sotto.engine.prompt.go_template.nodes import GoTemplateError

_SPACES = " \t\r\n"
_OPEN, _CLOSE = "{{", "}}"
# Go's words: https://pkg.go.dev/text/template/parse. A sign belongs to the number after it.
_WORD = re.compile(
    r"""
      (?P<space>[ \t\r\n]+(?:-(?=\}\}))?)
    | (?P<close>\}\})
    | (?P<number>[+-]?(?:0[xX][0-9a-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+
        |(?:\d[\d_]*(?:\.[\d_]*)?|\.\d[\d_]*)(?:[eE][+-]?\d+)?))
    | (?P<field>\.[^\W\d]\w*)
    | (?P<variable>\$\w*)
    | (?P<name>[^\W\d]\w*)
    | (?P<string>"(?:\\.|[^"\\\n])*"|`[^`]*`)
    | (?P<character>'(?:\\.|[^'\\\n])*')
    | (?P<mark>:=|[=|,().])
    """,
    re.VERBOSE,
)
# What may follow a number, field, variable or name.
_ENDS = frozenset(" \t\r\n.,|:()}")
_ENDED = frozenset({"number", "field", "variable", "name"})
_COMMENT_END = re.compile(r"\*/(?:\}\}|[ \t\r\n]+-\}\})")


@dataclass(frozen=True, slots=True)
class Word:
    """A token of a template.

    Attributes:
        kind: `text`, `open`, `close`, `space`, `number`, `field`, `variable`, `name`, `string`, `character`, a
            punctuation mark like `|` itself, or `end` for the end of the template.
        text: Its source text.
        line: The line where it begins, counted from 1.
    """

    kind: str
    text: str
    line: int


def words(source: str) -> Iterator[Word]:
    """Yield the words of a template, with white space trimmed as `{{-` and `-}}` ask.

    Raises:
        GoTemplateError: There is an unexpected character, or an action or comment has no end.
    """
    place, line, trims = 0, 1, False
    while True:
        begin = source.find(_OPEN, place)
        text = source[place:] if begin < 0 else source[place:begin]
        started = line
        line += text.count("\n")
        shown = text.lstrip(_SPACES) if trims else text
        inside = begin + len(_OPEN)
        if begin >= 0 and source[inside : inside + 1] == "-" and source[inside + 1 : inside + 2] in (*_SPACES,):
            shown = shown.rstrip(_SPACES)
            line += source[inside : inside + 2].count("\n")
            inside += 2
        if shown:
            yield Word("text", shown, started)
        if begin < 0:
            yield Word("end", "", line)
            return
        if source.startswith("/*", inside):
            place, trims = _comment_end(source, inside, line)
            line += source.count("\n", inside, place)
        else:
            yield Word("open", _OPEN, line)
            place, line, trims = yield from _action(source, inside, line)


def _comment_end(source: str, place: int, line: int) -> tuple[int, bool]:
    """Return where the action of the comment at `place` ends, and whether white space after it is trimmed."""
    end = source.find("*/", place + 2)
    if end < 0:
        raise GoTemplateError(line, "a comment has no end, which would be */")
    match = _COMMENT_END.match(source, end)
    if match is None:
        raise GoTemplateError(line, "a comment is not alone between {{ and }}")
    return match.end(), "-" in match[0]


def _action(source: str, place: int, line: int) -> Generator[Word, None, tuple[int, int, bool]]:
    """Yield the words of an action; return the place and line of its end, and whether white space after is trimmed."""
    trims = False
    while True:
        match = _WORD.match(source, place)
        if match is None:
            rest = source[place : place + 1]
            raise GoTemplateError(line, f"{rest!r} has no place in an action" if rest else "an action has no }}")
        kind, text = match.lastgroup or "", match[0]
        place = match.end()
        if kind == "close":
            yield Word(kind, text, line)
            return place, line, trims
        if kind in _ENDED and source[place : place + 1] not in _ENDS and place < len(source):
            raise GoTemplateError(line, f"{source[place]!r} cannot follow {text[:40]}")
        yield Word(text if kind == "mark" else kind, text, line)
        trims = kind == "space" and text.endswith("-")
        line += text.count("\n")
