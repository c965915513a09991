"""Keeps the line breaks in the paragraphs of Markdown, as chat programs do: models write poems and lists with them.

Markdown joins the lines of a paragraph by a space. Here they are joined by Unicode's line separator, which Qt shows as
a line break. The spaces around it are for the reader of Markdown, to which the separator is a letter; afterwards they
are removed.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from PySide6.QtGui import QTextCursor, QTextDocument

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

LINE_BREAK = "\u2028"
JOIN = f" {LINE_BREAK} "
_BREAKS = ("softbreak", "hardbreak")
# What could become a link, or the definition of one, once it is on one line.
_LINK = re.compile(r"\A\s*\[[^\]]*\]:|\]\([^)]*\n")


@lru_cache(maxsize=1)
def _parser() -> "MarkdownIt":
    # Imported late: the window's first paint needs none of it.
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).disable("text_join").enable("table")


def join_lines(markdown: str) -> str:
    """Return Markdown in which the lines of each paragraph are one line with separators.

    Lines that end with a hard line break of Markdown, which Qt shows, stay as they are. So do paragraphs with a line
    that ends in code or in the address of a link.
    """
    return convert_paragraphs(markdown, _parser(), _joined) if "\n" in markdown.strip() else markdown


def convert_paragraphs(markdown: str, parser: "MarkdownIt", convert: Callable[[list[str], "Token"], list[str]]) -> str:
    """Return Markdown with the lines of each paragraph converted.

    Args:
        markdown: The Markdown.
        parser: Finds the paragraphs.
        convert: Given the lines of a paragraph and its content, without the marks of quotations and lists, returns
            lines to take their place.
    """
    lines = markdown.split("\n")
    result, done = [], 0
    for before, token in pairwise(parser.parse(markdown)):
        if before.type == "paragraph_open" and token.map is not None and token.map[0] >= done:
            first, last = token.map
            result += lines[done:first] + convert(lines[first:last], token)
            done = last
    return "\n".join(result + lines[done:])


def _joined(lines: list[str], paragraph: "Token") -> list[str]:
    """Return the lines of a paragraph, joined where they can be."""
    content = paragraph.content.split("\n")
    breaks = sum(child.type in _BREAKS for child in paragraph.children or ())
    if not breaks or not breaks + 1 == len(content) == len(lines) or content[0] not in lines[0]:
        return lines
    if _LINK.search(paragraph.content):
        return lines
    result = lines[:1]
    for line, before, inside in zip(lines[1:], content, content[1:], strict=False):
        if before.endswith(("  ", "\\")):
            result.append(line)
        else:
            result[-1] = result[-1].rstrip(" \t") + JOIN + inside.strip(" \t")
    return result


def remove_spaces(document: QTextDocument) -> None:
    """Remove the spaces around separators."""
    cursor = QTextCursor(document)
    block = document.begin()
    while block.isValid():
        at = block.text().rfind(LINE_BREAK)
        while at >= 0:
            text = block.text()
            for place in (at + 1, at - 1):
                if text[place : place + 1] == " ":
                    cursor.setPosition(block.position() + place)
                    cursor.deleteChar()
            at = block.text().rfind(LINE_BREAK, 0, at - 1) if at > 1 else -1
        block = block.next()
