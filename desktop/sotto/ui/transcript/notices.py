"""What the notice above a conversation shows: news of that conversation, or of the model and the app."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from sotto.ui.state.model_state import Problem, Remedy
from sotto.ui.toolkit.notice import Notice, NoticeText
from sotto.ui.toolkit.translation import tr
from sotto.ui.toolkit.widgets import plain_tip

if TYPE_CHECKING:
    from sotto.ui.conversation.chat_session import ChatSession

# News of something that succeeded goes by itself after this time, an offer to undo it a little later.
_NEWS_SECONDS = 6.0
_OFFER_SECONDS = 10.0


class Notices(QObject):
    """Shows one notice at a time. A notice about a conversation goes out of view, and comes back, together with it.

    Attributes:
        remedies: What the button of a problem does, by its remedy.
    """

    def __init__(self, notice: Notice, parent: QObject | None = None) -> None:
        """Show notices in `notice`, which is beside the conversation in view."""
        super().__init__(parent)
        self._notice = self._beside_chat = notice
        self.remedies: Mapping[Remedy, Callable[[], object]] = {}
        self._chat: ChatSession | None = None
        # The conversation that the notice in view is about; None if it is about something else.
        self._about: ChatSession | None = None
        # Notices of conversations that are out of view, by their numbers.
        self._kept: dict[int, NoticeText] = {}

    def show_chat(self, chat: "ChatSession") -> None:
        """Show what there is to say about the conversation that has come into view."""
        before, self._chat = self._about, chat
        if before is not None and before is not chat:
            if (text := self._notice.text) is not None and before.chat is not None:
                self._kept[before.chat] = text
            self.hide()
        self._bring_back()

    def move_to(self, notice: Notice) -> None:
        """Show notices in another place from now on, including the one in view.

        One about a conversation stays with the conversation, and comes back when that is in view again.
        """
        before, self._notice = self._notice, notice
        about, text, seconds = self._about, before.text, before.seconds_left
        before.hide()
        if text is not None and about is not None and about.chat is not None and notice is not self._beside_chat:
            self._kept[about.chat] = text
            self._about = None
        elif text is not None:
            notice.show_text(text, seconds)
        elif notice is self._beside_chat:
            self._bring_back()

    def hide(self) -> None:
        """Hide the notice."""
        self._about = None
        self._notice.hide()

    def hide_for_load(self) -> None:
        """Hide what was said about models, as one is being loaded."""
        if self._about is None and not self._notice.stays:
            self._notice.hide()

    def show_problem(self, problem: Problem) -> None:
        """Show a problem of the model or the app."""
        self._show(self._problem_text(problem))

    def show_chat_problem(self, problem: Problem) -> None:
        """Show a problem of the conversation in view."""
        self._show(self._problem_text(problem), about=self._chat)

    def keep_problem(self, chat: int, problem: Problem, open_chat: Callable[[], object]) -> None:
        """Keep a problem of a conversation out of view until it comes into view, and offer to open it."""
        self._kept[chat] = self._problem_text(problem)
        text = NoticeText(
            problem.title, tr("In another chat."), tr("Open chat"), open_chat, kind="problem", icon="alert"
        )
        self._show(text, seconds=_OFFER_SECONDS)

    @property
    def title(self) -> str:
        """The title of the notice in view; empty for none."""
        return self._notice.text.title if self._notice.text is not None else ""

    def show_success(self, title: str, message: str, *, stays: bool = False) -> None:
        """Show that something succeeded, for a while or, if `stays`, until it is dismissed."""
        self._show(NoticeText(title, message), seconds=0.0 if stays else _NEWS_SECONDS)

    def show_progress(
        self, title: str, message: str, label: str = "", action: Callable[[], object] | None = None
    ) -> None:
        """Show that something takes a while, until it is replaced by its result; the button may stop it."""
        self._show(NoticeText(title, message, label, action, icon="more"))

    def show_offer(
        self, title: str, message: str, label: str, action: Callable[[], object], seconds: float = _OFFER_SECONDS
    ) -> None:
        """Show for a while what was done, with a button that undoes it or goes on from it."""
        self._show(NoticeText(title, message, label, action), seconds=seconds)

    def show_question(
        self,
        title: str,
        message: str,
        label: str,
        action: Callable[[], object],
        *,
        icon: str = "alert",
        stays: bool = False,
    ) -> None:
        """Show a question; `stays` keeps it while models are loaded."""
        self._show(NoticeText(title, message, label, action, icon=icon, stays=stays))

    def show_warning(self, title: str, message: str) -> None:
        """Show a warning that stays until it is dismissed."""
        self._show(NoticeText(title, message, kind="problem", icon="alert", stays=True))

    def _bring_back(self) -> None:
        """Show again what was kept about the conversation in view."""
        chat = self._chat
        if chat is not None and chat.chat is not None and (text := self._kept.pop(chat.chat, None)) is not None:
            self._show(text, about=chat)

    def _problem_text(self, problem: Problem) -> NoticeText:
        action = self.remedies.get(problem.remedy)
        label = tr(problem.remedy.value) if action is not None else ""
        tip = plain_tip(problem.details)
        return NoticeText(problem.title, problem.message, label, action, kind="problem", icon="alert", tip=tip)

    def _show(self, text: NoticeText, *, about: "ChatSession | None" = None, seconds: float = 0.0) -> None:
        if self._about is not None and about is None and self._about.chat is not None and self._notice.text is not None:
            # What is about the conversation comes back the next time that it is opened.
            self._kept.setdefault(self._about.chat, self._notice.text)
        self._about = about
        self._notice.show_text(text, seconds)
