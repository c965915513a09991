"""Reads the app in a made-up language, and notes what stays English."""

import re

from PySide6.QtCore import QTranslator
from PySide6.QtWidgets import QApplication, QLabel

from marked_texts import marked, sources
from pseudo_language import bracketed, without_translations
from shown_texts import shown_texts
from sotto.ui.window.welcome import BUILTIN_QUESTIONS

# What is the same in every language: units, names, and what most stories write.
_DATA = set("KB MB GB TB tok Sotto JSON Python Ollama Hugging Face LM Studio tiny other Calm Brisk".split())
_DATA |= set("Markdown HTML PDF CPU".split())
# Paths, addresses, patterns of file names, names of models, shortcuts, what was typed, and questions to the built-in
# model.
_VALUE = re.compile(
    r"[\w.]+:(latest|\d+b)|"
    r"[~/]\S*/\S*|https?://\S+|\S+\.(txt|png|safetensors|jsonl?|zip|sqlite|regex|lark)|\w+(\+(\w+|[^\w\s]))+|'[^']*'|"
    + "|".join(map(re.escape, BUILTIN_QUESTIONS))
)
_WORD = re.compile(r"[^\W\d_]{2,}")


class Reader:
    """Looks at windows, and collects the texts that are not translated.

    Attributes:
        data: Words that are the same in every language; a story adds those that it writes itself.
        english: The texts that are not translated, by package.
        read: All texts that were read.
    """

    def __init__(self):
        self.data: set[str] = set(_DATA)
        self.english: dict[str, set[str]] = {}
        self.read: set[str] = set()

    def look(self, *windows):
        for package, text in shown_texts(*windows):
            self.note(package, text)

    def note(self, package, text):
        self.read.add(text)
        rest = _VALUE.sub("", without_translations(text))
        if not set(_WORD.findall(rest)) <= self.data:
            self.english.setdefault(package, set()).add(text)

    def unread(self, package):
        """Return the texts that a package marks and that have not been read."""
        read = "\n".join(self.read)
        return sorted(
            {
                text
                for path in sources(package)
                for text, _, plural in marked(path)
                if not re.search(_translated(text, plural=plural), read)
            }
        )


class Counter(QTranslator):
    """Translates nothing, and collects what it was asked for."""

    def __init__(self, parent):
        super().__init__(parent)
        self.asked = []

    def isEmpty(self):
        return False

    def translate(self, context, text, comment=None, n=-1):
        if not context:
            self.asked.append(text)
        return


def _translated(text, *, plural):
    """Return the pattern of the translation of a text, with anything in its fields."""
    pieces = re.split(r"\\{\w+\\}", re.escape(bracketed(text)))
    return r"⟦\d:⟧" * plural + ".+?".join(pieces)


def ask(around, qtbot, text, answer):
    """Ask something in the conversation in view, and wait until it has been answered."""
    window = around.shell.window
    around.script.chunks = [answer]
    window.send(text)
    turns = window.current.session
    qtbot.waitUntil(lambda: len(turns.turns) % 2 == 0 and not turns.busy and turns.turns[-1].id > 0)


def labels(widget):
    """Return the texts of the labels in a widget."""
    return [label.text() for label in widget.findChildren(QLabel)]


def popup_of(act):
    """Return the menu that something opens."""
    act()
    popup = QApplication.activePopupWidget()
    assert popup is not None
    return popup
