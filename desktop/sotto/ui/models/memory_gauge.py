"""The memory gauge: memory used by other programs and by models, free memory, and what a selected model would take."""

from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QHideEvent, QPainter, QPainterPath, QPaintEvent, QPen, QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from sotto.engine.memory.memory_figures import MemoryFigures
from sotto.ui.state import wording
from sotto.ui.state.memory_estimate import (
    MemorySample,
    Pressure,
    Projection,
    bytes_beside_weights,
    machine_memory,
    pressure,
)
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.translation import QT_TR_NOOP, tr
from sotto.ui.toolkit.widgets import ElidedLabel, IconButton, Label, draw_bar, plain_tip, restyle

SAMPLE_EVERY_MS = 3000
# By pressure: what is shown, its role in the style sheet, and what screen readers say.
_PRESSURES = {
    Pressure.NONE: (QT_TR_NOOP("{free} free"), "caption", QT_TR_NOOP("Memory: {free} of {total} free")),
    Pressure.TIGHT: (
        QT_TR_NOOP("{free} free · getting tight"),
        "warn",
        QT_TR_NOOP("Memory getting tight: {free} of {total} free"),
    ),
    Pressure.FULL: (
        QT_TR_NOOP("{free} free · nearly full"),
        "alert",
        QT_TR_NOOP("Memory nearly full: {free} of {total} free"),
    ),
    Pressure.CRITICAL: (
        QT_TR_NOOP("{free} free · critical"),
        "alert",
        QT_TR_NOOP("Memory critical: {free} of {total} free"),
    ),
}
_GHOST_ALPHA = 70


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of the bar.

    Attributes:
        name: What the memory is used for.
        nbytes: Size in bytes.
        color: Name of a colour token of the theme.
        ghost: Whether the memory is only planned, not used yet.
    """

    name: str
    nbytes: int
    color: str
    ghost: bool = False


class MemoryGauge(QFrame):
    """A bar with a legend. Requests samples only while it is visible.

    Signals:
        sample_wanted: A new sample is due; the receiver calls `show_sample`.
        opened: The user wants to see the legend, or only the bar.

    Attributes:
        segments: The parts of the bar.
    """

    sample_wanted = Signal()
    opened = Signal(bool)

    def __init__(self) -> None:
        """Create the gauge, with nothing known yet."""
        super().__init__()
        self.setObjectName("gauge")
        self._sample: MemorySample | None = None
        self.figures: MemoryFigures | None = None
        self._model = ""
        # Whether the user wants to see the legend, and whether there is room for it.
        self._open = self._fits = True
        self._planned: tuple[str, Projection] | None = None
        self.segments: tuple[Segment, ...] = ()
        self._title = Label(tr("Memory"), "strong")
        self.unfold = IconButton("up", tr("Show memory details"))
        self.unfold.clicked.connect(lambda: self.opened.emit(not self._open))
        self.free = ElidedLabel("—", "caption")
        self.free.setAlignment(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight)
        self._bar = _Bar()
        self.legends = [_Legend() for _ in range(5)]
        top = QHBoxLayout()
        top.addWidget(self._title)
        top.addWidget(self.free, 1)
        top.addWidget(self.unfold)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.GAP_16, theme.GAP_12, theme.GAP_16, theme.GAP_16)
        layout.setSpacing(theme.GAP_4)
        layout.addLayout(top)
        layout.addSpacing(theme.GAP_4)
        layout.addWidget(self._bar)
        layout.addSpacing(theme.GAP_4)
        for legend in self.legends:
            layout.addWidget(legend)
        self.sample_timer = QTimer(self)
        self.sample_timer.setInterval(SAMPLE_EVERY_MS)
        self.sample_timer.timeout.connect(self.sample_wanted)
        self._watched: QWidget | None = None
        self._show()

    def show_sample(self, sample: MemorySample | None) -> None:
        """Show the machine's memory; None if it could not be read."""
        self._sample = sample if sample is not None and sample.known else None
        self._show()

    def show_figures(self, figures: MemoryFigures | None) -> None:
        """Show what the loaded models use; None if none is loaded."""
        self.figures = figures
        self._show()

    def show_model(self, name: str) -> None:
        """Use `name` for the loaded model."""
        self._model = name
        self._show()

    def show_plan(self, name: str, projection: Projection | None) -> None:
        """Show what loading the model `name` would take; None if no model is selected, or it is loaded already."""
        self._planned = (name, projection) if projection is not None and projection.plan is not None else None
        self._show()

    @property
    def legends_height(self) -> int:
        """Height of the legend in pixels, whether it is shown or not."""
        return sum(legend.sizeHint().height() + theme.GAP_4 for legend in self.legends[: len(self._lines())])

    @property
    def expanded(self) -> bool:
        """Whether the legend below the bar is shown: the user wants it, and there is room."""
        return self._open and self._fits

    def show_legends(self, fits: bool) -> None:
        """Record whether there is room for the legend, which is otherwise left to the tool tip."""
        self._fits = fits
        self._show_legends()

    def set_open(self, open_: bool) -> None:
        """Show the legend where there is room, or only the bar."""
        self._open = open_
        icon, name = ("down", tr("Hide memory details")) if open_ else ("up", tr("Show memory details"))
        self.unfold.set_icon(icon, name)
        self._show_legends()

    def _show(self) -> None:
        sample = self._sample
        self.segments = self._all_segments()
        shown, role, summary = "—", "caption", tr("Memory unknown")
        if sample is not None:
            free, total = wording.size(sample.available), wording.size(sample.total)
            shown, role, summary = _PRESSURES[pressure(sample)]
            shown, summary = tr(shown).format(free=free), tr(summary).format(free=free, total=total)
        self.free.setText(shown)
        restyle(self.free, "role", role)
        spoken = [summary, *map(_describe, self.segments)]
        if self.figures and self.figures.budget:
            spoken.append(tr("Contexts take at most {size}").format(size=wording.size(self.figures.budget)))
        self._bar.show_segments(self.segments, sample.total if sample else 0)
        self._show_legends()
        self.setAccessibleName(", ".join(spoken))
        self.setToolTip(plain_tip("\n".join(spoken)))

    def _all_segments(self) -> tuple[Segment, ...]:
        sample, figures = self._sample, self.figures
        segments = []
        if sample is not None:
            segments.append(Segment(tr("Other programs"), machine_memory(sample, figures).others, "others"))
        if figures and figures.weights:
            several = len(figures.models)
            name = self._model or tr("This model")
            if several > 1:
                name = tr("1 model|{count} models", "", several).format(count=several)
            segments.append(Segment(name, figures.weights, "accent"))
        if figures and (figures.cache or figures.weights):
            segments.append(Segment(tr("Context in use"), figures.live, "live"))
            segments.append(Segment(tr("Prompt cache"), figures.cache - figures.live, "kept"))
        if self._planned and (plan := self._planned[1].plan) is not None:
            segments.append(Segment(self._planned[0], plan.weights, "accent", ghost=True))
            context = tr("A context of 1 token|A context of {count} tokens", "", plan.context)
            context = context.format(count=wording.count(plan.context))
            segments.append(Segment(context, bytes_beside_weights(plan), "kept", ghost=True))
        return tuple(segments)

    def _lines(self) -> list[tuple[Segment, str]]:
        """Return the segments of the legend with their sizes; planned weights and context share a line."""
        lines = [(segment, wording.size(segment.nbytes)) for segment in self.segments if not segment.ghost]
        if ghosts := [segment for segment in self.segments if segment.ghost]:
            lines.append((ghosts[0], wording.size(sum(ghost.nbytes for ghost in ghosts))))
        return lines

    def _show_legends(self) -> None:
        self.unfold.setVisible(self._fits)
        lines = self._lines() if self.expanded else []
        for number, legend in enumerate(self.legends):
            legend.show_segment(*(lines[number] if number < len(lines) else (None, "")))

    def _start_or_stop(self) -> None:
        """Request samples while the gauge is visible."""
        visible = self.isVisible() and not self.window().isMinimized()
        if visible and not self.sample_timer.isActive():
            self.sample_timer.start()
            self.sample_wanted.emit()
        elif not visible:
            self.sample_timer.stop()

    def showEvent(self, event: QShowEvent) -> None:
        """Start requesting samples."""
        super().showEvent(event)
        if self._watched is not self.window():
            self._watched = self.window()
            self._watched.installEventFilter(self)
        self._start_or_stop()

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop requesting samples."""
        super().hideEvent(event)
        self.sample_timer.stop()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Pause while the window is minimized."""
        if event.type() == QEvent.Type.WindowStateChange:
            self._start_or_stop()
        return super().eventFilter(watched, event)


def _describe(segment: Segment) -> str:
    size = wording.size(segment.nbytes)
    if segment.ghost:
        return tr("{name} would take {size}").format(name=segment.name, size=size)
    return f"{segment.name} {size}"


class _Bar(QWidget):
    """The bar, with planned memory as outlined segments."""

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
        parts = [
            (segment.nbytes / self._total, getattr(tokens, segment.color))
            for segment in self._segments
            if not segment.ghost
        ]
        draw_bar(painter, rect, parts, tokens.track)
        # Planned memory starts where other programs end, because the loaded model would be unloaded first.
        start = next((segment.nbytes for segment in self._segments if segment.color == "others"), 0) / self._total
        if ghosts := [segment for segment in self._segments if segment.ghost]:
            self._paint_ghosts(painter, start, ghosts)

    def _paint_ghosts(self, painter: QPainter, start: float, ghosts: list[Segment]) -> None:
        """Draw an outline around the planned memory, filled with the colours of its parts at low opacity."""
        tokens = theme.current().tokens
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        expanded = QRectF(self.rect()).adjusted(0.75, 0.75, -0.75, -0.75)
        share = sum(ghost.nbytes for ghost in ghosts) / self._total
        box = QRectF(expanded.left() + min(start, 1.0) * expanded.width(), expanded.top(), 0.0, expanded.height())
        box.setRight(min(expanded.right(), max(box.left() + share * expanded.width(), box.left() + expanded.height())))
        box.setLeft(min(box.left(), box.right() - expanded.height()))
        path = QPainterPath()
        path.addRoundedRect(box, expanded.height() / 2, expanded.height() / 2)
        painter.save()
        painter.setClipPath(path)
        left = box.left()
        for ghost in ghosts:
            fill = QColor(getattr(tokens, ghost.color))
            fill.setAlpha(_GHOST_ALPHA)
            width = ghost.nbytes / self._total * expanded.width()
            painter.fillRect(QRectF(left, box.top(), width, box.height()), fill)
            left += width
        painter.restore()
        painter.setPen(QPen(QColor(tokens.accent), 1.5))
        painter.drawPath(path)


class _Legend(QWidget):
    """A line of the legend: coloured dot, name and size."""

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
    """A dot, or a ring for planned memory."""

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
