"""The sheet in which a person makes a model of their own from another one."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QDialog, QFrame, QHBoxLayout, QVBoxLayout, QWidget

from sotto.ui.models.customizing.recipe_form import RecipeForm
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.announcements import announce
from sotto.ui.toolkit.screens import fit
from sotto.ui.toolkit.translation import tr
from sotto.ui.toolkit.widgets import ElidedLabel, Label, TextButton

_WIDTH, _HEIGHT, _LEAST_WIDTH, _LEAST_HEIGHT = 860, 640, 420, 360


class CustomizeSheet(QDialog):
    """A form, a line that says what is done, and the buttons. It stays open until the model is made.

    Signals:
        wanted: The user wants the model as the form describes it.
        stopped: The user closed the sheet.
    """

    wanted = Signal()
    stopped = Signal()

    def __init__(self, parent: QWidget, title: str, form: RecipeForm) -> None:
        """Create the sheet over `parent`."""
        super().__init__(parent, Qt.WindowType.Sheet)
        self.setObjectName("customize")
        self.setWindowTitle(title)
        self.setAccessibleName(title)
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.form = form
        form.escaped.connect(self.reject)
        self.line = ElidedLabel("", "caption")
        self.error = Label("", "error", wrap=True)
        self.cancel = TextButton(tr("Cancel"))
        self.cancel.clicked.connect(self.reject)
        self.make = TextButton(tr("Create"), "primary", tr("Create the model"))
        self.make.clicked.connect(self._create)
        # Return alone ends a line in most fields.
        QShortcut(QKeySequence("Ctrl+Return"), self, self._create)
        heading = Label(title, "heading")
        heading.setContentsMargins(theme.GAP_24, theme.GAP_16, theme.GAP_24, theme.GAP_12)
        foot = QFrame()
        foot.setObjectName("foot")
        below = QVBoxLayout(foot)
        below.setContentsMargins(theme.GAP_24, theme.GAP_12, theme.GAP_24, theme.GAP_12)
        below.addWidget(self.error)
        buttons = QHBoxLayout()
        buttons.setSpacing(theme.GAP_8)
        buttons.addWidget(self.line, 1)
        buttons.addWidget(self.cancel)
        buttons.addWidget(self.make)
        below.addLayout(buttons)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(heading)
        layout.addWidget(form, 1)
        layout.addWidget(foot)
        self.show_error("")
        self.finished.connect(self.stopped)
        look = theme.current()
        self.setMinimumSize(look.scaled(_LEAST_WIDTH), _LEAST_HEIGHT)
        self.resize(look.scaled(_WIDTH), look.scaled(_HEIGHT))

    def open(self) -> None:
        """Show the sheet with the name selected."""
        super().open()
        fit(self, self.minimumSize())
        self.form.name.selectAll()
        self.form.name.setFocus()

    def show_working(self, line: str) -> None:
        """Show what is done; an empty text for nothing, so that the form can be edited."""
        self.line.setText(line)
        self.form.setEnabled(not line)
        self.make.setEnabled(not line)
        if line:
            self.show_error("")

    def show_error(self, message: str) -> None:
        """Show why the model was not made; an empty text hides the error."""
        self.error.setText(message)
        self.error.setVisible(bool(message))
        if message:
            announce(self.make, message)

    def _create(self) -> None:
        if self.make.isEnabled():
            self.wanted.emit()
