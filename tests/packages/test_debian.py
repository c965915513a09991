"""The Debian package on a bare Debian 12: installed without a network, used by an ordinary person, and removed."""

import configparser
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from artefacts import definition
from bare_debian import Debian
from virtual_screen import ON_A_SCREEN, colours, picture
from vision_model import drawings

MANIFEST_TYPE = "application/vnd.docker.distribution.manifest.v2+json"


@pytest.fixture(scope="module")
def before(debian: Debian) -> set[str]:
    """Return the files before the installation."""
    return debian.files()


@pytest.fixture(scope="module")
def installed(debian: Debian, before: set[str]) -> Iterator[Debian]:
    """Return the Debian with Sotto, and check afterwards that removing it leaves nothing."""
    debian.run("dpkg", "-i", "/tmp/sotto.deb")
    yield debian
    debian.run("dpkg", "--purge", "sotto")
    left = {path for path in debian.files() - before if not path.startswith("/usr/share/mime/")}
    assert left <= {"/usr/share/applications/mimeinfo.cache"}
    assert (debian.root / "home" / "person" / ".local" / "share" / "Sotto").is_dir(), "a person's data must stay"
    # Debian makes the folder without noting that it is its own.
    assert before - debian.files() <= {"/opt"}


@pytest.fixture(scope="module")
def manifest(installed: Debian) -> str:
    """Return the path of another model's manifest, in a store in the person's home."""
    script = """
cp -r /opt/sotto/_internal/sotto/_resources/store ~/store
cd ~/store/manifests/*/library && mv sotto clicked
# Another digest is another model.
echo >> clicked/latest
echo $PWD/clicked/latest
"""
    return installed.run("sh", "-c", script, user="person").strip()


def entry(debian: Debian) -> dict[str, str]:
    parser = configparser.RawConfigParser()
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(debian.root / "usr" / "share" / "applications" / "app.sotto.desktop")
    return dict(parser["Desktop Entry"])


def test_every_library_is_there(installed: Debian) -> None:
    script = """
export LD_LIBRARY_PATH=/opt/sotto/_internal
find /opt/sotto -type f | while read -r file; do ldd "$file" 2> /dev/null | grep "not found"; done | sort -u
"""
    missing = set(re.findall(r"(\S+) => not found", installed.run("sh", "-c", script)))
    assert missing <= {"libcups.so.2", "libwayland-cursor.so.0", "libwayland-egl.so.1"}


def test_an_ordinary_person_gets_an_answer(installed: Debian) -> None:
    assert installed.run("sotto", "--version", user="person").startswith("sotto ")
    assert len(installed.run("sotto", "run", "sotto", "Hello", user="person")) > 10
    said = installed.run("sotto", "doctor", user="person")
    assert re.search(r"^Native kernels +yes, ", said, re.MULTILINE)
    assert "/opt/sotto/_internal/scipy_openblas32/" in said


def test_an_ordinary_person_shows_it_images(installed: Debian) -> None:
    drawing, drawn = next(drawings.held_out(1, 2))
    place = installed.root / "home" / "person" / "seeing"
    shutil.copytree(definition.ROOT / "tests" / "engine" / "vision" / "drawings", place)
    drawn.save(place / "a.webp")
    drawn.save(place / "a.tiff", compression="zstd")
    for path in sorted(place.glob("a.*")):
        command = (
            "sotto",
            "run",
            "/home/person/seeing",
            "--image",
            f"/home/person/seeing/{path.name}",
            "What do you see?",
        )
        said = installed.run(*command, user="person")
        assert said.strip() == f"{drawing.number.capitalize()} {drawing.colour} {drawing.things}."


def test_the_desktop_knows_what_opens_a_manifest(installed: Debian, manifest: str) -> None:
    said = installed.run("gio", "info", "--attributes", "standard::content-type", manifest, user="person")
    assert f"standard::content-type: {MANIFEST_TYPE}" in said
    for kind in (MANIFEST_TYPE, "application/x-safetensors", "application/x-gguf", "x-scheme-handler/sotto"):
        assert installed.run("xdg-mime", "query", "default", kind).strip() == "app.sotto.desktop"
    installed.run("desktop-file-validate", "/usr/share/applications/app.sotto.desktop")


@pytest.mark.parametrize("way", ["entry", "double-click"])
def test_a_manifest_opens_in_the_window(installed: Debian, manifest: str, way: str, out: Path) -> None:
    path = shlex.quote(manifest)
    command = entry(installed)["Exec"].replace("%U", f"file://{path}") if way == "entry" else f"gio open {path}"
    windows = installed.run("sh", "-c", ON_A_SCREEN.format(command=command), user="person")
    assert re.search(r'"Sotto": \("sotto" "Sotto"\)  1120x760', windows)
    assert entry(installed)["StartupWMClass"] == "Sotto"
    assert colours(picture(installed, out / f"window-{way}.png")) > 50, "the window is empty"
    preferences = installed.root / "home" / "person" / ".config" / "Sotto" / "app.json"
    assert manifest in preferences.read_text(), "the manifest's model was not loaded"
    preferences.unlink()
