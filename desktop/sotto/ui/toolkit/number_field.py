"""A field for a number that may stay unset; what makes no sense is refused in a sentence."""

from PySide6.QtCore import QLocale, Qt, Signal
from PySide6.QtGui import QAction, QFocusEvent, QValidator
from PySide6.QtWidgets import QDoubleSpinBox, QLineEdit

from sotto.ui.toolkit import icons, theme
from sotto.ui.toolkit.number import Inherited, Number, is_number


class NumberField(QDoubleSpinBox):
    """A number between bounds. Where it is optional, one step below the least stands for one that is not set.

    Signals:
        chosen: Another number is set, or none any more.
        refused: What was typed makes no sense; a sentence that says what would. Empty once it is put right.
    """

    chosen = Signal()
    refused = Signal(str)

    def __init__(self, number: Number, *, optional: bool = True, unit: str = "") -> None:
        """Begin with nothing set, or with the least; `unit` stands behind the number."""
        super().__init__()
        self._number = number
        self._optional = optional
        self._inherited: Inherited | None = None
        self.setLocale(QLocale.c())
        # What is typed counts when the field is left: 1 is not meant on the way to 1.5.
        self.setKeyboardTracking(False)
        self.setDecimals(number.places)
        self.setRange(number.least - number.step if optional else number.least, number.most)
        self.setSuffix(unit)
        self.setSingleStep(number.step)
        self.setAccessibleName(number.title)
        self.setToolTip(number.tip)
        self.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.lineEdit().setAcceptDrops(False)
        self.lineEdit().setTextMargins(0, 0, theme.GAP_8, 0)
        self._unset = QAction("Clear", self)
        self._unset.triggered.connect(self.clear_number)
        self.lineEdit().addAction(self._unset, QLineEdit.ActionPosition.TrailingPosition)
        if optional:
            self.setSpecialValueText(number.unset or " ")
        self.setValue(self.minimum())
        self._told = self.number
        self.valueChanged.connect(self._changed)
        theme.current().changed.connect(self._dress)
        self._dress()

    @property
    def number(self) -> int | float | None:
        """What is set; None for nothing."""
        value = self.value()
        if value < self._number.least:
            return None
        return value if self._number.places else round(value)

    def show_number(self, value: object) -> None:
        """Show what is set, or nothing where `value` is no number; nobody is told."""
        held = self.minimum()
        if is_number(value):
            # Numbers from a file may be larger than a field takes.
            held = min(max(value, self._number.least), self._number.most)
        blocked = self.blockSignals(True)
        self.setValue(held)
        self._told = self.number
        self.blockSignals(blocked)
        self._dress()

    def show_inherited(self, held: Inherited) -> None:
        """Show what holds as long as nothing is set."""
        self._inherited = held
        self.setSpecialValueText(held.shown or " ")

    def clear_number(self) -> None:
        """Set nothing any more."""
        self.setValue(self.minimum())

    def _changed(self) -> None:
        self._dress()
        if self.number == self._told:
            return  # Qt tells of a value again when what was typed is refused
        self._told = self.number
        self.refused.emit("")
        self.chosen.emit()

    def _dress(self) -> None:
        unset = self.number is None
        self._unset.setVisible(self._optional and not unset)
        if self.property("unset") != unset:
            self.setProperty("unset", unset)
            self.style().unpolish(self)
            self.style().polish(self)
        self._unset.setIcon(icons.icon("close", theme.current().tokens.faint))

    # Qt

    def validate(self, text: str, place: int) -> tuple[QValidator.State, str, int]:
        """Let anything be typed; what makes no sense is refused when the field is left."""
        good = self._is_unset(text) or self._number.fits(self._read(text))
        return (QValidator.State.Acceptable if good else QValidator.State.Intermediate, text, place)

    def fixup(self, text: str) -> str:
        """Say what is wrong with what was typed; the number stays what it was."""
        number = self._number
        kind = "a number" if number.places else "a whole number"
        least, most = (f"{bound:,.{number.places}f}" for bound in (number.least, number.most))
        typed = text.removesuffix(self.suffix()).strip()[:40]
        self.refused.emit(f"{number.title} must be {kind} from {least} to {most}, not {typed!r}.")
        return text

    def valueFromText(self, text: str) -> float:
        """Read what was typed; nothing means that nothing is set."""
        value = self._read(text)
        return self.minimum() if value is None or self._is_unset(text) else value

    def textFromValue(self, value: float) -> str:
        """Return a number as it is typed."""
        return self._number.shown(value)

    def stepBy(self, steps: int) -> None:
        """Step from what holds, where nothing is set."""
        held = self._inherited.value if self._inherited is not None else None
        if self.number is None and held is not None:
            self.setValue(min(max(held + steps * self.singleStep(), self._number.least), self._number.most))
        else:
            super().stepBy(steps)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Let what is typed replace what is there."""
        super().focusInEvent(event)
        self.selectAll()

    def _is_unset(self, text: str) -> bool:
        return self._optional and (not text.strip() or text == self.specialValueText())

    def _read(self, text: str) -> float | None:
        try:
            return float(text.removesuffix(self.suffix()).strip().replace(",", "."))
        except ValueError:
            return None
