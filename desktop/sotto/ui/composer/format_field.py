"""What answers must be, as it is chosen for a chat: any text, some JSON, or what a schema says."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFileDialog, QPlainTextEdit, QVBoxLayout, QWidget

from sotto.engine.contract.requests import Grammar, GrammarKind
from sotto.errors import SottoError
from sotto.ui.preferences.answer_options import (
    JSON,
    default_grammar_name,
    format_option,
    format_sentence,
    grammar_from_option,
)
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.form_rows import SegmentedControl
from sotto.ui.toolkit.widgets import Label, TextButton, line_height

if TYPE_CHECKING:
    from collections.abc import Callable

    from sotto.ui.toolkit.async_tasks import AsyncTasks

_TEXT, _SCHEMA = "text", "schema"
_PAUSE_MS = 500
_LINES = 6
# What the button and the line beside it need, at 13 px text.
_BESIDE = 260
_NONE_YET = "Until there is one, answers stay text."
_AS_BEFORE = "What was chosen before still holds."


class FormatField(QWidget):
    """The choice, and below it the schema: typed, pasted, or from a file. It is taken once it can be honoured.

    Signals:
        chosen: Something else is chosen.

    Attributes:
        kept: What is chosen, as `answer_options` has it; None for any text.
    """

    chosen = Signal()

    def __init__(self) -> None:
        """Let answers be any text."""
        super().__init__()
        self.kept: Any = None
        self._flows: AsyncTasks | None = None
        self._kind = GrammarKind.JSON_SCHEMA
        self._checks = 0
        self.segments = SegmentedControl("Answers", {_TEXT: "Text", JSON: "JSON", _SCHEMA: "Schema"})
        self.segments.chosen.connect(self._turn)
        self.text = QPlainTextEdit()
        self.text.setObjectName("schema")
        self.text.setAccessibleName("Schema of the answers")
        self.text.setPlaceholderText("Type or paste a JSON schema, or choose a file")
        self.text.setTabChangesFocus(True)
        self.text.setAcceptDrops(False)
        self.text.viewport().setAcceptDrops(False)
        self.choose = TextButton("Choose a File…")
        self.choose.clicked.connect(self._choose)
        self.line = Label("", "caption", wrap=True)
        self.error = Label("", "error", wrap=True)
        self._across = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._across.setSpacing(theme.GAP_8)
        self._across.addWidget(self.choose, 0, Qt.AlignmentFlag.AlignLeft)
        self._across.addWidget(self.line, 1)
        self._schema = QWidget()
        inside = QVBoxLayout(self._schema)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.setSpacing(theme.GAP_8)
        inside.addWidget(self.text)
        inside.addWidget(self.error)
        inside.addLayout(self._across)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.GAP_8)
        layout.addWidget(self.segments, 0, Qt.AlignmentFlag.AlignLeft)
        layout.addWidget(self._schema)
        self._pause = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._pause.timeout.connect(self._check_text)
        self.text.textChanged.connect(self._edited)
        theme.current().changed.connect(self._measure)
        self._measure()
        self.show_format(None)

    def begin(self, flows: "AsyncTasks") -> None:
        """Check schemas with `flows`; none is taken before."""
        self._flows = flows

    def show_format(self, kept: Any) -> None:
        """Show what was chosen for the conversation in view; nobody is told."""
        self._forget_check()
        grammar = grammar_from_option(kept)
        self.kept = kept if grammar is not None else None
        schema = grammar is not None and kept != JSON
        self._write(grammar if schema else None)
        self.segments.show_value(_SCHEMA if schema else JSON if grammar is not None else _TEXT)
        self._show("")

    def take_focus(self) -> None:
        """Have the keyboard where the choice is."""
        next(button for button in self.segments.buttons.values() if button.isChecked()).setFocus()

    @property
    def _wants_schema(self) -> bool:
        return self.segments.buttons[_SCHEMA].isChecked()

    def _write(self, grammar: Grammar | None) -> None:
        """Show what a grammar says, or nothing."""
        self._kind = grammar.kind if grammar is not None else GrammarKind.JSON_SCHEMA
        text = grammar.text if grammar is not None else ""
        if text != self.text.toPlainText():
            blocked = self.text.blockSignals(True)
            self.text.setPlainText(text)
            self.text.blockSignals(blocked)

    def _turn(self, choice: object) -> None:
        """Choose one of the three; a schema that there is already holds again."""
        self._forget_check()
        if choice == _SCHEMA:
            self._show("")
            self._check_text()
            self.text.setFocus()
        else:
            self._take(JSON if choice == JSON else None)

    def _edited(self) -> None:
        self._forget_check()
        self._show("")
        self._pause.start()

    def _check_text(self) -> None:
        text = self.text.toPlainText()
        if not text.strip():
            self._kind = GrammarKind.JSON_SCHEMA
            self._take(None)
            return
        grammar = Grammar(self._kind, text, default_grammar_name(self._kind))

        def checked() -> Grammar:
            from sotto.engine.grammar.grammars import check_grammar

            check_grammar(grammar)
            return grammar

        self._check(checked)

    def _choose(self) -> None:
        dialog = QFileDialog(self, "What answers must be", "", "Schemas (*.json *.regex *.lark)")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(lambda path: self.read(Path(path)))
        dialog.open()

    def read(self, path: Path) -> None:
        """Take what a file says answers must be."""

        def read() -> Grammar:
            from sotto.engine.grammar.grammar_files import grammar_of_file

            return grammar_of_file(path, path.name)

        self._forget_check()
        self._check(read)

    def _check(self, work: "Callable[[], Grammar]") -> None:
        if self._flows is not None:
            self._flows.start(self._checked(self._flows, work, self._checks))

    async def _checked(self, flows: "AsyncTasks", work: "Callable[[], Grammar]", number: int) -> None:
        why = ""
        try:
            grammar = await flows.call(work)
        except SottoError as error:
            why = error.message
        if number != self._checks:
            return  # something else was chosen meanwhile
        if why:
            self._show(why)
        else:
            self._write(grammar)
            self.segments.show_value(_SCHEMA)
            self._take(format_option(grammar))

    def _forget_check(self) -> None:
        self._pause.stop()
        self._checks += 1

    def _take(self, kept: Any) -> None:
        changed, self.kept = kept != self.kept, kept
        self._show("")
        if changed:
            self.chosen.emit()

    def _show(self, why: str) -> None:
        """Show what holds, and why something else was not taken; empty where nothing was refused."""
        self._schema.setVisible(self._wants_schema)
        self.error.setText(why)
        self.error.setVisible(bool(why))
        holds = _AS_BEFORE if why else format_sentence(self.kept)
        self.line.setText(holds if self.kept is not None else _NONE_YET)
        self.text.setAccessibleDescription(why or self.line.text())

    def _measure(self) -> None:
        self.text.setFont(theme.current().code_font())
        self.text.setFixedHeight(_LINES * line_height(self.text) + 2 * theme.GAP_8)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put what the schema is called beside the button, or below it where there is no room."""
        super().resizeEvent(event)
        beside = event.size().width() >= theme.current().scaled(_BESIDE)
        to = QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom
        if self._across.direction() is not to:
            self._across.setDirection(to)
            self._across.update()
