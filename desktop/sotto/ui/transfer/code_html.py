"""Code as HTML, in the colours that the window gives it."""

import html
from collections.abc import Iterator

from sotto.ui.markdown.code_lexer import ROLES, LineLexer, Span, find_lexer
from sotto.ui.toolkit.colors import ColorTokens

_MOST_LINES = 20_000
"""Lines of a block that are coloured; the others are plain."""


def code_html(code: str, language: str) -> str:
    """Return code with its tokens in spans of the classes that `code_css` describes; slow for a new language."""
    lexer = find_lexer(language) if language else None
    if lexer is None:
        return html.escape(code, quote=False)
    lines, reading = code.split("\n"), LineLexer(lexer)
    coloured = [_line_html(line, reading.read(line)) for line in lines[:_MOST_LINES]]
    return "\n".join((*coloured, *(html.escape(line, quote=False) for line in lines[_MOST_LINES:])))


def code_css(tokens: ColorTokens) -> str:
    """Return the rules for the colours of code."""
    return "\n".join(f".{role} {{ color: {getattr(tokens, f'code_{role}')}; }}" for role in ROLES)


def _line_html(line: str, spans: list[Span]) -> str:
    return "".join(_pieces(line, spans))


def _pieces(line: str, spans: list[Span]) -> Iterator[str]:
    at = 0
    for start, length, role in spans:
        yield html.escape(line[at:start], quote=False)
        at = start + length
        yield f'<span class="{role}">{html.escape(line[start:at], quote=False)}</span>'
    yield html.escape(line[at:], quote=False)
