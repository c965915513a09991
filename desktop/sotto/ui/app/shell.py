"""Connects the window, the quick prompt, the tray and the global shortcut, and saves everything when the app ends."""

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
from sotto.ui.app.address_opener import AddressOpener
from sotto.ui.app.tray import Tray, TrayAction, TrayEntry
from sotto.ui.app.update_notices import UpdateNotices
from sotto.ui.conversation.chat_session import ChatSession
from sotto.ui.conversation.chat_sessions import ChatSessions
from sotto.ui.conversation.chat_thread import ChatThread
from sotto.ui.models import download_words
from sotto.ui.platform.dock import Dock
from sotto.ui.platform.global_shortcut import GlobalShortcut
from sotto.ui.platform.single_instance import Show, StartRequest
from sotto.ui.preferences.preferences import Preferences, PreferenceStore
from sotto.ui.quick.quick_prompt import QuickPrompt
from sotto.ui.session import engine_hosts
from sotto.ui.session.session import Session
from sotto.ui.state.drop_contents import DropContents
from sotto.ui.state.model_state import Problem
from sotto.ui.toolkit.translation import tr
from sotto.ui.updating.update_checker import UpdateChecker, usable_source
from sotto.ui.window.main_window import MainWindow
from sotto.ui.window.window_state import WindowState

if TYPE_CHECKING:
    from sotto.ui.session.api_switch import ApiSwitch
    from sotto.ui.timing.async_tasks import AsyncTasks

_DEFAULT_REQUEST = StartRequest()
# The quick prompt's panel is created this long after the start, when nothing else is going on any more.
_PREPARE_MS = 1500
_START_SECONDS = 3.0
# How long a log-out waits for chats to be saved.
_SAVE_SECONDS = 3.0
_SHOWN_BY = {
    TrayAction.QUICK: Show.QUICK,
    TrayAction.WINDOW: Show.WINDOW,
    TrayAction.NEW_CHAT: Show.NEW_CHAT,
}


class Shell(QObject):
    """Owns the window, the quick prompt and the tray icon.

    Signals:
        ended: The app should quit.

    Attributes:
        session: The model in use.
        sessions: The open conversations.
        quick: The quick prompt.
        tray: The tray icon.
        shortcut: The global shortcut of the quick prompt.
        updates: Looks for new versions.
        api: The switch of the API, for the window; None if there is none.
        ending: Whether the app is about to quit.
        started_at: When the app started, by `time.monotonic`.
    """

    ended = Signal()

    def __init__(self, session: Session, chats: ChatThread, preferences: PreferenceStore) -> None:
        """Prepare everything, and show nothing yet."""
        super().__init__()
        self.session = session
        self.api: ApiSwitch | None = None
        self.ending = False
        # Whether the window begins with a new conversation instead of the one that was last in view.
        self._fresh = False
        # An address to open once the window has begun; empty for none.
        self._address = ""
        self.started_at = time.monotonic()
        self._chats = chats
        self._preferences = preferences
        self._tasks: AsyncTasks | None = None
        self._window: MainWindow | None = None
        self.sessions = ChatSessions(session, chats, self)
        self.quick = QuickPrompt(session, preferences, self.sessions, self)
        self.quick.app_wanted.connect(self._move_to_window)
        self.quick.quit_wanted.connect(self.quit)
        self._prepare_timer = QTimer(self, singleShot=True, interval=_PREPARE_MS)
        self._prepare_timer.timeout.connect(self.quick.prepare)
        self.tray = Tray(self.tray_entries, self)
        self.tray.chosen.connect(self._run_entry)
        self._dock = Dock()
        self.shortcut = GlobalShortcut(self)
        self.shortcut.pressed.connect(self._toggle)
        self.shortcut.changed.connect(self._report_shortcut)
        preferences.changed.connect(self._follow)
        session.state_changed.connect(self.tray.refresh)
        self.updates = UpdateChecker(preferences, lambda: session.state.busy, usable_source(), self)
        self._update_notices = UpdateNotices(self.updates, preferences, self._quiet_window)

    @property
    def has_window(self) -> bool:
        """Whether the window has been created."""
        return self._window is not None

    @property
    def window(self) -> MainWindow:
        """The window, which is created on first use."""
        if self._window is None:
            self._window = MainWindow(self.session, self._chats, self._preferences, self.sessions)
            self._connect(self._window)
            self._window_state.restore_geometry()
            if self._tasks is not None:
                self._begin_window(self._tasks)
        return self._window

    def _connect(self, window: MainWindow) -> None:
        self._window_state = WindowState(window, self._chats)
        self._addresses = AddressOpener(window, self._chats)
        window.dialogs.shortcut, window.dialogs.updates = self.shortcut, self.updates
        if self.api is not None:
            window.show_api(self.api)
        window.closed.connect(self._close_window)
        window.quit_wanted.connect(self.quit)
        window.quick_wanted.connect(self.quick.show)
        window.current.changed.connect(self._give_up_chat)
        window.chat_library.trashed.connect(self._close_trashed)
        window.chat_library.erasing.connect(self.quick.current.new_chat)
        window.models.downloading.downloads.ended.connect(self._report_download)

    def begin(self, tasks: "AsyncTasks", request: StartRequest = _DEFAULT_REQUEST) -> None:
        """Start what needs the event loop, and load the models of `request`."""
        self._tasks = tasks
        self._address = request.address or self._address
        self._fresh = request.show is Show.NEW_CHAT or bool(self._address)
        if self._window is not None:
            self._begin_window(tasks, request.paths)
        else:
            self.session.begin(tasks, request.paths)
        self.tray.try_to_show()
        self.quick.begin(tasks)
        self.shortcut.begin(tasks)
        self._follow(self._preferences.values)
        self._prepare_timer.start()
        self.updates.begin(tasks)
        self._update_notices.begin()

    def _begin_window(self, tasks: "AsyncTasks", paths: tuple[Path, ...] = ()) -> None:
        assert self._window is not None
        self._window.begin(tasks, paths)
        self._window_state.open_chat(fresh=self._fresh)
        self._open_address()
        if engine_hosts.crashed_last_time() and self._preferences.values.engine_host == THREAD and not forced_kind():
            self._offer_isolation(self._window)

    def _offer_isolation(self, window: MainWindow) -> None:
        """Report that the app crashed while a model was computing, and offer to run the engine in its own process."""
        window.notices.show_question(
            tr("Sotto closed unexpectedly"),
            tr("Running the engine separately keeps a crash from closing the app. Takes effect after restart."),
            tr("Turn on"),
            lambda: self._preferences.change(engine_host=PROCESS),
            stays=True,
        )

    # What is shown

    @Slot(object)
    def carry_out(self, request: StartRequest) -> None:
        """Carry out the request of another start of the app."""
        if request.token:
            # Proves to a Wayland compositor that the user wants the window; Qt removes it after use.
            os.environ["XDG_ACTIVATION_TOKEN"] = request.token
        if request.paths:
            self.session.library.open(DropContents(request.paths, ()))
        self.show(request.show)
        if request.address:
            self._address = request.address
            if self._tasks is not None:
                self._open_address()

    def _open_address(self) -> None:
        """Open the address that is waiting, after drafts have been read, which come into view as well."""
        self._chats.do(lambda store: None, lambda _: self._open_waiting(), self._open_waiting)

    def _open_waiting(self) -> None:
        address, self._address = self._address, ""
        if address:
            self.open_window()
            self._addresses.open(address)

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
                self.window.new_chat()

    @Slot()
    def open_window(self) -> None:
        """Bring the window to the front."""
        window = self.window
        self._dock.show(True)
        if window.isMinimized():
            window.showNormal()
        else:
            window.show()
        window.raise_()
        window.activateWindow()

    @Slot()
    def reopen(self) -> None:
        """Open the window after a click on the app's icon, if nothing of the app is visible.

        The system also activates the app when it starts, possibly without a window, which must not open one.
        """
        if time.monotonic() - self.started_at < _START_SECONDS:
            return
        if not self.quick.visible and not (self._window is not None and self._window.isVisible()):
            self.open_window()

    # Between the two conversations

    @Slot()
    def _move_to_window(self) -> None:
        """Move the conversation or draft of the quick prompt to the window."""
        self._fresh = True
        window, session = self.window, self.quick.current.session
        draft = self.quick.panel.composer
        self.quick.hide_panel()
        if session.turns:
            window.current.show(session)
        elif draft.text.strip() and not window.chat.composer.text.strip():
            window.chat.composer.restore(draft.text)
            draft.clear()
        if not session.turns and session.draft.attachments:
            held = window.current.session.draft
            held.set_attachments((*held.attachments, *session.draft.attachments))
            session.draft.set_attachments(())
        self.open_window()
        window.chat.composer.draft.setFocus()

    @Slot(object)
    def _give_up_chat(self, session: ChatSession) -> None:
        """Remove a conversation from the quick prompt that the window shows now."""
        if session is self.quick.current.session:
            self.quick.current.new_chat()

    @Slot(object)
    def _close_trashed(self, chat: Chat) -> None:
        self.quick.current.forget(chat.id)

    # The tray

    def tray_entries(self) -> tuple[TrayEntry, ...]:
        """Return the current entries of the tray's menu."""
        session, names = self.session, self._preferences.values.recent_models
        if session.state.record is not None:
            # A model that has been loaded and not used yet can be loaded again after it was ejected.
            names = (session.state.record.name, *(name for name in names if name != session.state.record.name))
        models = tray.recent_models(session.library.models, names)
        return tray.menu_entries(session.state, models, self.shortcut.certain)

    @Slot(object)
    def _run_entry(self, entry: TrayEntry) -> None:
        if entry.action is TrayAction.QUIT:
            self.quit()
        elif entry.action is TrayAction.EJECT:
            self.session.eject()
        elif entry.action is TrayAction.LOAD and entry.model is not None:
            self.session.load(entry.model)
        elif entry.action in _SHOWN_BY:
            self.show(_SHOWN_BY[entry.action])

    @Slot(object)
    def _report_download(self, progress: PullProgress) -> None:
        """Report the end of a download at the tray if the window is hidden."""
        if not self.window.isVisible():
            self.tray.show_message(*download_words.end_message(progress))

    def _quiet_window(self) -> MainWindow | None:
        """Return the window if it is visible, and neither answers nor shows a notice."""
        window = self._window
        if window is None or not window.isVisible() or self.session.state.busy or window.notices.title:
            return None
        return window

    # The shortcut

    @Slot(object)
    def _follow(self, values: Preferences) -> None:
        """Register the shortcut of the preferences, once there is an event loop, and keep to the Dock as they say."""
        if self._tasks is not None:
            self.shortcut.set_keys(values.quick_shortcut)
            opened = self._window is not None and self._window.isVisible()
            self._dock.show(opened or values.dock_icon)

    @Slot()
    def _report_shortcut(self) -> None:
        """Show the shortcut in the tray's menu, or report why it cannot be registered."""
        self.tray.refresh()
        if self.shortcut.problem:
            self.session.problem.emit(Problem(tr("Quick prompt shortcut"), self.shortcut.problem))

    @Slot(str)
    def _toggle(self, token: str) -> None:
        self.carry_out(StartRequest(Show.TOGGLE, token=token))

    # The end

    @Slot()
    def _close_window(self) -> None:
        """Keep running without the window if the user can get it back, otherwise quit."""
        self._window_state.save()
        if sys.platform == "darwin":
            self._dock.show(self._preferences.values.dock_icon)
            return
        if not self.tray.is_visible:
            self.quit()
        elif not self._preferences.values.told_of_tray:
            self._preferences.change(told_of_tray=True)
            title = tr("Sotto keeps running when its window is closed")
            if not self.tray.show_message(title, tr("You can open or quit it from this menu.")):
                message = tr("You can open or quit it from the tray, or quit with Ctrl+Q.")
                self.window.notices.show_success(title, message)

    @Slot()
    def quit(self) -> None:
        """Quit the app."""
        self.ending = True
        self.ended.emit()

    @Slot(QSessionManager)
    def save_session(self, manager: QSessionManager) -> None:
        """Save everything before the desktop session ends, without asking the user."""
        manager.setRestartHint(QSessionManager.RestartHint.RestartNever)
        self.save()

    def save(self) -> None:
        """Save drafts, preferences and the state of the window."""
        if self._window is not None:
            self._window_state.save()
        self.sessions.save_drafts()
        self._preferences.close()
        self._chats.wait(_SAVE_SECONDS)

    def hide(self) -> None:
        """Save the state of the window, and hide everything."""
        if self._window is not None:
            self._window_state.save()
            self._window.hide()
        self._prepare_timer.stop()
        self.quick.hide_panel()
        self.shortcut.close()
        self.tray.close()

    def close(self) -> None:
        """Close and save all conversations; the engine may still be running."""
        try:
            self.hide()
            self.quick.close()
            if self._window is not None:
                self._window.composing.attachments.attaching.close()
                self._window.chat_files.close()
                self._window.models.close()
                self._window.finding.close()
        finally:
            self.sessions.close()
            self.session.library.close()
