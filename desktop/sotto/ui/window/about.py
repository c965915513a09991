"""The about box."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from sotto import __version__
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.translation import tr
from sotto.ui.toolkit.widgets import Label, TextButton

_ICON = 72


class About(QDialog):
    """The name, version and licence of the app.

    Signals:
        licences_wanted: The user wants to read the licences of what the app contains.
    """

    licences_wanted = Signal()

    def __init__(self, parent: QWidget) -> None:
        """Create the box over `parent`; it is deleted when it is closed."""
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("About Sotto"))
        icon = QLabel()
        icon.setPixmap(parent.windowIcon().pixmap(_ICON, _ICON))
        licences = TextButton(tr("Licences"), "outlined")
        licences.clicked.connect(self.accept)
        licences.clicked.connect(self.licences_wanted)
        self.done_button = TextButton(tr("OK"), "primary")
        self.done_button.clicked.connect(self.accept)
        buttons = QHBoxLayout()
        buttons.setSpacing(theme.GAP_8)
        buttons.addStretch(1)
        buttons.addWidget(licences)
        buttons.addWidget(self.done_button)
        buttons.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.GAP_32, theme.GAP_24, theme.GAP_32, theme.GAP_24)
        layout.setSpacing(theme.GAP_4)
        layout.setSizeConstraint(QVBoxLayout.SizeConstraint.SetFixedSize)
        layout.addWidget(icon, 0, Qt.AlignmentFlag.AlignHCenter)
        layout.addSpacing(theme.GAP_4)
        for text, role, below in (
            ("Sotto", "heading", 0),
            (tr("Version {version}").format(version=__version__), "caption", theme.GAP_8),
            (tr("Runs language models on your computer"), "", 0),
            (tr("MIT licence"), "caption", theme.GAP_12),
        ):
            layout.addWidget(Label(text, role), 0, Qt.AlignmentFlag.AlignHCenter)
            layout.addSpacing(below)
        layout.addLayout(buttons)
        self.done_button.setFocus()
