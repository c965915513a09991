"""Fixtures for the app in a made-up language, which is made from the sources by Qt's own tools."""

import pytest
from PySide6.QtCore import QLocale, QTranslator

from pseudo_language import make_language
from sotto.ui.preferences.languages import install_translation
from translation_reader import Reader


@pytest.fixture(scope="session")
def language(tmp_path_factory):
    return make_language(tmp_path_factory.mktemp("language"))


@pytest.fixture
def reader(qapp, language, destroyed):
    """Yield a reader of the app in another language."""
    assert install_translation("", ["pl-PL", "pl"], language) == "pl"
    yield Reader()
    translators = qapp.findChildren(QTranslator)
    for translator in translators:
        qapp.removeTranslator(translator)
    destroyed(*translators)
    QLocale.setDefault(QLocale.system())


@pytest.fixture
def shell(reader, around):
    return around.shell
