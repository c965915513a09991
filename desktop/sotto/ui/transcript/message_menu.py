"""The menu of a message: the ⋯ button and the right mouse button show it."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPoint
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu

from sotto.chats.chat_records import Role, Turn
from sotto.ui.toolkit.translation import tr
from sotto.ui.toolkit.widgets import add_action
from sotto.ui.transcript.answer_message import AnswerMessage
from sotto.ui.transcript.user_message import UserMessage


@dataclass(frozen=True, slots=True)
class MessagePlace:
    """Where a message is in its conversation.

    Attributes:
        idle: Whether no answer is awaited or arriving.
        exchange: The authors of the messages that are deleted with this one, itself included.
        quick: Whether it is in the quick prompt, which cannot show other chats or undo a deletion.
    """

    idle: bool
    exchange: tuple[Role, ...]
    quick: bool = False

    @property
    def delete_label(self) -> str:
        """What the entry that deletes the message is called."""
        answers = self.exchange.count(Role.ASSISTANT)
        if Role.USER not in self.exchange:
            return tr("Delete Answer")
        if not answers:
            return tr("Delete Question")
        return tr("Delete Question and Answer|Delete Question and Answers", "", answers)


def message_menu(message: UserMessage | AnswerMessage, place: MessagePlace, at: QPoint) -> QMenu:
    """Return the menu of a message, for a click at a position on the screen."""
    menu, requests, turn = QMenu(message), message.requests, message.turn_id
    if (text := message.selected) is not None:
        add_action(menu, tr("Copy Selection"), text.copy)
    if link := message.link_at(at):
        add_action(menu, tr("Copy Link"), lambda: QGuiApplication.clipboard().setText(link))
    if not menu.isEmpty():
        menu.addSeparator()
    add_action(menu, tr("Copy"), message.copy_text).setEnabled(bool(message.texts))
    if isinstance(message, AnswerMessage):
        add_action(menu, tr("Regenerate"), message.again.click).setEnabled(place.idle)
        if not place.quick:
            add_action(menu, tr("Try Another Model…"), message.choose_model).setEnabled(place.idle)
        if not message.more.isHidden():
            add_action(menu, tr("Continue"), message.more.click).setEnabled(place.idle)
    elif not message.again.isHidden():
        add_action(menu, tr("Get an Answer"), message.again.click).setEnabled(place.idle)
    add_action(menu, tr("Edit…"), message.begin_edit).setEnabled(place.idle and not message.editing)
    if not place.quick:
        add_action(menu, tr("Branch From Here"), lambda: requests.branch_wanted.emit(turn))
    source = add_action(menu, tr("Show Markdown"), lambda: message.show_source(not message.source_shown))
    source.setCheckable(True)
    source.setChecked(message.source_shown)
    source.setEnabled(bool(message.texts))
    if not place.quick:
        menu.addSeparator()
        delete = add_action(menu, place.delete_label, lambda: requests.delete_wanted.emit(turn))
        delete.setEnabled(place.idle)
    return menu


def exchange_of(turns: Sequence[Turn], message: int) -> tuple[Role, ...]:
    """Return the authors of the messages that are deleted together with one of `turns`: a question and its answers."""
    index = next(index for index, turn in enumerate(turns) if turn.id == message)
    if turns[index].role is Role.ASSISTANT and index and turns[index - 1].role is Role.USER:
        index -= 1
    if turns[index].role is Role.ASSISTANT:
        return (Role.ASSISTANT,)
    follows = turns[index + 1] if index + 1 < len(turns) else None
    answers = len(follows.versions) if follows is not None and follows.role is Role.ASSISTANT else 0
    return (Role.USER, *(answers * (Role.ASSISTANT,)))
