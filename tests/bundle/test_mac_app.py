"""What the app for macOS is, as far as nothing has to be built for that."""

import json
import plistlib
import re
import struct
import subprocess
import sys
import tomllib
from pathlib import Path

import jsonschema
import pytest

import sotto
from artefacts import definition
from macos import property_list
from macos.imports import Imports

ROOT = Path(__file__).resolve().parents[2]
INFO = property_list.info()


def test_the_property_list_is_one_that_apple_describes() -> None:
    jsonschema.Draft202012Validator.check_schema(property_list.schema())
    assert plistlib.loads(plistlib.dumps(INFO)) == INFO
    jsonschema.validate(INFO, property_list.schema())
    with pytest.raises(jsonschema.ValidationError, match="LSUIelement"):
        jsonschema.validate({**INFO, "LSUIelement": True}, property_list.schema())
    with pytest.raises(jsonschema.ValidationError, match=r"'14' does not match"):
        jsonschema.validate({**INFO, "LSMinimumSystemVersion": "14"}, property_list.schema())


def test_the_property_list_says_what_the_definition_says() -> None:
    assert INFO["CFBundleIdentifier"] == "app.sotto"
    assert INFO["CFBundleShortVersionString"] == sotto.__version__
    assert INFO["LSMinimumSystemVersion"] == "14.0"
    assert INFO["CFBundleURLTypes"][0]["CFBundleURLSchemes"] == ["sotto"]
    assert set(INFO["CFBundleLocalizations"]) == {"en", "de", "es", "fr", "ja", "zh-Hans"}
    # An app of the menu bar alone would have neither menus nor a Dock icon for drops.
    assert INFO["LSUIElement"] is False


def test_kinds_of_files_stay_those_of_their_default_programs() -> None:
    kinds = INFO["CFBundleDocumentTypes"]
    assert {kind["LSHandlerRank"] for kind in kinds} == {"Alternate"}
    opened = {identifier for kind in kinds for identifier in kind["LSItemContentTypes"]}
    assert {"public.folder", "public.json", "app.sotto.gguf", "app.sotto.weights"} <= opened
    exported, imported = (
        {kind["UTTypeIdentifier"] for kind in INFO[f"UT{verb}TypeDeclarations"]} for verb in ("Exported", "Imported")
    )
    assert (exported, imported) == ({"app.sotto.gguf", "app.sotto.weights"}, {"app.sotto.manifest"})


def test_the_hardened_runtime_allows_no_more_than_is_needed() -> None:
    assert property_list.entitlements() == {
        "com.apple.security.cs.allow-unsigned-executable-memory": True,
        "com.apple.security.cs.disable-library-validation": True,
    }


def test_qt_and_mlx_run_on_the_oldest_macos() -> None:
    assert "PySide6-Essentials<6.10" in definition.app()["macOS"]["requires"]
    assert definition.app()["macOS"]["min_os_version"] == "14.0"


def test_every_key_of_the_definition_is_read() -> None:
    known = {
        "cleanup_paths", "document_type", "formal_name", "icon", "linux", "long_description", "macOS", "url_schemes",
    }  # fmt: skip
    kind = {"description", "extension", "icon", "url", "mime_type", "macOS"}
    described = definition.app()
    assert described.keys() == known
    assert all(found.keys() == kind for found in described["document_type"].values())
    assert described["macOS"].keys() == {"build", "cleanup_paths", "entitlement", "info", "min_os_version", "requires"}
    assert described["linux"].keys() == {"cleanup_paths", "system_runtime_requires"}


def test_the_icon_container_is_complete() -> None:
    content = (ROOT / "resources" / "icons" / "sotto.icns").read_bytes()
    magic, length = struct.unpack(">4sI", content[:8])
    assert (magic, length) == (b"icns", len(content))
    position, names = 8, set()
    while position < length:
        name, size = struct.unpack(">4sI", content[position : position + 8])
        assert content[position + 8 : position + 16] == b"\x89PNG\r\n\x1a\n"
        names.add(name)
        position += size
    assert position == length
    assert {b"ic07", b"ic08", b"ic09", b"ic10", b"ic11", b"ic12", b"ic13", b"ic14"} <= names


def test_no_folder_shadows_a_library() -> None:
    for folder in ("packaging", "resources", "tests"):
        assert not list((ROOT / folder).rglob("__init__.py")), f"{folder}/ must not be importable"


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """Return a folder with packages that import each other."""
    files = {
        "app/__init__.py": "",
        "app/main.py": "from . import views\nimport json\nfrom lib.core import run, nothing_of_its_own",
        "app/views.py": """
import typing
if typing.TYPE_CHECKING:
    import only_for_types
try:
    import faster
except ImportError:
    pass
def draw():
    import app.late
class Widget:
    import lib.shown
""",
        "app/late.py": "import missing_in_late",
        "lib/__init__.py": "from .other import x",
        "lib/core.cpython-313-darwin.so": "",
        "lib/other.py": "import missing_in_other, known_elsewhere",
        "lib/shown.py": "",
        "lib/unused.py": "",
        "faster.py": "import missing_in_faster",
        "namespace/part.py": "",
    }
    for name, content in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content)
    return tmp_path


def test_imports_are_followed_through_packages(sources: Path) -> None:
    imports = Imports([sources], lambda name: name in {"json", "typing", "known_elsewhere"})
    imports.follow(["app.main", "namespace.part"])
    assert imports.missing == {"missing_in_other": "lib.other"}
    reached = {
        str(path.relative_to(sources)) for path in imports.reached.values() if path is not None and path.is_file()
    }
    assert reached == {
        "app/__init__.py", "app/late.py", "app/main.py", "app/views.py", "faster.py", "lib/__init__.py",
        "lib/core.cpython-313-darwin.so", "lib/other.py", "lib/shown.py", "namespace/part.py",
    }  # fmt: skip
    # What is imported late by one module, and at once by another.
    imports.follow(["app.late"])
    assert imports.missing == {"missing_in_other": "lib.other", "missing_in_late": "app.late"}


def test_packages_that_are_not_run_are_not_followed(sources: Path) -> None:
    imports = Imports([sources], lambda name: name == "json", not_run=("lib",))
    imports.follow(["lib.core"])
    assert (imports.missing, imports.reached.keys()) == ({}, {"lib.core"})


def test_pythons_that_qt_for_macs_does_not_support_are_refused(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho 3.14\n")
    python.chmod(0o755)
    command = [sys.executable, ROOT / "packaging" / "build.py", "app", "--out", tmp_path, "--python", python]
    result = subprocess.run(command, capture_output=True, text=True)
    sentence = "The app for macOS is made for Python 3.11, 3.12, 3.13, not 3.14: name one with --python.\n"
    assert (result.returncode, result.stderr) == (1, sentence)


def test_the_build_s_tools_and_the_tests_read_binaries_with_the_same_library() -> None:
    parsed = tomllib.loads((ROOT / "pyproject.toml").read_text())
    tools = {re.split("[=<>]", line)[0] for line in parsed["dependency-groups"]["macos"]}
    test = {re.split("[=<>]", line)[0] for line in parsed["project"]["optional-dependencies"]["test"]}
    assert {"jsonschema", "macholib"} <= tools & test
    assert json.dumps(property_list.schema())
