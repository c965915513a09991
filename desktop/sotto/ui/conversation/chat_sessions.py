"""The conversations that are open: those in view, and those out of view whose answers still go on."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject, Qt, Signal, Slot

from sotto.ui.conversation.chat_loading import LoadedChat, read_chat, read_unbegun
from sotto.ui.conversation.chat_session import ChatSession
from sotto.ui.conversation.chat_thread import ChatThread
from sotto.ui.session.session import Session
from sotto.ui.state.model_state import Problem


class ChatSessions(QObject):
    """Has one `ChatSession` for each conversation that is in view or busy, and for no other.

    Signals:
        changed: Other conversations are answered out of view, or something is different on the disk.
        problem: Something did not work in a conversation that is out of view (`Problem`).
    """

    changed = Signal()
    problem = Signal(object)

    def __init__(self, session: Session, keeper: ChatThread, parent: QObject | None = None) -> None:
        """Ask the model of `session`, and keep what is said with `keeper`."""
        super().__init__(parent)
        self._session, self._keeper = session, keeper
        self._sessions: list[ChatSession] = []
        # One entry for each window or panel that shows it.
        self._in_view: list[ChatSession] = []

    @property
    def in_background(self) -> frozenset[int]:
        """The numbers of the conversations that are answered out of view."""
        return frozenset(
            one.chat for one in self._sessions if one.busy and one.chat is not None and one not in self._in_view
        )

    def find(self, chat: int) -> ChatSession | None:
        """Return the conversation of this number; None where it is not open."""
        return next((one for one in self._sessions if one.chat == chat), None)

    def new(self) -> ChatSession:
        """Begin a conversation."""
        return self._add(None)

    def open(self, chat: int, then: Callable[[ChatSession], None], otherwise: Callable[[], None]) -> None:
        """Open a conversation: at once where it is open already, else as soon as it has been read.

        Args:
            chat: Its number.
            then: Called with the conversation; it stays open only where this brings it into view.
            otherwise: Called where it cannot be read.
        """
        if (session := self.find(chat)) is not None:
            then(session)
        else:
            self._keeper.do(lambda store: read_chat(store, chat), lambda loaded: self._open(loaded, then), otherwise)

    def open_unbegun(self, then: Callable[[ChatSession], None]) -> None:
        """Open the conversation of which there is nothing but a draft, if there is one; the rest as for `open`."""

        def read(loaded: LoadedChat | None) -> None:
            if loaded is not None:
                self._open(loaded, then)

        self._keeper.do(read_unbegun, read)

    def enter(self, session: ChatSession) -> None:
        """Take a conversation to be in view, once for each place that shows it."""
        self._in_view.append(session)
        if session.busy:
            self.changed.emit()

    def leave(self, session: ChatSession) -> None:
        """Take a conversation to be out of view in one place; it is closed once nothing more is to come of it."""
        self._in_view.remove(session)
        if session not in self._in_view:
            session.leave()
        if session.busy:
            self.changed.emit()
        self._close_idle()

    def stop(self, chat: int) -> None:
        """Stop what is under way for the conversation of this number, if anything is."""
        session = self.find(chat)
        if session is not None:
            session.halt()

    def keep(self) -> None:
        """Keep at once what has been typed anywhere."""
        for session in self._sessions:
            session.draft.keep()

    def close(self) -> None:
        """Keep what there is of all conversations; nothing is said afterwards."""
        for session in self._sessions:
            session.close()

    def _open(self, loaded: LoadedChat, then: Callable[[ChatSession], None]) -> None:
        # It may have been opened while it was read.
        session = self.find(loaded.number) or self._add(loaded)
        then(session)
        if loaded.problem is not None and session in self._in_view:
            session.problem.emit(loaded.problem)
        self._close_idle()

    def _add(self, loaded: LoadedChat | None) -> ChatSession:
        session = ChatSession(self._session, self._keeper, loaded, self)
        session.changed.connect(self.changed)
        session.problem.connect(partial(self._tell, session))
        session.retracted.connect(partial(self._restore, session))
        # Not before everything has been done that ends something: part of that is on its way to the disk.
        session.phase_changed.connect(self._follow, Qt.ConnectionType.QueuedConnection)
        session.draft.pending_changed.connect(self._follow, Qt.ConnectionType.QueuedConnection)
        self._sessions.append(session)
        return session

    @Slot()
    def _follow(self) -> None:
        if self._close_idle():
            self.changed.emit()

    def _close_idle(self) -> bool:
        """Close the conversations of which nothing is in view and nothing to come; return whether there were any."""
        idle = [one for one in self._sessions if not (one in self._in_view or one.busy or one.draft.pending)]
        for session in idle:
            self._sessions.remove(session)
            session.draft.keep()
            # The keeper works in order: nothing comes back to it afterwards.
            self._keeper.do(lambda store: None, partial(_delete, session), session.deleteLater)
        return bool(idle)

    def _restore(self, session: ChatSession, question: str) -> None:
        """Let a question that got no answer out of view be a draft again, before what has been typed since."""
        if session not in self._in_view:
            since = session.draft.text
            session.draft.type(f"{question}\n{since}" if since.strip() else question)
            session.draft.keep()

    def _tell(self, session: ChatSession, problem: Problem) -> None:
        if session not in self._in_view:
            self.problem.emit(Problem(f"{problem.title} in another chat", problem.message, problem.details))


def _delete(session: ChatSession, _: None) -> None:
    session.deleteLater()
