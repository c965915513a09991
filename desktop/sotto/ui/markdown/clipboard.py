"""What copying puts on the clipboard: plain text, and HTML that says what something is and not how it looked here."""

import html
from functools import lru_cache
from typing import TYPE_CHECKING

from PySide6.QtCore import QMimeData, QStringListModel
from PySide6.QtGui import QTextCharFormat, QTextCursor, QTextDocument

from sotto.ui.markdown.renderer import FORMULA, is_code

if TYPE_CHECKING:
    from markdown_it import MarkdownIt


@lru_cache(maxsize=1)
def _writer() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    # Pictures stay links: what something is pasted into would fetch them.
    made = MarkdownIt("commonmark", {"html": False})
    return made.enable(["table", "strikethrough"]).disable("image")


def html_of(markdown: str) -> str:
    """Return Markdown as HTML; tags in it are text."""
    return str(_writer().render(markdown))


def mime_of_markdown(markdown: str) -> QMimeData:
    """Return Markdown as it is, and as HTML."""
    data = _empty()
    data.setText(markdown)
    data.setHtml(html_of(markdown))
    return data


def mime_of_code(code: str) -> QMimeData:
    """Return code as it is, and as HTML."""
    data = _empty()
    data.setText(code)
    data.setHtml(f"<pre><code>{html.escape(code)}</code></pre>")
    return data


def mime_of_selection(cursor: QTextCursor) -> QMimeData:
    """Return a selection as text and as HTML."""
    data, copy = _empty(), QTextDocument()  # kept here: a cursor does not keep its document
    if "\ufffc" in cursor.selectedText():
        cursor = _written_out(cursor, copy)
    text = cursor.selection().toPlainText()
    data.setText(text)
    first = cursor.document().findBlock(cursor.selectionStart())
    last = cursor.document().findBlock(cursor.selectionEnd())
    if first == last or (is_code(first.blockFormat()) and is_code(last.blockFormat())):
        code = is_code(first.blockFormat())
        data.setHtml(f"<pre><code>{html.escape(text)}</code></pre>" if code else _inline(cursor))
    else:
        data.setHtml(html_of(cursor.selection().toMarkdown(QTextDocument.MarkdownFeature.MarkdownDialectGitHub)))
    return data


def _written_out(cursor: QTextCursor, document: QTextDocument) -> QTextCursor:
    """Put a selection into `document` with formulas as they were written in place of their pictures; return it all."""
    copy = QTextCursor(document)
    copy.insertFragment(cursor.selection())
    found = document.find("\ufffc")
    while not found.isNull():
        raw = found.charFormat().property(FORMULA)
        found.insertText(str(raw or ""), QTextCharFormat())
        found = document.find("\ufffc", found)
    copy.select(QTextCursor.SelectionType.Document)
    return copy


def _inline(cursor: QTextCursor) -> str:
    """Return a part of one paragraph."""
    markdown = cursor.selection().toMarkdown(QTextDocument.MarkdownFeature.MarkdownDialectGitHub)
    return str(_writer().renderInline(markdown.strip()))


def _empty() -> QMimeData:
    """Return data without any format, made by Qt.

    The clipboard keeps what it has longer than the interpreter lives. What Python has made is then destroyed with the
    help of an interpreter that is no more, and the process ends with a fault.
    """
    model = QStringListModel([""])
    data = model.mimeData([model.index(0)])
    data.clear()
    return data
