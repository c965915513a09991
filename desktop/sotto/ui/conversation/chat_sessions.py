"""The open conversations: those in view, and those out of view in which something is still under way."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject, Qt, Signal, Slot

from sotto.ui.conversation.chat_loading import LoadedChat, read_chat, read_unsent
from sotto.ui.conversation.chat_session import ChatSession
from sotto.ui.conversation.chat_thread import ChatThread
from sotto.ui.conversation.pictures.chat_images import ChatImages
from sotto.ui.session.session import Session
from sotto.ui.state.model_state import Problem


class ChatSessions(QObject):
    """Holds one `ChatSession` for each conversation that is in view or busy, and for no other.

    Signals:
        changed: `background_chats` has changed, or something that lists of conversations show.
        problem: Something failed in a conversation that is out of view (its number, and the `Problem`).
    """

    changed = Signal()
    problem = Signal(int, object)

    def __init__(self, session: Session, chats: ChatThread, parent: QObject | None = None) -> None:
        """Use the model of `session`, and store conversations in `chats`."""
        super().__init__(parent)
        self._session, self._chats = session, chats
        self._sessions: list[ChatSession] = []
        # A conversation is listed once for each window or panel that shows it.
        self._in_view: list[ChatSession] = []

    @property
    def images(self) -> ChatImages:
        """The images of all conversations."""
        return self._chats.images

    @property
    def background_chats(self) -> frozenset[int]:
        """The numbers of the conversations that are busy out of view."""
        background = (session for session in self._sessions if session.busy and session not in self._in_view)
        return frozenset(session.chat for session in background if session.chat is not None)

    @property
    def open_chats(self) -> tuple[int, ...]:
        """The numbers of the conversations that are in view or busy."""
        return tuple(session.chat for session in self._sessions if session.chat is not None)

    def find(self, chat: int) -> ChatSession | None:
        """Return the conversation of this number if it is open, else None."""
        return next((session for session in self._sessions if session.chat == chat), None)

    def new(self) -> ChatSession:
        """Begin a conversation."""
        return self._add(None)

    def open(self, chat: int, then: Callable[[ChatSession], None], otherwise: Callable[[], None]) -> None:
        """Open a conversation: at once if it is open already, else as soon as it has been read.

        Args:
            chat: The number of the conversation.
            then: Called with the conversation, which stays open only if this brings it into view.
            otherwise: Called if it cannot be read.
        """
        if (session := self.find(chat)) is not None:
            then(session)
        else:
            self._chats.do(lambda store: read_chat(store, chat), lambda loaded: self._open(loaded, then), otherwise)

    def open_unsent(self, then: Callable[[ChatSession], None]) -> None:
        """Open the conversation that has only a draft, if there is one; see `open`."""

        def read(loaded: LoadedChat | None) -> None:
            if loaded is not None:
                self._open(loaded, then)

        self._chats.do(read_unsent, read)

    def enter(self, session: ChatSession) -> None:
        """Record that a window or panel shows a conversation."""
        self._in_view.append(session)
        if session.busy:
            self.changed.emit()

    def leave(self, session: ChatSession) -> None:
        """Record that a window or panel no longer shows a conversation; it is closed once it is idle."""
        self._in_view.remove(session)
        if session not in self._in_view:
            session.leave()
        if session.busy:
            self.changed.emit()
        self._close_idle()

    def stop(self, chat: int) -> None:
        """Stop what is under way for the conversation of this number."""
        session = self.find(chat)
        if session is not None:
            session.cancel()

    def save_drafts(self) -> None:
        """Save all drafts at once."""
        for session in self._sessions:
            session.draft.save()

    def close(self) -> None:
        """Close all conversations, at the end of the app."""
        for session in self._sessions:
            session.close()

    def _open(self, loaded: LoadedChat, then: Callable[[ChatSession], None]) -> None:
        # It may have been opened a second time while it was being read.
        session = self.find(loaded.number) or self._add(loaded)
        then(session)
        if loaded.problem is not None and session in self._in_view:
            session.problem.emit(loaded.problem)
        self._close_idle()

    def _add(self, loaded: LoadedChat | None) -> ChatSession:
        session = ChatSession(self._session, self._chats, loaded, self)
        session.changed.connect(self.changed)
        session.problem.connect(partial(self._report_problem, session))
        session.retracted.connect(partial(self._restore_question, session))
        # Queued, because the session first has to finish what it does after the change, such as saving an answer.
        session.phase_changed.connect(self._follow, Qt.ConnectionType.QueuedConnection)
        session.draft.pending_changed.connect(self._follow, Qt.ConnectionType.QueuedConnection)
        self._sessions.append(session)
        return session

    @Slot()
    def _follow(self) -> None:
        if self._close_idle():
            self.changed.emit()

    def _close_idle(self) -> bool:
        """Close the conversations that are idle and out of view; return whether there were any."""
        idle = [
            session
            for session in self._sessions
            if not (session in self._in_view or session.busy or session.draft.pending)
        ]
        for session in idle:
            self._sessions.remove(session)
            session.draft.save()
            # Work is done in order: once this is done, no result of earlier work can reach the session any more.
            self._chats.do(lambda store: None, partial(_delete, session), session.deleteLater)
        return bool(idle)

    def _restore_question(self, session: ChatSession, question: str) -> None:
        """Put a question that was retracted out of view back into the draft, before its current text."""
        if session not in self._in_view:
            text = session.draft.text
            session.draft.set_text(f"{question}\n{text}" if text.strip() else question)
            session.draft.save()

    def _report_problem(self, session: ChatSession, problem: Problem) -> None:
        if session not in self._in_view and session.chat is not None:
            self.problem.emit(session.chat, problem)


def _delete(session: ChatSession, _: None) -> None:
    session.deleteLater()
