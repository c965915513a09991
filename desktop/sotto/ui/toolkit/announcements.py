"""Announcements to screen readers."""

import re

from PySide6.QtCore import QObject
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent

from sotto.ui.toolkit.translation import tr

_MARKS = re.compile(r"```.*?(?:```|\Z)|^[ \t]*(?:#{1,6}|[-*+]|>)[ \t]+|[*_`~|]+|!?\[([^\]]*)\]\([^)]*\)", re.S | re.M)
_LONGEST = 1000


def announce(about: QObject, text: str) -> None:
    """Let a screen reader say `text` about an object. All announcements of the app go through this function."""
    if text and QAccessible.isActive():
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(about, text))


def speakable(markdown: str) -> str:
    """Return Markdown as plain text for screen readers: without markup and code, cut to 1,000 characters."""
    code = " " + tr("(code)") + " "
    plain = _MARKS.sub(lambda mark: mark[1] or (code if mark[0].startswith("```") else ""), markdown)
    return " ".join(plain.split())[:_LONGEST]
