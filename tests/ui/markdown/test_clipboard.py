"""The clipboard's contents outlive the interpreter, and must not need it when they are destroyed."""

import os
import subprocess
import sys

import pytest

from sotto.ui.markdown.clipboard import mime_of_markdown
from sotto.ui.markdown.view import MarkdownText

COPY = """
from PySide6.QtGui import QGuiApplication, QTextCursor, QTextDocument
from PySide6.QtWidgets import QApplication
from sotto.ui.markdown.clipboard import mime_of_markdown, mime_of_selection
app = QApplication([])
document = QTextDocument("Some words.")
cursor = QTextCursor(document)
cursor.select(QTextCursor.SelectionType.Document)
QGuiApplication.clipboard().setMimeData({made})
data = QGuiApplication.clipboard().mimeData()
print(sorted(data.formats()), data.text())
"""


@pytest.mark.parametrize("made", ["mime_of_markdown('Some words.')", "mime_of_selection(cursor)"])
def test_a_process_that_copied_something_ends_cleanly(made):
    done = subprocess.run(
        [sys.executable, "-c", COPY.format(made=made)],
        env=os.environ | {"QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.stdout.strip(), done.returncode) == ("['text/html', 'text/plain'] Some words.", 0), done.stderr


def test_line_breaks_of_paragraphs_are_copied(qtbot):
    poem = "Roses are red,\nviolets *are* blue.\n\n" + "A long line. " * 12
    view = MarkdownText()
    qtbot.addWidget(view)
    view.append_markdown(poem)
    view.finish()
    view.selectAll()
    long = ("A long line. " * 12).strip()
    selection, whole = view.createMimeDataFromSelection(), mime_of_markdown(poem)
    assert selection.text() == f"Roses are red,\nviolets are blue.\n{long}"
    for data in (selection, whole):
        assert "red,<br>" in data.html().replace(" />", ">")
        assert "violets <em>are</em> blue." in data.html()
        assert data.html().count("<br") == 1
