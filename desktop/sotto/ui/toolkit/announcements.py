"""What is said to screen readers while nothing that they follow changes."""

import re

from PySide6.QtCore import QObject
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent

_MARKS = re.compile(r"```.*?(?:```|\Z)|^[ \t]*(?:#{1,6}|[-*+]|>)[ \t]+|[*_`~|]+|!?\[([^\]]*)\]\([^)]*\)", re.S | re.M)
_LONGEST = 1000


def announce(about: QObject, text: str) -> None:
    """Let a screen reader say `text`, if there is one; nothing else in Sotto sends announcements."""
    if text and QAccessible.isActive():
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(about, text))


def spoken(markdown: str) -> str:
    """Return Markdown as it is said: without its marks, and without code."""
    plain = _MARKS.sub(lambda mark: mark[1] or (" (code) " if mark[0].startswith("```") else ""), markdown)
    return " ".join(plain.split())[:_LONGEST]
