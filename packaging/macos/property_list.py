"""What macOS reads about the app: its property list and its entitlements, from the definition."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from artefacts import definition

NAME, IDENTIFIER = definition.app()["formal_name"], definition.ID
_SCHEMA = Path(__file__).with_name("info_plist.schema.json")
# What Apple calls languages that it names otherwise.
_APPLE_LANGUAGES = {"zh_CN": "zh-Hans"}


def schema() -> dict[str, Any]:
    """Return the JSON schema of Apple's keys that the app uses."""
    found: dict[str, Any] = json.loads(_SCHEMA.read_text(encoding="utf-8"))
    return found


def info() -> dict[str, Any]:
    """Return the content of `Info.plist`."""
    described, version = definition.app(), definition.project()["version"]
    mac = described["macOS"]
    languages = sorted(_APPLE_LANGUAGES.get(language, language) for language in definition.languages())
    kinds = described["document_type"].values()
    return {
        "CFBundleDevelopmentRegion": "en",
        "CFBundleDisplayName": NAME,
        "CFBundleDocumentTypes": [_document_type(kind) for kind in kinds],
        "CFBundleExecutable": NAME,
        "CFBundleIconFile": icon_name(described["icon"]),
        "CFBundleIdentifier": IDENTIFIER,
        "CFBundleInfoDictionaryVersion": "6.0",
        # In which macOS shows its own parts of dialogs.
        "CFBundleLocalizations": ["en", *languages],
        "CFBundleName": NAME,
        "CFBundlePackageType": "APPL",
        "CFBundleShortVersionString": version,
        "CFBundleSupportedPlatforms": ["MacOSX"],
        "CFBundleURLTypes": [
            {
                "CFBundleTypeRole": "Viewer",
                "CFBundleURLName": IDENTIFIER,
                "CFBundleURLSchemes": list(described["url_schemes"]),
            }
        ],
        "CFBundleVersion": f"{version}.{mac['build']}",
        "LSMinimumSystemVersion": mac["min_os_version"],
        "NSPrincipalClass": "NSApplication",
        "UTExportedTypeDeclarations": list(_declarations(exported=True)),
        "UTImportedTypeDeclarations": list(_declarations(exported=False)),
        **mac["info"],
    }


def entitlements() -> dict[str, Any]:
    """Return what the hardened runtime lets the app do."""
    found: dict[str, Any] = definition.app()["macOS"]["entitlement"]
    return found


def oldest_macos() -> tuple[int, ...]:
    """Return the oldest version of macOS on which the app runs, such as (14, 0)."""
    return tuple(map(int, definition.app()["macOS"]["min_os_version"].split(".")))


def icon_name(path: str) -> str:
    """Return the file name of an icon that the definition names without its ending."""
    return f"{Path(path).name}.icns"


def _document_type(kind: dict[str, Any]) -> dict[str, Any]:
    mac = kind["macOS"]
    return {
        "CFBundleTypeIconFile": icon_name(kind["icon"]),
        "CFBundleTypeName": kind["description"],
        "CFBundleTypeRole": mac["CFBundleTypeRole"],
        "LSHandlerRank": mac["LSHandlerRank"],
        "LSItemContentTypes": mac["LSItemContentTypes"],
    }


def _declarations(*, exported: bool) -> Iterator[dict[str, Any]]:
    """Yield the kinds of files that the system learns from the app.

    Those that end like files of a kind that the system has are imported, so that they stay what they are to it.
    """
    for kind in definition.app()["document_type"].values():
        mac = kind["macOS"]
        if mac["is_core_type"] or exported is ("public.json" in mac["UTTypeConformsTo"]):
            continue
        yield {
            "UTTypeConformsTo": mac["UTTypeConformsTo"],
            "UTTypeDescription": kind["description"],
            "UTTypeIconFile": icon_name(kind["icon"]),
            "UTTypeIdentifier": mac["LSItemContentTypes"][0],
            "UTTypeReferenceURL": kind["url"],
            "UTTypeTagSpecification": {
                "public.filename-extension": [kind["extension"]],
                "public.mime-type": [kind["mime_type"]],
            },
        }
