"""The settings page for the appearance."""

from PySide6.QtWidgets import QHBoxLayout, QWidget

from sotto.ui.preferences.languages import available_languages, language_name
from sotto.ui.preferences.preferences import MAX_ZOOM, MIN_ZOOM, Preferences, PreferenceStore
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.form_rows import ChoiceButton, FormPage, FormRow, SegmentedControl
from sotto.ui.toolkit.number import Number
from sotto.ui.toolkit.number_field import NumberField
from sotto.ui.toolkit.translation import QT_TR_NOOP, tr
from sotto.ui.toolkit.widgets import IconButton

_SIZE = Number(
    "zoom", QT_TR_NOOP("Text size"), round(100 * MIN_ZOOM), round(100 * MAX_ZOOM), 10, 0, QT_TR_NOOP("In percent")
)


class AppearancePage(FormPage):
    """Light or dark, the text size, and the language."""

    name, title, icon = "appearance", QT_TR_NOOP("Appearance"), "contrast"

    def __init__(self, preferences: PreferenceStore) -> None:
        """Show and change `preferences`."""
        super().__init__()
        self._preferences = preferences
        self.look = SegmentedControl(
            tr("Appearance"), (("", tr("System")), ("light", tr("Light")), ("dark", tr("Dark")))
        )
        self.look.chosen.connect(lambda value: preferences.change(appearance=value))
        self.zoom = NumberField(_SIZE, optional=False, unit=" %")
        self.smaller = IconButton("minus", tr("Smaller text"))
        self.larger = IconButton("plus", tr("Larger text"))
        self.smaller.clicked.connect(self.zoom.stepDown)
        self.larger.clicked.connect(self.zoom.stepUp)
        self.zoom.chosen.connect(self._save_zoom)
        sizes = QWidget()
        sizes.setAccessibleName(tr("Text size"))
        layout = QHBoxLayout(sizes)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.GAP_4)
        for widget in (self.smaller, self.zoom, self.larger):
            layout.addWidget(widget)
        group = self.add_group()
        group.add(FormRow(tr("Light or dark"), tr("System follows the setting of your desktop."), self.look))
        row = FormRow(tr("Text size"), tr("Of the whole window; you can also change it in the View menu."), sizes)
        self.zoom.refused.connect(row.show_error)
        group.add(row)
        codes = available_languages()
        self.language = ChoiceButton(
            tr("Language"), {"": tr("System"), **{code: language_name(code) for code in codes}}
        )
        self.language.chosen.connect(lambda code: preferences.change(language=code))
        group.add(FormRow(tr("Language"), tr("Takes effect after restart."), self.language))
        self.add_note(tr("Animations follow the system’s reduced-motion setting."))
        preferences.changed.connect(self._show)
        self._show(preferences.values)

    def _show(self, values: Preferences) -> None:
        self.look.show_value(values.appearance)
        self.language.show_value(values.language)
        self.zoom.show_number(round(100 * values.zoom))

    def _save_zoom(self) -> None:
        if (percent := self.zoom.number) is not None:
            self._preferences.change(zoom=percent / 100)
