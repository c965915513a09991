"""The settings page for stores and folders, and for the download speed."""

from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QWidget

from sotto.store.printable import printable_path
from sotto.ui.models.model_description import source_name
from sotto.ui.preferences.preferences import Preferences, PreferenceStore
from sotto.ui.settings.engine_choices import parse_speed
from sotto.ui.settings.model_folders import ModelFolder, ModelFolders
from sotto.ui.state import wording
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.file_dialog import FileDialog
from sotto.ui.toolkit.form_rows import FormPage, FormRow, ValueField
from sotto.ui.toolkit.translation import QT_TR_NOOP, tr
from sotto.ui.toolkit.widgets import IconButton, Label, TextButton


class FoldersPage(FormPage):
    """The folders that are searched for models, buttons to add and remove folders, and the download speed."""

    name, title, icon = "folders", QT_TR_NOOP("Model folders"), "folder"

    def __init__(self, folders: ModelFolders, preferences: PreferenceStore) -> None:
        """Show and change `folders` and `preferences`."""
        super().__init__()
        self.folders, self._preferences = folders, preferences
        self._shown: tuple[ModelFolder, ...] = ()
        self.add_button = TextButton(tr("Add Folder…"), "outlined", tr("Add folder"))
        self.add_button.clicked.connect(self._choose_folder)
        self.own_group = self.add_group(tr("Your folders"))
        self.refusal = Label("", "error", wrap=True)
        self.add(self.refusal)
        self.refusal.hide()
        self.add(self.add_button)
        self._rows.setAlignment(self.add_button, Qt.AlignmentFlag.AlignLeft)
        self.default_group = self.add_group(tr("Searched automatically"))
        self.add_note(tr("Other programs’ models are read in place and never changed, moved or deleted."))
        self.speed = ValueField(tr("Download speed"), parse_speed)
        self.speed.setPlaceholderText(tr("Unlimited"))
        row = FormRow(
            tr("Download speed"),
            tr("For all downloads together, per second. Applies immediately."),
            self.speed,
        )
        self.speed.chosen.connect(lambda speed: preferences.change(download_limit=speed))
        self.speed.refused.connect(row.show_error)
        self.add_group(tr("Downloads")).add(row)
        preferences.changed.connect(self._show_speed)
        self._show_speed(preferences.values)
        folders.loaded.connect(self._show)
        folders.refused.connect(self._show_refusal)

    def refresh(self) -> None:
        """Search again which folders exist."""
        self._show_refusal("")
        self.folders.refresh()

    def _show(self, folders: tuple[ModelFolder, ...]) -> None:
        if folders == self._shown:
            return
        self._shown = folders
        for group, own in ((self.own_group, True), (self.default_group, False)):
            group.clear()
            rows = [self._make_row(folder) for folder in folders if folder.own is own]
            none = tr("Folders that you add are searched, including their subfolders.")
            for row in rows or [FormRow(tr("None yet"), none)]:
                group.add(row)

    def _make_row(self, folder: ModelFolder) -> FormRow:
        state = _count_models(folder.models) if folder.exists else tr("Not found")
        side = QWidget()
        layout = QHBoxLayout(side)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.GAP_8)
        layout.addWidget(Label(state, "muted" if folder.exists else "caption"))
        title = folder.path.name if folder.own else source_name(folder.source)
        if folder.own:
            remove = IconButton(
                "close", tr("Remove folder {name}").format(name=title), tip=tr("Stop searching this folder")
            )
            remove.clicked.connect(partial(self.folders.remove, folder.path))
            layout.addWidget(remove)
        row = FormRow(title or str(folder.path), printable_path(folder.path), side)
        row.setAccessibleName(f"{title}, {printable_path(folder.path)}, {state}")
        return row

    def _show_speed(self, values: Preferences) -> None:
        limit = values.download_limit
        self.speed.show_text(f"{wording.size(limit)}/s" if limit else "")

    def _show_refusal(self, message: str) -> None:
        self.refusal.setText(message)
        self.refusal.setVisible(bool(message))

    def _choose_folder(self) -> None:
        dialog = FileDialog(self.window(), tr("Add a folder with models"))
        dialog.setFileMode(FileDialog.FileMode.Directory)
        dialog.fileSelected.connect(lambda path: self.folders.add(Path(path)))
        dialog.open()


def _count_models(number: int) -> str:
    """Return a number of models in words: `No models`, `1 model`, `7 models`."""
    return tr("1 model|{count} models", "", number).format(count=wording.count(number)) if number else tr("No models")
