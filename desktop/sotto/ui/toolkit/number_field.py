"""A field for a number that may be unset; invalid input is rejected with a message."""

import re

from PySide6.QtCore import QLocale, Qt, Signal
from PySide6.QtGui import QAction, QFocusEvent, QValidator
from PySide6.QtWidgets import QDoubleSpinBox, QLineEdit

from sotto.ui.toolkit import icons, theme
from sotto.ui.toolkit.number import Inherited, Number, is_number
from sotto.ui.toolkit.translation import format_number, tr
from sotto.ui.toolkit.widgets import restyle

# A whole number with separators between thousands, of any language: no number of ours has three decimal places.
_THOUSANDS = re.compile(r"[-+]?\d{1,3}(?:[ \u00a0\u202f'’.,]\d{3})+")


class NumberField(QDoubleSpinBox):
    """A number between bounds. If it is optional, one step below the least value stands for "not set".

    Signals:
        chosen: The user set another number, or cleared the field.
        refused: The input is invalid; a sentence that says what is valid, or an empty text once it is corrected.
    """

    chosen = Signal()
    refused = Signal(str)

    def __init__(self, number: Number, *, optional: bool = True, unit: str = "") -> None:
        """Create a field.

        Args:
            number: The option, with its bounds.
            optional: Whether the field may be empty, as it is at first; otherwise it starts with the least value.
            unit: Suffix of the number.
        """
        super().__init__()
        self._number = number
        self._optional = optional
        self._inherited: Inherited | None = None
        self.setLocale(QLocale.c())
        # Typed input counts only when the field loses the focus: 1 is not meant on the way to 1.5.
        self.setKeyboardTracking(False)
        self.setDecimals(number.places)
        self.setRange(number.least - number.step if optional else number.least, number.most)
        self.setSuffix(unit)
        self.setSingleStep(number.step)
        self.setAccessibleName(tr(number.title))
        self.setToolTip(tr(number.tip))
        self.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.lineEdit().setAcceptDrops(False)
        end = theme.GAP_8
        self.lineEdit().setTextMargins(*((end, 0, 0, 0) if self.isRightToLeft() else (0, 0, end, 0)))
        self._unset = QAction(tr("Clear"), self)
        self._unset.triggered.connect(self.clear_number)
        self.lineEdit().addAction(self._unset, QLineEdit.ActionPosition.TrailingPosition)
        if optional:
            self.setSpecialValueText(tr(number.unset) or " ")
        self.setValue(self.minimum())
        self._reported = self.number
        self.valueChanged.connect(self._report)
        theme.current().changed.connect(self._update_style)
        self._update_style()

    @property
    def number(self) -> int | float | None:
        """The number; None if it is not set."""
        value = self.value()
        if value < self._number.least:
            return None
        return value if self._number.places else round(value)

    def show_number(self, value: object) -> None:
        """Show `value` without emitting `chosen`; anything that is not a number clears the field."""
        shown = self.minimum()
        if is_number(value):
            # Numbers from a file may be out of bounds.
            shown = min(max(value, self._number.least), self._number.most)
        blocked = self.blockSignals(True)
        self.setValue(shown)
        self._reported = self.number
        self.blockSignals(blocked)
        self._update_style()

    def show_inherited(self, inherited: Inherited) -> None:
        """Show the value that applies while the field is empty."""
        self._inherited = inherited
        self.setSpecialValueText(inherited.text or " ")

    def clear_number(self) -> None:
        """Clear the field."""
        self.setValue(self.minimum())

    def _report(self) -> None:
        self._update_style()
        if self.number == self._reported:
            # WORKAROUND: Qt emits the same value again when input is rejected. Check whether the next Qt still does.
            return
        self._reported = self.number
        self.refused.emit("")
        self.chosen.emit()

    def _update_style(self) -> None:
        unset = self.number is None
        self._unset.setVisible(self._optional and not unset)
        restyle(self, "unset", unset)
        self._unset.setIcon(icons.icon("close", theme.current().tokens.faint))

    def validate(self, text: str, place: int) -> tuple[QValidator.State, str, int]:
        """Let the user type anything; invalid input is rejected when the field loses the focus."""
        valid = self._is_unset(text) or self._number.fits(self._parse(text))
        return (QValidator.State.Acceptable if valid else QValidator.State.Intermediate, text, place)

    def fixup(self, text: str) -> str:
        """Emit `refused` for invalid input; the number stays as it was."""
        number = self._number
        sentence = (
            tr("{title} must be a number from {least} to {most}, not {typed}.")
            if number.places
            else tr("{title} must be a whole number from {least} to {most}, not {typed}.")
        )
        least, most = (format_number(bound, number.places) for bound in (number.least, number.most))
        typed = text.removesuffix(self.suffix()).strip()[:40]
        self.refused.emit(sentence.format(title=tr(number.title), least=least, most=most, typed=repr(typed)))
        return text

    def valueFromText(self, text: str) -> float:
        """Parse input; empty input clears the field."""
        value = self._parse(text)
        return self.minimum() if value is None or self._is_unset(text) else value

    def textFromValue(self, value: float) -> str:
        """Return a number as it is displayed."""
        return self._number.format(value)

    def stepBy(self, steps: int) -> None:
        """Step from the inherited value while the field is empty."""
        start = self._inherited.value if self._inherited is not None else None
        if self.number is None and start is not None:
            self.setValue(min(max(start + steps * self.singleStep(), self._number.least), self._number.most))
        else:
            super().stepBy(steps)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Select everything, so that typing replaces it."""
        super().focusInEvent(event)
        self.selectAll()

    def _is_unset(self, text: str) -> bool:
        return self._optional and (not text.strip() or text == self.specialValueText())

    def _parse(self, text: str) -> float | None:
        typed = text.removesuffix(self.suffix()).strip()
        if not self._number.places and _THOUSANDS.fullmatch(typed):
            typed = re.sub(r"[^-+\d]", "", typed)
        try:
            return float(typed.replace(",", "."))
        except ValueError:
            return None
