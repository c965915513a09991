"""What can be done about images in the draft that the model in use does not see."""

from functools import partial

from PySide6.QtCore import QObject, Signal, Slot

from sotto.ui.composer.action_panel import PanelAction
from sotto.ui.conversation.chat_session import ChatSession
from sotto.ui.conversation.current_chat import CurrentChat
from sotto.ui.conversation.subscription import Subscription
from sotto.ui.session.session import Session
from sotto.ui.state.names import join_sentences, short_name
from sotto.ui.state.seeing_models import blindness, seeing_models
from sotto.ui.toolkit.translation import tr

_MOST_OFFERED = 2


class SightActions(QObject):
    """Offers models that see, and sending without images.

    Signals:
        offered: A title, a sentence and a tuple of `PanelAction`; an empty title if nothing is wrong.
        send_wanted: The user wants to send the draft, which has no images any more.
        get_wanted: The user wants to get a model that sees.

    Attributes:
        blind: Whether the draft has images that the model in use does not see.
    """

    offered = Signal(str, str, object)
    send_wanted = Signal()
    get_wanted = Signal()

    def __init__(self, session: Session, current: CurrentChat, parent: QObject | None = None) -> None:
        """Watch the draft of `current` and the model of `session`."""
        super().__init__(parent)
        self._session, self._current = session, current
        self.blind = False
        self._subscription = Subscription()
        session.state_changed.connect(self.refresh)
        session.library.changed.connect(self.refresh)
        current.changed.connect(self._bind)
        self._bind(current.session)

    @Slot(object)
    def _bind(self, chat: ChatSession) -> None:
        self._subscription.close()
        self._subscription = Subscription((chat.draft.attached, self.refresh))
        self.refresh()

    @Slot()
    def refresh(self) -> None:
        """Look again, and say what is to be shown."""
        record = self._session.state.record
        images = [each for each in self._current.session.draft.attachments if each.image]
        self.blind = bool(images) and record is not None and not self._session.state.sees
        if not self.blind or record is None:
            self.offered.emit("", "", ())
            return
        models = seeing_models(
            self._session.library.models, record, lambda model: self._session.state_of(model).loaded, _MOST_OFFERED
        )
        title = tr("{model} does not see images").format(model=short_name(record.name))
        if models:
            message = tr("Switch to a model that sees them, or send without.")
        else:
            message = tr("None of your models sees images: get one that does, or send without.")
        message = join_sentences((blindness(record, self._session.state.info), message))
        use = [
            PanelAction(tr("Use {model}").format(model=short_name(model.name)), partial(self._session.load, model))
            for model in models
        ]
        get = [] if models else [PanelAction(tr("Get a model…"), self.get_wanted.emit)]
        without = tr("Send without image|Send without images", "", len(images))
        self.offered.emit(title, message, (*use, *get, PanelAction(without, self._send_without)))

    def _send_without(self) -> None:
        draft = self._current.session.draft
        draft.set_attachments(tuple(each for each in draft.attachments if not each.image))
        self.send_wanted.emit()
