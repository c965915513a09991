"""What the user wants to be done with a message."""

from PySide6.QtCore import QObject, QPoint, Signal


class MessageRequests(QObject):
    """Collects the requests of all messages of a transcript; messages are named by their ids.

    Signals:
        link_asked: Open a link in a message (its address).
        edit_typed: Keep the text in the open editor of a message, or none, since it was closed.
        image_wanted: Show an image of a message whole (`Attachment`).
        edited: Send another text with these attachments instead of a question.
        answer_edited: Change the text of an answer.
        regenerate_wanted: Answer a question, or have another answer instead of one.
        model_wanted: Have an answer of another model, to be chosen at a widget.
        more_wanted: Continue an answer.
        version_wanted: Show this version of a message.
        branch_wanted: Begin another conversation with what was said up to a message.
        delete_wanted: Delete a question and its answers.
        menu_wanted: Show the menu of a message (its widget), at a position on the screen.

    Attributes:
        busy: Whether an answer is awaited or arriving, so that no message can be changed.
    """

    link_asked = Signal(str)
    edit_typed = Signal(int, str)
    image_wanted = Signal(object)
    edited = Signal(int, str, object)
    answer_edited = Signal(int, str)
    regenerate_wanted = Signal(int)
    model_wanted = Signal(int, object)
    more_wanted = Signal(int)
    version_wanted = Signal(int)
    branch_wanted = Signal(int)
    delete_wanted = Signal(int)
    menu_wanted = Signal(object, QPoint)
    busy = False
