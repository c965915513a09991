"""The settings page for memory and the prompt cache."""

from functools import partial

from PySide6.QtCore import QSignalBlocker

from sotto.ui.preferences.preferences import MAX_KEEP_ALIVE_MINUTES, Preferences, PreferenceStore
from sotto.ui.settings.engine_choices import EngineChoices, EngineUsage, parse_memory_limit, parse_size
from sotto.ui.state import wording
from sotto.ui.toolkit.form_rows import FormPage, FormRow, SegmentedControl, Switch, ValueField
from sotto.ui.toolkit.number import Number
from sotto.ui.toolkit.number_field import NumberField
from sotto.ui.toolkit.translation import QT_TR_NOOP, tr
from sotto.ui.toolkit.widgets import Label, TextButton

_IDLE = Number(
    "keep_alive_minutes", QT_TR_NOOP("Unload when idle"), 0, MAX_KEEP_ALIVE_MINUTES, 5, 0, QT_TR_NOOP("In minutes")
)
_BITS = ((None, QT_TR_NOOP("Full")), (16, QT_TR_NOOP("16 bits")), (8, QT_TR_NOOP("8 bits")), (4, QT_TR_NOOP("4 bits")))


class MemoryPage(FormPage):
    """Limits of memory and of the prompt cache, the idle time, and a button to clear the cache on the disk."""

    name, title, icon = "memory", QT_TR_NOOP("Memory and cache"), "gauge"

    def __init__(self, choices: EngineChoices, preferences: PreferenceStore) -> None:
        """Show and change `choices` and `preferences`."""
        super().__init__()
        self._choices, self._preferences = choices, preferences
        self.memory_bytes = 0
        self.limit = ValueField(tr("Memory limit"), lambda text: parse_memory_limit(text, self.memory_bytes))
        self.memory = ValueField(tr("Cache in memory"), parse_size)
        self.disk = ValueField(tr("Cache on disk"), parse_size)
        self.bits = SegmentedControl(tr("Context precision"), [(bits, tr(label)) for bits, label in _BITS])
        self.limit_row = FormRow(tr("Memory limit"), tr("Models and their contexts use no more than this."), self.limit)
        self._rows_by_name = {
            "memory_limit": self.limit_row,
            "prefix_budget": FormRow(
                tr("In memory"),
                tr("How much of earlier prompts stays in memory, so that none is computed twice."),
                self.memory,
            ),
            "disk_budget": FormRow(
                tr("On disk"),
                tr("What no longer fits into memory moves there and survives restarts; 0 turns it off."),
                self.disk,
            ),
        }
        fields = {"memory_limit": self.limit, "prefix_budget": self.memory, "disk_budget": self.disk}
        for name, field in fields.items():
            field.chosen.connect(partial(choices.change, name))
            field.refused.connect(self._rows_by_name[name].show_error)
        self.bits.chosen.connect(partial(choices.change, "kv_bits"))
        self.wipe = TextButton(tr("Delete"), "outlined", tr("Delete the cache on disk"))
        self.wipe.clicked.connect(choices.wipe)
        self.kept = FormRow(tr("On disk now"), "", self.wipe)
        self.idle = NumberField(_IDLE, optional=False, unit=" " + tr("min"))
        self.idle.chosen.connect(self._save_idle)
        idle = FormRow(
            tr("Unload when idle"),
            tr("Unload after this many minutes idle (0 = never)."),
            self.idle,
        )
        self.idle.refused.connect(idle.show_error)
        self.prediction = Switch(tr("Predict ahead"))
        self.prediction.toggled.connect(lambda on: choices.change("prediction", None if on else False))
        models = self.add_group(tr("Models"))
        models.add(self.limit_row)
        models.add(idle)
        models.add(
            FormRow(
                tr("Predict ahead"),
                tr("Models that have a prediction head write faster with it, and take a little more memory."),
                self.prediction,
            )
        )
        group = self.add_group(tr("Prompt cache"))
        group.add(self._rows_by_name["prefix_budget"])
        group.add(self._rows_by_name["disk_budget"])
        group.add(
            FormRow(
                tr("Context precision"), tr("Fewer bits allow longer contexts, with slightly less accuracy."), self.bits
            )
        )
        group.add(self.kept)
        self.add_note(tr("Other changes apply when a model is loaded the next time."))
        choices.loaded.connect(self._show)
        self.failure = Label("", "error", wrap=True)
        self.add(self.failure)
        choices.failed.connect(self.failure.setText)
        preferences.changed.connect(self._show_idle)
        self._show_idle(preferences.values)

    def refresh(self) -> None:
        """Read the settings and the size of the cache again."""
        self._choices.refresh()

    def _show_idle(self, values: Preferences) -> None:
        if self.idle.number != values.keep_alive_minutes:
            self.idle.show_number(values.keep_alive_minutes)

    def _save_idle(self) -> None:
        if (minutes := self.idle.number) is not None:
            self._preferences.change(keep_alive_minutes=round(minutes))

    def _show(self, usage: EngineUsage) -> None:
        self.memory_bytes = usage.total_memory
        self.limit.setPlaceholderText(tr("All free memory"))
        self.memory.setPlaceholderText(tr("Automatic"))
        self.disk.setPlaceholderText(wording.size(usage.default_disk_budget))
        hint = tr("Models and their contexts use no more than this. The machine has {size} of memory.")
        self.limit_row.set_hint(hint.format(size=wording.size(usage.total_memory)))
        for field, name in ((self.limit, "memory_limit"), (self.memory, "prefix_budget"), (self.disk, "disk_budget")):
            value = usage.chosen.get(name)
            field.show_text("" if value is None else wording.size(value))
        self.bits.show_value(usage.chosen.get("kv_bits"))
        with QSignalBlocker(self.prediction):
            self.prediction.setChecked(usage.chosen.get("prediction") is not False)
        kept = tr(
            "{size} in 1 entry, in {folder}|{size} in {count} entries, in {folder}", "", usage.disk_entries
        ).format(size=wording.size(usage.disk_bytes), count=wording.count(usage.disk_entries), folder=usage.folder)
        self.kept.set_hint(kept if usage.disk_bytes else tr("Nothing"))
        self.failure.setText("")
        self.wipe.setEnabled(usage.disk_bytes > 0)
