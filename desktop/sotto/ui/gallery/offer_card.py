"""The card of a model that can be downloaded: what is known of it, and its versions, each with a button to get it."""

from collections.abc import Set as AbstractSet
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from sotto.store.finding.suggestions import Suggestion
from sotto.ui.gallery import offer_words
from sotto.ui.gallery.offers import Offer, OfferedVersion, Section
from sotto.ui.models.model_description import FIT_SIGNS
from sotto.ui.state.names import join_facts
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.scroller import Scroller
from sotto.ui.toolkit.translation import tr
from sotto.ui.toolkit.widgets import ElidedLabel, IconButton, IconLabel, Label, TextButton, restyle


class OfferCard(QFrame):
    """Shows one model.

    Signals:
        get_wanted: The user wants to download a version; its name.
        page_wanted: The user wants to see the page of the model on the web; its name there.
        closed: The user wants to return to the list.
    """

    get_wanted = Signal(str)
    page_wanted = Signal(str)
    closed = Signal()

    def __init__(self) -> None:
        """Create the card, empty."""
        super().__init__()
        self.setObjectName("offerCard")
        self.setAccessibleName(tr("The selected model"))
        self.offer: Offer | None = None
        self._here: AbstractSet[str] = frozenset()
        self._coming: AbstractSet[str] = frozenset()
        self.title = Label("", "heading", wrap=True)
        self.close_button = IconButton("close", tr("Close details"))
        self.close_button.clicked.connect(self.closed)
        self.line = Label("", "caption", wrap=True)
        self.recommended = Label(tr("Suits this machine best"), "pill")
        self.refusal = Label("", "error", wrap=True)
        self.note = Label("", "caption", wrap=True)
        self.web = IconButton("link", tr("Show its page in the browser"), tr("Its page"), tip=tr("Opens your browser"))
        self.web.clicked.connect(self._ask_page)
        self.facts = QGridLayout()
        self.rows: list[VersionRow] = []
        self._versions = QVBoxLayout()
        self._arrange()

    def _arrange(self) -> None:
        top = QHBoxLayout()
        top.setSpacing(theme.GAP_4)
        top.addWidget(self.title, 1)
        top.addWidget(self.close_button, 0, Qt.AlignmentFlag.AlignTop)
        pill = QHBoxLayout()
        pill.addWidget(self.recommended)
        pill.addStretch(1)
        web = QHBoxLayout()
        web.addWidget(self.web)
        web.addStretch(1)
        self.facts.setHorizontalSpacing(theme.GAP_12)
        self.facts.setVerticalSpacing(theme.GAP_4)
        self.facts.setColumnStretch(1, 1)
        self._versions.setSpacing(theme.GAP_8)
        body = QWidget()
        body.setObjectName("column")
        inside = QVBoxLayout(body)
        inside.setContentsMargins(theme.margins(theme.GAP_16, theme.GAP_16, theme.GAP_12, theme.GAP_16))
        inside.setSpacing(theme.GAP_8)
        inside.addLayout(top)
        inside.addLayout(pill)
        for part in (self.line, self.refusal, self.note):
            inside.addWidget(part)
        inside.addLayout(self.facts)
        inside.addLayout(web)
        inside.addSpacing(theme.GAP_4)
        inside.addLayout(self._versions)
        inside.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(Scroller(body))

    def show_offer(self, offer: Offer, note: str = "") -> None:
        """Show a model; `note` says what is not known of it yet, or why that is so."""
        self.offer = offer
        self.title.setText(offer.title)
        self.line.setText(offer_words.line(offer) if isinstance(offer.source, Suggestion) else "")
        self.line.setVisible(bool(self.line.text()))
        self.recommended.setVisible(offer.recommended)
        self.refusal.setText(offer.refusal)
        self.refusal.setVisible(bool(offer.refusal))
        self.note.setText(note)
        self.note.setVisible(bool(note))
        self.web.setVisible(offer.section is Section.FOUND)
        self._show_facts(offer)
        self._show_versions(offer)

    def _show_facts(self, offer: Offer) -> None:
        while self.facts.count():
            item = self.facts.takeAt(0)
            _discard(item.widget() if item is not None else None)
        for row, (title, value) in enumerate(offer_words.facts(offer)):
            label, shown = Label(title, "caption"), ElidedLabel(value, "caption")
            label.setBuddy(shown)
            self.facts.addWidget(label, row, 0)
            self.facts.addWidget(shown, row, 1)

    def _show_versions(self, offer: Offer) -> None:
        """Show the versions; one that was shown keeps its row, so that no click or key meets another one."""
        before = {row.offered.version.name: row for row in self.rows}
        self.rows = []
        for index, offered in enumerate(offer.versions):
            row = before.pop(offered.version.name, None) or self._make_row(offered)
            row.show_offered(offered, best=index == offer.best)
            row.get.setEnabled(not offer.refusal)
            self._versions.insertWidget(index, row)
            self.rows.append(row)
        if any(row.get.hasFocus() for row in before.values()):
            self.close_button.setFocus()
        for row in before.values():
            self._versions.removeWidget(row)
            _discard(row)
        self._show_presence()

    def _make_row(self, offered: OfferedVersion) -> "VersionRow":
        row = VersionRow(offered)
        row.get.clicked.connect(partial(self.get_wanted.emit, offered.version.name))
        return row

    def show_presence(self, here: AbstractSet[str], coming: AbstractSet[str]) -> None:
        """Show which versions are on this machine, and which are being downloaded, by name."""
        self._here, self._coming = here, coming
        self._show_presence()

    def _show_presence(self) -> None:
        for row in self.rows:
            row.show_presence(
                here=row.offered.version.name in self._here, coming=row.offered.version.name in self._coming
            )

    def take_focus(self) -> None:
        """Focus the button that gets the version to choose, or else the one that closes the card."""
        buttons = [row.get for row in self.rows if row.best] + [row.get for row in self.rows]
        usable = (button for button in buttons if button.isEnabled() and not button.isHidden())
        next(usable, self.close_button).setFocus(Qt.FocusReason.TabFocusReason)

    def _ask_page(self) -> None:
        if self.offer is not None:
            self.page_wanted.emit(self.offer.key[1])

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move between the buttons with the arrow keys, and press them with Enter."""
        buttons = [row.get for row in self.rows if row.get.isEnabled() and not row.get.isHidden()]
        focused = next((index for index, button in enumerate(buttons) if button.hasFocus()), None)
        step = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}.get(Qt.Key(event.key()))
        if focused is not None and step is not None:
            buttons[max(0, min(focused + step, len(buttons) - 1))].setFocus(Qt.FocusReason.TabFocusReason)
        elif focused is not None and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            buttons[focused].click()
        else:
            super().keyPressEvent(event)


class VersionRow(QFrame):
    """A version of a model: its bits and size, how it fits, and a button to get it."""

    def __init__(self, offered: OfferedVersion) -> None:
        """Create the row of a version; `show_offered` shows what is known of it."""
        super().__init__()
        self.setObjectName("offerVersion")
        self.offered, self.best = offered, False
        name = offered.version.name
        self.title = Label("", "strong", wrap=True)
        self._sign = IconLabel("", edge=14)
        self.fit = Label("", "caption", wrap=True)
        self.name = ElidedLabel(name, "caption", where=Qt.TextElideMode.ElideMiddle)
        self.get = TextButton(tr("Get"), name=tr("Get {name}").format(name=name))
        self.state = Label("", "caption")
        fit = QHBoxLayout()
        fit.setSpacing(theme.GAP_4)
        fit.addWidget(self._sign, 0, Qt.AlignmentFlag.AlignTop)
        fit.addWidget(self.fit, 1)
        texts = QVBoxLayout()
        texts.setSpacing(2)
        texts.addWidget(self.title)
        texts.addLayout(fit)
        texts.addWidget(self.name)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(theme.GAP_12, theme.GAP_8, theme.GAP_8, theme.GAP_8)
        layout.setSpacing(theme.GAP_8)
        layout.addLayout(texts, 1)
        layout.addWidget(self.get, 0, Qt.AlignmentFlag.AlignVCenter)
        layout.addWidget(self.state, 0, Qt.AlignmentFlag.AlignVCenter)
        self.show_presence(here=False, coming=False)

    def show_offered(self, offered: OfferedVersion, *, best: bool) -> None:
        """Show what is known of the version by now; `best` marks the one to choose."""
        self.offered, self.best = offered, best
        version = offered.version
        self.title.setText(offer_words.version_title(offered))
        self._sign.show_icon(*FIT_SIGNS[offered.projection.fit])
        self.fit.setText(offer_words.version_fit(offered))
        for part in (self._sign, self.fit):
            part.setVisible(version.size is not None)
        self.name.setVisible(self.title.text() != version.name)
        restyle(self.get, "role", "primary" if best else "outlined")
        self.setAccessibleName(join_facts((self.title.text(), self.fit.text(), version.name)))

    def show_presence(self, *, here: bool, coming: bool) -> None:
        """Show that the version is on this machine or on its way, in place of the button."""
        self.get.setHidden(here or coming)
        self.state.setText(tr("Downloading") if coming else tr("You have it") if here else "")
        self.state.setVisible(here or coming)


def _discard(widget: QWidget | None) -> None:
    if widget is not None:
        widget.hide()
        widget.deleteLater()
