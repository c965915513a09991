"""What messages ask of the window: answers of other models, new chats, and undoing deletions."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QWidget

from sotto.chats.chat_records import Role
from sotto.runner.residents import is_same_model
from sotto.store.records import ModelRecord
from sotto.ui.conversation.chat_branches import put_back
from sotto.ui.conversation.chat_session import ChatSession
from sotto.ui.conversation.chat_sessions import ChatSessions
from sotto.ui.conversation.chat_thread import ChatThread
from sotto.ui.conversation.current_chat import CurrentChat
from sotto.ui.conversation.subscription import Subscription
from sotto.ui.models.models_controller import ModelsController
from sotto.ui.session.session import Session
from sotto.ui.toolkit.translation import tr
from sotto.ui.transcript.message_requests import MessageRequests

if TYPE_CHECKING:
    from sotto.chats.message_changes import Deleted


class MessageCommands(QObject):
    """Carries out the commands for messages of the conversation in view that concern more than that conversation."""

    def __init__(
        self,
        session: Session,
        sessions: ChatSessions,
        current: CurrentChat,
        chats: ChatThread,
        models: ModelsController,
        offer_undo: Callable[[str, str, Callable[[], None]], None],
    ) -> None:
        """Prepare the commands.

        Args:
            session: The model in use.
            sessions: The open conversations.
            current: The conversation in view.
            chats: The conversations on disk.
            models: Lets the user choose a model, and loads it.
            offer_undo: Reports what was done, with a title, a message, and what undoes it.
        """
        super().__init__(current)
        self._session, self._sessions, self._current, self._chats = session, sessions, current, chats
        self._models, self._offer_undo = models, offer_undo
        # The conversation, message and model of an answer that is wanted once the user has confirmed the load.
        self._wanted: tuple[ChatSession, int, ModelRecord] | None = None
        self._subscription = Subscription()
        session.state_changed.connect(self._regenerate)
        models.card.hidden.connect(self._forget)
        current.changed.connect(self._follow)
        self._follow(current.session)

    def serve(self, requests: MessageRequests) -> None:
        """Carry out the requests of a transcript."""
        requests.model_wanted.connect(self._choose_model)

    @Slot(object)
    def _follow(self, chat: ChatSession) -> None:
        self._forget()
        self._subscription.close()
        self._subscription = Subscription(
            (chat.branches.branched, self._current.open),
            (chat.branches.deleted, self._report_deleted),
        )

    # Answers of other models

    @Slot(int, object)
    def _choose_model(self, message: int, below: QWidget) -> None:
        """Let the user choose the model of another answer."""
        chat = self._current.session
        self._models.open_picker(below, lambda record: self._use(chat, message, record))

    def _use(self, chat: ChatSession, message: int, record: ModelRecord) -> None:
        self._wanted = (chat, message, record)
        self._models.load(record)
        self._regenerate()
        if self._models.card.isHidden():
            self._forget()

    @Slot()
    def _regenerate(self) -> None:
        """Have the answer generated if its model is in use; a question waits for a model that is being loaded."""
        if self._wanted is None:
            return
        chat, message, record = self._wanted
        state = self._session.state
        in_use = state.record is not None and is_same_model(state.record, record)
        if in_use and (state.loaded or self._session.loading):
            self._forget()
            chat.regenerate(message)

    @Slot()
    def _forget(self) -> None:
        self._wanted = None

    # Deletions

    @Slot(object)
    def _report_deleted(self, deleted: "Deleted") -> None:
        questions, answers = deleted.count(Role.USER), deleted.count(Role.ASSISTANT)
        if not answers:
            what = tr("Question deleted")
        elif questions:
            what = tr("Question and answer deleted|Question and {count} answers deleted", "", answers)
        else:
            what = tr("Answer deleted|{count} answers deleted", "", answers)
        follows = tr("The messages that follow are kept.") if deleted.adopted else ""
        self._offer_undo(what.format(count=answers), follows, lambda: self._restore(deleted))

    def _restore(self, deleted: "Deleted") -> None:
        chat = self._sessions.find(deleted.chat)
        if chat is not None:
            chat.branches.restore(deleted)
        else:
            self._chats.do(lambda store: put_back(store, deleted), lambda _: self._sessions.changed.emit())
