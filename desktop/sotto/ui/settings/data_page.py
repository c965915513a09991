"""The settings page that shows what is kept on this machine, and deletes it."""

from sotto.ui.settings.user_data import DataSizes, UserData
from sotto.ui.state import wording
from sotto.ui.toolkit.confirm_button import ConfirmButton
from sotto.ui.toolkit.form_rows import FormPage, FormRow
from sotto.ui.toolkit.widgets import Label


class DataPage(FormPage):
    """How much chats and the prompt cache take up, and buttons that delete them for good."""

    name, title, icon = "data", "Your data", "document"

    def __init__(self, data: UserData) -> None:
        """Show and delete `data`."""
        super().__init__()
        self._data = data
        self.chats = ConfirmButton("Delete", "Delete all chats", "Delete all?")
        self.cache = ConfirmButton("Delete", "Delete the prompt cache", "Delete?")
        self.settings = ConfirmButton("Reset", "Reset all settings", "Reset all?")
        self.everything = ConfirmButton("Delete all data", "Delete all data", "Delete everything?")
        self.chats.confirmed.connect(data.delete_chats)
        self.cache.confirmed.connect(data.delete_cache)
        self.settings.confirmed.connect(data.reset_settings)
        self.everything.confirmed.connect(data.delete_all)
        self._chats = FormRow("Chats", "", self.chats)
        self._cache = FormRow("Prompt cache", "", self.cache)
        self._everything = FormRow("Everything", "", self.everything)
        group = self.add_group("On this computer")
        group.add(self._chats)
        group.add(self._cache)
        group.add(FormRow("Settings", "Preferences, presets and the engine’s settings.", self.settings))
        self.add_group().add(self._everything)
        self.add_note("Deleted data cannot be restored. Models are not deleted.")
        self.failure = Label("", "error", wrap=True)
        self.add(self.failure)
        # Until everything has been measured.
        self.chats.setEnabled(False)
        self.cache.setEnabled(False)
        data.failed.connect(self.failure.setText)
        data.measured.connect(self._show)

    def refresh(self) -> None:
        """Measure everything again."""
        self._data.refresh()

    def _show(self, sizes: DataSizes) -> None:
        chats = "1 chat" if sizes.chats == 1 else f"{wording.count(sizes.chats)} chats"
        self._chats.set_hint(f"{chats}, {wording.size(sizes.chat_bytes)}" if sizes.chats else "None")
        self.chats.setEnabled(sizes.chats > 0)
        self._cache.set_hint(wording.size(sizes.cache_bytes) if sizes.cache_bytes else "Empty")
        self.cache.setEnabled(sizes.cache_bytes > 0)
        self._everything.set_hint(f"Chats, prompt cache and settings: frees {wording.size(sizes.all_bytes)}.")
