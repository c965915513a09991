"""Shows a report of an error, to read, copy and close."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFontDatabase, QGuiApplication
from PySide6.QtWidgets import QApplication, QDialog, QHBoxLayout, QPlainTextEdit, QVBoxLayout

from sotto.ui.toolkit import icons, theme
from sotto.ui.toolkit.translation import tr
from sotto.ui.toolkit.widgets import Label, TextButton

_SIZE = (640, 480)


class ReportDialog(QDialog):
    """A title, what it means for the person, and the report.

    Signals:
        logs_wanted: The user wants to see the folder of logs.

    Attributes:
        report: The report.
        copy_button: Copies it.
        close_button: Closes the dialog.
    """

    logs_wanted = Signal()

    def __init__(self, title: str, meaning: str, text: str) -> None:
        """Create the dialog in front of everything; it is deleted when it is closed.

        Args:
            title: What happened.
            meaning: What that means for the person.
            text: The report.
        """
        # In front of a dialog that blocks the other windows, only one that does so, too, can be used.
        super().__init__(QApplication.activeModalWidget())
        self.setModal(QApplication.activeModalWidget() is not None)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Sotto")
        self.setWindowIcon(icons.of_sotto())
        self.report = QPlainTextEdit(text)
        self.report.setObjectName("report")
        self.report.setReadOnly(True)
        self.report.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.report.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.report.setAccessibleName(tr("Report"))
        self.copy_button = TextButton(tr("Copy report"), "outlined")
        self.copy_button.clicked.connect(self._copy)
        logs = TextButton(tr("Show logs"), "outlined")
        logs.clicked.connect(self.logs_wanted)
        self.close_button = TextButton(tr("Close"), "primary")
        self.close_button.clicked.connect(self.accept)
        buttons = QHBoxLayout()
        buttons.setSpacing(theme.GAP_8)
        buttons.addWidget(self.copy_button)
        buttons.addWidget(logs)
        buttons.addStretch(1)
        buttons.addWidget(self.close_button)
        private = tr(
            "This report stays on your computer unless you send it. It has no messages, keys or names of chats."
        )
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.GAP_24, theme.GAP_24, theme.GAP_24, theme.GAP_16)
        layout.setSpacing(theme.GAP_8)
        layout.addWidget(Label(title, "heading", wrap=True))
        layout.addWidget(Label(meaning, wrap=True))
        layout.addWidget(Label(private, "muted", wrap=True))
        layout.addWidget(self.report, 1)
        layout.addLayout(buttons)
        self.resize(*_SIZE)
        self.close_button.setFocus()

    def add(self, trace: str) -> None:
        """Add the trace of another error."""
        self.report.appendPlainText(f"\nAnother error:\n\n{trace}")

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.report.toPlainText())
        self.copy_button.setText(tr("Copied"))
