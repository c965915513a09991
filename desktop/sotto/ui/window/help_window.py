"""The help window: pages written in Markdown, the list of shortcuts, and the licences."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from PySide6.QtCore import QLocale, Signal
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QVBoxLayout, QWidget

from sotto.paths import resources_dir
from sotto.ui.markdown.view import MarkdownText
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.paged_window import PagedWindow
from sotto.ui.toolkit.scroller import Scroller
from sotto.ui.toolkit.translation import QT_TR_NOOP, tr
from sotto.ui.window.licences import parts, text_of

PAGES = ("start", "models", "chats", "quick-prompt", "memory", "local-server", "terminal", "platforms")
SHORTCUTS, LICENCES = "shortcuts", "licences"
_TITLES = {SHORTCUTS: QT_TR_NOOP("Shortcuts"), LICENCES: QT_TR_NOOP("Licences")}
# Links to the text of a part's licence, by its number, and back to the list.
_TEXT_LINK, _BACK_LINK = "licence/", "licences/list"
_QT_SOURCE = "https://download.qt.io/official_releases/"
_SIZE = (860, 640)
_MIN_WIDTH = 480


class HelpWindow(PagedWindow):
    """The pages that explain the app.

    Signals:
        link_asked: A link to a web page was clicked (its address).
    """

    link_asked = Signal(str)

    def __init__(self, parent: QWidget, actions: Sequence[QAction]) -> None:
        """Create the window, hidden; `actions` are the menu entries, whose shortcuts are listed."""
        super().__init__(parent, tr("Help"), (*PAGES, SHORTCUTS, LICENCES), _SIZE, _MIN_WIDTH)
        self._actions = actions
        self.list.addItems([_title(name) for name in self.names])
        column = QWidget()
        column.setObjectName("column")
        self._inside = QVBoxLayout(column)
        self._inside.setContentsMargins(theme.GAP_24, theme.GAP_16, theme.GAP_24, theme.GAP_24)
        self._inside.addStretch(1)
        self.area = Scroller(column)
        self.page: MarkdownText | None = None
        self.set_content(self.area)

    def show_page(self, row: int) -> None:
        """Show the page in a row of the list."""
        self._show(self._text(self.names[row]))

    def _show(self, text: str) -> None:
        if self.page is not None:
            self.page.hide()
            self.page.deleteLater()
        self.page = MarkdownText(keep_lines=False)
        self.page.link_asked.connect(self._follow_link)
        self._inside.insertWidget(0, self.page)
        self.page.append_markdown(text)
        self.page.finish()
        self.area.verticalScrollBar().setValue(0)

    def _text(self, name: str) -> str:
        if name == SHORTCUTS:
            return shortcuts_page(self._actions)
        if name == LICENCES:
            return licences_page()
        return _read(name)

    def _follow_link(self, address: str) -> None:
        """Show the page that a link names, or pass the address on."""
        name = address.rpartition("/")[2].removesuffix(".md")
        if address.startswith(_TEXT_LINK):
            self._show(licence_page(int(name)))
        elif address == _BACK_LINK:
            self.show_page(self.names.index(LICENCES))
        elif "://" not in address and name in self.names:
            self.list.setCurrentRow(self.names.index(name))
        else:
            self.link_asked.emit(address)


def shortcuts_page(actions: Sequence[QAction]) -> str:
    """Return the page with the shortcuts of menu entries, and of the keys that no menu shows."""
    rows = {
        action.text().replace("&", ""): action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        for action in actions
        if not action.shortcut().isEmpty()
    }
    more = {
        tr("Send the message"): tr("Enter"),
        tr("New line in a message"): tr("Shift+Enter"),
        tr("Previous and next match while searching in a chat"): tr("Enter, Shift+Enter"),
        tr("Load the selected model"): tr("Enter"),
        tr("Rename the selected chat"): "F2",
    }
    return _heading(SHORTCUTS) + _table(tr("Action"), tr("Keys"), rows | more)


def licences_page() -> str:
    """Return the page with the licence of Sotto, and those of all that it comes with."""
    rows = {}
    for number, part in enumerate(parts()):
        name = tr("{part} (in {library})").format(part=part.name, library=part.within) if part.within else part.name
        rows[f"[{name}]({_TEXT_LINK}{number})" if part.texts else name] = part.licence or tr("see its package")
    qt = tr(
        "Qt and PySide6 are used under the LGPL, version 3. They are libraries of their own, whose files can be "
        "replaced by changed ones. Their source is at {address}."
    ).format(address=f"[download.qt.io]({_QT_SOURCE})")
    uses = tr("Sotto is under the MIT licence. It uses:")
    return f"{_heading(LICENCES)}{qt}\n\n{uses}\n\n" + _table(tr("Package"), tr("Licence"), rows)


def licence_page(number: int) -> str:
    """Return the page with the text of the licence of a part."""
    part = parts()[number]
    # Longer than any row of grave accents in a licence.
    fence = "`" * 12
    back = tr("All licences")
    return f"# {part.name}\n\n[{back}]({_BACK_LINK})\n\n{fence}\n{text_of(part)}\n{fence}\n"


def _table(first: str, second: str, rows: Mapping[str, str]) -> str:
    lines = [f"| {left} | {right.replace('|', '/')} |" for left, right in rows.items()]
    return "\n".join((f"| {first} | {second} |", "| --- | --- |", *lines)) + "\n"


def _read(name: str) -> str:
    """Return a page in the language of the window, or else in English."""
    folder = resources_dir() / "help"
    translated = (folder / tag.replace("-", "_") / f"{name}.md" for tag in QLocale().uiLanguages())
    path = next(filter(Path.is_file, translated), folder / f"{name}.md")
    return path.read_text(encoding="utf-8")


def _heading(name: str) -> str:
    return f"# {_title(name)}\n\n"


def _title(name: str) -> str:
    return tr(_TITLES[name]) if name in _TITLES else _read(name).partition("\n")[0].removeprefix("# ")
