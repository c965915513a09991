"""What copying puts on the clipboard: plain text, and HTML with the structure but not the looks of the window."""

import html
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

from PySide6.QtCore import QMimeData, QStringListModel
from PySide6.QtGui import QTextCharFormat, QTextCursor, QTextDocument

from sotto.ui.markdown.line_breaks import LINE_BREAK
from sotto.ui.markdown.renderer import FORMULA, is_code

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

# A character for private use, which no text has.
_BREAK_MARK = "\ue000"
_PICTURE = "\ufffc"


@lru_cache(maxsize=2)
def _writer(breaks: bool = False) -> "MarkdownIt":
    from markdown_it import MarkdownIt

    # Images stay links: the program that this is pasted into would fetch them.
    made = MarkdownIt("commonmark", {"html": False, "breaks": breaks})
    return made.enable(["table", "strikethrough"]).disable("image")


def html_of(markdown: str) -> str:
    """Return Markdown as HTML, with its line breaks; HTML tags in it are shown as text."""
    return str(_writer(breaks=True).render(markdown))


def mime_of_markdown(markdown: str) -> QMimeData:
    """Return Markdown both as plain text and as HTML."""
    data = _empty()
    data.setText(markdown)
    data.setHtml(html_of(markdown))
    return data


def mime_of_text(text: str) -> QMimeData:
    """Return plain text, for which other programs use the looks of their own."""
    data = _empty()
    data.setText(text)
    return data


def mime_of_code(code: str) -> QMimeData:
    """Return code both as plain text and as HTML."""
    data = _empty()
    data.setText(code)
    data.setHtml(f"<pre><code>{html.escape(code)}</code></pre>")
    return data


def mime_of_selection(cursor: QTextCursor) -> QMimeData:
    """Return a selection both as plain text and as HTML."""
    data, copy, marked = _empty(), QTextDocument(), QTextDocument()  # cursors do not own their documents
    if _PICTURE in cursor.selectedText():
        # Formulas are copied as LaTeX.
        cursor = _replaced(cursor, copy, _PICTURE, lambda look: (str(look.property(FORMULA) or ""), QTextCharFormat()))
    text = cursor.selection().toPlainText()
    data.setText(text)
    first = cursor.document().findBlock(cursor.selectionStart())
    last = cursor.document().findBlock(cursor.selectionEnd())
    if is_code(first.blockFormat()) and is_code(last.blockFormat()):
        data.setHtml(f"<pre><code>{html.escape(text)}</code></pre>")
        return data
    inline = first == last
    if LINE_BREAK in cursor.selectedText():
        # Qt's Markdown would lose them.
        cursor = _replaced(cursor, marked, LINE_BREAK, lambda look: (_BREAK_MARK, look))
    markdown = cursor.selection().toMarkdown(QTextDocument.MarkdownFeature.MarkdownDialectGitHub)
    written = str(_writer().renderInline(markdown.strip())) if inline else str(_writer().render(markdown))
    data.setHtml(written.replace(_BREAK_MARK, "<br>"))
    return data


def _replaced(
    cursor: QTextCursor,
    document: QTextDocument,
    old: str,
    new: Callable[[QTextCharFormat], tuple[str, QTextCharFormat]],
) -> QTextCursor:
    """Copy a selection into `document` with every `old` replaced, and select all of that.

    Args:
        cursor: The selection.
        document: An empty document.
        old: The text to replace.
        new: Given the format of an occurrence, returns the text and the format that take its place.
    """
    copy = QTextCursor(document)
    copy.insertFragment(cursor.selection())
    found = document.find(old)
    while not found.isNull():
        found.insertText(*new(found.charFormat()))
        found = document.find(old, found)
    copy.select(QTextCursor.SelectionType.Document)
    return copy


def _empty() -> QMimeData:
    """Return empty MIME data that Qt itself created."""
    # WORKAROUND: the clipboard outlives the interpreter, and a QMimeData created from Python crashes when it is
    # destroyed after that. Try a plain QMimeData() again with new versions of PySide6.
    model = QStringListModel([""])
    data = model.mimeData([model.index(0)])
    data.clear()
    return data
