"""The main window: creates its parts and connects them with each other and with the session."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, QUrl, Signal, Slot
from PySide6.QtGui import (
    QCloseEvent,
    QDesktopServices,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QHideEvent,
    QKeyEvent,
    QKeySequence,
    QPaintEvent,
)
from PySide6.QtWidgets import QMainWindow

from sotto.chats.chat_records import Attachment, Chat, Folder, Shelf
from sotto.runner.residents import is_same_model
from sotto.ui.composer.chat_settings_panel import ChatSettingsPanel
from sotto.ui.composer.choices_binding import ChoicesBinding
from sotto.ui.composer.composer_controller import ComposerController
from sotto.ui.composer.drop_overlay import DropOverlay
from sotto.ui.conversation.answer_announcer import AnswerAnnouncer
from sotto.ui.conversation.chat_library import ChatEntry, ChatLibrary
from sotto.ui.conversation.chat_session import ChatSession
from sotto.ui.conversation.chat_sessions import ChatSessions
from sotto.ui.conversation.chat_thread import ChatThread
from sotto.ui.conversation.current_chat import CurrentChat
from sotto.ui.conversation.greeting import Greeting
from sotto.ui.conversation.subscription import Subscription
from sotto.ui.gallery.find_models import FindModels
from sotto.ui.models.models_controller import ModelsController
from sotto.ui.preferences.preferences import Preferences, PreferenceStore
from sotto.ui.preferences.presets import PresetStore
from sotto.ui.session.session import Session
from sotto.ui.state.model_state import ModelState, Phase, Problem, Remedy
from sotto.ui.toolkit import icons
from sotto.ui.toolkit.scroller import forget_pointer
from sotto.ui.toolkit.translation import tr
from sotto.ui.transcript.notices import Notices
from sotto.ui.transcript.picture_viewer import PictureViewer
from sotto.ui.window.actions import WindowActions
from sotto.ui.window.bug_report import BugReport
from sotto.ui.window.chat_files import ChatFiles
from sotto.ui.window.chat_pane import ChatPane
from sotto.ui.window.dialogs import Dialogs, open_logs
from sotto.ui.window.drops import Drops
from sotto.ui.window.menus import Menus
from sotto.ui.window.message_commands import MessageCommands
from sotto.ui.window.palette_commands import PaletteCommands
from sotto.ui.window.panes import Panes
from sotto.ui.window.server_card import ServerCard
from sotto.ui.window.sidebar import Sidebar

if TYPE_CHECKING:
    from sotto.chats.database import Notice
    from sotto.ui.session.api_switch import ApiSwitch
    from sotto.ui.timing.async_tasks import AsyncTasks

_SIZE = (1120, 760)
_MIN_SIZE = (720, 480)


class MainWindow(QMainWindow):
    """The sidebar with chats and models on the left, the chat on the right.

    Signals:
        painted: The window has been painted for the first time.
        closed: The user has closed the window.
        quit_wanted: The user wants to quit the app.
        quick_wanted: The user wants to show the quick prompt.

    Attributes:
        session: The model in use.
        preferences: The user's preferences.
        sessions: The open conversations.
        current: The conversation in view.
        was_painted: Whether `painted` has been emitted.
    """

    painted = Signal()
    closed = Signal()
    quit_wanted = Signal()
    quick_wanted = Signal()

    def __init__(
        self, session: Session, chats: ChatThread, preferences: PreferenceStore, sessions: ChatSessions | None = None
    ) -> None:
        """Show a new conversation.

        Args:
            session: The model in use.
            chats: The conversations on disk.
            preferences: The user's preferences.
            sessions: The open conversations; None if the window shares them with no other.
        """
        super().__init__()
        self.session = session
        self.preferences = preferences
        self.sessions = sessions or ChatSessions(session, chats, self)
        self.current = CurrentChat(self.sessions, self)
        self.greeting = Greeting(session, self.current, self)
        self.chat_library = ChatLibrary(chats, self)
        self._chats = chats
        self.setWindowTitle("Sotto")
        self.setWindowIcon(icons.of_sotto())
        self.setAcceptDrops(True)
        self.models = ModelsController(session, preferences, self)
        self.finding = FindModels(self.models, session.library, self)
        self.sidebar = Sidebar(self.models.panel, preferences)
        self.chat = ChatPane()
        self.composing = ComposerController(session, self.current, self.chat.composer, chats.images, self)
        self.notices = Notices(self.chat.notice, self)
        self._bug_report = BugReport(session, self.notices, self)
        self._announcer = AnswerAnnouncer(self.chat.transcript)
        self._subscription = Subscription()
        self.was_painted = False
        # Undoes the last act that can be undone.
        self._undo: Callable[[], None] | None = None
        self.panes = Panes(self.sidebar, self.chat, preferences)
        self.setCentralWidget(self.panes)
        self.models.install(self.panes, self.sidebar, self.sidebar.gauge, self.chat.welcome.finds)
        self.server = ServerCard(preferences, self.sidebar.server)
        self.server.install(self.panes, self.sidebar, self.sidebar.server)
        self.overlay = DropOverlay(self.panes)
        self._drops = Drops(self.overlay, self.panes, self.composing, self.models)
        self.presets = PresetStore(preferences.folder / "presets.json", self)
        self.dialogs = Dialogs(self, session, self.chat_library, preferences, self.presets, self.composing.attach)
        self.chat_files = ChatFiles(self, chats, self.chat_library, self.notices, self.current)
        self.closed.connect(self.dialogs.close_settings)
        self.dialogs.link_asked.connect(self.ask_link)
        preferences.closing.connect(self.presets.close)
        self._messages = MessageCommands(session, self.sessions, self.current, chats, self.models, self._offer_undo)
        self._messages.serve(self.chat.transcript.requests)
        self.commands = PaletteCommands(self, session, self.chat_library, preferences, self._open_chat)
        self.menus = Menus(self.menuBar(), self._actions(), preferences)
        self._connect()
        self.resize(*_SIZE)
        self.setMinimumSize(*_MIN_SIZE)
        self.chat.composer.draft.setFocus()

    def begin(self, tasks: "AsyncTasks", paths: tuple[Path, ...] = ()) -> None:
        """Start what needs the event loop, unless it has been started already: searching and loading models, and so on.

        Args:
            tasks: Runs asynchronous tasks.
            paths: Models to load; the built-in one if there are none.
        """
        self.dialogs.tasks = self._bug_report.tasks = tasks
        self.composing.begin(tasks)
        self.chat_files.begin(tasks)
        self.chat.begin(tasks)
        self.current.begin()
        self.greeting.begin()
        self.chat_library.refresh()
        if not self.session.library.begun:
            self.session.begin(tasks, paths)
        self.models.begin(tasks)
        self.finding.begin(tasks)

    def show_api(self, api: "ApiSwitch") -> None:
        """Show the state of the API here and in the settings."""
        self.dialogs.api = api
        self.server.attach(api)
        self.menus.local_server.setEnabled(True)

    def _actions(self) -> WindowActions:
        dialogs = self.dialogs
        return WindowActions(
            new_chat=self.new_chat,
            quick_prompt=self.quick_wanted.emit,
            new_chat_folder=self.chat_library.add_folder,
            open_model=dialogs.choose_model,
            open_model_folder=dialogs.choose_model_folder,
            add_folder_of_models=self.models.choose_folder,
            get_model=self.finding.open,
            get_model_by_name=self.models.downloading.open,
            manage_models=self.models.open_page,
            rescan_models=self.session.library.rescan,
            attach_files=self.panes.in_chat(dialogs.choose_attachments),
            import_chats=self.chat_files.choose_import,
            import_chat_folder=self.chat_files.choose_import_folder,
            export_chat=self.chat_files.export_current,
            export_all_chats=self.chat_files.export_all,
            print_chat=self.chat_files.print_current,
            eject_model=self.session.eject,
            settings=dialogs.show_settings,
            close_window=self.close,
            quit=self.quit_wanted.emit,
            find_in_chat=self.panes.in_chat(self.chat.find_bar.open),
            search=self.panes.search,
            go_to_models=self.panes.go_to_models,
            toggle_sidebar=self.panes.toggle_sidebar,
            local_server=self.server.toggle,
            command_palette=self.commands.open,
            chat_settings=self.panes.in_chat(self.chat.toggle_choices),
            stop=self.stop,
            help=dialogs.show_help,
            shortcuts=lambda: dialogs.show_help("shortcuts"),
            open_logs=open_logs,
            copy_report=self._bug_report.copy,
            licences=lambda: dialogs.show_help("licences"),
            check_updates=dialogs.check_updates,
            about=dialogs.show_about,
        )

    def _open_chat(self, chat: int, message: int | None = None) -> None:
        self.current.open(chat, message)
        self.panes.show_chat()

    # Session to widgets and back

    def _connect(self) -> None:
        session, chat = self.session, self.chat
        for left in (self.models.left, self.server.left):
            left.connect(lambda: self.panes.pane.take_focus())
        # Queued, because the form that is closed then leaves the focus to the chat.
        downloads = self.models.downloading.downloads
        downloads.started.connect(self.panes.show_models, Qt.ConnectionType.QueuedConnection)
        self.panes.pane_changed.connect(lambda pane: self.notices.move_to(pane.notice))
        self.server.settings_wanted.connect(lambda: self.dialogs.show_settings("programs"))
        self.models.offered.connect(self.notices.show_offer)
        self.models.page_wanted.connect(self.panes.show_pane)
        self.models.page_left.connect(self.panes.show_chat)
        self.finding.page_wanted.connect(self.panes.show_pane)
        self.finding.left.connect(self.panes.show_chat)
        self.finding.link_asked.connect(self.ask_link)
        chat.header.new_chat.clicked.connect(self.new_chat)
        chat.header.title.clicked.connect(self.choose_model)
        chat.header.switch_wanted.connect(self.models.load)
        self.notices.remedies = {Remedy.RETRY: session.retry, Remedy.CHOOSE_MODEL: self.choose_model}
        chat.composer.attach_wanted.connect(self.dialogs.choose_attachments)
        self.composing.problem.connect(self.notices.show_chat_problem)
        self.composing.import_wanted.connect(self.chat_files.import_files)
        chat.question_chosen.connect(lambda text: self.current.session.send(text))
        chat.transcript.requests.link_asked.connect(self.ask_link)
        for wanted in (chat.transcript.requests.image_wanted, chat.composer.attachments.image_wanted):
            wanted.connect(self._show_image)
        self.composing.attachments.sight.get_wanted.connect(self.finding.open)
        session.state_changed.connect(self.show_state)
        session.notice.connect(self.notices.show_success)
        session.problem.connect(self.notices.show_problem)
        self.greeting.written.connect(self._greet)
        chat.choices_made.connect(self._bind_choices)
        chat.composer.think_chosen.connect(lambda think: chat.choices.think(think))
        chat.composer.format_wanted.connect(chat.show_format)
        self.sessions.changed.connect(self._refresh_list)
        self.sessions.problem.connect(
            lambda chat, problem: self.notices.keep_problem(chat, problem, lambda: self.current.open(chat))
        )
        self._connect_chats()
        self.current.changed.connect(self._show_chat)
        self._show_chat(self.current.session)

    def _connect_chats(self) -> None:
        library, chat_list = self.chat_library, self.sidebar.chats
        library.listed.connect(self._list_chats)
        library.counted.connect(lambda chats: self.chat.welcome.show_finds(shown=not chats))
        # Known before the file is read, so that the page that is painted first is the right one.
        self.chat.welcome.show_finds(shown=not self._chats.path.exists())
        library.trashed.connect(self._offer_restore)
        self.sidebar.searched.connect(library.search)
        chat_list.open_wanted.connect(self._open_chat)
        chat_list.renamed.connect(library.rename)
        chat_list.pin_wanted.connect(lambda chat, pinned: library.pin(chat, pinned=pinned))
        chat_list.archive_wanted.connect(lambda chat, archived: library.archive(chat, archived=archived))
        chat_list.trash_wanted.connect(library.move_to_trash)
        chat_list.restore_wanted.connect(library.restore)
        chat_list.erase_wanted.connect(self._confirm_erasing)
        chat_list.empty_wanted.connect(self._confirm_emptying)
        library.erasing.connect(self._leave_all_chats)
        chat_list.shelf_wanted.connect(library.show_shelf)
        chat_list.move_wanted.connect(library.move)
        chat_list.folder_wanted.connect(library.add_folder)
        chat_list.folder_renamed.connect(library.rename_folder)
        chat_list.folder_closed.connect(lambda folder, closed: library.close_folder(folder, closed=closed))
        chat_list.folder_removed.connect(library.remove_folder)
        library.folder_added.connect(chat_list.name_folder)
        library.folder_removed.connect(self._offer_restore_folder)
        chat_list.export_wanted.connect(self.chat_files.export)
        chat_list.print_wanted.connect(self.chat_files.print_chat)
        self._chats.noticed.connect(self._show_notice)
        self._chats.failed.connect(self._show_not_saved)
        self.preferences.failed.connect(self._show_not_saved)
        self.presets.failed.connect(self._show_not_saved)
        self.preferences.changed.connect(self._apply_preferences)
        self._apply_preferences(self.preferences.values)

    @Slot(object)
    def _apply_preferences(self, values: Preferences) -> None:
        self.chat.transcript.follows = values.follow
        self._show_choices()

    @Slot(object)
    def _show_chat(self, session: ChatSession) -> None:
        """Show another conversation."""
        self._subscription.close()
        self._subscription = Subscription(
            (session.problem, self.notices.show_chat_problem),
            (session.room_wanted, self.chat.composer.show_room),
            (session.summary.begun, self._announce_summary),
            (session.summary.ended, self.notices.hide),
            (session.changed, self._show_other_model),
            (session.branch_changed, self._show_other_model),
        )
        self.chat.show_chat(session)
        self.panes.show_chat()
        self.notices.show_chat(session)
        self._announcer.bind(session)
        self._show_choices()
        self.sidebar.chats.show_current(session.chat)
        self.show_state(self.session.state)

    @Slot(object)
    def _bind_choices(self, panel: ChatSettingsPanel) -> None:
        ChoicesBinding(panel, self.session, self.current, self.preferences, self.presets)
        panel.chosen.connect(self._set_choices)

    @Slot(str, object)
    def _set_choices(self, system: str, options: Mapping[str, Any]) -> None:
        self.current.session.draft.set_choices(system, options)
        self._show_choices()

    def _show_choices(self) -> None:
        """Show the answer options of the conversation at the composer."""
        self.chat.composer.show_choices(self.current.session.draft.options, self.session.settings.options)

    @Slot()
    def new_chat(self) -> None:
        """Begin a conversation, or go on with what was written for one, and list those that it will be among."""
        self.chat_library.show_shelf(Shelf.CURRENT)
        self.current.write_new()
        # Also if it was in view already.
        self.panes.show_chat()
        self.chat.take_focus()

    def send(self, text: str) -> None:
        """Send a draft; it stays in the composer if it cannot be sent."""
        self.composing.send(text)

    def stop(self) -> None:
        """Close a find bar, panel or editor that has the focus, or else stop what is under way."""
        if not self.panes.step_back():
            self.current.session.stop()

    @Slot(object)
    def show_state(self, state: ModelState) -> None:
        """Update everything that depends on the state of the model."""
        self.models.show_state(state)
        self.chat.header.show_state(state)
        self._show_other_model()
        chat_state = state.for_chat(answering=self.current.session.answering)
        self.chat.composer.show_state(chat_state)
        self._greet()
        self.menus.eject.setEnabled(state.loaded)
        self.menus.stop.setEnabled(chat_state.busy)
        if state.phase is Phase.LOADING and state.progress is None:
            self.notices.hide_for_load()

    @Slot()
    def choose_model(self) -> None:
        """Open the list of models below the name of the one in use."""
        self.models.open_picker(self.chat.header.title)

    def _show_other_model(self) -> None:
        """Offer the model that answered in the conversation, unless it is the one in use."""
        record = self.session.library.named(self.current.session.model)
        in_use = self.session.state.record
        self.chat.header.show_other(None if record and in_use and is_same_model(record, in_use) else record)

    @Slot(str)
    def ask_link(self, address: str) -> None:
        """Ask before a link is opened in the browser."""
        question, open_link = tr("Open this link in your browser?"), partial(QDesktopServices.openUrl, QUrl(address))
        self.notices.show_question(question, address, tr("Open"), open_link, icon="link")

    @Slot()
    def _greet(self) -> None:
        self.chat.welcome.show_state(self.session.state, self.greeting.text)

    @Slot()
    def _announce_summary(self) -> None:
        self.notices.show_progress(tr("Writing a summary"), tr("A new chat will start with it."))

    @Slot(object, object)
    def _list_chats(self, entries: tuple[ChatEntry, ...], folders: tuple[Folder, ...]) -> None:
        self.sidebar.show_chats(entries, folders, self.chat_library.shelf)
        self.sidebar.chats.show_current(self.current.session.chat)

    @Slot()
    def _refresh_list(self) -> None:
        self.sidebar.chats.show_answering(self.sessions.background_chats)
        self.chat_library.refresh()

    @Slot(object)
    def _offer_restore(self, chat: Chat) -> None:
        """Report that a conversation was moved to the trash, and offer to undo it."""
        self.sessions.stop(chat.id)
        self.current.forget(chat.id)
        self._offer_undo(tr("Moved to the trash"), chat.title, lambda: self.chat_library.restore(chat.id))

    def _offer_undo(self, title: str, message: str, undo: Callable[[], None]) -> None:
        """Report what was done, and offer to undo it, for a while with a button and until the next such act by key."""
        self._undo = undo
        self.notices.show_offer(title, message, tr("Undo"), self.undo)

    def undo(self) -> bool:
        """Undo the last act that can be undone; return whether there was one."""
        undo, self._undo = self._undo, None
        if undo is not None:
            undo()
            self.notices.hide()
        return undo is not None

    @Slot(object)
    def _confirm_erasing(self, chat: Chat) -> None:
        title = tr("Delete “{title}” for good?").format(title=chat.title)
        erase = partial(self.chat_library.erase, chat.id)
        self.notices.show_question(title, tr("This cannot be undone."), tr("Delete"), erase)

    @Slot()
    def _confirm_emptying(self) -> None:
        why = tr("Its chats are deleted for good.")
        empty = tr("Empty", "empty the trash")
        self.notices.show_question(tr("Empty the trash?"), why, empty, self.chat_library.empty_trash)

    @Slot()
    def _leave_all_chats(self) -> None:
        """Show a new conversation before all of them are erased."""
        for chat in self.sessions.open_chats:
            self.sessions.stop(chat)
        self.current.new_chat()

    @Slot(object, object)
    def _offer_restore_folder(self, folder: Folder, chats: tuple[int, ...]) -> None:
        self._offer_undo(
            tr("Folder deleted"),
            tr("The chats in “{folder}” are still in the list.").format(folder=folder.name),
            lambda: self.chat_library.restore_folder(folder, chats),
        )

    @Slot(object)
    def _show_image(self, attachment: Attachment) -> None:
        PictureViewer(attachment, self._chats.images, self).show()

    @Slot(object)
    def _show_notice(self, notice: "Notice") -> None:
        self.notices.show_warning(tr("About your chats"), notice.text)

    @Slot(str)
    def _show_not_saved(self, why: str) -> None:
        self.notices.show_problem(Problem(tr("Not saved"), why))

    # Qt

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Accept files, folders and images, and show what dropping them will do."""
        self._drops.enter(event)

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        """Accept files, folders and images."""
        self._drops.accept(event)

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        """Hide the overlay again."""
        self.overlay.hide()

    def dropEvent(self, event: QDropEvent) -> None:
        """Load the models and attach the files and images that were dropped."""
        self._drops.drop(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handle Esc, and pass what is typed anywhere in the window on to the composer."""
        done = event.key() == Qt.Key.Key_Escape and self.panes.step_back()
        done = done or (event.matches(QKeySequence.StandardKey.Undo) and self.undo())
        if not done and not (self.chat.isVisible() and self.composing.redirect_key(event)):
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Emit `painted` the first time."""
        super().paintEvent(event)
        if not self.was_painted:
            self.was_painted = True
            self.painted.emit()

    def hideEvent(self, event: QHideEvent) -> None:
        """Leave nothing hovered."""
        super().hideEvent(event)
        forget_pointer(self)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Hide the window and emit `closed`; the receiver decides whether the app quits."""
        event.accept()
        self.closed.emit()
