"""The tarball and the wheel, as they are unpacked and installed."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from importlib.metadata import Distribution, PathDistribution
from pathlib import Path

import pytest
from PIL import Image

from artefacts import definition, elf, embedded, licences, notices, older_glibc, sbom
from artefacts import portable as building
from image_files import SWAPPED_PRIMARIES, rgb_profile, saved
from pdfs import pdf
from vision_model import drawings

# What Pillow's wheel holds and the packed program does not.
LEFT_OUT = {("pillow", name) for name in ("OpenJPEG", "Zstandard", "liblzma", "libxcb", "libXau")}


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """Return the environment of a person who has nothing but a home."""
    return {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "QT_QPA_PLATFORM": "offscreen"}


def run(program: Path, *arguments: str, home: dict[str, str], given: str = "") -> str:
    result = subprocess.run(
        [program, *arguments], input=given, env=home, capture_output=True, text=True, cwd=home["HOME"], timeout=120
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_it_is_as_small_as_it_should_be(portable: Path, out: Path) -> None:
    (archive,) = out.glob("*.tar.xz")
    (package,) = out.glob("*.deb")
    on_disk = sum(path.lstat().st_size for path in portable.rglob("*") if path.is_file() and not path.is_symlink())
    assert on_disk <= 160 << 20
    assert max(archive.stat().st_size, package.stat().st_size) <= 60 << 20


def test_it_runs_with_the_glibc_that_the_package_and_the_readme_name(portable: Path, out: Path) -> None:
    assert building.oldest_glibc(elf.files(portable)) == older_glibc.GLIBC
    (package,) = out.glob("*.deb")
    command = ["dpkg-deb", "-f", package, "Depends"]
    assert f"libc6 (>= {older_glibc.GLIBC})" in subprocess.run(command, capture_output=True, text=True).stdout
    readme = (definition.ROOT / "packaging" / "README.md").read_text(encoding="utf-8")
    assert f"glibc {older_glibc.GLIBC}" in readme


def test_it_computes_with_kernels_and_openblas(portable: Path, home: dict[str, str]) -> None:
    said = run(portable / "sotto", "doctor", home=home)
    assert re.search(r"^Native kernels +yes, ", said, re.MULTILINE)
    assert re.search(rf"^BLAS +{re.escape(str(portable))}/_internal/scipy_openblas32/\S+\.so$", said, re.MULTILINE)
    assert " missing" not in said


def test_it_answers_in_the_terminal(portable: Path, home: dict[str, str]) -> None:
    assert len(run(portable / "sotto", "run", "sotto", "Hello", home=home)) > 10


def test_grammars_run_in_their_process(portable: Path, home: dict[str, str]) -> None:
    form = Path(home["HOME"]) / "form.regex"
    form.write_text("[0-9]{3}")
    said = run(portable / "sotto", "run", "sotto", "A number", "--format", str(form), home=home)
    assert re.fullmatch("[0-9]{3}", said.strip())


def test_pdfs_are_read_in_their_process(portable: Path, home: dict[str, str]) -> None:
    path = Path(home["HOME"]) / "a.pdf"
    path.write_bytes(pdf("Hello from a page"))
    assert "Hello from a page" in run(portable / "sotto", "read-pdf", str(path), home=home)


@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF"])
def test_images_are_read_in_their_process(portable: Path, home: dict[str, str], form: str) -> None:
    options = {"icc_profile": rgb_profile(SWAPPED_PRIMARIES)} if form == "JPEG" else {}
    data = saved(Image.new("RGB", (5, 3), "red"), form, **options)
    for word, length in (("pixels", 3 * 5 * 3), ("size", 0)):
        done = subprocess.run([portable / "sotto", "read-image", word], input=data, env=home, capture_output=True)
        header, _, rest = done.stdout.partition(b"\n")
        assert json.loads(header) == {"width": 5, "height": 3, "why": ""}
        assert len(rest) == length
        expected = (0, 0, 255) if options else (255, 0, 0)
        assert all(abs(value - right) <= 4 for value, right in zip(rest[:3], expected, strict=False))


@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF"])
def test_a_model_names_what_an_image_shows(portable: Path, home: dict[str, str], form: str) -> None:
    drawing, picture = next(drawings.held_out(1, 2))
    path = Path(home["HOME"]) / f"drawing.{form.lower()}"
    picture.save(path, form)
    model = definition.ROOT / "tests" / "engine" / "vision" / "drawings"
    said = run(portable / "sotto", "run", str(model), "--image", str(path), "What do you see?", home=home)
    assert said.strip() == f"{drawing.number.capitalize()} {drawing.colour} {drawing.things}."


def test_kinds_of_images_that_stay_out_are_named(portable: Path, home: dict[str, str]) -> None:
    avif = b"\0\0\0\x1cftypavif\0\0\0\0avifmif1miaf"
    done = subprocess.run([portable / "sotto", "read-image", "size"], input=avif, env=home, capture_output=True)
    assert "save it as JPEG or PNG" in json.loads(done.stdout)["why"]


def test_models_are_verified_without_numpy(portable: Path, home: dict[str, str]) -> None:
    assert not list(portable.rglob("numpy*"))
    run(portable / "sotto", "verify", "sotto", home=home)


def test_tokenizers_and_chats_are_tried_in_their_processes(portable: Path, home: dict[str, str]) -> None:
    blobs = (portable / "_internal" / "sotto" / "_resources" / "store" / "blobs").iterdir()
    tokenizer = next(text for path in blobs if b'"added_tokens"' in (text := path.read_bytes()))
    assert json.loads(run(portable / "sotto", "try-tokenizer", home=home, given=tokenizer.decode())) == {"why": ""}
    (Path(home["HOME"]) / "empty.json").write_text("[]")
    given = json.dumps({"paths": ["empty.json"], "folder": home["HOME"]})
    said = json.loads(run(portable / "sotto", "read-chats", home=home, given=given))
    assert said["files"] == 1


@pytest.fixture(params=["thread", "process"])
def server(portable: Path, home: dict[str, str], request: pytest.FixtureRequest) -> Iterator[str]:
    command = [portable / "sotto", "serve", "--port", "0"]
    environment = {**home, "SOTTO_ENGINE_HOST": request.param}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert process.stdout is not None
    found = next(match for line in process.stdout if (match := re.search(r"http://127\.0\.0\.1:\d+", line)))
    yield found.group()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)


def test_it_serves_other_programs(server: str) -> None:
    body = json.dumps({"model": "sotto", "messages": [{"role": "user", "content": "Hello"}], "stream": False}).encode()
    request = urllib.request.Request(f"{server}/api/chat", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as response:
        assert json.load(response)["message"]["content"]


def test_the_window_runs_and_programs_that_it_starts_are_left_alone(portable: Path, home: dict[str, str]) -> None:
    process = subprocess.Popen(
        [portable / "sotto"], env=home, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    time.sleep(8)
    assert process.poll() is None, process.communicate()[0]
    process.terminate()
    said, _ = process.communicate(timeout=30)
    assert said == ""


def test_the_bill_of_materials_is_what_is_there(portable: Path, out: Path) -> None:
    (path,) = out.glob("*.cdx.json")
    bill = json.loads(path.read_text())
    assert path.read_bytes() == (portable / sbom.NAME).read_bytes()
    assert list(sbom.differences(bill, portable)) == []
    listed = {(part["name"].lower(), part["version"]) for part in bill["components"]}
    described: list[Distribution] = [PathDistribution(path) for path in portable.glob("_internal/*.dist-info")]
    assert len(described) > 25
    for package in described:
        if package.metadata["Name"] != "sotto":
            assert (package.metadata["Name"].lower(), package.version) in listed
    inside = [each for part in bill["components"] for each in part.get("components", ()) if each["type"] == "library"]
    for part in (*bill["components"], *inside):
        (licence,) = part["licenses"]
        assert licences.fits(part["name"], licence["expression"])
    assert len({part["bom-ref"] for part in (*bill["components"], *inside)}) == len(bill["components"]) + len(inside)


def test_every_crate_and_library_inside_is_in_the_bill(portable: Path) -> None:
    """Read from the packed libraries: where cargo had the sources, and the signs of others."""
    bill = json.loads((portable / sbom.NAME).read_text())
    inside = {part["name"]: part for part in bill["components"]}
    for name in ("tokenizers", "llguidance"):
        known = {(each["name"], each.get("version")) for each in inside[name]["components"]}
        content = b"".join(
            (portable / each["name"]).read_bytes()
            for each in inside[name]["components"]
            if each["type"] == "file" and each["name"].endswith(".so")
        )
        used = re.findall(rb"/registry/src/[^/\x00]+/([\w.+-]+?)-(\d+\.\d+\.\d+[\w.+-]*)/", content)
        assert len(used) > 100
        assert {(crate.decode(), version.decode()) for crate, version in used} <= known
    for package, name, sign in embedded.signs():
        listed = {each["name"] for each in inside.get(package, {}).get("components", ())}
        if (package, name) in LEFT_OUT:
            assert name not in listed
        elif package not in ("sotto", "scipy-openblas32"):  # whose symbols are stripped
            files = [each for each in inside[package]["components"] if each["type"] == "file"]
            assert any(sign.encode() in (portable / each["name"]).read_bytes() for each in files), name
            assert name in listed


def test_the_texts_of_all_licences_come_along(portable: Path) -> None:
    bill = json.loads((portable / sbom.NAME).read_text())
    notices_text = (portable / notices.NOTICES).read_text()
    for part in bill["components"]:
        texts = [each["value"] for each in part.get("properties", ()) if each["name"] == sbom.LICENCE_TEXT]
        assert texts, part["name"]
        for text in texts:
            assert len((portable / text).read_text(errors="replace")) > 100
        for each in part.get("components", ()):
            if each["type"] == "library":
                assert f"{each['name']} {each.get('version', '')}".strip() + f" (in {part['name']})" in notices_text
                assert each["copyright"] in notices_text
    python = next(part for part in bill["components"] if part["name"] == "CPython")
    (text,) = (each["value"] for each in python["properties"])
    assert "PYTHON SOFTWARE FOUNDATION LICENSE" in (portable / text).read_text()
    readme = (portable / "licences" / "README.txt").read_text()
    assert "LGPL-3" in readme
    assert "replace their" in readme
    assert "https://download.qt.io/official_releases/qt/" in readme


def test_the_report_of_the_packed_program_has_no_home(portable: Path, home: dict[str, str]) -> None:
    said = run(
        portable / "sotto", "doctor", "--report", home=home | {"USER": "janedoe", "MY_TOKEN": "a-secret-of-mine"}
    )
    assert "Native kernels" in said
    assert " missing" not in said
    for word in (home["HOME"], "janedoe", "a-secret-of-mine"):
        assert word not in said


def test_what_draws_formulas_comes_along(portable: Path) -> None:
    assert list(portable.glob("_internal/latex2mathml/unimathsymbols.txt"))
    assert list(portable.glob("_internal/ziamath/fonts/STIX*.ttf"))
    assert b"ziamath.fonts" in (portable / "sotto").read_bytes(), "the package that the font is looked for in"


def test_nothing_that_stays_out_is_inside(portable: Path) -> None:
    names = {path.name for path in (portable / "_internal").iterdir()}
    assert not names & set(definition.unused_packages())
    for glob in definition.unused_files():
        assert not list(portable.glob(glob)), glob
    assert not [path for path in portable.rglob("*") if path.is_symlink() and not path.exists()]
    assert list(building.foreign_libraries(portable)) == []


def test_the_wheel_brings_kernels_to_a_machine_without_a_compiler(out: Path, tmp_path: Path) -> None:
    """Install only the wheel's own files beside the packages of this environment."""
    (wheel,) = out.glob(f"*-cp{sys.version_info[0]}{sys.version_info[1]}-*.whl")
    subprocess.run([sys.executable, "-m", "zipfile", "-e", wheel, tmp_path / "site"], check=True)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site"), "PATH": "/nowhere", "HOME": str(tmp_path)}
    said = subprocess.run(
        [sys.executable, "-m", "sotto", "doctor"], env=environment, capture_output=True, text=True, cwd=tmp_path
    ).stdout
    assert f" in {tmp_path}/site/sotto" in said
    assert re.search(r"^Native kernels +yes, ", said, re.MULTILINE)
    assert "scipy_openblas32" in said
