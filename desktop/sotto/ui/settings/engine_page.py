"""The settings page for the engine."""

import os

from sotto.runner.host import PROCESS, THREAD, forced_kind
from sotto.runner.isolated.held_memory import VARIABLE, can_be_limited
from sotto.ui.preferences.preferences import Preferences, PreferenceStore
from sotto.ui.settings.engine_choices import EngineChoices, EngineUsage, parse_memory_limit
from sotto.ui.state import wording
from sotto.ui.toolkit.form_rows import FormPage, FormRow, SegmentedControl, ValueField
from sotto.ui.toolkit.translation import QT_TR_NOOP, tr

_HOST_HINTS = {
    THREAD: QT_TR_NOOP(
        "In the app’s process, which is fastest. If the engine crashes, so does the app; your chats are saved."
    ),
    PROCESS: QT_TR_NOOP(
        "In its own process: if it crashes, an answer ends but the app keeps running. It needs a little more memory, "
        "and ejecting a model frees all of it."
    ),
}
_MEMORY_HINT = QT_TR_NOOP("If it needs more, it is ended and the answer says so; the next question starts it again.")
_OVERRIDDEN = QT_TR_NOOP("{variable} is set to {value} in the environment, which overrides this.")


class EnginePage(FormPage):
    """Whether the engine runs in the app or in its own process, and the memory limit of that process."""

    name, title, icon = "engine", QT_TR_NOOP("Engine"), "chip"

    def __init__(self, preferences: PreferenceStore, choices: EngineChoices) -> None:
        """Show and change `preferences` and `choices`."""
        super().__init__()
        self._choices = choices
        self.memory_bytes = 0
        self.host = SegmentedControl(tr("Engine"), ((THREAD, tr("In the app")), (PROCESS, tr("Isolated"))))
        self.host.chosen.connect(lambda kind: preferences.change(engine_host=kind))
        self.row = FormRow(tr("Where models run"), "", self.host)
        self.memory = ValueField(
            tr("Memory limit of the isolated engine"), lambda text: parse_memory_limit(text, self.memory_bytes)
        )
        self.memory.setPlaceholderText(tr("No limit"))
        self.memory.chosen.connect(lambda size: choices.change("process_memory", size))
        self.memory_row = FormRow(tr("Memory limit of the isolated engine"), tr(_MEMORY_HINT), self.memory)
        self.memory.refused.connect(self.memory_row.show_error)
        group = self.add_group()
        group.add(self.row)
        if can_be_limited():
            group.add(self.memory_row)
            choices.loaded.connect(self._show_usage)
            choices.failed.connect(self.memory_row.show_error)
        self.add_note(tr("Takes effect after restart."))
        forced = forced_kind()
        if forced:
            self.add_note(tr(_OVERRIDDEN).format(variable="SOTTO_ENGINE_HOST", value=forced))
        limit = os.environ.get(VARIABLE)
        if can_be_limited() and limit:
            self.add_note(tr(_OVERRIDDEN).format(variable=VARIABLE, value=limit))
        preferences.changed.connect(self._show)
        self._show(preferences.values)

    def refresh(self) -> None:
        """Read the memory limit again."""
        if can_be_limited():
            self._choices.refresh()

    def _show_usage(self, usage: EngineUsage) -> None:
        self.memory_bytes = usage.total_memory
        size = usage.chosen.get("process_memory")
        self.memory.show_text("" if size is None else wording.size(size))
        self.memory_row.show_error("")

    def _show(self, values: Preferences) -> None:
        self.host.show_value(values.engine_host)
        self.row.set_hint(tr(_HOST_HINTS[values.engine_host]))
