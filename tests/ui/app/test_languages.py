"""The language of the app follows the languages of the system."""

import os
import subprocess
import sys

import pytest

from pseudo_language import make_language
from sotto.ui.app.languages import choose_language


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


RUN = """
import sys
from pathlib import Path
from PySide6.QtCore import QDate, QLocale
import sotto.ui.app.app as app
import sotto.ui.app.languages as languages
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
    ("language", "shown"),
    [
        ("pl_PL", "⟦Write a message⟧, marca, pl_PL"),
        ("en_GB", "Write a message, March, en_GB"),
        # Sotto has no translation: dates are not in another language than the rest.
        ("de_DE", "Write a message, March, en_US"),
    ],
)
def test_the_app_starts_in_the_language_of_the_system(tmp_path, own_home, language, shown):
    (folder := tmp_path / "translations").mkdir()
    make_language(folder)
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
