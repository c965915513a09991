"""The windows over the main window: where they open, and the about box."""

import pytest
from PySide6.QtCore import QLocale, QPoint, QRect, Qt
from PySide6.QtWidgets import QLabel

from sotto import __version__
from sotto.ui.toolkit import screens
from sotto.ui.window import help_window
from sotto.ui.window.about import About


@pytest.mark.parametrize("scale", [1.0, 1.5, 2.0])
def test_settings_open_over_the_middle_of_the_window(stage, qtbot, loop, monkeypatch, scale):
    area = QRect(0, 0, round(1920 / scale), round(1080 / scale))

    class Screen:
        def availableGeometry(self):
            return area

    monkeypatch.setattr(screens.QGuiApplication, "screens", lambda: [Screen()])
    monkeypatch.setattr(screens.QGuiApplication, "primaryScreen", lambda: Screen())
    window = stage.window
    window.setGeometry(QRect(60, 40, 720, 480))
    window.dialogs.show_settings()
    settings = window.dialogs.settings
    assert area.contains(settings.geometry())
    middle = QRect(QPoint(0, 0), settings.size())
    middle.moveCenter(window.geometry().center())
    # On a screen without room for that and for the title bar, the settings lie beside the middle.
    assert settings.geometry() == middle or (scale >= 2 and not area.adjusted(0, 36, 0, 0).contains(middle))
    settings.close()


def test_the_about_box_says_what_this_is(stage, qtbot, loop):
    window = stage.window
    window.menus.actions()[-1].trigger()
    about = window.findChild(About)
    qtbot.waitUntil(about.isVisible)
    labels = about.findChildren(QLabel)
    assert f"Version {__version__}" in [label.text() for label in labels]
    assert labels[0].pixmap().deviceIndependentSize().width() == 72
    # Nothing is cut off or broken into lines.
    assert all(label.width() >= label.sizeHint().width() for label in labels)
    qtbot.keyClick(about, Qt.Key.Key_Escape)
    assert not about.isVisible()
    window.dialogs.show_about()
    about = next(each for each in window.findChildren(About) if each.isVisible())
    next(button for button in about.findChildren(type(about.done_button)) if button.text() == "Licences").click()
    assert not about.isVisible()
    assert window.dialogs.help.names[window.dialogs.help.list.currentRow()] == "licences"
    window.dialogs.help.close()


@pytest.mark.parametrize(
    ("language", "titles"),
    [
        ("en_GB", ["Models", "Chats"]),
        ("de_AT", ["Modelle", "Chats"]),
        ("pt_BR", ["Modelos", "Conversas"]),
        ("pt_PT", ["Models", "Conversas"]),
    ],
)
def test_help_pages_are_in_the_language_of_the_window_where_they_are_translated(
    stage, qtbot, loop, tmp_path, monkeypatch, language, titles
):
    for folder, pages in {
        "": {name: name.capitalize() for name in help_window.PAGES},
        "de": {"models": "Modelle"},
        "pt": {"chats": "Conversas"},
        "pt_BR": {"models": "Modelos"},
    }.items():
        (tmp_path / "help" / folder).mkdir(parents=True, exist_ok=True)
        for name, title in pages.items():
            (tmp_path / "help" / folder / f"{name}.md").write_text(f"# {title}\n\nMore.\n", encoding="utf-8")
    monkeypatch.setattr(help_window, "resources_dir", lambda: tmp_path)
    QLocale.setDefault(QLocale(language))
    try:
        stage.window.dialogs.show_help("models")
        shown = stage.window.dialogs.help
        listed = {name: shown.list.item(row).text() for row, name in enumerate(shown.names)}
        assert [listed["models"], listed["chats"]] == titles
        assert shown.page.toPlainText().startswith(titles[0])
        shown.close()
    finally:
        QLocale.setDefault(QLocale.system())
