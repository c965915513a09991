"""The settings page that shows what is kept on this machine, and deletes it."""

from sotto.ui.settings.user_data import DataSizes, UserData
from sotto.ui.state import wording
from sotto.ui.state.names import join_facts
from sotto.ui.toolkit.confirm_button import ConfirmButton
from sotto.ui.toolkit.form_rows import FormPage, FormRow
from sotto.ui.toolkit.translation import QT_TR_NOOP, tr
from sotto.ui.toolkit.widgets import Label


class DataPage(FormPage):
    """How much chats and the prompt cache take up, and buttons that delete them for good."""

    name, title, icon = "data", QT_TR_NOOP("Your data"), "document"

    def __init__(self, data: UserData) -> None:
        """Show and delete `data`."""
        super().__init__()
        self._data = data
        self.chats = ConfirmButton(tr("Delete"), tr("Delete all chats"), tr("Delete all?"))
        self.cache = ConfirmButton(tr("Delete"), tr("Delete the prompt cache"), tr("Delete?"))
        self.settings = ConfirmButton(tr("Reset"), tr("Reset all settings"), tr("Reset all?"))
        self.everything = ConfirmButton(tr("Delete all data"), tr("Delete all data"), tr("Delete everything?"))
        self.chats.confirmed.connect(data.delete_chats)
        self.cache.confirmed.connect(data.delete_cache)
        self.settings.confirmed.connect(data.reset_settings)
        self.everything.confirmed.connect(data.delete_all)
        self.chats_row = FormRow(tr("Chats"), "", self.chats)
        self._cache = FormRow(tr("Prompt cache"), "", self.cache)
        self.everything_row = FormRow(tr("Everything"), "", self.everything)
        group = self.add_group(tr("On this computer"))
        group.add(self.chats_row)
        group.add(self._cache)
        group.add(FormRow(tr("Settings"), tr("Preferences, presets and the engine’s settings."), self.settings))
        self.add_group().add(self.everything_row)
        self.add_note(tr("Deleted data cannot be restored. Models are not deleted."))
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
        chats = tr("1 chat|{count} chats", "", sizes.chats).format(count=wording.count(sizes.chats))
        self.chats_row.set_hint(
            join_facts((chats, wording.size(sizes.chat_bytes))) if sizes.chats else tr("None", "chats")
        )
        self.chats.setEnabled(sizes.chats > 0)
        self._cache.set_hint(wording.size(sizes.cache_bytes) if sizes.cache_bytes else tr("Empty", "prompt cache"))
        self.cache.setEnabled(sizes.cache_bytes > 0)
        self.everything_row.set_hint(
            tr("Chats, prompt cache and settings: frees {size}.").format(size=wording.size(sizes.all_bytes))
        )
