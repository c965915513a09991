"""The app around its window: what it does when the window is closed, when another start comes in, and when it ends."""

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from PySide6.QtGui import QSessionManager

from sotto.chats.chat_records import Chat
from sotto.runner.host import PROCESS, THREAD, forced_kind
from sotto.store.pull.progress import PullProgress
from sotto.ui.app import tray
from sotto.ui.app.tray import Do, Tray, TrayEntry
from sotto.ui.conversation.chat_session import ChatSession
from sotto.ui.conversation.chat_sessions import ChatSessions
from sotto.ui.conversation.chat_thread import ChatThread
from sotto.ui.models import download_words
from sotto.ui.platform.global_shortcut import GlobalShortcut
from sotto.ui.platform.single_instance import Show, Wish
from sotto.ui.preferences.preferences import Preferences, PreferenceStore
from sotto.ui.quick.quick_prompt import QuickPrompt
from sotto.ui.session import engine_hosts
from sotto.ui.session.session import Session
from sotto.ui.state.drop_contents import DropContents
from sotto.ui.state.model_state import Problem
from sotto.ui.window.main_window import MainWindow
from sotto.ui.window.window_state import WindowState

if TYPE_CHECKING:
    from sotto.ui.session.api_switch import ApiSwitch
    from sotto.ui.toolkit.async_tasks import Flows

_USUAL = Wish()
# When the start is over, and the first question may already be asked.
_PREPARE_MS = 1500
_START_SECONDS = 3.0
# How long a log-out waits for the disk.
_KEEP_SECONDS = 3.0


class Shell(QObject):
    """Owns the window, the quick prompt and the item in the tray.

    Signals:
        ended: The app is to end.

    Attributes:
        over: Whether it is to end.
        sessions: The conversations that are open.
        quick: The quick prompt.
        api: What lets other programs in, for the settings; None where nothing does.
    """

    ended = Signal()

    def __init__(self, session: Session, keeper: ChatThread, preferences: PreferenceStore) -> None:
        """Show nothing yet."""
        super().__init__()
        self.session = session
        self.api: ApiSwitch | None = None
        self.over = False
        # Whether a window that is made begins with a new conversation, and not with the one that was in view.
        self._fresh = False
        self._made = time.monotonic()
        self._keeper = keeper
        self._preferences = preferences
        self._flows: Flows | None = None
        self._window: MainWindow | None = None
        self.sessions = ChatSessions(session, keeper, self)
        self.quick = QuickPrompt(session, preferences, self.sessions, self)
        self.quick.app_wanted.connect(self._move_to_window)
        self.quick.quit_wanted.connect(self.quit)
        self._preparing = QTimer(self, singleShot=True, interval=_PREPARE_MS)
        self._preparing.timeout.connect(self.quick.prepare)
        self.tray = Tray(self.tray_entries, self)
        self.tray.wanted.connect(self._do)
        self.shortcut = GlobalShortcut(self)
        self.shortcut.pressed.connect(self._toggle)
        self.shortcut.changed.connect(self._tell_of_keys)
        preferences.changed.connect(self._follow)
        session.state_changed.connect(self.tray.refresh)
        session.became_ready.connect(self._note_model)

    @property
    def has_window(self) -> bool:
        """Whether the window was ever asked for."""
        return self._window is not None

    @property
    def window(self) -> MainWindow:
        """The window, made when it is asked for first."""
        if self._window is None:
            self._window = MainWindow(self.session, self._keeper, self._preferences, self.sessions)
            self._connect(self._window)
            self._window_state.restore_geometry()
            if self._flows is not None:
                self._begin_window(self._flows)
        return self._window

    def _connect(self, window: MainWindow) -> None:
        self._window_state = WindowState(window, self._keeper)
        window.dialogs.api, window.dialogs.shortcut = self.api, self.shortcut
        window.closed.connect(self._close_window)
        window.quit_wanted.connect(self.quit)
        window.quick_wanted.connect(self.quick.show)
        window.current.changed.connect(self._leave_to_window)
        window.chat_library.trashed.connect(self._forget)
        window.desk.getting.downloads.ended.connect(self._tell_download)

    def begin(self, flows: "Flows", wish: Wish = _USUAL) -> None:
        """Start what needs an event loop, and load what `wish` is for."""
        self._flows = flows
        self._fresh = wish.show is Show.NEW_CHAT
        if self._window is not None:
            self._begin_window(flows, wish.paths)
        else:
            self.session.begin(flows, wish.paths)
        self.tray.look()
        self.shortcut.begin(flows)
        self._follow(self._preferences.values)
        self._preparing.start()

    def _begin_window(self, flows: "Flows", paths: tuple[Path, ...] = ()) -> None:
        assert self._window is not None
        self._window.begin(flows, paths)
        self._window_state.open_chat(fresh=self._fresh)
        if engine_hosts.crashed_last_time() and self._preferences.values.engine_host == THREAD and not forced_kind():
            self._offer_isolation(self._window)

    def _offer_isolation(self, window: MainWindow) -> None:
        """Say that the app ended while something was computed, and how that takes no more with it than an answer."""
        window.chat.notice.ask(
            "Sotto ended while a model was computing",
            "If that was a crash: in a process of its own the engine takes no more with it than an answer. "
            "It has one from the next start of Sotto, if you want that; the settings can undo it.",
            "Isolate the engine",
            lambda: self._preferences.change(engine_host=PROCESS),
        )
        window.chat.notice.stays = True

    # What there is to see

    @Slot(object)
    def grant(self, wish: Wish) -> None:
        """Do what another start of the app is for."""
        if wish.token:
            # Qt proves with it to a compositor that a person wants the window, and forgets it.
            os.environ["XDG_ACTIVATION_TOKEN"] = wish.token
        if wish.paths:
            self.session.library.open(DropContents(wish.paths, ()))
        self.show(wish.show)

    def show(self, what: Show) -> None:
        """Show the window or the quick prompt, or nothing."""
        if what is Show.QUICK:
            self.quick.show()
        elif what is Show.TOGGLE:
            self.quick.toggle()
        elif what is not Show.NOTHING:
            self._fresh = what is Show.NEW_CHAT
            self.open_window()
            if what is Show.NEW_CHAT:
                self.window.current.new_chat()

    @Slot()
    def open_window(self) -> None:
        """Bring the window to the front."""
        window = self.window
        if window.isMinimized():
            window.showNormal()
        else:
            window.show()
        window.raise_()
        window.activateWindow()

    def open_paths(self, paths: tuple[Path, ...]) -> None:
        """Load files that the system asks to open."""
        self.session.library.open(DropContents(paths, ()))
        self.open_window()

    @Slot()
    def reopen(self) -> None:
        """Bring the window back where nothing of the app can be seen, as a click on its icon means.

        The system activates the app at its start too, also where it starts without a window.
        """
        if time.monotonic() - self._made < _START_SECONDS:
            return
        if not self.quick.visible and not (self._window is not None and self._window.isVisible()):
            self.open_window()

    # Between the two conversations

    @Slot()
    def _move_to_window(self) -> None:
        """Go on in the window with what was begun in the quick prompt."""
        self._fresh = True
        window, session = self.window, self.quick.current.session
        draft = self.quick.panel.composer
        self.quick.vanish()
        if session.turns:
            window.current.show(session)
        elif draft.text.strip() and not window.chat.composer.text.strip():
            window.chat.composer.restore(draft.text)
            draft.clear()
        self.open_window()
        window.chat.composer.draft.setFocus()

    @Slot(object)
    def _leave_to_window(self, session: ChatSession) -> None:
        """Let no conversation be in view twice: the window has it then."""
        if session is self.quick.current.session:
            self.quick.current.new_chat()

    @Slot(object)
    def _forget(self, chat: Chat) -> None:
        self.quick.current.forget(chat.id)

    # The tray

    def tray_entries(self) -> tuple[TrayEntry, ...]:
        """Return what the menu of the tray offers now."""
        values, session = self._preferences.values, self.session
        return tray.entries(
            session.state, tray.recent(session.library.models, values.recent_models), self.shortcut.certain
        )

    @Slot()
    def _note_model(self) -> None:
        record = self.session.state.record
        if record is not None:
            self._preferences.change(recent_models=tray.noted(self._preferences.values.recent_models, record.name))

    @Slot(object)
    def _do(self, entry: TrayEntry) -> None:
        if entry.does is Do.QUIT:
            self.quit()
        elif entry.does is Do.EJECT:
            self.session.eject()
        elif entry.does is Do.LOAD and entry.model is not None:
            self.session.load(entry.model)
        elif entry.does in (Do.QUICK, Do.WINDOW, Do.NEW_CHAT):
            self.show({Do.QUICK: Show.QUICK, Do.WINDOW: Show.WINDOW, Do.NEW_CHAT: Show.NEW_CHAT}[entry.does])

    # The keys

    @Slot(object)
    def _tell_download(self, progress: PullProgress) -> None:
        """Say at the tray what came of a download that nobody can see."""
        if not self.window.isVisible():
            self.tray.tell(*download_words.ended(progress))

    @Slot(object)
    def _follow(self, values: Preferences) -> None:
        """Answer to the keys that were chosen, as soon as the desktop can be asked for them."""
        if self._flows is not None:
            self.shortcut.set_keys(values.quick_shortcut)

    @Slot()
    def _tell_of_keys(self) -> None:
        """Say in place why they cannot be had."""
        self.tray.refresh()
        if self.shortcut.problem:
            self.session.problem.emit(Problem("The keys of the quick prompt", self.shortcut.problem))

    @Slot(str)
    def _toggle(self, token: str) -> None:
        self.grant(Wish(Show.TOGGLE, token=token))

    # The end

    @Slot()
    def _close_window(self) -> None:
        """Go on out of sight where there is a way back, and end where there is none."""
        self._window_state.save()
        if sys.platform == "darwin":
            return
        if not self.tray.there:
            self.quit()
        elif not self._preferences.values.told_of_tray:
            self._preferences.change(told_of_tray=True)
            title = "Sotto goes on when its window is closed"
            if not self.tray.tell(title, "It stays here. Quit it from this menu."):
                self.window.chat.notice.inform(title, "It stays in the tray. Quit it from there, or with Ctrl+Q.")

    @Slot()
    def quit(self) -> None:
        """End the app."""
        self.over = True
        self.ended.emit()

    @Slot(QSessionManager)
    def save(self, manager: QSessionManager) -> None:
        """Keep everything before the session ends; nobody is asked anything."""
        manager.setRestartHint(QSessionManager.RestartHint.RestartNever)
        self.keep()

    def keep(self) -> None:
        """Write what is on its way to the disk."""
        if self._window is not None:
            self._window_state.save()
        self.sessions.save_drafts()
        self._preferences.close()
        self._keeper.wait(_KEEP_SECONDS)

    def hide(self) -> None:
        """Be gone from the screen."""
        if self._window is not None:
            self._window_state.save()
            self._window.hide()
        self._preparing.stop()
        self.quick.vanish()
        self.shortcut.close()
        self.tray.close()

    def close(self) -> None:
        """Keep everything; the engine may still be at work."""
        self.hide()
        if self._window is not None:
            self._window.composing.attaching.close()
            self._window.desk.close()
        self.sessions.close()
        self.session.library.close()
