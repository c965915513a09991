"""One download in the list: its progress, its state, and buttons to pause or cancel it."""

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QProgressBar, QVBoxLayout

from sotto.store.pull.progress import PullProgress, PullState
from sotto.ui.models import download_words
from sotto.ui.models.downloads import STOPPED
from sotto.ui.state.names import model_name, short_name
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.translation import QT_TR_NOOP, tr
from sotto.ui.toolkit.widgets import ElidedLabel, IconButton, Label, draw_bar, plain_tip, restyle

_BAR = 4
# Colour token of the bar by state; the accent, the default, is for a bar that grows.
_COLORS = {
    PullState.WAITING: "others",
    PullState.PAUSED: "others",
    PullState.STALLED: "others",
    PullState.RETRYING: "others",
    PullState.FAILED: "alert",
}
_ROLES = {PullState.STALLED: "warn", PullState.RETRYING: "warn", PullState.FAILED: "alert"}

# Button of downloads that have stopped, by state: icon, tool tip and accessible name. All others can be paused.
_TOGGLES = {
    PullState.PAUSED: ("play", QT_TR_NOOP("Resume"), QT_TR_NOOP("Resume the download of {name}")),
    PullState.FAILED: ("refresh", QT_TR_NOOP("Try again"), QT_TR_NOOP("Try the download of {name} again")),
}
_PAUSE = ("pause", QT_TR_NOOP("Pause"), QT_TR_NOOP("Pause the download of {name}"))


class DownloadRow(QFrame):
    """Name, progress bar, amounts, speed and remaining time of a download, and a note on problems or choices.

    Signals:
        pause_wanted: The user wants to pause the download; its name.
        resume_wanted: The user wants to resume it; its name.
        cancel_wanted: The user wants to cancel it; its name.
    """

    pause_wanted = Signal(str)
    resume_wanted = Signal(str)
    cancel_wanted = Signal(str)

    def __init__(self, progress: PullProgress) -> None:
        """Show `progress`."""
        super().__init__()
        self.setObjectName("download")
        self._progress: PullProgress | None = None
        self._known = False
        self.name = ElidedLabel(short_name(progress.name), "strong", where=Qt.TextElideMode.ElideMiddle)
        self.setToolTip(plain_tip(progress.name))
        self.toggle = IconButton("pause", tr("Pause"))
        self.toggle.clicked.connect(self._toggle)
        name = tr("Cancel the download of {name}").format(name=model_name(progress.name))
        self.cancel = IconButton("close", name, tip=tr("Cancel"))
        self.cancel.clicked.connect(lambda: self.cancel_wanted.emit(progress.name))
        self.bar = Bar(tr("Downloaded"))
        self.status = Label("", "caption", wrap=True)
        self.amounts, self.percent = Label("", "caption", wrap=True), Label("", "caption")
        self.note = Label("", "caption", wrap=True)
        # A spacing on one side only is an item of the layout: it is mirrored in right-to-left layouts, margins are not.
        top = QHBoxLayout()
        top.setSpacing(0)
        top.addSpacing(theme.GAP_8)
        top.addWidget(self.name, 1)
        top.addWidget(self.toggle)
        top.addWidget(self.cancel)
        figures = QHBoxLayout()
        figures.setSpacing(theme.GAP_8)
        figures.addWidget(self.amounts, 1)
        figures.addWidget(self.percent)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.GAP_4, theme.GAP_4, theme.GAP_4, theme.GAP_8)
        layout.setSpacing(theme.GAP_4)
        layout.addLayout(top)
        for item in (self.bar, figures, self.status, self.note):
            line = QHBoxLayout()
            line.setContentsMargins(theme.GAP_8, 0, theme.GAP_8, 0)
            if isinstance(item, QHBoxLayout):
                line.addLayout(item)
            else:
                line.addWidget(item)
            layout.addLayout(line)
        self.show_progress(progress)

    @property
    def progress(self) -> PullProgress:
        """The progress that is shown."""
        assert self._progress is not None
        return self._progress

    def show_progress(self, progress: PullProgress, *, known: bool = False) -> None:
        """Show the download's progress.

        Args:
            progress: The progress to show.
            known: Whether an earlier version of the model is on the disk.
        """
        if (progress, known) == (self._progress, self._known):
            return
        self._progress, self._known = progress, known
        state, percent = progress.state, download_words.percent(progress)
        share = min(1.0, progress.done / progress.total) if progress.total else 0.0
        self.bar.show_share(share, percent, _COLORS.get(state, "accent"))
        self.amounts.setText(download_words.amounts(progress.done, progress.total))
        self.percent.setText("" if percent is None else f"{percent} %")
        self.status.setText(download_words.status(progress, known=known))
        self.note.setText(note := progress.note or progress.about)
        self.note.setVisible(bool(note))
        for label in (self.amounts, self.percent):
            label.setVisible(bool(label.text()))
        restyle(self.status, "role", _ROLES.get(state, "caption"))
        icon, tip, name = _TOGGLES.get(state, _PAUSE)
        self.toggle.set_icon(icon, tr(name).format(name=model_name(progress.name)), tr(tip))
        self.setAccessibleName(download_words.accessible_name(progress, known=known))

    def _toggle(self) -> None:
        wanted = self.resume_wanted if self.progress.state in STOPPED else self.pause_wanted
        wanted.emit(self.progress.name)


class Bar(QProgressBar):
    """A thin progress bar that screen readers recognise as one."""

    def __init__(self, name: str) -> None:
        """Create a bar with this accessible name."""
        super().__init__()
        self.setAccessibleName(name)
        self.setTextVisible(False)
        self.setFixedHeight(_BAR)
        self._share, self._color = 0.0, "accent"

    def show_share(self, share: float, percent: int | None, color: str) -> None:
        """Show progress.

        Args:
            share: Part of the whole, from 0 to 1.
            percent: The same for screen readers; None if unknown.
            color: Name of a colour token of the theme.
        """
        self._share, self._color = share, color
        self.setValue(percent or 0)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the share in its colour."""
        tokens, painter = theme.current().tokens, QPainter(self)
        if self.isRightToLeft():
            painter.translate(self.width(), 0)
            painter.scale(-1, 1)
        draw_bar(painter, QRectF(self.rect()), [(self._share, getattr(tokens, self._color))], tokens.track)
