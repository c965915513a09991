"""Our packaging metadata, as read by Briefcase itself."""

import configparser
import importlib.util
import struct
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from briefcase.config import DraftAppConfig, parse_config
from briefcase.console import Console

import sotto

ROOT = Path(__file__).resolve().parents[2]
# Briefcase silently ignores unknown keys, such as misspelt ones, so every key in use is listed here. `url_schemes` is
# ours.
KNOWN = {
    "app_name", "author", "author_email", "build", "bundle", "cleanup_paths", "console_app", "description",
    "document_type", "entitlement", "formal_name", "icon", "info", "license", "license_files", "long_description",
    "min_os_version", "name", "project_name", "readme", "requires", "requires_python", "sources",
    "system_runtime_requires", "test_requires", "universal_build", "url", "url_schemes", "version",
}  # fmt: skip


@pytest.fixture(scope="module")
def bundle() -> ModuleType:
    spec = importlib.util.spec_from_file_location("sotto_bundle", ROOT / "packaging" / "bundle.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def staged(bundle: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("stage")
    bundle.stage(target)
    return target


def app(staged: Path, platform: str, output_format: str) -> dict[str, Any]:
    _, apps = parse_config(staged / "pyproject.toml", platform, output_format, Console())
    return apps["sotto"]


@pytest.mark.parametrize(("platform", "output_format"), [("macOS", "app"), ("linux", "system")])
def test_briefcase_accepts_the_configuration(staged: Path, platform: str, output_format: str) -> None:
    parsed = app(staged, platform, output_format)
    assert set(parsed) <= KNOWN
    checked = DraftAppConfig(**parsed)
    assert checked.app_name == "sotto"
    assert str(checked.version) == sotto.__version__
    assert (staged / checked.sources[0] / "__main__.py").is_file()


def test_the_mac_bundle_contains_packages_for_macos_14(staged: Path) -> None:
    parsed = app(staged, "macOS", "app")
    assert parsed["min_os_version"] == "14.0"
    assert parsed["universal_build"] is False
    assert "PySide6-Essentials<6.10" in parsed["requires"]
    assert any(line.startswith("mlx>=") and "darwin" in line for line in parsed["requires"])


def test_document_types_are_declared_explicitly(staged: Path) -> None:
    types = app(staged, "macOS", "app")["document_type"]
    assert {"json", "safetensors"} <= {kind["extension"] for kind in types.values()}
    for kind in types.values():
        assert {"description", "extension", "icon", "url", "mime_type", "macOS"} <= set(kind)
        assert kind["macOS"]["LSHandlerRank"] == "Alternate", "Sotto must not replace the default app for a file type"
        assert isinstance(kind["macOS"]["LSItemContentTypes"], list)


def test_the_desktop_entry_offers_a_quick_prompt_and_a_new_chat(bundle: ModuleType, tmp_path: Path) -> None:
    plain = "[Desktop Entry]\nType=Application\nName=Sotto\nExec=sotto %F\nIcon=app.sotto.sotto\n"
    written = bundle.with_actions(plain)
    parser = configparser.RawConfigParser()
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(written)
    assert parser["Desktop Entry"]["Actions"] == "quick;new;"
    assert parser["Desktop Entry"]["Exec"] == "sotto %F"
    assert dict(parser["Desktop Action quick"]) == {"Name": "Quick Prompt", "Exec": "sotto --quick"}
    assert dict(parser["Desktop Action new"]) == {"Name": "New Chat", "Exec": "sotto --new"}
    assert bundle.with_actions(written) == written
    entry = tmp_path / "build" / "sotto" / "debian" / "sotto-1" / "usr" / "share" / "applications" / "a.desktop"
    entry.parent.mkdir(parents=True)
    entry.touch()
    assert bundle.entries(tmp_path) == [entry]


def test_staged_resources_are_where_a_bundle_looks(staged: Path) -> None:
    assert (staged / "desktop" / "sotto" / "_resources" / "icons" / "sotto.icns").is_file()
    assert (staged / "resources" / "icons" / "sotto-512.png").is_file()
    assert (staged / "CHANGELOG").is_file()


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


def test_briefcase_refuses_the_root_folder() -> None:
    """Check that Briefcase refuses the root folder, which is the reason for `packaging/bundle.py`."""
    from briefcase.exceptions import BriefcaseConfigError

    with pytest.raises(BriefcaseConfigError, match=r"No tool\.briefcase section"):
        parse_config(ROOT / "pyproject.toml", "macOS", "app", Console())
