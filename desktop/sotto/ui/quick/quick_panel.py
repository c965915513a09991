"""The quick prompt's panel: the composer and the transcript in a small window. `quick_prompt` controls it."""

import sys
from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QAction, QCursor, QGuiApplication, QHideEvent, QKeySequence, QMouseEvent, QScreen
from PySide6.QtWidgets import QApplication, QFrame, QHBoxLayout, QMenu, QVBoxLayout, QWidget

from sotto.runner.residents import is_same_model
from sotto.store.records import ModelRecord
from sotto.ui.composer.composer import Composer
from sotto.ui.state.model_state import ModelState, Phase
from sotto.ui.state.names import model_name, short_name
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.notice import Notice
from sotto.ui.toolkit.scroller import forget_pointer
from sotto.ui.toolkit.translation import tr
from sotto.ui.toolkit.widgets import IconButton, popup
from sotto.ui.transcript.transcript import Transcript

_WIDTH, _TRANSCRIPT_HEIGHT, _MODEL_WIDTH = 620, 340, 260
# The middle of the panel's lower edge, as fractions of the screen's width and height.
DEFAULT_PLACE = (0.5, 0.86)
_MARGIN = 16


class QuickPanel(QWidget):
    """A small window that stays in front of all others and hides when it loses the focus.

    Signals:
        left: The panel is hidden now; whether the user hid it, instead of activating another window.
        app_wanted: The user wants to continue in the main window.
        new_chat_wanted: The user wants to begin another conversation.
        clipboard_wanted: The user wants to insert the clipboard's text or image into the question.
        model_wanted: The user wants another model (`ModelRecord`).
        placed: The user has dragged the panel; the middle of its lower edge, as fractions of the screen.
        reset_wanted: The user wants the panel back in its default place.
        quit_wanted: The user wants to quit the app.

    Attributes:
        place: The middle of the panel's lower edge, as fractions of the screen.
    """

    left = Signal(bool)
    app_wanted = Signal()
    new_chat_wanted = Signal()
    clipboard_wanted = Signal()
    model_wanted = Signal(object)
    placed = Signal(float, float)
    reset_wanted = Signal()
    quit_wanted = Signal()

    def __init__(self, *, round_corners: bool = True) -> None:
        """Create the panel, hidden; `round_corners` must be False where windows cannot be transparent."""
        flags = Qt.WindowType.Tool | Qt.WindowType.FramelessWindowHint | Qt.WindowType.WindowStaysOnTopHint
        super().__init__(None, flags)
        self.setObjectName("quickPanel")
        self.setWindowTitle(tr("Sotto: Quick Prompt"))
        self.setAccessibleName(tr("Quick prompt"))
        self.setAttribute(Qt.WidgetAttribute.WA_TranslucentBackground)
        self.setAttribute(Qt.WidgetAttribute.WA_QuitOnClose, False)
        # By default, macOS hides tool windows while another app is active.
        self.setAttribute(Qt.WidgetAttribute.WA_MacAlwaysShowToolWindow)
        self.place = DEFAULT_PLACE
        self._state = ModelState()
        self._models: tuple[ModelRecord, ...] = ()
        self._drag_offset: QPoint | None = None
        self.transcript = Transcript(quick=True)
        self.notice = Notice()
        self.composer = Composer(attaches=False, invitation=tr("Ask anything"))
        self.model = IconButton("chip", tr("Model"), " ")
        self.model.setObjectName("quickModel")
        self.model.clicked.connect(self.choose_model)
        self.clipboard = IconButton(
            "copy", tr("Use clipboard"), tr("Use clipboard"), tip=tr("Insert the clipboard’s text or image")
        )
        self.clipboard.setObjectName("quickClipboard")
        self.clipboard.clicked.connect(self.clipboard_wanted)
        self.open_app = IconButton("window", tr("Open in Sotto"), tip=tr("Continue in Sotto’s window"))
        self.open_app.clicked.connect(self.app_wanted)
        self.more = IconButton("more", tr("More"))
        self.more.clicked.connect(self._show_more)
        self._build(round_corners)
        self._actions = self._make_actions()
        theme.current().changed.connect(self._update_size)
        self.show_state(ModelState(), answering=False)
        self.show_conversation(begun=False)

    def _build(self, round_corners: bool) -> None:
        frame = QFrame()
        frame.setObjectName("quick")
        frame.setProperty("round", round_corners)
        foot = QHBoxLayout()
        foot.setContentsMargins(theme.GAP_8, 0, theme.GAP_8, 0)
        foot.setSpacing(theme.GAP_4)
        foot.addWidget(self.model)
        foot.addWidget(self.clipboard)
        foot.addStretch(1)
        foot.addWidget(self.open_app)
        foot.addWidget(self.more)
        inside = QVBoxLayout(frame)
        inside.setContentsMargins(theme.GAP_8, theme.GAP_8, theme.GAP_8, theme.GAP_8)
        inside.setSpacing(theme.GAP_4)
        inside.addWidget(self.transcript)
        inside.addWidget(self.notice)
        inside.addWidget(self.composer)
        inside.addLayout(foot)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(frame)

    def _make_actions(self) -> list[QAction]:
        return [
            self._action(tr("Open in Sotto"), self.app_wanted.emit, "Ctrl+Return", "Ctrl+Enter"),
            self._action(tr("New Chat"), self.new_chat_wanted.emit, QKeySequence.StandardKey.New),
            self._action(tr("Reset Position"), self.reset_wanted.emit),
            self._action(tr("Hide"), self.dismiss, "Esc"),
            self._action(tr("Quit Sotto"), self.quit_wanted.emit, "Ctrl+Q"),
        ]

    def _action(self, text: str, act: Callable[[], object], *keys: QKeySequence.StandardKey | str) -> QAction:
        action = QAction(text, self)
        action.setShortcuts([QKeySequence(key) for key in keys])
        action.triggered.connect(lambda: act())
        self.addAction(action)
        return action

    # What is shown

    def show_state(self, state: ModelState, *, answering: bool) -> None:
        """Show the state of the model; `answering` says whether it is answering in this panel."""
        self._state = state
        self.composer.show_state(state.for_chat(answering=answering))
        name = short_name(state.record.name) if state.record else tr("No model")
        doing = {
            Phase.LOADING: tr("loading…"),
            Phase.FAILED: tr("failed"),
            Phase.UNLOADING: tr("ejecting…"),
        }.get(state.phase, "")
        shown = f" {name} · {doing}" if doing else f" {name}"
        room = theme.current().scaled(_MODEL_WIDTH)
        self.model.setText(self.model.fontMetrics().elidedText(shown, Qt.TextElideMode.ElideMiddle, room))
        sentence = (
            tr("Model: {name}, {state}. Choose another one") if doing else tr("Model: {name}. Choose another one")
        )
        self.model.setAccessibleName(sentence.format(name=name, state=doing))

    def show_models(self, models: Sequence[ModelRecord]) -> None:
        """Set the models to choose from."""
        self._models = tuple(models)

    def show_conversation(self, *, begun: bool) -> None:
        """Show the transcript, or only the composer if the conversation has not begun."""
        self.transcript.setVisible(begun)
        self._update_size()

    def offer_clipboard(self, *, offered: bool) -> None:
        """Show the button for the clipboard, or hide it."""
        self.clipboard.setVisible(offered)

    def appear(self) -> None:
        """Show the panel in front, with the focus in the composer."""
        self._move(self._screen())
        self.show()
        if sys.platform != "darwin":
            self.raise_()  # on macOS, this would also raise the app's other windows
        self.activateWindow()
        self.composer.draft.setFocus(Qt.FocusReason.ActiveWindowFocusReason)

    def dismiss(self) -> None:
        """Hide the panel at the user's request."""
        if self.isVisible():
            self.hide()
            self.left.emit(True)

    def choose_model(self) -> None:
        """Show the menu of models."""
        menu = QMenu(self)
        for record in self._models:
            if record.runnable:
                action = menu.addAction(model_name(record.name))
                action.triggered.connect(partial(self.model_wanted.emit, record))
                action.setCheckable(True)
                action.setChecked(self._state.record is not None and is_same_model(record, self._state.record))
        if menu.isEmpty():
            menu.addAction(tr("No model found")).setEnabled(False)
        self._show_menu(menu, self.model)

    def _show_more(self) -> None:
        menu = QMenu(self)
        menu.addActions(self._actions)
        self._show_menu(menu, self.more)

    def _show_menu(self, menu: QMenu, button: QWidget) -> None:
        """Show a menu above a button, because the panel is usually near the bottom of the screen."""
        corner = button.mapToGlobal(QPoint(0, 0))
        popup(menu, corner - QPoint(0, menu.sizeHint().height()))

    # Place and size

    def set_place(self, x: float, y: float) -> None:
        """Move the middle of the lower edge to another place, in fractions of the screen."""
        self.place = (x, y)
        if self.isVisible():
            self._move(self.screen())

    def _screen(self) -> QScreen:
        """Return the screen with the mouse pointer."""
        return QGuiApplication.screenAt(QCursor.pos()) or QGuiApplication.primaryScreen()

    def _update_size(self) -> None:
        """Fit the height to the contents, keeping the lower edge, and so the composer, in place."""
        half_screen = self._screen().availableSize().height() // 2
        self.transcript.setFixedHeight(min(theme.current().scaled(_TRANSCRIPT_HEIGHT), half_screen))
        if self.isVisible():
            self._move(self.screen())

    def _move(self, screen: QScreen) -> None:
        self.setGeometry(place_panel(self._wanted_size(screen), screen.availableGeometry(), self.place))

    def _wanted_size(self, screen: QScreen) -> QSize:
        layout = self.layout()
        assert layout is not None
        width = min(theme.current().scaled(_WIDTH), screen.availableSize().width() - 2 * _MARGIN)
        layout.activate()
        height = layout.totalHeightForWidth(width) if layout.hasHeightForWidth() else layout.totalSizeHint().height()
        return QSize(width, height)

    # Qt

    def event(self, event: QEvent) -> bool:
        """Fit the size when the layout of the contents changes."""
        done = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest and self.isVisible():
            self._move(self.screen())
        return done

    def changeEvent(self, event: QEvent) -> None:
        """Hide the panel when another window is activated, except for its own menus."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.ActivationChange and self.isVisible() and not self.isActiveWindow():
            # After a turn of the event loop, because the focus may come back at once.
            QTimer.singleShot(0, self, self._hide_if_inactive)

    @Slot()
    def _hide_if_inactive(self) -> None:
        active = QApplication.activeWindow()
        while active is not None and active is not self:
            # A window that was opened from the panel, as that of an image, belongs to it.
            active = active.parentWidget()
        if self.isVisible() and active is not self and QApplication.activePopupWidget() is None:
            self.hide()
            self.left.emit(False)

    def hideEvent(self, event: QHideEvent) -> None:
        """Leave nothing hovered."""
        super().hideEvent(event)
        forget_pointer(self)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin to drag the panel."""
        if event.button() == Qt.MouseButton.LeftButton:
            if QGuiApplication.platformName().startswith("wayland"):
                self.windowHandle().startSystemMove()  # only the compositor may move windows there
            else:
                self._drag_offset = event.globalPosition().toPoint() - self.pos()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Drag the panel."""
        if self._drag_offset is not None:
            self.move(event.globalPosition().toPoint() - self._drag_offset)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """End dragging, and report the new place."""
        if self._drag_offset is not None:
            self._drag_offset = None
            area, panel = self.screen().availableGeometry(), self.geometry()
            x = (panel.center().x() - area.left()) / max(1, area.width())
            y = (panel.bottom() + 1 - area.top()) / max(1, area.height())
            self.placed.emit(min(1.0, max(0.0, x)), min(1.0, max(0.0, y)))


def place_panel(size: QSize, area: QRect, place: tuple[float, float]) -> QRect:
    """Return the geometry of a panel, moved as far as necessary to lie within the screen.

    Args:
        size: The size of the panel.
        area: The available area of the screen.
        place: The middle of the panel's lower edge, as fractions of `area`.
    """
    x = area.left() + round(place[0] * area.width()) - size.width() // 2
    y = area.top() + round(place[1] * area.height()) - size.height()
    x = max(area.left() + _MARGIN, min(x, area.right() + 1 - _MARGIN - size.width()))
    y = max(area.top() + _MARGIN, min(y, area.bottom() + 1 - _MARGIN - size.height()))
    return QRect(QPoint(x, y), size)
