"""The AppImage and the Flatpak, as far as nothing has to be built for that."""

import configparser
import hashlib
import json
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from artefacts import appimage, definition, desktop_files, flatpak, portable, sbom
from installing import InstallError

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="for Linux, and built there")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a portable folder with a program that says how it was called."""
    folder = tmp_path / "sotto-1-linux"
    (folder / "_internal").mkdir(parents=True)
    (folder / "sotto").write_text('#!/bin/sh\necho "$0" "$@"\n')
    (folder / "sotto").chmod(0o755)
    (folder / "licences").mkdir()
    desktop_files.write_menu_script(folder)
    sbom.write(folder, [])
    return folder


def test_a_copied_program_has_a_bill_of_what_is_there(folder: Path, tmp_path: Path) -> None:
    assert list(sbom.differences(json.loads((folder / sbom.NAME).read_text()), folder)) == []
    portable.copy_program(folder, tmp_path / "copy")
    bill = json.loads((tmp_path / "copy" / sbom.NAME).read_text())
    assert list(sbom.differences(bill, tmp_path / "copy")) == []
    assert [file["name"] for file in bill["metadata"]["component"]["components"]] == ["sotto"]


def test_an_app_image_tells_desktops_what_it_is(folder: Path, tmp_path: Path) -> None:
    content = tmp_path / "content"
    appimage.write_folder(folder, content)
    said = subprocess.run([content / "AppRun", "a b"], capture_output=True, text=True, check=True).stdout
    assert said == f"{content}/usr/lib/sotto/sotto a b\n"
    (entry,) = content.glob("*.desktop")
    parser = configparser.RawConfigParser()
    parser.read(entry)
    assert parser["Desktop Entry"]["Exec"] == "sotto %U"
    assert (content / f"{parser['Desktop Entry']['Icon']}.png").read_bytes()[:4] == b"\x89PNG"
    assert (content / ".DirIcon").resolve() == (content / "app.sotto.png").resolve()
    assert list((content / "usr" / "share" / "metainfo").iterdir())


def test_only_the_known_runtime_is_put_before_an_app_image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = f"runtime-{platform.machine()} of release "
    with pytest.raises(InstallError, match=f"^An AppImage needs a runtime.+ download {source}.+ with --runtime"):
        appimage.check_runtime(None)
    path = tmp_path / "runtime"
    with pytest.raises(InstallError, match=f"^{re.escape(str(path))} does not exist: .+ {source}"):
        appimage.check_runtime(path)
    path.write_bytes(b"another program")
    with pytest.raises(
        InstallError, match=f"^{re.escape(str(path))} has the SHA-256 \\w+\\.\\.\\., so it is not {source}"
    ):
        appimage.check_runtime(path)
    digest = hashlib.sha256(b"another program").hexdigest()
    monkeypatch.setitem(appimage._DIGESTS, platform.machine(), digest)
    assert appimage.check_runtime(path) == path


@pytest.fixture
def manifest(folder: Path, tmp_path: Path) -> Path:
    tarball = tmp_path / "sotto-1-linux.tar.xz"
    subprocess.run(["tar", "-cJf", tarball, "-C", tmp_path, folder.name], check=True)
    return flatpak.build(tarball, tmp_path)


def test_a_flatpak_is_made_from_the_tarball_without_a_network(manifest: Path) -> None:
    described = json.loads(manifest.read_text())
    assert manifest.stem == described["id"] == definition.SHOP_ID
    (module,) = described["modules"]
    archive, share = module["sources"]
    assert hashlib.sha256((manifest.parent / archive["path"]).read_bytes()).hexdigest() == archive["sha256"]
    assert (manifest.parent / share["path"]).is_dir()
    if shutil.which("flatpak-builder"):
        command = ["flatpak-builder", "--show-manifest", manifest]
        shown = subprocess.run(command, capture_output=True, text=True, cwd=manifest.parent)
        assert shown.stderr == ""
        assert json.loads(shown.stdout)["finish-args"] == described["finish-args"]


def test_a_flatpak_may_do_what_it_needs_and_no_more(manifest: Path) -> None:
    allowed = set(json.loads(manifest.read_text())["finish-args"])
    assert {"--socket=wayland", "--socket=fallback-x11", "--share=ipc", "--device=dri"} < allowed
    assert "--filesystem=host:ro" in allowed, "models in other folders would not be found"
    written = [
        argument for argument in allowed if argument.startswith("--filesystem=") and not argument.endswith(":ro")
    ]
    assert written == []
    assert not [argument for argument in allowed if "portal" in argument or argument.endswith(("-bus", ".*"))]


def test_what_flatpak_exports_is_under_its_name(manifest: Path, tmp_path: Path) -> None:
    """Run the commands of the manifest, with another folder for the one that Flatpak has."""
    (module,) = json.loads(manifest.read_text())["modules"]
    archive, share = module["sources"]
    work, app = tmp_path / "work", tmp_path / "app"
    work.mkdir()
    app.mkdir()
    subprocess.run(["tar", "-xf", manifest.parent / archive["path"], "-C", work, "--strip-components=1"], check=True)
    shutil.copytree(manifest.parent / share["path"], work / share["dest"])
    for command in module["build-commands"]:
        subprocess.run(["sh", "-ec", command.replace("/app/", f"{app}/")], cwd=work, check=True)
    assert (app / "bin" / "sotto").resolve() == app / "lib" / "sotto" / "sotto"
    exported = [path for path in (app / "share").rglob("*") if path.is_file()]
    assert len(exported) > 10
    for path in exported:
        assert path.name.startswith(flatpak.ID), f"Flatpak does not export {path.name}"
    entry = configparser.RawConfigParser()
    entry.read(app / "share" / "applications" / f"{flatpak.ID}.desktop")
    assert entry["Desktop Entry"]["Icon"] == flatpak.ID
    root = ElementTree.parse(app / "share" / "metainfo" / f"{flatpak.ID}.metainfo.xml").getroot()
    assert (root.findtext("id"), root.findtext("launchable")) == (flatpak.ID, f"{flatpak.ID}.desktop")
