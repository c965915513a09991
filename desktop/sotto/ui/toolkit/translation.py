"""Translates the texts that people read, and formats numbers as in their language.

The English text in the source is both what is looked up and the fallback.

`packaging/translations.py` finds texts by the calls themselves, so `tr` is called with the text as a literal, inside a
function and outside of f-strings. Texts of tables, which are created at import, are marked with `QT_TR_NOOP`, and
translated by `tr` when they are shown.
"""

from collections.abc import Iterable

from PySide6.QtCore import QCoreApplication, QLocale, Qt

# The largest number that Qt takes; beyond it, the plural forms of a language no longer differ.
_MAX_NUMBER = 2**31 - 1

# Numbers and lists look the same in whatever English the system is, and where it has no language at all.
_ENGLISH = QLocale("en_GB")


# Unicode's isolates, which a font draws nothing for.
_FROM_LEFT, _AS_IT_IS, _END = "\u2066", "\u2068", "\u2069"
# Decides the direction of a line, and is not seen either.
_FROM_RIGHT = "\u200f"


def app_locale() -> QLocale:
    """Return the conventions of the window's language; British ones for any English."""
    locale = QLocale()
    return _ENGLISH if locale.language() in (QLocale.Language.English, QLocale.Language.C) else locale


def format_number(value: float, places: int = 0, *, grouped: bool = True) -> str:
    """Format a number in the window's language: `2,000` or `4.7` in English.

    Args:
        value: The number, of any size.
        places: Decimal places.
        grouped: Whether thousands are separated.
    """
    locale = app_locale()
    if locale.zeroDigit() != "0":
        # Digits are those of Europe everywhere, and so are the separators between them.
        locale = _ENGLISH
    separators = {ord(","): locale.groupSeparator() if grouped else "", ord("."): locale.decimalPoint()}
    return f"{value:,.{places}f}".translate(separators)


def figure(text: str) -> str:
    """Return a number with its unit as a piece that reads from left to right, where the window's language does not.

    Otherwise `4.7 GB` would be taken apart, and the sentence around it begin at the wrong side.
    """
    return f"{_FROM_LEFT}{text}{_END}" if _from_right() else text


def isolated(text: str) -> str:
    """Return a name or text as a piece with a direction of its own, where the window's language goes from the right."""
    return f"{_AS_IT_IS}{text}{_END}" if _from_right() else text


def in_line(texts: Iterable[str], separator: str) -> str:
    """Return texts in one line, each with a direction of its own, and in the order of the window's language."""
    if not _from_right():
        return separator.join(texts)
    line = separator.join(map(isolated, texts))
    return f"{_FROM_RIGHT}{line}" if line else ""


def _from_right() -> bool:
    return QLocale().textDirection() is Qt.LayoutDirection.RightToLeft


def tr(text: str, comment: str = "", n: int = -1) -> str:
    """Return a text in the user's language; safe from any thread.

    Args:
        text: A whole label or sentence in English. What varies is a named field for `str.format`. If it depends on a
            number, both English forms, as in `1 chat|{count} chats`; other languages may have more forms, or fewer.
        comment: What distinguishes this text from the same one with another meaning.
        n: The number that chooses the form; as the third argument, where Qt's tools look for it.
    """
    # All texts have the same context: Qt's tools would otherwise expect one for each class, and find no plural forms
    # outside of classes.
    translated = QCoreApplication.translate("", text, comment, min(n, _MAX_NUMBER))
    if n < 0 or translated != text:
        return translated
    forms = text.split("|")
    return forms[0] if n == 1 else forms[-1]


def QT_TR_NOOP(text: str) -> str:
    """Return a text as it is, to be translated later. Qt's tools know this name, and its own version has no types."""
    return text
