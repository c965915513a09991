"""The AppImage on a bare Debian, with a runtime that stands in for the real one."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from artefacts import appimage, portable, sbom
from artefacts.workshop import Workshop
from bare_debian import Debian
from virtual_screen import ON_A_SCREEN, colours, picture


@pytest.fixture(scope="module")
def image(portable: Path, out: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an AppImage."""
    folder = tmp_path_factory.mktemp("runtime")
    runtime = folder / "runtime"
    source = Path(__file__).with_name("stand_in_runtime.c")
    subprocess.run(["gcc", "-static", "-Wl,-s", source, "-o", runtime], check=True)
    content = bytearray(runtime.read_bytes())
    # Of the second type.
    content[8:11] = b"AI\x02"
    runtime.write_bytes(content)
    return appimage.build(portable, runtime, Workshop(folder, Path(sys.executable)), out)


@pytest.fixture(scope="module")
def placed(image: Path, debian: Debian) -> str:
    """Return the path of the AppImage on the Debian."""
    place = debian.root / "home" / "person" / "my programs ä"
    place.mkdir(exist_ok=True)
    target = Path(shutil.copy2(image, place / "Sotto.AppImage"))
    return f"/{target.relative_to(debian.root)}"


def test_it_is_an_app_image_as_small_as_it_should_be(image: Path) -> None:
    assert image.read_bytes()[:11] == b"\x7fELF\x02\x01\x01\x00AI\x02"
    assert image.stat().st_size <= 60 << 20


def test_what_is_in_it_is_what_its_bill_says(image: Path, tmp_path: Path) -> None:
    offset = subprocess.run([image, "--appimage-offset"], capture_output=True, text=True, check=True).stdout.strip()
    command = ["unsquashfs", "-quiet", "-no-progress", "-offset", offset, "-dest", tmp_path / "content", image]
    subprocess.run(command, check=True)
    content = tmp_path / "content"
    program = content / "usr" / "lib" / "sotto"
    assert list(sbom.differences(json.loads((program / sbom.NAME).read_text()), program)) == []
    assert list(portable.foreign_libraries(content)) == []
    subprocess.run(["appstreamcli", "validate", "--no-net", *(content / "usr/share/metainfo").iterdir()], check=True)
    subprocess.run(["desktop-file-validate", *content.glob("*.desktop")], check=True)
    assert {path.lstat().st_uid for path in content.rglob("*")} == {0}


def test_it_answers_an_ordinary_person(debian: Debian, placed: str) -> None:
    start = (placed, "--appimage-extract-and-run")
    assert debian.run(*start, "--version", user="person").startswith("sotto ")
    assert len(debian.run(*start, "run", "sotto", "Hello", user="person")) > 10


def test_it_opens_its_window(debian: Debian, placed: str, out: Path) -> None:
    command = f'"{placed}" --appimage-extract-and-run'
    windows = debian.run("sh", "-c", ON_A_SCREEN.format(command=command), user="person")
    assert '"Sotto": ("sotto" "Sotto")  1120x760' in windows
    assert colours(picture(debian, out / "window-appimage.png")) > 50, "the window is empty"
