"""What desktops, shops for programs and `man` read about Sotto."""

import argparse
import configparser
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

import sotto
from artefacts import contents, debian, definition, desktop_files, man_page
from sotto.cli import linux_packages
from sotto.cli.main import parsers
from sotto.ui.platform.single_instance import Show
from sotto.ui.state.addresses import SCHEME

ROOT = Path(__file__).resolve().parents[2]
MIME = "{http://www.freedesktop.org/standards/shared-mime-info}"


def parsed(entry: str) -> configparser.RawConfigParser:
    parser = configparser.RawConfigParser()
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(entry)
    return parser


def validate(*command: object) -> None:
    """Let a validator check a file, on machines that have it."""
    if shutil.which(str(command[0])):
        result = subprocess.run([*map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert result.returncode == 0, result.stdout


def test_the_menu_entry_opens_files_and_has_actions(tmp_path: Path) -> None:
    desktop_files.write_share(tmp_path, "/opt/sotto/sotto")
    path = tmp_path / "applications" / "app.sotto.desktop"
    entry = parsed(path.read_text())
    main = entry["Desktop Entry"]
    assert main["Exec"] == "/opt/sotto/sotto %U"
    assert main["MimeType"].split(";") == [
        "application/vnd.docker.distribution.manifest.v2+json",
        "application/x-safetensors",
        "application/x-gguf",
        f"x-scheme-handler/{SCHEME}",
        "",
    ]
    for action in main["Actions"].rstrip(";").split(";"):
        assert action in {show.value for show in Show}
        assert entry[f"Desktop Action {action}"]["Exec"] == f"/opt/sotto/sotto --{action}"
    assert (tmp_path / "icons" / "hicolor" / "512x512" / "apps" / f"{main['Icon']}.png").is_file()
    assert (tmp_path / "icons" / "hicolor" / "symbolic" / "apps" / f"{main['Icon']}-symbolic.svg").is_file()
    validate("desktop-file-validate", path)


def test_icons_have_the_sizes_of_their_folders(tmp_path: Path) -> None:
    from PySide6.QtGui import QImage

    desktop_files.write_share(tmp_path, "sotto")
    pictures = sorted(tmp_path.rglob("*.png"))
    assert len(pictures) == 6
    for path in pictures:
        width, _, height = path.parents[1].name.partition("x")
        image = QImage(str(path))
        assert (image.width(), image.height()) == (int(width), int(height))


def test_a_manifest_is_known_by_its_content_and_no_extension_is_taken_from_others() -> None:
    root = ElementTree.fromstring(desktop_files.mime_types())
    kinds = {kind.get("type"): kind for kind in root}
    manifest = kinds["application/vnd.docker.distribution.manifest.v2+json"]
    assert manifest.find(f"{MIME}glob") is None, "every JSON file would be called a manifest"
    match = manifest.find(f"{MIME}magic/{MIME}match")
    assert match is not None
    (built_in,) = (path for path in (ROOT / "resources" / "store" / "manifests").rglob("*") if path.is_file())
    first, last = map(int, match.attrib["offset"].split(":"))
    value = match.attrib["value"].encode()
    assert first <= built_in.read_bytes().find(value) <= last
    globs = {name: kind.find(f"{MIME}glob") for name, kind in kinds.items()}
    assert {name: glob.get("pattern") for name, glob in globs.items() if glob is not None} == {
        "application/x-safetensors": "*.safetensors",
        "application/x-gguf": "*.gguf",
    }


def test_shops_learn_what_the_project_says(tmp_path: Path) -> None:
    desktop_files.write_share(tmp_path, "sotto")
    (path,) = (tmp_path / "metainfo").iterdir()
    root = ElementTree.parse(path).getroot()
    name = root.findtext("id")
    assert path.name == f"{name}.metainfo.xml"
    assert root.findtext("launchable") == "app.sotto.desktop"
    assert root.findtext("project_license") == "MIT"
    release = root.find("releases/release")
    assert release is not None
    assert release.get("version") == sotto.__version__
    validate("appstreamcli", "validate", "--no-net", path)


def test_the_date_can_be_stated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    assert desktop_files.date().isoformat() == "1970-01-02T00:00:00+00:00"


@pytest.fixture
def unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a portable folder with its menu script, in a path with spaces."""
    folder = tmp_path / "my programs ä ☃" / "sotto"
    folder.mkdir(parents=True)
    desktop_files.write_menu_script(folder)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return folder


def test_an_unpacked_folder_can_be_added_to_the_menu_and_removed(unpacked: Path, tmp_path: Path) -> None:
    subprocess.run([unpacked / "add-to-menu"], check=True)
    path = tmp_path / "data" / "applications" / "app.sotto.desktop"
    entry = parsed(path.read_text())
    assert entry["Desktop Entry"]["Exec"] == f'"{unpacked}/sotto" %U'
    assert entry["Desktop Action new"]["Exec"] == f'"{unpacked}/sotto" --new'
    validate("desktop-file-validate", path)
    written = {file.name for file in (tmp_path / "data").rglob("app.sotto*")}
    assert {"app.sotto.xml", "app.sotto.png", "app.sotto-symbolic.svg"} < written
    subprocess.run([unpacked / "add-to-menu", "--remove"], check=True)
    assert not [file for file in (tmp_path / "data").rglob("app.sotto*") if file.is_file()]


def test_a_folder_that_no_menu_can_name_is_refused(unpacked: Path) -> None:
    strange = unpacked.rename(unpacked.with_name("a$b"))
    result = subprocess.run([strange / "add-to-menu"], capture_output=True, text=True)
    assert result.returncode == 1
    assert result.stderr == f"The menu cannot start programs from {strange}: move this folder first.\n"


def test_the_manual_has_every_command_and_option() -> None:
    page = man_page.page("2026-01-01")
    _, commands = parsers()
    assert re.findall(r"^\.SS (.+)$", page, re.MULTILINE) == list(commands)
    for command in commands.values():
        for action in command._actions:
            if not isinstance(action, argparse._HelpAction):
                for option in action.option_strings:
                    assert option.replace("-", "\\-") in page
    allowed = (".B ", ".PP", ".SH ", ".SS ", ".TH ", ".TP", ".br")
    assert not [line for line in page.splitlines() if line.startswith((".", "'")) and not line.startswith(allowed)]
    if shutil.which("man"):
        command = ["man", "--warnings", "--local-file", "-"]
        result = subprocess.run(command, input=page, capture_output=True, text=True)
        assert result.stderr == ""
        assert "run language models on this machine" in result.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="Debian's names of architectures are those of Linux")
def test_the_debian_package_asks_for_the_libraries_that_the_window_needs() -> None:
    libraries = linux_packages.DRAWING | linux_packages.WINDOWS
    along = tuple(contents.SYSTEM_LIBRARIES)
    needed = {package for library, package in libraries.items() if not library.startswith(along)}
    # The name that newer releases have for it comes first.
    wanted = needed - {"libglib2.0-0"} | {"libglib2.0-0t64 | libglib2.0-0"}
    assert len(wanted) == 10
    assert set(definition.app()["linux"]["system_runtime_requires"]) == wanted
    fields = dict(line.split(": ", 1) for line in debian.control("2.36", 5).splitlines() if not line.startswith(" "))
    assert set(fields["Depends"].split(", ")) == wanted | {"libc6 (>= 2.36)", "libgcc-s1", "libstdc++6"}
    assert fields["Version"] == sotto.__version__
    assert fields["Installed-Size"] == "5"
    assert re.fullmatch(r"The Sotto developers <\S+@\S+>", fields["Maintainer"])
    assert "openblas" not in debian.control("2.36", 5)


def test_the_debian_package_has_a_list_of_changes_and_licences() -> None:
    assert re.fullmatch(
        rf"sotto \({re.escape(sotto.__version__)}\) stable; urgency=medium\n\n  \* .+\n\n"
        r" -- The Sotto developers <\S+>  \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d \+0000\n",
        debian.changelog(),
    )
    text = debian.copyright_file()
    assert "License: LGPL-3\n" in text
    for line in (ROOT / "LICENSE").read_text().splitlines():
        assert line in text
