"""The quick prompt's panel: a question, its answer, and nothing else of the app. Draws only; `quick_prompt` decides."""

import sys
from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QAction, QCursor, QGuiApplication, QKeySequence, QMouseEvent, QScreen
from PySide6.QtWidgets import QApplication, QFrame, QHBoxLayout, QMenu, QVBoxLayout, QWidget

from sotto.runner.residents import same
from sotto.store.records import ModelRecord
from sotto.ui.composer.composer import Composer
from sotto.ui.state.model_state import ModelState, Phase
from sotto.ui.state.names import model_name, short_name
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.notice import Notice
from sotto.ui.toolkit.widgets import IconButton, popup
from sotto.ui.transcript.transcript import Transcript

_WIDTH, _TALK_HEIGHT, _MODEL_WIDTH = 620, 340, 260
# The middle of the panel's lower edge, as shares of the screen's width and height.
USUAL_PLACE = (0.5, 0.86)
_MARGIN = 16


class QuickPanel(QWidget):
    """A small window of its own, in front of all others while it is used.

    Signals:
        left: It is out of sight now; whether the person sent it away, rather than going elsewhere.
        app_wanted: The person wants to go on in the app.
        new_chat_wanted: The person begins another conversation.
        clipboard_wanted: What is in the clipboard belongs into the question.
        model_wanted: Another model is to answer (`ModelRecord`).
        placed: It was dragged to another place; the middle of its lower edge, as shares of the screen.
        reset_wanted: The person wants it back in its usual place.
        quit_wanted: The person ends the app.
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
        """Begin out of sight, with nothing asked."""
        flags = Qt.WindowType.Tool | Qt.WindowType.FramelessWindowHint | Qt.WindowType.WindowStaysOnTopHint
        super().__init__(None, flags)
        self.setObjectName("quickPanel")
        self.setWindowTitle("Sotto: Quick Prompt")
        self.setAccessibleName("Quick prompt")
        self.setAttribute(Qt.WidgetAttribute.WA_TranslucentBackground)
        self.setAttribute(Qt.WidgetAttribute.WA_QuitOnClose, False)
        # A panel of macOS would else be gone with the app that has the focus.
        self.setAttribute(Qt.WidgetAttribute.WA_MacAlwaysShowToolWindow)
        self.place = USUAL_PLACE
        self._state = ModelState()
        self._models: tuple[ModelRecord, ...] = ()
        self._held: QPoint | None = None
        self._sent_away = False
        self.transcript = Transcript()
        self.notice = Notice()
        self.composer = Composer(attaches=False, invitation="Ask anything")
        self.model = IconButton("chip", "Model", " ")
        self.model.setObjectName("quickModel")
        self.model.clicked.connect(self._choose_model)
        self.clipboard = IconButton("copy", "Use clipboard", "Use clipboard", tip="Put the clipboard’s text in here")
        self.clipboard.setObjectName("quickClipboard")
        self.clipboard.clicked.connect(self.clipboard_wanted)
        self.open_app = IconButton("window", "Open in Sotto", tip="Go on in Sotto’s window")
        self.open_app.clicked.connect(self.app_wanted)
        self.more = IconButton("more", "More")
        self.more.clicked.connect(self._show_more)
        self._arrange(round_corners)
        self._actions = self._make_actions()
        theme.current().changed.connect(self._fit)
        self.show_state(ModelState(), answering=False)
        self.show_conversation(begun=False)

    def _arrange(self, round_corners: bool) -> None:
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
            self._action("Open in Sotto", self.app_wanted.emit, "Ctrl+Return", "Ctrl+Enter"),
            self._action("New Chat", self.new_chat_wanted.emit, QKeySequence.StandardKey.New),
            self._action("Put Back in Its Place", self.reset_wanted.emit),
            self._action("Hide", self.send_away, "Esc"),
            self._action("Quit Sotto", self.quit_wanted.emit, "Ctrl+Q"),
        ]

    def _action(self, text: str, act: Callable[[], object], *keys: QKeySequence.StandardKey | str) -> QAction:
        action = QAction(text, self)
        action.setShortcuts([QKeySequence(key) for key in keys])
        action.triggered.connect(lambda: act())
        self.addAction(action)
        return action

    # What there is to see

    def show_state(self, state: ModelState, *, answering: bool) -> None:
        """Draw how the model stands; `answering` tells whether it answers here."""
        self._state = state
        self.composer.show_state(state.for_chat(answering=answering))
        name = short_name(state.record.name) if state.record else "No model"
        doing = {Phase.LOADING: "loading…", Phase.FAILED: "failed", Phase.UNLOADING: "ejecting…"}.get(state.phase, "")
        shown = f" {name} · {doing}" if doing else f" {name}"
        room = theme.current().scaled(_MODEL_WIDTH)
        self.model.setText(self.model.fontMetrics().elidedText(shown, Qt.TextElideMode.ElideMiddle, room))
        self.model.setAccessibleName(f"Model: {name}{', ' if doing else ''}{doing}. Choose another one")

    def show_models(self, models: Sequence[ModelRecord]) -> None:
        """Offer these models to choose from."""
        self._models = tuple(models)

    def show_conversation(self, *, begun: bool) -> None:
        """Show the messages, or nothing but the question."""
        self.transcript.setVisible(begun)
        self._fit()

    def offer_clipboard(self, *, text: bool) -> None:
        """Offer the clipboard while there is text in it."""
        self.clipboard.setVisible(text)

    def appear(self) -> None:
        """Come to the front with the caret in the question."""
        self._sent_away = False
        self._move(self._screen())
        self.show()
        if sys.platform != "darwin":
            self.raise_()  # there it would bring the app's other windows along
        self.activateWindow()
        self.composer.draft.setFocus(Qt.FocusReason.ActiveWindowFocusReason)

    def send_away(self) -> None:
        """Go out of sight."""
        if self.isVisible():
            self._sent_away = True
            self.hide()
            self.left.emit(True)

    def _choose_model(self) -> None:
        menu = QMenu(self)
        for record in self._models:
            if record.runnable:
                action = menu.addAction(model_name(record.name))
                action.triggered.connect(partial(self.model_wanted.emit, record))
                action.setCheckable(True)
                action.setChecked(self._state.record is not None and same(record, self._state.record))
        if menu.isEmpty():
            menu.addAction("No model was found").setEnabled(False)
        self._drop_down(menu, self.model)

    def _show_more(self) -> None:
        menu = QMenu(self)
        menu.addActions(self._actions)
        self._drop_down(menu, self.more)

    def _drop_down(self, menu: QMenu, button: QWidget) -> None:
        """Show a menu above a button: the panel is low on the screen."""
        corner = button.mapToGlobal(QPoint(0, 0))
        popup(menu, corner - QPoint(0, menu.sizeHint().height()))

    # Where it is

    def put(self, x: float, y: float) -> None:
        """Be at another place: the middle of the lower edge, as shares of the screen."""
        self.place = (x, y)
        if self.isVisible():
            self._move(self.screen())

    def _screen(self) -> QScreen:
        """Return the screen that the person looks at."""
        return QGuiApplication.screenAt(QCursor.pos()) or QGuiApplication.primaryScreen()

    def _fit(self) -> None:
        """Be as high as what is shown, and keep the lower edge, with the caret, where it is."""
        look = theme.current()
        self.transcript.setFixedHeight(min(look.scaled(_TALK_HEIGHT), self._screen().availableSize().height() // 2))
        if self.isVisible():
            self._move(self.screen())

    def _move(self, screen: QScreen) -> None:
        self.setGeometry(placed(self._wanted(screen), screen.availableGeometry(), self.place))

    def _wanted(self, screen: QScreen) -> QSize:
        layout = self.layout()
        assert layout is not None
        width = min(theme.current().scaled(_WIDTH), screen.availableSize().width() - 2 * _MARGIN)
        layout.activate()
        height = layout.totalHeightForWidth(width) if layout.hasHeightForWidth() else layout.totalSizeHint().height()
        return QSize(width, height)

    # Qt

    def event(self, event: QEvent) -> bool:
        """Fit again when something inside wants another size."""
        done = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest and self.isVisible():
            self._move(self.screen())
        return done

    def changeEvent(self, event: QEvent) -> None:
        """Go out of sight when the focus goes to another window; a menu of its own is none."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.ActivationChange and self.isVisible() and not self.isActiveWindow():
            # Not from inside the change, and not if the focus only passes by.
            QTimer.singleShot(0, self, self._look_away)

    @Slot()
    def _look_away(self) -> None:
        if self.isVisible() and not self.isActiveWindow() and QApplication.activePopupWidget() is None:
            self.hide()
            self.left.emit(False)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin to drag the panel by its edge."""
        if event.button() == Qt.MouseButton.LeftButton:
            if QGuiApplication.platformName().startswith("wayland"):
                self.windowHandle().startSystemMove()  # only the compositor may move windows there
            else:
                self._held = event.globalPosition().toPoint() - self.pos()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Drag it."""
        if self._held is not None:
            self.move(event.globalPosition().toPoint() - self._held)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Stay there."""
        if self._held is not None:
            self._held = None
            room, here = self.screen().availableGeometry(), self.geometry()
            x = (here.center().x() - room.left()) / max(1, room.width())
            y = (here.bottom() + 1 - room.top()) / max(1, room.height())
            self.placed.emit(min(1.0, max(0.0, x)), min(1.0, max(0.0, y)))


def placed(size: QSize, room: QRect, place: tuple[float, float]) -> QRect:
    """Return where a panel is whose lower edge has its middle at `place`, as far as all of it is in `room`."""
    x = room.left() + round(place[0] * room.width()) - size.width() // 2
    y = room.top() + round(place[1] * room.height()) - size.height()
    x = max(room.left() + _MARGIN, min(x, room.right() + 1 - _MARGIN - size.width()))
    y = max(room.top() + _MARGIN, min(y, room.bottom() + 1 - _MARGIN - size.height()))
    return QRect(QPoint(x, y), size)
