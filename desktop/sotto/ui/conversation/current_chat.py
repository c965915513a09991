"""Which conversation a window or panel shows."""

from PySide6.QtCore import QObject, Signal, Slot

from sotto.ui.conversation.chat_session import ChatSession
from sotto.ui.conversation.chat_sessions import ChatSessions
from sotto.ui.conversation.subscription import Subscription
from sotto.ui.conversation.summary import summarized


class CurrentChat(QObject):
    """The conversation in view: at any time one of those that are open.

    Signals:
        changed: Another conversation is in view (`ChatSession`).

    Attributes:
        session: The conversation in view.
    """

    changed = Signal(object)

    def __init__(self, sessions: ChatSessions, parent: QObject | None = None) -> None:
        """Begin with a new conversation among `sessions`."""
        super().__init__(parent)
        self._sessions = sessions
        # What comes into view as soon as it has been read; what is read besides is wanted no more.
        self._wanted: int | None = None
        self.session = sessions.new()
        self._enter()

    def begin(self) -> None:
        """Go on with the draft of a conversation that was never begun, if there is one."""
        fresh = self.session

        def begun(session: ChatSession) -> None:
            written = fresh.turns or fresh.draft.text or fresh.draft.attachments
            if self.session is fresh and not written and self._wanted is None:
                self.show(session)

        self._sessions.open_unbegun(begun)

    def new_chat(self) -> None:
        """Begin an empty conversation; an answer under way goes on."""
        self.show(self._sessions.new())

    def open(self, chat: int, message: int | None = None) -> None:
        """Bring a conversation into view; an answer under way goes on.

        Args:
            chat: Its number.
            message: One of its messages to scroll to, on whichever branch it is; None for where it was left.
        """
        self._wanted = chat

        def opened(session: ChatSession) -> None:
            if self._wanted == chat:
                self.show(session)
                if message is not None:
                    session.point_at(message)

        def failed() -> None:
            if self._wanted == chat:
                self.new_chat()

        self._sessions.open(chat, opened, failed)

    def show(self, session: ChatSession) -> None:
        """Bring one of the conversations into view that are open."""
        self._wanted = None
        if session is self.session:
            return
        before, self.session = self.session, session
        self._summary.close()
        self._enter()
        self._sessions.leave(before)
        self.changed.emit(session)

    def forget(self, chat: int) -> None:
        """Show the conversation of this number no more."""
        if chat == self.session.chat:
            self.new_chat()

    def close(self) -> None:
        """Show nothing any more."""
        self._summary.close()
        self._sessions.leave(self.session)

    def _enter(self) -> None:
        self._sessions.enter(self.session)
        self._summary = Subscription((self.session.summarized, self._begin_with))

    @Slot(str)
    def _begin_with(self, summary: str) -> None:
        """Begin a conversation with the summary of the one in view, whose draft goes along."""
        text, attachments = self.session.draft.take()
        self.new_chat()
        self.session.draft.put(summarized(summary, text), attachments)
