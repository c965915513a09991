"""The clipboard's contents outlive the interpreter, and must not need it when they are destroyed."""

import os
import subprocess
import sys

import pytest

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
