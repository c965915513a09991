"""The page of where models are: what is searched for them, and how they are downloaded."""

from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QWidget

from sotto.store.printable import printable_path
from sotto.ui.models.model_description import SOURCE_NAMES
from sotto.ui.preferences.preferences import Preferences, PreferenceStore
from sotto.ui.settings.engine_choices import parse_speed
from sotto.ui.settings.model_folders import ModelFolder, ModelFolders
from sotto.ui.state import wording
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.form_rows import FormPage, FormRow, ValueField
from sotto.ui.toolkit.widgets import IconButton, Label, TextButton


class FoldersPage(FormPage):
    """Every folder that is searched, the way to add others, and how fast models may come into Sotto's own."""

    name, title, icon = "folders", "Stores and folders", "folder"

    def __init__(self, stores: ModelFolders, preferences: PreferenceStore) -> None:
        """Show what `stores` knows, and change `preferences`."""
        super().__init__()
        self._stores, self._preferences = stores, preferences
        self._shown: tuple[ModelFolder, ...] = ()
        self.add_button = TextButton("Add Folder…", "outlined", "Add folder")
        self.add_button.clicked.connect(self._choose)
        self._own = self.add_group("Your folders")
        self.refusal = Label("", "error", wrap=True)
        self.add(self.refusal)
        self.refusal.hide()
        self.add(self.add_button)
        self._rows.setAlignment(self.add_button, Qt.AlignmentFlag.AlignLeft)
        self._usual = self.add_group("Searched on every machine")
        self.add_note(
            "Models of other programs are read where they are; nothing there is ever changed, moved or deleted."
        )
        self.speed = ValueField("Download speed", parse_speed)
        self.speed.setPlaceholderText("As fast as it comes")
        row = FormRow(
            "Download speed",
            "Downloads take no more than this in a second, all together. This holds at once.",
            self.speed,
        )
        self.speed.chosen.connect(lambda speed: preferences.change(download_limit=speed))
        self.speed.refused.connect(row.show_error)
        self.add_group("Downloads").add(row)
        preferences.changed.connect(self._show_speed)
        self._show_speed(preferences.values)
        stores.known.connect(self._show)
        stores.refused.connect(self._refuse)

    def refresh(self) -> None:
        """Look again at what is there."""
        self._refuse("")
        self._stores.look()

    def _show(self, found: tuple[ModelFolder, ...]) -> None:
        if found == self._shown:
            return
        self._shown = found
        for group, own in ((self._own, True), (self._usual, False)):
            group.clear()
            rows = [self._row(store) for store in found if store.own is own]
            for row in rows or [
                FormRow("None yet", "Folders with models that you add are searched, and those in them.")
            ]:
                group.add(row)

    def _row(self, store: ModelFolder) -> FormRow:
        state = _models_counted(store.models) if store.there else "Not there"
        side = QWidget()
        layout = QHBoxLayout(side)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.GAP_8)
        layout.addWidget(Label(state, "muted" if store.there else "caption"))
        title = store.path.name if store.own else SOURCE_NAMES[store.source]
        if store.own:
            remove = IconButton("close", f"Remove folder {title}", tip="Search this folder no longer")
            remove.clicked.connect(partial(self._stores.remove, store.path))
            layout.addWidget(remove)
        row = FormRow(title or str(store.path), printable_path(store.path), side)
        row.setAccessibleName(f"{title}, {printable_path(store.path)}, {state}")
        return row

    def _show_speed(self, values: Preferences) -> None:
        limit = values.download_limit
        self.speed.show_text(f"{wording.size(limit)}/s" if limit else "")

    def _refuse(self, why: str) -> None:
        self.refusal.setText(why)
        self.refusal.setVisible(bool(why))

    def _choose(self) -> None:
        dialog = QFileDialog(self.window(), "Add a folder with models")
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(lambda path: self._stores.add(Path(path)))
        dialog.open()


def _models_counted(number: int) -> str:
    """Return how many models these are: `No models`, `1 model`, `7 models`."""
    return "1 model" if number == 1 else f"{wording.count(number) if number else 'No'} models"
