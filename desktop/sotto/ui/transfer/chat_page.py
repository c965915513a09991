"""A chat as HTML: one file without scripts or anything from elsewhere, or rich text for paper."""

import base64
import html
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime

from sotto import __version__
from sotto.chats.chat_records import Attachment, Chat, Role, Turn
from sotto.engine.contract.answer_parts import Kind
from sotto.ui.conversation.answer_wording import answer_line, is_cut_short
from sotto.ui.conversation.plain_markdown import WrittenPart, written_parts
from sotto.ui.markdown.math_svg import Formula, draw
from sotto.ui.state import wording
from sotto.ui.toolkit.colors import LIGHT
from sotto.ui.toolkit.translation import tr
from sotto.ui.transfer.markdown_html import MarkdownHtml, paper_box
from sotto.ui.transfer.page_styles import PAGE_STYLE

MOST_FORMULAS = 2000
"""Formulas of a chat that are drawn; the others stay LaTeX."""
_PIXELS = 16.0
# Nothing is loaded, whatever a mistake in this module might let through.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def web_page(
    chat: Chat,
    turns: Sequence[Turn],
    stopped: Callable[[], bool] = lambda: False,
    *,
    thumbnail_of: Callable[[Attachment], bytes] = lambda image: b"",
) -> str:
    """Return a chat as a web page; may take a while, on any thread.

    Args:
        chat: The chat.
        turns: The branch to show.
        stopped: Polled; returns whether to give up, with an incomplete page.
        thumbnail_of: Returns an image made small, as PNG; empty if it cannot be shown.
    """
    drawn = 0

    def write_formula(formula: Formula) -> str:
        nonlocal drawn
        drawn += 1
        return formula_image(formula) if drawn <= MOST_FORMULAS and not stopped() else formula_text(formula)

    def write_picture(attachment: Attachment) -> str:
        data = base64.b64encode(thumbnail_of(attachment)).decode()
        source = f"data:image/png;base64,{data}"
        return f'<img class="picture" alt="{_escaped(attachment.name)}" src="{source}">' if data else ""

    body = "\n".join(_Writer(MarkdownHtml(write_formula, paper=False), write_picture, paper=False).body(chat, turns))
    return (
        f'<!DOCTYPE html>\n<html>\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta name="generator" content="Sotto {__version__}">\n<title>{_escaped(title_of(chat))}</title>\n'
        f"<style>\n{PAGE_STYLE}</style>\n</head>\n<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def paper_parts(
    chat: Chat,
    turns: Sequence[Turn],
    write_formula: Callable[[Formula], str],
    write_picture: Callable[[Attachment], str],
) -> Iterator[str]:
    """Yield a chat in pieces of HTML for `QTextDocument`.

    Args:
        chat: The chat.
        turns: The branch to show.
        write_formula: Returns a formula as HTML.
        write_picture: Returns an image as HTML; empty if it cannot be shown.
    """
    return _Writer(MarkdownHtml(write_formula, paper=True), write_picture, paper=True).body(chat, turns)


def title_of(chat: Chat) -> str:
    """Return the title of a chat, on one line."""
    return " ".join(chat.title.split()) or tr("Chat")


def formula_image(formula: Formula) -> str:
    """Return a formula as a picture, or as LaTeX if it cannot be drawn."""
    drawing = draw(formula.latex, formula.display, _PIXELS, LIGHT.text)
    if drawing is None:
        return formula_text(formula)
    data = base64.b64encode(drawing.svg.encode()).decode()
    # In units of the text, so that it grows with it.
    width, height, descent = (
        value / _PIXELS for value in (drawing.width, drawing.ascent + drawing.descent, drawing.descent)
    )
    picture = (
        f'<img class="formula" alt="{_escaped(formula.raw)}" src="data:image/svg+xml;base64,{data}" '
        f'style="width: {width:.3f}em; height: {height:.3f}em; vertical-align: {-descent:.3f}em">'
    )
    return f'<span class="display">{picture}</span>' if formula.display else picture


def formula_text(formula: Formula) -> str:
    """Return a formula as LaTeX."""
    return f'<code class="latex">{_escaped(formula.raw)}</code>'


class _Writer:
    """Writes the parts of a chat."""

    def __init__(self, markdown: MarkdownHtml, write_picture: Callable[[Attachment], str], *, paper: bool) -> None:
        """Write Markdown with `markdown` and images with `write_picture`; on paper nothing can be unfolded."""
        self._markdown, self._write_picture, self._paper = markdown, write_picture, paper

    def body(self, chat: Chat, turns: Sequence[Turn]) -> Iterator[str]:
        """Yield the title, and each message."""
        models = list(dict.fromkeys(turn.model for turn in turns if turn.model))
        about = " · ".join(filter(None, (_moment(chat.created), ", ".join(models))))
        tag = "p" if self._paper else "h1"
        yield f'<{tag} class="title">{_escaped(title_of(chat))}</{tag}>\n<p class="about">{_escaped(about)}</p>'
        if chat.system.strip():
            yield self._folded(tr("System prompt"), self._markdown.of(chat.system))
        for turn in turns:
            yield from self._question(turn) if turn.role is Role.USER else self._answer(turn)

    def _question(self, turn: Turn) -> Iterator[str]:
        yield self._heading(tr("You"), turn, "you")
        yield from map(self._attachment, turn.attachments)
        yield self._framed(self._markdown.of(turn.text))

    def _answer(self, turn: Turn) -> Iterator[str]:
        yield self._heading(turn.model or tr("Model"), turn, "model")
        yield from map(self._part, written_parts(turn))
        if is_cut_short(turn) or not turn.text:
            yield f'<p class="about">{_escaped(answer_line(turn))}</p>'

    def _heading(self, name: str, turn: Turn, side: str) -> str:
        # Qt gives headings sizes of its own.
        tag = "p" if self._paper else "h2"
        when = f'<span class="when">{_escaped(_moment(turn.created))}</span>'
        return f'<{tag} class="{side}">{_escaped(name)} {when}</{tag}>'

    def _part(self, part: WrittenPart) -> str:
        written = self._markdown.of(part.markdown)
        return written if part.kind is Kind.TEXT else self._folded(part.heading, written)

    def _framed(self, written: str) -> str:
        return paper_box("bubble", written) if self._paper else f'<div class="bubble">{written}</div>'

    def _folded(self, heading: str, written: str) -> str:
        """Return a part that can be unfolded; on paper, one that is set off."""
        if self._paper:
            return paper_box("aside", f"<p>{_escaped(heading)}</p>{written}")
        return f"<details><summary>{_escaped(heading)}</summary>\n{written}</details>"

    def _attachment(self, attachment: Attachment) -> str:
        if attachment.image:
            return f'<p class="shown">{self._write_picture(attachment) or _escaped(attachment.name)}</p>'
        length = len(attachment.text)
        size = tr("1 character|{count} characters", "", length).format(count=wording.count(length))
        title = f"{attachment.name} ({size})"
        if self._paper:
            line = tr("Attached: {file}").format(file=title)
            return f'<p class="about">{_escaped(line)}</p>'
        return f"<details><summary>{_escaped(title)}</summary>\n<pre>{_escaped(attachment.text)}</pre></details>"


def _moment(seconds: float) -> str:
    """Return a time as people here write it; empty if it is unknown."""
    return f"{datetime.fromtimestamp(seconds).astimezone():%Y-%m-%d %H:%M}" if seconds else ""


def _escaped(text: str) -> str:
    return html.escape(text)
