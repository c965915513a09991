"""The memory gauge: what other programs use, what the model uses, what is free."""

from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QPainter, QPaintEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from sotto.engine.types import MemoryFigures
from sotto.ui import theme, words
from sotto.ui.parts import ElidedLabel, Label, draw_bar

SAMPLE_EVERY_MS = 3000
_TIGHT_FROM, _FULL_FROM = 0.75, 0.85


@dataclass(frozen=True, slots=True)
class Sample:
    """The machine's memory, in bytes."""

    total: int
    available: int


def sample() -> Sample:
    """Ask the system. Slow enough to be called off the window's thread."""
    import psutil

    memory = psutil.virtual_memory()
    return Sample(memory.total, memory.available)


def pressure(of: Sample) -> str:
    """Return in words how tight memory is."""
    used = 1 - of.available / of.total
    return "nearly full" if used >= _FULL_FROM else "getting tight" if used >= _TIGHT_FROM else "plenty free"


class MemoryGauge(QFrame):
    """A bar with its words and numbers. Asks for samples only while it can be seen.

    Signals:
        sample_wanted: Time to call `show_sample` with a fresh sample, or with None if there was none to be had.
    """

    sample_wanted = Signal()

    def __init__(self) -> None:
        """Show that nothing is known yet."""
        super().__init__()
        self.setObjectName("gauge")
        self._sample: Sample | None = None
        self._figures: MemoryFigures | None = None
        self._title = Label("Memory", "strong")
        self._free = ElidedLabel("—", "caption")
        self._free.setAlignment(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight)
        self._bar = _Bar()
        self._others = _Legend("others")
        self._model = _Legend("accent")
        top = QHBoxLayout()
        top.addWidget(self._title)
        top.addWidget(self._free, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.GAP_16, theme.GAP_12, theme.GAP_16, theme.GAP_16)
        layout.setSpacing(theme.GAP_4)
        layout.addLayout(top)
        layout.addSpacing(theme.GAP_4)
        layout.addWidget(self._bar)
        layout.addSpacing(theme.GAP_4)
        layout.addWidget(self._others)
        layout.addWidget(self._model)
        self._timer = QTimer(self)
        self._timer.setInterval(SAMPLE_EVERY_MS)
        self._timer.timeout.connect(self.sample_wanted)
        self._show()

    def show_sample(self, taken: Sample | None) -> None:
        """Show the machine's memory; None when it could not be read."""
        self._sample = taken
        self._show()

    def show_figures(self, figures: MemoryFigures | None) -> None:
        """Show what the model uses; None when nothing is loaded."""
        self._figures = figures
        self._show()

    def _show(self) -> None:
        taken, figures = self._sample, self._figures
        model = figures.weights + figures.cache if figures else 0
        if taken is None or taken.total <= 0:
            self._free.setText("—")
            self._bar.parts = []
            self._others.set("Other programs", "—")
            spoken = "Memory unknown"
        else:
            others = max(0, taken.total - taken.available - model)
            self._free.setText(f"{words.size(taken.available)} free · {pressure(taken)}")
            self._bar.parts = [(others / taken.total, "others"), (model / taken.total, "accent")]
            self._others.set("Other programs", words.size(others))
            spoken = f"Memory {pressure(taken)}: {words.size(taken.available)} of {words.size(taken.total)} free"
            spoken += f", other programs {words.size(others)}"
        detail = "No model" if not model else "This model"
        number = words.size(model) if model else "—"
        if figures and model:
            number = f"{words.size(figures.weights)} + {words.size(figures.cache)} cache" if figures.cache else number
            spoken += f", this model {words.size(figures.weights)} and {words.size(figures.cache)} of cache"
            spoken += f", at most {words.size(figures.budget)}" if figures.budget else ""
        self._model.set(detail, number)
        self.setAccessibleName(spoken)
        self.setToolTip(spoken)
        self._bar.update()

    def showEvent(self, event: QShowEvent) -> None:
        """Begin to sample."""
        super().showEvent(event)
        self._timer.start()
        self.sample_wanted.emit()

    def hideEvent(self, event: QHideEvent) -> None:
        """Sample no longer."""
        super().hideEvent(event)
        self._timer.stop()


class _Bar(QWidget):
    """The bar itself."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[tuple[float, str]] = []
        self.setFixedHeight(8)

    def paintEvent(self, event: QPaintEvent) -> None:
        tokens = theme.current().tokens
        parts = [(share, getattr(tokens, color)) for share, color in self.parts]
        draw_bar(QPainter(self), QRectF(self.rect()), parts, tokens.track)


class _Legend(QWidget):
    """A dot in a colour, what it means, and how much it is."""

    def __init__(self, color: str) -> None:
        super().__init__()
        self._name = ElidedLabel(role="caption")
        self._number = Label(role="caption")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.GAP_8)
        layout.addWidget(_Dot(color))
        layout.addWidget(self._name, 1)
        layout.addWidget(self._number)

    def set(self, name: str, number: str) -> None:
        self._name.setText(name)
        self._number.setText(number)


class _Dot(QWidget):
    """A dot."""

    def __init__(self, color: str) -> None:
        super().__init__()
        self._color = color
        self.setFixedSize(QSize(8, 8))

    def paintEvent(self, event: QPaintEvent) -> None:
        color = getattr(theme.current().tokens, self._color)
        draw_bar(QPainter(self), QRectF(self.rect()), [(1.0, color)], color)
