"""Turns what a person typed into Markdown that shows it as it was typed: each line break stays one.

The lines of a paragraph are joined as in `line_breaks`, whatever they end with. Nothing that was typed may disappear,
so pictures and definitions of links are shown as their source. Fenced code stays as it is. A long text is converted
piece by piece, so that its beginning can be shown at once.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from sotto.ui.markdown.line_breaks import JOIN, LINE_BREAK, convert_paragraphs

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

# Pieces end at the first empty line after so many characters, and within a line after twice as many.
_PIECE = 1000
_LONGEST = 2 * _PIECE
_FENCE = re.compile(r"[ \t>]*(?:(?:[-+*]|\d{1,9}[.)])[ \t]+)*(`{3,}|~{3,})([^\n]*)")
_DEFINITION = re.compile(rf"(?m)(^|{LINE_BREAK} )\[(?=[^\]\n]*\]:)")
# The lines of a formula that stands alone belong together.
_FORMULA = re.compile(r"\$\$|\\\[|\\begin\{")


@lru_cache(maxsize=1)
def _parser() -> "MarkdownIt":
    # Imported late: the window's first paint needs none of it.
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).disable(["inline", "text_join", "reference"]).enable("table")


def markdown_pieces(text: str) -> Iterator[tuple[str, int]]:
    """Yield the Markdown of a typed text in pieces that follow each other, each with its end in the text."""
    run: list[str] = []
    size = at = 0
    closing: re.Pattern[str] | None = None
    for line in _lines(text):
        at += len(line)
        ends = line.endswith("\n")
        if closing is None and (opening := _opening(line)) is not None:
            if run:
                yield _keep_lines("".join(run)), at - len(line)
                run, size = [], 0
            closing = re.compile(rf"[ \t>]*{re.escape(opening[0])}{{{len(opening)},}}[ \t]*\n?")
            yield line, at
        elif closing is not None:
            run.append(line)
            size += len(line)
            if closing.fullmatch(line):
                closing = None
            if closing is None or size > _PIECE:
                yield "".join(run), at
                run, size = [], 0
        else:
            run.append(line)
            size += len(line)
            if size > _LONGEST or (size > _PIECE and not line.strip()):
                # A paragraph that is too long ends here, even within a line.
                yield _keep_lines("".join(run)) + ("\n" if ends else "\n\n"), at
                run, size = [], 0
    if run:
        yield "".join(run) if closing is not None else _keep_lines("".join(run)), at


def _lines(text: str) -> Iterator[str]:
    """Yield the lines of a text with their ends, the longest ones in parts."""
    start = 0
    while start < len(text):
        end = text.find("\n", start, start + _LONGEST)
        end = end + 1 if end >= 0 else min(len(text), start + _LONGEST)
        yield text[start:end]
        start = end


def _opening(line: str) -> str | None:
    """Return the marks that open a fence in a line; None for none."""
    match = _FENCE.match(line)
    return None if match is None or (match[1][0] == "`" and "`" in match[2]) else match[1]


def _keep_lines(text: str) -> str:
    """Return Markdown without fences with the line breaks in its paragraphs kept."""
    return convert_paragraphs(text, _parser(), _kept)


def _kept(lines: list[str], paragraph: "Token") -> list[str]:
    """Return the lines of a paragraph as one line, if they can be."""
    content = [line.rstrip() for line in paragraph.content.split("\n")]
    prefix, found, _ = lines[0].partition(content[0])
    if not found or len(content) != len(lines) or _FORMULA.search(paragraph.content):
        return lines
    whole = _DEFINITION.sub(r"\1\\[", JOIN.join(content))
    if "`" not in whole:
        whole = whole.replace("![", "!\\[")
    return [prefix + whole]
