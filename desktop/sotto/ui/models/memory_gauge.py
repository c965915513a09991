"""The memory gauge: what other programs use, what the model uses, what is free, and what a chosen model would take."""

from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QHideEvent, QPainter, QPainterPath, QPaintEvent, QPen, QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from sotto.engine.memory.memory_figures import MemoryFigures
from sotto.ui.state import wording
from sotto.ui.state.memory_estimate import (
    MemorySample,
    Projection,
    bytes_beside_weights,
    machine_memory,
    pressure_label,
)
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.widgets import ElidedLabel, Label, draw_bar, plain_tip

SAMPLE_EVERY_MS = 3000
_ROLES = {"plenty free": "caption", "getting tight": "warn", "nearly full": "alert", "critical": "alert"}
_GHOST_ALPHA = 70


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of the bar.

    Attributes:
        name: Whose memory it is.
        nbytes: How much.
        color: One of the theme's tokens.
        ghost: Whether it only would be taken.
    """

    name: str
    nbytes: int
    color: str
    ghost: bool = False


class MemoryGauge(QFrame):
    """A bar with its words and numbers. Asks for samples only while it can be seen.

    Signals:
        sample_wanted: Time to call `show_sample` with a fresh sample, or with None if there was none to be had.

    Attributes:
        segments: The parts of the bar.
        whole: Whether the lines below the bar are shown.
    """

    sample_wanted = Signal()

    def __init__(self) -> None:
        """Show that nothing is known yet."""
        super().__init__()
        self.setObjectName("gauge")
        self._sample: MemorySample | None = None
        self._figures: MemoryFigures | None = None
        self._model = ""
        self._planned: tuple[str, Projection] | None = None
        self.segments: tuple[Segment, ...] = ()
        self._title = Label("Memory", "strong")
        self._free = ElidedLabel("—", "caption")
        self._free.setAlignment(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight)
        self._bar = _Bar()
        self._legends = [_Legend() for _ in range(5)]
        self.whole = True
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
        for legend in self._legends:
            layout.addWidget(legend)
        self._timer = QTimer(self)
        self._timer.setInterval(SAMPLE_EVERY_MS)
        self._timer.timeout.connect(self.sample_wanted)
        self._watched: QWidget | None = None
        self._show()

    def show_sample(self, taken: MemorySample | None) -> None:
        """Show the machine's memory; None when it could not be read."""
        self._sample = taken if taken is not None and taken.known else None
        self._show()

    def show_figures(self, figures: MemoryFigures | None) -> None:
        """Show what the model uses; None when nothing is loaded."""
        self._figures = figures
        self._show()

    def show_model(self, name: str) -> None:
        """Say what the model in memory is called."""
        self._model = name
        self._show()

    def show_plan(self, name: str, projection: Projection | None) -> None:
        """Show what a model would take; None when no model is chosen, or it is loaded already."""
        self._planned = (name, projection) if projection is not None and projection.plan is not None else None
        self._show()

    @property
    def legends_height(self) -> int:
        """What the lines below the bar take, or would take, in pixels."""
        return sum(one.sizeHint().height() + theme.GAP_4 for one in self._legends[: len(self._lines())])

    def show_legends(self, shown: bool) -> None:
        """Show the lines below the bar, or leave them to the tool tip."""
        if shown != self.whole:
            self.whole = shown
            self._show_legends()

    def _show(self) -> None:
        taken = self._sample
        self.segments = self._all_segments()
        if taken is None:
            self._free.setText("—")
            word, spoken = "", ["Memory unknown"]
        else:
            word = pressure_label(taken)
            self._free.setText(f"{wording.size(taken.available)} free · {word}")
            spoken = [f"Memory {word}: {wording.size(taken.available)} of {wording.size(taken.total)} free"]
        self._free.setProperty("role", _ROLES.get(word, "caption"))
        self._free.style().unpolish(self._free)
        self._free.style().polish(self._free)
        for segment in self.segments:
            would = "would take " if segment.ghost else ""
            spoken.append(f"{segment.name} {would}{wording.size(segment.nbytes)}")
        if self._figures and self._figures.budget:
            spoken.append(f"Contexts take at most {wording.size(self._figures.budget)}")
        self._bar.show_segments(self.segments, taken.total if taken else 0)
        self._show_legends()
        self.setAccessibleName(", ".join(spoken))
        self.setToolTip(plain_tip("\n".join(spoken)))

    def _all_segments(self) -> tuple[Segment, ...]:
        taken, figures = self._sample, self._figures
        segments = []
        if taken is not None:
            segments.append(Segment("Other programs", machine_memory(taken, figures).others, "others"))
        if figures and figures.weights:
            several = len(figures.models)
            name = f"{several} models" if several > 1 else self._model or "This model"
            segments.append(Segment(name, figures.weights, "accent"))
        if figures and (figures.cache or figures.weights):
            segments.append(Segment("Context in use", figures.live, "live"))
            segments.append(Segment("Kept for later", figures.cache - figures.live, "kept"))
        if self._planned and (plan := self._planned[1].plan) is not None:
            name, beside = self._planned[0], bytes_beside_weights(plan)
            segments.append(Segment(name, plan.weights, "accent", ghost=True))
            segments.append(Segment(f"A context of {wording.count(plan.context)} tokens", beside, "kept", ghost=True))
        return tuple(segments)

    def _lines(self) -> list[tuple[Segment, str]]:
        """Return what each part is; a model that would be loaded and its context stand in one line."""
        lines = [(one, wording.size(one.nbytes)) for one in self.segments if not one.ghost]
        if ghosts := [one for one in self.segments if one.ghost]:
            lines.append((ghosts[0], wording.size(sum(one.nbytes for one in ghosts))))
        return lines

    def _show_legends(self) -> None:
        lines = self._lines() if self.whole else []
        for number, legend in enumerate(self._legends):
            legend.show_segment(*(lines[number] if number < len(lines) else (None, "")))

    def _rest_or_sample(self) -> None:
        """Sample while there is somebody to see it."""
        seen = self.isVisible() and not self.window().isMinimized()
        if seen and not self._timer.isActive():
            self._timer.start()
            self.sample_wanted.emit()
        elif not seen:
            self._timer.stop()

    def showEvent(self, event: QShowEvent) -> None:
        """Begin to sample."""
        super().showEvent(event)
        if self._watched is not self.window():
            self._watched = self.window()
            self._watched.installEventFilter(self)
        self._rest_or_sample()

    def hideEvent(self, event: QHideEvent) -> None:
        """Sample no longer."""
        super().hideEvent(event)
        self._timer.stop()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Rest while the window is minimized."""
        if event.type() == QEvent.Type.WindowStateChange:
            self._rest_or_sample()
        return super().eventFilter(watched, event)


class _Bar(QWidget):
    """The bar itself."""

    def __init__(self) -> None:
        super().__init__()
        self._segments: tuple[Segment, ...] = ()
        self._total = 0
        self.setFixedHeight(10)

    def show_segments(self, segments: tuple[Segment, ...], total: int) -> None:
        self._segments, self._total = segments, total
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        tokens, painter = theme.current().tokens, QPainter(self)
        if self.isRightToLeft():
            painter.translate(self.width(), 0)
            painter.scale(-1, 1)
        rect = QRectF(self.rect()).adjusted(0, 1, 0, -1)
        if not self._total:
            draw_bar(painter, rect, [], tokens.track)
            return
        parts = [(one.nbytes / self._total, getattr(tokens, one.color)) for one in self._segments if not one.ghost]
        draw_bar(painter, rect, parts, tokens.track)
        # What would be taken begins where other programs end: the model that is loaded leaves before.
        start = next((one.nbytes for one in self._segments if one.color == "others"), 0) / self._total
        if ghosts := [one for one in self._segments if one.ghost]:
            self._paint_ghosts(painter, start, ghosts)

    def _paint_ghosts(self, painter: QPainter, start: float, ghosts: list[Segment]) -> None:
        """Draw an outline around what would be taken, and each part of it thinly in its colour."""
        tokens = theme.current().tokens
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        whole = QRectF(self.rect()).adjusted(0.75, 0.75, -0.75, -0.75)
        share = sum(ghost.nbytes for ghost in ghosts) / self._total
        box = QRectF(whole.left() + min(start, 1.0) * whole.width(), whole.top(), 0.0, whole.height())
        box.setRight(min(whole.right(), max(box.left() + share * whole.width(), box.left() + whole.height())))
        box.setLeft(min(box.left(), box.right() - whole.height()))
        path = QPainterPath()
        path.addRoundedRect(box, whole.height() / 2, whole.height() / 2)
        painter.save()
        painter.setClipPath(path)
        left = box.left()
        for ghost in ghosts:
            fill = QColor(getattr(tokens, ghost.color))
            fill.setAlpha(_GHOST_ALPHA)
            width = ghost.nbytes / self._total * whole.width()
            painter.fillRect(QRectF(left, box.top(), width, box.height()), fill)
            left += width
        painter.restore()
        painter.setPen(QPen(QColor(tokens.accent), 1.5))
        painter.drawPath(path)


class _Legend(QWidget):
    """A dot in a colour, what it means, and how much it is."""

    def __init__(self) -> None:
        super().__init__()
        self._dot = _Dot()
        self._name = ElidedLabel(role="caption")
        self._number = Label(role="caption")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.GAP_8)
        layout.addWidget(self._dot)
        layout.addWidget(self._name, 1)
        layout.addWidget(self._number)

    def show_segment(self, segment: Segment | None, number: str) -> None:
        self.setVisible(segment is not None)
        if segment is not None:
            self._dot.show_color(segment.color, ghost=segment.ghost)
            self._name.setText(segment.name)
            self._number.setText(number)


class _Dot(QWidget):
    """A dot, or a ring for what is not there yet."""

    def __init__(self) -> None:
        super().__init__()
        self._color, self._ghost = "others", False
        self.setFixedSize(QSize(8, 8))

    def show_color(self, color: str, *, ghost: bool) -> None:
        self._color, self._ghost = color, ghost
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        color, painter = getattr(theme.current().tokens, self._color), QPainter(self)
        if self._ghost:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(QColor(color), 1.5))
            painter.drawEllipse(QRectF(self.rect()).adjusted(0.75, 0.75, -0.75, -0.75))
        else:
            draw_bar(painter, QRectF(self.rect()), [(1.0, color)], color)
