"""The Flatpak: built by flatpak-builder and used in Flatpak's sandbox, on a runtime made from a Debian.

The real runtime is in no registry. The Debian has fewer libraries than that, exactly those that the package asks for.
"""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from artefacts import flatpak
from bare_debian import Debian

TOOLS = ("flatpak", "flatpak-builder", "bwrap", "dbus-run-session")
METADATA = """[Runtime]
name={name}
runtime=org.freedesktop.Platform/x86_64/{version}
sdk=org.freedesktop.Sdk/x86_64/{version}
"""


class Person:
    """Somebody who has Flatpak and a home."""

    def __init__(self, home: Path) -> None:
        self.home = home
        (home / "run").mkdir(mode=0o700)

    def run(self, *command: object, folder: Path | None = None) -> str:
        """Run a command, and return its stdout."""
        environment = {**os.environ, "HOME": str(self.home), "XDG_RUNTIME_DIR": str(self.home / "run")}
        for name in ("DISPLAY", "WAYLAND_DISPLAY"):
            environment.pop(name, None)
        result = subprocess.run(
            list(map(str, command)), env=environment, cwd=folder or self.home, capture_output=True, text=True
        )
        assert result.returncode == 0, f"{command}: {result.stdout[-2000:]}{result.stderr[-2000:]}"
        return result.stdout

    def sotto(self, *arguments: str) -> str:
        """Run Sotto in its sandbox, and return its stdout."""
        return self.run("dbus-run-session", "--", "flatpak", "run", "--user", flatpak.ID, *arguments)


@pytest.fixture(scope="module")
def person(out: Path, debian: Debian, tmp_path_factory: pytest.TempPathFactory) -> Person:
    """Return a person who has installed the Flatpak."""
    if missing := [tool for tool in TOOLS if not shutil.which(tool)]:
        pytest.skip(f"needs {', '.join(missing)} (apt-get install flatpak-builder)")
    person = Person(tmp_path_factory.mktemp("flatpak"))
    version = flatpak.VERSION
    for kind in ("Platform", "Sdk"):
        runtime = person.home / kind
        (runtime / "files").mkdir(parents=True)
        subprocess.run(["cp", "-a", debian.root / "usr", runtime], check=True)
        (runtime / "usr" / "etc").mkdir()
        subprocess.run(["cp", "-a", debian.root / "etc" / "fonts", runtime / "usr" / "etc"], check=True)
        (runtime / "metadata").write_text(METADATA.format(name=f"org.freedesktop.{kind}", version=version))
        person.run("flatpak", "build-export", "--runtime", "repository", runtime, version)
        shutil.rmtree(runtime)
    person.run("flatpak", "remote-add", "--user", "--no-gpg-verify", "local", "repository")
    for kind in ("Platform", "Sdk"):
        name = f"org.freedesktop.{kind}//{version}"
        person.run("flatpak", "install", "--user", "--noninteractive", "local", name)
    (tarball,) = out.glob("*.tar.xz")
    manifest = flatpak.build(tarball, person.home)
    # What makes the page for shops is in the real SDK alone.
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "appstream-compose": False}))
    options = ("--user", "--install", "--disable-rofiles-fuse", "--disable-cache")
    person.run("flatpak-builder", *options, "built", manifest.name, folder=manifest.parent)
    return person


def test_it_answers_in_the_sandbox(person: Person) -> None:
    assert person.sotto("--version").startswith("sotto ")
    assert len(person.sotto("run", "sotto", "Hello")) > 10
    said = person.sotto("doctor")
    assert "/app/lib/sotto/_internal/scipy_openblas32/" in said
    assert f"{person.home}/.var/app/{flatpak.ID}/data/Sotto/models" in said


@pytest.fixture
def elsewhere() -> Iterator[Path]:
    """Return a folder outside of homes and /tmp, of which a sandbox has its own."""
    with tempfile.TemporaryDirectory(dir="/srv") as folder:
        yield Path(folder)


def test_it_reads_models_anywhere_and_writes_only_its_own_files(person: Person, elsewhere: Path) -> None:
    folder = elsewhere / "models ä"
    shutil.copytree(flatpak.definition.ROOT / "resources" / "store", folder)
    (manifest,) = (path for path in (folder / "manifests").rglob("*") if path.is_file())
    assert len(person.sotto("run", str(manifest), "Hello")) > 10
    script = f"touch '{folder}/new' 2> /dev/null && exit 1; touch $XDG_DATA_HOME/new"
    person.run("dbus-run-session", "--", "flatpak", "run", "--user", "--command=sh", flatpak.ID, "-c", script)
    assert not (folder / "new").exists()


def test_the_desktop_gets_what_it_exports(person: Person) -> None:
    exported = person.home / ".local" / "share" / "flatpak" / "exports" / "share"
    entry = (exported / "applications" / f"{flatpak.ID}.desktop").read_text()
    assert f"--command=sotto --file-forwarding {flatpak.ID} @@u %U @@" in entry
    assert (exported / "mime" / "packages" / f"{flatpak.ID}.xml").is_file()
    assert (exported / "icons" / "hicolor" / "256x256" / "apps" / f"{flatpak.ID}.png").is_file()
