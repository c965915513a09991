"""One download in the list: how far it is, what it does, and the buttons for it."""

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QProgressBar, QVBoxLayout

from sotto.store.pull.progress import PullProgress, PullState
from sotto.ui.models import download_words
from sotto.ui.models.downloads import RESTING
from sotto.ui.state.names import model_name, short_name
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.widgets import ElidedLabel, IconButton, Label, draw_bar, plain_tip

_BAR = 4
# States by the colour of the bar, which is the accent's only as long as it grows.
_COLORS = {
    PullState.WAITING: "others",
    PullState.PAUSED: "others",
    PullState.STALLED: "others",
    PullState.RETRYING: "others",
    PullState.FAILED: "alert",
}
_ROLES = {PullState.STALLED: "warn", PullState.RETRYING: "warn", PullState.FAILED: "alert"}

# What can be done where it is not going on: an icon, the words for it, and what a screen reader says.
_ACTS = {
    PullState.PAUSED: ("play", "Resume", "Resume the download of {name}"),
    PullState.FAILED: ("refresh", "Try again", "Try the download of {name} again"),
}


class DownloadRow(QFrame):
    """Name, bar, amounts, speed and time left of a download, and what there is to say about it.

    Signals:
        pause_wanted: The download should rest.
        resume_wanted: It should go on.
        cancel_wanted: It should be given up.
    """

    pause_wanted = Signal(str)
    resume_wanted = Signal(str)
    cancel_wanted = Signal(str)

    def __init__(self, progress: PullProgress) -> None:
        """Show how far a download is."""
        super().__init__()
        self.setObjectName("download")
        self._progress: PullProgress | None = None
        self._known = False
        self.name = ElidedLabel(short_name(progress.name), "strong", where=Qt.TextElideMode.ElideMiddle)
        self.setToolTip(plain_tip(progress.name))
        self.toggle = IconButton("pause", "Pause")
        self.toggle.clicked.connect(self._toggle)
        said = model_name(progress.name)
        self.cancel = IconButton("close", f"Cancel the download of {said}", tip="Cancel")
        self.cancel.clicked.connect(lambda: self.cancel_wanted.emit(progress.name))
        self.bar = _Bar()
        self.doing = Label("", "caption", wrap=True)
        self.amounts, self.percent = Label("", "caption", wrap=True), Label("", "caption")
        self.note = Label("", "caption", wrap=True)
        # Air that is at one side only is an item of the line, which changes sides with the others; margins do not.
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
        for item in (self.bar, figures, self.doing, self.note):
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
        """What is shown."""
        assert self._progress is not None
        return self._progress

    def show_progress(self, progress: PullProgress, *, known: bool = False) -> None:
        """Show how far the download is now; `known` where an earlier version of the model is on the disk."""
        if (progress, known) == (self._progress, self._known):
            return
        self._progress, self._known = progress, known
        state, reached = progress.state, download_words.percent(progress)
        share = min(1.0, progress.done / progress.total) if progress.total else 0.0
        self.bar.show_share(share, reached, _COLORS.get(state, "accent"))
        self.amounts.setText(download_words.amounts(progress.done, progress.total))
        self.percent.setText("" if reached is None else f"{reached} %")
        self.doing.setText(download_words.doing(progress, known=known))
        self.note.setText(progress.note)
        self.note.setVisible(bool(progress.note))
        for label in (self.amounts, self.percent):
            label.setVisible(bool(label.text()))
        _dress(self.doing, _ROLES.get(state, "caption"))
        icon, act, what = _ACTS.get(state, ("pause", "Pause", "Pause the download of {name}"))
        self.toggle.set_icon(icon, what.format(name=model_name(progress.name)), act)
        self.setAccessibleName(download_words.spoken(progress, known=known))

    def _toggle(self) -> None:
        wanted = self.resume_wanted if self.progress.state in RESTING else self.pause_wanted
        wanted.emit(self.progress.name)


class _Bar(QProgressBar):
    """A thin bar, which a screen reader knows for one."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Downloaded")
        self.setTextVisible(False)
        self.setFixedHeight(_BAR)
        self._share, self._color = 0.0, "accent"

    def show_share(self, share: float, reached: int | None, color: str) -> None:
        """Show how much is there: of the whole, in whole hundredths, and in one of the theme's tokens."""
        self._share, self._color = share, color
        self.setValue(reached or 0)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        tokens, painter = theme.current().tokens, QPainter(self)
        if self.isRightToLeft():
            painter.translate(self.width(), 0)
            painter.scale(-1, 1)
        draw_bar(painter, QRectF(self.rect()), [(self._share, getattr(tokens, self._color))], tokens.track)


def _dress(label: Label, role: str) -> None:
    if label.property("role") != role:
        label.setProperty("role", role)
        label.style().unpolish(label)
        label.style().polish(label)
