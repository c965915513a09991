"""The page to find models: a field to search in, the list of models, and the card of the selected one beside it."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, Qt, Signal, Slot
from PySide6.QtGui import QIcon, QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit, QStyle, QVBoxLayout

from sotto.ui.gallery.offer_card import OfferCard
from sotto.ui.gallery.offer_list import OfferModel, OfferView
from sotto.ui.gallery.offers import Offer
from sotto.ui.toolkit import icons, theme
from sotto.ui.toolkit.announcements import announce
from sotto.ui.toolkit.pane import Pane
from sotto.ui.toolkit.translation import tr
from sotto.ui.toolkit.widgets import EscapableLineEdit, IconButton, Label

_CARD_WIDTH, _LIST_WIDTH, _FIELD_WIDTH = 320, 330, 460


class FindingPage(Pane):
    """Shows what can be downloaded.

    Signals:
        left: The user wants to return to the chat.
        searched: The text in the field has changed.
        chosen: Another model was selected (`Offer`, or None).
        shown: The page has come into view.
    """

    left = Signal()
    searched = Signal(str)
    chosen = Signal(object)
    shown = Signal()

    def __init__(self) -> None:
        """Create the page, hidden and empty."""
        super().__init__()
        self.setObjectName("findingPage")
        self.setAccessibleName(tr("Get a model"))
        # Whether the card is in place of the list, because there is no room for both.
        self._alone = False
        self.back = IconButton("left", tr("Back to the chat"), tr("Back"), role="", color="text")
        self.back.clicked.connect(self.left)
        self.field = EscapableLineEdit(tr("Search for models"), tr("Search Hugging Face, or type a name"))
        self.field.setObjectName("search")
        self.field.setClearButtonEnabled(True)
        self._search_icon = self.field.addAction(QIcon(), QLineEdit.ActionPosition.LeadingPosition)
        self.field.textChanged.connect(self.searched)
        self.field.escaped.connect(self.step_back)
        self.field.returnPressed.connect(self._enter_list)
        self.field.installEventFilter(self)
        self.status = Label("", "caption", wrap=True)
        self.list = OfferView(OfferModel())
        self.list.chosen.connect(self._choose)
        self.list.opened.connect(self._open)
        self.list.typed.connect(self._type)
        self.list.left_upwards.connect(self.field.setFocus)
        self.list.clicked.connect(lambda index: self._place() if self._has_room else self._open_card())
        self.card = OfferCard()
        self.card.closed.connect(self._close_card)
        self._arrange()
        theme.current().changed.connect(self._apply_theme)
        self._apply_theme()
        self.hide()

    def _arrange(self) -> None:
        header = QFrame()
        header.setObjectName("header")
        top = QHBoxLayout(header)
        top.setContentsMargins(theme.GAP_16, theme.GAP_8, theme.GAP_16, theme.GAP_8)
        top.addWidget(self.sidebar_button)
        top.addWidget(self.back)
        top.addWidget(Label(tr("Get a model"), "heading"))
        top.addStretch(1)
        search = QHBoxLayout()
        search.addWidget(self.field, 1000)
        search.addStretch(1)
        self._list_part = QFrame()
        self._list_part.setObjectName("findingList")
        column = QVBoxLayout(self._list_part)
        column.setContentsMargins(theme.GAP_16, theme.GAP_12, theme.GAP_16, 0)
        column.setSpacing(theme.GAP_8)
        column.addLayout(search)
        column.addWidget(self.status)
        column.addWidget(self.list, 1)
        self._lay_out(header, self._list_part, self.card)

    def _apply_theme(self) -> None:
        edge = self.field.style().pixelMetric(QStyle.PixelMetric.PM_SmallIconSize)
        self._search_icon.setIcon(icons.icon("search", theme.current().tokens.muted, edge=edge))
        self.field.setMaximumWidth(max(_FIELD_WIDTH, theme.current().scaled(_FIELD_WIDTH)))
        self._place()

    # Contents

    def show_entries(self, entries: Sequence[Offer | str], recommended: Offer | None = None) -> None:
        """Replace the list.

        Args:
            entries: Headings, and the models below them.
            recommended: The model to select if none is.
        """
        self.list.show_entries(entries)
        if self.list.current is None and recommended is not None:
            self.list.select(recommended)
        self.list.select_first()

    def show_status(self, text: str, *, announced: bool = False) -> None:
        """Show a line about the search; `announced` tells it to screen readers, too."""
        if text != self.status.text():
            self.status.setText(text)
            if announced:
                announce(self.field, text)

    def _choose(self, offer: Offer | None) -> None:
        self.chosen.emit(offer)
        self._place()

    # The card

    @property
    def _has_room(self) -> bool:
        """Whether there is room for the card beside the list."""
        return self.width() - self._card_width >= theme.current().scaled(_LIST_WIDTH)

    @property
    def _card_width(self) -> int:
        return max(_CARD_WIDTH, theme.current().scaled(_CARD_WIDTH))

    def _open(self) -> None:
        """Move the focus to the card."""
        self._open_card()
        self.card.take_focus()

    def _open_card(self) -> None:
        self._alone = not self._has_room
        self._place()

    @Slot()
    def _close_card(self) -> None:
        """Return from the card to the list."""
        self._alone = False
        self._place()
        self.list.setFocus()

    def _place(self) -> None:
        """Show the list and the card where there is room for them."""
        offer, beside = self.list.current, self._has_room
        self._alone = self._alone and not beside and offer is not None
        self._list_part.setHidden(self._alone)
        self.card.setFixedWidth(self.width() if self._alone else self._card_width)
        self.card.setVisible(offer is not None and (beside or self._alone))
        self.card.close_button.setVisible(self._alone)

    # Focus and keys

    def take_focus(self) -> None:
        """Focus the field."""
        self.field.setFocus()

    def leave_button(self) -> None:
        """Move the focus from a button that is gone to the list, or to the button that leads back to it."""
        (self.card.close_button if self._alone else self.list).setFocus()

    def step_back(self) -> bool:
        """Return from the card to the list, clear the field, or leave the page."""
        if self._alone or (self.card.isAncestorOf(focused) if (focused := self.focusWidget()) else False):
            self._close_card()
        elif self.field.text():
            self.field.clear()
            self.field.setFocus()
        else:
            self.left.emit()
        return True

    def _enter_list(self) -> None:
        self.list.select_first()
        self.list.setFocus()

    def _type(self, text: str) -> None:
        self.field.setFocus()
        self.field.insert(text)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Move from the field to the list with the arrow key."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and event.key() == Qt.Key.Key_Down:
            self._enter_list()
            return True
        return super().eventFilter(watched, event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the card where there is room for it."""
        super().resizeEvent(event)
        self._place()

    def showEvent(self, event: QShowEvent) -> None:
        """Tell that the page is in view."""
        super().showEvent(event)
        self._place()
        self.shown.emit()
