"""The page of where the engine lives."""

from sotto.runner.host import PROCESS, THREAD, forced_kind
from sotto.ui.preferences import PreferenceKeeper, Preferences
from sotto.ui.settings.parts import Page, Row, Segments

_MEANS = {
    THREAD: "In the app’s own process, which is quickest. If the engine’s native code crashes, the app ends with it; "
    "what was said is on the disk.",
    PROCESS: "In a process of its own: if that crashes, an answer ends and the app goes on. It takes a little more "
    "memory, and ejecting a model gives all of it back.",
}


class EnginePage(Page):
    """In the app, or in a process of its own."""

    name, title, icon = "engine", "Engine", "chip"

    def __init__(self, preferences: PreferenceKeeper) -> None:
        """Show and change `preferences`."""
        super().__init__()
        self.host = Segments("Engine", ((THREAD, "In the app"), (PROCESS, "Isolated")))
        self.host.chosen.connect(lambda kind: preferences.change(engine_host=kind))
        self.row = Row("Where models run", "", self.host)
        self.add_group().add(self.row)
        self.add_note("A change holds from the next start of Sotto.")
        forced = forced_kind()
        if forced:
            self.add_note(f"SOTTO_ENGINE_HOST is set to {forced} where Sotto was started, which goes before this.")
        preferences.changed.connect(self._show)
        self._show(preferences.values)

    def _show(self, values: Preferences) -> None:
        self.host.show_value(values.engine_host)
        self.row.say(_MEANS[values.engine_host])
