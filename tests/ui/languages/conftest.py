"""Fixtures for the app in other languages, one of which is made up from the sources by Qt's own tools."""

import pytest
from PySide6.QtCore import QLocale, Qt, QTranslator

from pseudo_language import RIGHT_TO_LEFT, make_language
from sotto.ui.preferences.languages import install_translation
from translation_reader import Reader
from window_checks import StrayWindows


@pytest.fixture(scope="session")
def language(tmp_path_factory):
    return make_language(tmp_path_factory.mktemp("language"))


@pytest.fixture(scope="session")
def right_to_left(tmp_path_factory):
    """Return the folder of the made-up language that is written from right to left."""
    return make_language(tmp_path_factory.mktemp("right-to-left"), RIGHT_TO_LEFT)


@pytest.fixture
def speak(qapp, destroyed):
    """Yield a function that changes the language of what is created afterwards, and restore English."""
    yield install_translation
    translators = qapp.findChildren(QTranslator)
    for translator in translators:
        qapp.removeTranslator(translator)
    destroyed(*translators)
    QLocale.setDefault(QLocale.system())
    qapp.setLayoutDirection(Qt.LayoutDirection.LayoutDirectionAuto)


@pytest.fixture
def reader(qapp, speak, language):
    """Yield a reader of the app in the made-up language; no widget may be a window before it has a parent."""
    assert speak("", ["pl-PL", "pl"], language) == "pl"
    stray = StrayWindows()
    qapp.installEventFilter(stray)
    yield Reader()
    qapp.removeEventFilter(stray)
    assert stray.found == []


@pytest.fixture
def shell(reader, around):
    return around.shell
