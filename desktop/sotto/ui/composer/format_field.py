"""The field for the format of answers: text, JSON, or JSON that follows a schema."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QPlainTextEdit, QVBoxLayout, QWidget

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
from sotto.ui.toolkit.file_dialog import FileDialog
from sotto.ui.toolkit.form_rows import SegmentedControl
from sotto.ui.toolkit.translation import QT_TR_NOOP, tr
from sotto.ui.toolkit.widgets import Label, TextButton, line_height

if TYPE_CHECKING:
    from collections.abc import Callable

    from sotto.ui.timing.async_tasks import AsyncTasks

_TEXT, _SCHEMA = "text", "schema"
_PAUSE_MS = 500
_LINES = 6
_PATTERNS = "*.json *.regex *.lark"
# Width that the button and the line beside it need, at 13 px text.
_MIN_WIDTH = 260
_NONE_YET = QT_TR_NOOP("Answers stay text until you enter one.")
_AS_BEFORE = QT_TR_NOOP("The previous choice still applies.")


class FormatField(QWidget):
    """A choice of three formats, and below it the schema: typed, pasted, or from a file.

    Signals:
        chosen: The user chose another format, and its schema is valid.

    Attributes:
        value: The chosen format as it is stored (see `answer_options`); None for any text.
    """

    chosen = Signal()

    def __init__(self) -> None:
        """Create the field with text as the format."""
        super().__init__()
        self.value: Any = None
        self._tasks: AsyncTasks | None = None
        self._kind = GrammarKind.JSON_SCHEMA
        self._checks = 0
        self.segments = SegmentedControl(tr("Answers"), {_TEXT: tr("Text"), JSON: "JSON", _SCHEMA: tr("Schema")})
        self.segments.chosen.connect(self._choose_kind)
        self.text = QPlainTextEdit()
        self.text.setObjectName("schema")
        self.text.setAccessibleName(tr("Answer schema"))
        self.text.setPlaceholderText(tr("Type or paste a JSON schema, or choose a file"))
        self.text.setTabChangesFocus(True)
        self.text.setAcceptDrops(False)
        self.text.viewport().setAcceptDrops(False)
        self.choose = TextButton(tr("Choose a File…"))
        self.choose.clicked.connect(self._choose_file)
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
        self.text.textChanged.connect(self._on_edit)
        theme.current().changed.connect(self._fit_to_text_size)
        self._fit_to_text_size()
        self.show_format(None)

    def begin(self, tasks: "AsyncTasks") -> None:
        """Use `tasks` to check schemas; none is accepted before."""
        self._tasks = tasks

    def show_format(self, value: Any) -> None:
        """Show the stored format of a chat without emitting `chosen`."""
        self._cancel_check()
        grammar = grammar_from_option(value)
        self.value = value if grammar is not None else None
        schema = grammar is not None and value != JSON
        self._show_grammar(grammar if schema else None)
        self.segments.show_value(_SCHEMA if schema else JSON if grammar is not None else _TEXT)
        self._show("")

    def take_focus(self) -> None:
        """Focus the chosen segment."""
        next(button for button in self.segments.buttons.values() if button.isChecked()).setFocus()

    @property
    def _wants_schema(self) -> bool:
        return self.segments.buttons[_SCHEMA].isChecked()

    def _show_grammar(self, grammar: Grammar | None) -> None:
        """Show the text of a grammar; None clears it."""
        self._kind = grammar.kind if grammar is not None else GrammarKind.JSON_SCHEMA
        text = grammar.text if grammar is not None else ""
        if text != self.text.toPlainText():
            blocked = self.text.blockSignals(True)
            self.text.setPlainText(text)
            self.text.blockSignals(blocked)

    def _choose_kind(self, choice: object) -> None:
        """Switch to one of the three formats; a schema that was typed before applies again."""
        self._cancel_check()
        if choice == _SCHEMA:
            self._show("")
            self._check_text()
            self.text.setFocus()
        else:
            self._set_value(JSON if choice == JSON else None)

    def _on_edit(self) -> None:
        self._cancel_check()
        self._show("")
        self._pause.start()

    def _check_text(self) -> None:
        text = self.text.toPlainText()
        if not text.strip():
            self._kind = GrammarKind.JSON_SCHEMA
            self._set_value(None)
            return
        grammar = Grammar(self._kind, text, default_grammar_name(self._kind))

        def check() -> Grammar:
            from sotto.engine.grammar.grammars import check_grammar

            check_grammar(grammar)
            return grammar

        self._run(check)

    def _choose_file(self) -> None:
        dialog = FileDialog(self, tr("Choose a schema"), [(tr("Schemas"), _PATTERNS)])
        dialog.setFileMode(FileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(lambda path: self.read(Path(path)))
        dialog.open()

    def read(self, path: Path) -> None:
        """Read and check the schema in a file."""

        def read() -> Grammar:
            from sotto.engine.grammar.grammar_files import grammar_of_file

            return grammar_of_file(path, path.name)

        self._cancel_check()
        self._run(read)

    def _run(self, load: "Callable[[], Grammar]") -> None:
        if self._tasks is not None:
            self._tasks.start(self._load(self._tasks, load, self._checks))

    async def _load(self, tasks: "AsyncTasks", load: "Callable[[], Grammar]", number: int) -> None:
        problem = ""
        try:
            grammar = await tasks.call(load)
        except SottoError as error:
            problem = error.message
        if number != self._checks:
            return  # something else was chosen meanwhile
        if problem:
            self._show(problem)
        else:
            self._show_grammar(grammar)
            self.segments.show_value(_SCHEMA)
            self._set_value(format_option(grammar))

    def _cancel_check(self) -> None:
        self._pause.stop()
        self._checks += 1

    def _set_value(self, value: Any) -> None:
        changed, self.value = value != self.value, value
        self._show("")
        if changed:
            self.chosen.emit()

    def _show(self, problem: str) -> None:
        """Show the format in use and the problem with a rejected schema; empty if there is none."""
        self._schema.setVisible(self._wants_schema)
        self.error.setText(problem)
        self.error.setVisible(bool(problem))
        line = tr(_AS_BEFORE) if problem else format_sentence(self.value)
        self.line.setText(line if self.value is not None else tr(_NONE_YET))
        self.text.setAccessibleDescription(problem or self.line.text())

    def _fit_to_text_size(self) -> None:
        self.text.setFont(theme.current().code_font())
        self.text.setFixedHeight(_LINES * line_height(self.text) + 2 * theme.GAP_8)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the name of the schema beside the button, or below it if there is no room."""
        super().resizeEvent(event)
        beside = event.size().width() >= theme.current().scaled(_MIN_WIDTH)
        to = QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom
        if self._across.direction() is not to:
            self._across.setDirection(to)
            self._across.update()
