"""The languages of the window: which there are, and which one is shown."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QTranslator
from PySide6.QtGui import QGuiApplication

from sotto.paths import resources_dir


def available_languages(folder: Path | None = None) -> tuple[str, ...]:
    """Return the languages that the window can have, as in the names of files, sorted by their names.

    Args:
        folder: The folder of translations; None for the bundled one.
    """
    files = (folder or _bundled()).glob("sotto_*.qm")
    codes = ("en", *(file.stem.removeprefix("sotto_") for file in files))
    return tuple(sorted(codes, key=language_name))


def language_name(code: str) -> str:
    """Return the name of a language in that language, with a capital: `Français` for `fr`."""
    # Qt calls it American English.
    name = "English" if code == "en" else QLocale(code).nativeLanguageName()
    return name[:1].upper() + name[1:]


def install_translation(chosen: str = "", languages: Sequence[str] | None = None, folder: Path | None = None) -> str:
    """Translate what is shown from now on, in Sotto and in Qt's own widgets; return the language, `en` for none.

    `QLocale` has that language from now on, too, and windows its direction.

    Args:
        chosen: The language that the user has chosen in Sotto; empty for none. Where it is missing, `languages` decide.
        languages: The user's languages as `pt-BR` or `pt`, the preferred one first; None for the system's.
        folder: The folder of translations; None for the bundled one.
    """
    folder = folder or _bundled()
    known = QLocale.system().uiLanguages() if languages is None else languages
    language = choose_language([chosen, *known] if chosen else known, folder)
    QLocale.setDefault(_locale(language))
    QGuiApplication.setLayoutDirection(QLocale().textDirection())
    if language != "en":
        app = QCoreApplication.instance()
        for name, place in (
            ("qtbase", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)),
            ("sotto", folder),
        ):
            translator = QTranslator(app)
            # Qt's own texts are translated into fewer languages.
            if translator.load(f"{name}_{language}", str(place)):
                QCoreApplication.installTranslator(translator)
    return language


def choose_language(languages: Sequence[str], folder: Path) -> str:
    """Return the first of the user's languages that Sotto has, as in the names of files; English needs no file.

    `QTranslator` cannot choose among them: it would prefer the second language to English, for which there is no file.
    """
    for tag in languages:
        language = tag.replace("-", "_")
        if language.partition("_")[0] == "en":
            break
        if (folder / f"sotto_{language}.qm").is_file():
            return language
    return "en"


def _bundled() -> Path:
    return resources_dir() / "translations"


def _locale(language: str) -> QLocale:
    """Return the locale of a language, with the user's country if that is the language spoken there."""
    system, locale = QLocale.system(), QLocale(language)
    if system.language() != locale.language() or "_" in language:
        return locale
    return QLocale(system.language(), system.script(), system.territory())
