"""The page of where the engine lives."""

import os

from sotto.runner.host import PROCESS, THREAD, forced_kind
from sotto.runner.isolated.held_memory import VARIABLE, can_be_limited
from sotto.ui.preferences.preferences import Preferences, PreferenceStore
from sotto.ui.settings.engine_choices import EngineChoices, EngineUsage, parse_memory_limit
from sotto.ui.state import wording
from sotto.ui.toolkit.form_rows import FormPage, FormRow, SegmentedControl, ValueField

_MEANS = {
    THREAD: "In the app’s own process, which is quickest. If the engine’s native code crashes, the app ends with it; "
    "what was said is on the disk.",
    PROCESS: "In a process of its own: if that crashes, an answer ends and the app goes on. It takes a little more "
    "memory, and ejecting a model gives all of it back.",
}
_LIMITS = (
    "Where it holds more, it is ended: the answer ends with a sentence that says so, and the next one starts it again."
)


class EnginePage(FormPage):
    """In the app, or in a process of its own, and what that may hold where this can be limited."""

    name, title, icon = "engine", "Engine", "chip"

    def __init__(self, preferences: PreferenceStore, choices: EngineChoices) -> None:
        """Show and change `preferences` and `choices`."""
        super().__init__()
        self._choices = choices
        self._total = 0
        self.host = SegmentedControl("Engine", ((THREAD, "In the app"), (PROCESS, "Isolated")))
        self.host.chosen.connect(lambda kind: preferences.change(engine_host=kind))
        self.row = FormRow("Where models run", "", self.host)
        self.memory = ValueField("Memory of the isolated engine", lambda text: parse_memory_limit(text, self._total))
        self.memory.setPlaceholderText("No limit")
        self.memory.chosen.connect(lambda size: choices.change("process_memory", size))
        self.memory_row = FormRow("Memory of the isolated engine", _LIMITS, self.memory)
        self.memory.refused.connect(self.memory_row.show_error)
        group = self.add_group()
        group.add(self.row)
        if can_be_limited():
            group.add(self.memory_row)
            choices.known.connect(self._show_kept)
            choices.failed.connect(self.memory_row.show_error)
        self.add_note("A change holds from the next start of Sotto.")
        forced = forced_kind()
        if forced:
            self.add_note(f"SOTTO_ENGINE_HOST is set to {forced} where Sotto was started, which goes before this.")
        limit = os.environ.get(VARIABLE)
        if can_be_limited() and limit:
            self.add_note(f"{VARIABLE} is set to {limit} where Sotto was started, which goes before this.")
        preferences.changed.connect(self._show)
        self._show(preferences.values)

    def refresh(self) -> None:
        """Look again at what is chosen."""
        if can_be_limited():
            self._choices.look()

    def _show_kept(self, kept: EngineUsage) -> None:
        self._total = kept.total
        size = kept.chosen.get("process_memory")
        self.memory.show_text("" if size is None else wording.size(size))
        self.memory_row.show_error("")

    def _show(self, values: Preferences) -> None:
        self.host.show_value(values.engine_host)
        self.row.set_hint(_MEANS[values.engine_host])
