"""The language of the app: the one that was chosen, or else one of the system's."""

import json
import os
import subprocess
import sys

import pytest

from pseudo_language import make_language
from sotto.paths import preferences_file
from sotto.ui.preferences.languages import available_languages, choose_language, language_name


@pytest.mark.parametrize(
    ("tags", "translations", "chosen"),
    [
        ("de-Latn-AT de-AT de-Latn de", "de fr", "de"),
        ("it-IT it fr-FR fr", "de fr", "fr"),
        # English is not skipped, although there is no file for it.
        ("en-Latn-US en-US en-Latn en de-DE de", "de", "en"),
        ("pt-Latn-BR pt-BR pt-Latn pt", "pt pt_BR", "pt_BR"),
        ("zh-Hant-TW zh-TW zh-Hant zh", "zh_CN", "en"),
        ("C", "de", "en"),
        ("de", "", "en"),
    ],
)
def test_the_first_language_that_sotto_has_is_chosen(tmp_path, tags, translations, chosen):
    for name in translations.split():
        (tmp_path / f"sotto_{name}.qm").touch()
    assert choose_language(tags.split(), tmp_path) == chosen
    assert choose_language(tags.split(), tmp_path / "missing") == "en"


def test_languages_are_listed_by_their_own_names(tmp_path):
    for name in ("fr", "zh_CN", "de"):
        (tmp_path / f"sotto_{name}.qm").touch()
    codes = available_languages(tmp_path)
    assert [(code, language_name(code)) for code in codes] == [
        *(("de", "Deutsch"), ("en", "English"), ("fr", "Français"), ("zh_CN", "简体中文")),
    ]


RUN = """
import sys
from pathlib import Path
from PySide6.QtCore import QDate, QLocale
import sotto.ui.app.app as app
import sotto.ui.preferences.languages as languages
languages.resources_dir = lambda: Path(sys.argv[1])
painted = app.show_window
def paint(window):
    painted(window)
    day = QDate(2026, 3, 7)
    print(window.chat.composer.draft.placeholderText(), QLocale().toString(day, "MMMM"), QLocale().name(), sep=", ")
    app.QTimer.singleShot(0, window.close)
app.show_window = paint
sys.exit(app.run())
"""


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS has the languages in its settings, not in the environment")
@pytest.mark.parametrize(
    ("language", "chosen", "shown"),
    [
        ("pl_PL", "", "⟦Write a message⟧, marca, pl_PL"),
        ("en_GB", "", "Write a message, March, en_GB"),
        # Sotto has no translation: dates are not in another language than the rest.
        ("de_DE", "", "Write a message, March, en_US"),
        ("pl_PL", "en", "Write a message, March, en_US"),
        ("en_GB", "pl", "⟦Write a message⟧, marca, pl_PL"),
        # The translation that was chosen is gone.
        ("pl_PL", "nl", "⟦Write a message⟧, marca, pl_PL"),
    ],
)
def test_the_app_starts_in_the_chosen_language_or_the_systems(tmp_path, own_home, language, chosen, shown):
    (folder := tmp_path / "translations").mkdir()
    make_language(folder)
    preferences_file().parent.mkdir(parents=True, exist_ok=True)
    preferences_file().write_text(json.dumps({"language": chosen}))
    finished = subprocess.run(
        [sys.executable, "-c", RUN, str(tmp_path)],
        env=os.environ
        | {"QT_QPA_PLATFORM": "offscreen", "LANG": f"{language}.UTF-8", "LC_ALL": "", "LC_MESSAGES": "", "LANGUAGE": ""}
        | {"PYTHONUTF8": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (finished.stdout.strip(), finished.returncode) == (shown, 0), finished.stderr
