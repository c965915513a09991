"""What is inside of packages, and the texts that come along with the packed program."""

import re
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import ClassVar

import pytest

from artefacts import embedded, licences, notices, sbom
from artefacts.embedded import Embedded
from installing import InstallError

RUST = ("llguidance", "safetensors", "tokenizers")
# Where a panic happened, in a library that cargo built.
_CRATE = re.compile(rb"/registry/src/[^/\x00]+/([A-Za-z0-9_.+-]+?)-(\d+\.\d+\.\d+[A-Za-z0-9.+-]*)/")


def installed(name: str) -> Distribution:
    try:
        return distribution(name)
    except PackageNotFoundError:
        pytest.skip(f"{name} is not for this system")


def files_of(package: Distribution) -> Iterator[Path]:
    for file in package.files or ():
        path = Path(str(package.locate_file(file)))
        if path.suffix in (".so", ".ttf", ".dylib") or ".so." in path.name:
            yield path


@pytest.mark.parametrize("name", RUST)
def test_every_crate_in_a_library_is_known(name: str) -> None:
    package = installed(name)
    known = {(crate.name, crate.version) for crate in embedded.inside(package)}
    used = {
        (found[1].decode(), found[2].decode())
        for path in files_of(package)
        for found in _CRATE.finditer(path.read_bytes())
    }
    assert len(used) > 5
    assert used <= known


@pytest.mark.parametrize(("package", "name", "sign"), [each for each in embedded.signs() if each[0] != "sotto"])
def test_what_is_listed_is_in_the_files(package: str, name: str, sign: str) -> None:
    assert any(sign.encode() in path.read_bytes() for path in files_of(installed(package))), name


def test_everything_inside_has_a_licence_that_fits() -> None:
    for name in ("PySide6_Essentials", "mlx", "ziamath", *RUST):
        for part in embedded.inside(installed(name)):
            assert licences.fits(part.name, part.licence), part
            assert part.notice
            assert part.source.startswith(("https://", "http://", "git")), part


def test_another_version_of_llguidance_needs_another_list() -> None:
    class Newer:
        metadata: ClassVar = {"Name": "llguidance"}
        version = "9.9"
        files = ()

    with pytest.raises(InstallError, match=r"lists the crates of llguidance 1\S+, and 9.9 is installed: make it again"):
        embedded.inside(Newer())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("expression", "chosen"),
    [
        ("MIT OR Apache-2.0", ("Apache-2.0",)),
        ("(MIT OR Apache-2.0) AND Unicode-3.0", ("MIT", "Unicode-3.0")),
        ("MIT AND (GPL-3.0-only OR Zlib)", ("MIT", "Zlib")),
        ("MIT/Apache-2.0", ("Apache-2.0",)),
        ("Unlicense OR MIT", ("MIT",)),
        ("Apache-2.0 WITH LLVM-exception", ("Apache-2.0 WITH LLVM-exception",)),
        ("GPL-2.0-or-later WITH Bootloader-exception", ()),
        ("MIT AND GPL-3.0-only", ()),
        ("MIT GPL-3.0-only", ()),
        ("(MIT", ("MIT",)),
        ("", ()),
    ],
)
def test_an_offer_that_fits_is_chosen(expression: str, chosen: tuple[str, ...]) -> None:
    assert licences.chosen("any", expression) == chosen


def test_a_licence_inside_must_fit_too() -> None:
    inside = [Embedded("gpl-crate", "1", "GPL-3.0-only", "pkg:cargo/gpl-crate@1", "somebody", "")]
    with pytest.raises(InstallError, match=re.escape("gpl-crate (GPL-3.0-only)")):
        licences.check([sbom.Part("any", "1", "MIT", "", inside=inside)])


def test_texts_and_notices_come_along(tmp_path: Path) -> None:
    own = "_internal/b-1.dist-info/licenses/LICENSE"
    (tmp_path / own).parent.mkdir(parents=True)
    (tmp_path / own).write_text("b's own licence")
    text = tmp_path / "copyright"
    text.write_text("the system's text")
    crate = Embedded("ahash", "2", "MIT OR Apache-2.0", "pkg:cargo/ahash@2", "Ann Author", "https://example.org/ahash")
    parts = [
        sbom.Part("a", "1", "MIT", "pkg:pypi/a@1", notice="Bob Builder", source="https://example.org/a"),
        sbom.Part("b", "1", "BSD-3-Clause", "pkg:pypi/b@1", {own: ""}, [crate]),
        sbom.Part("libc", "1", "Zlib", "pkg:deb/debian/libc@1", text=text),
        sbom.Part("shiboken6", "6", "LGPL-3.0-only OR GPL-2.0-only", "pkg:pypi/shiboken6@6"),
    ]
    notices.write(tmp_path, parts)
    folder = tmp_path / notices.FOLDER
    names = {path.name for path in folder.iterdir()}
    texts = "Apache-2.0.txt GPL-3.0-only.txt LGPL-3.0-only.txt LICENSE MIT.txt NOTICES.txt README.txt libc.txt"
    assert names == set(texts.split())
    said = (tmp_path / notices.NOTICES).read_text()
    assert "a 1\n    MIT\n    Bob Builder\n    https://example.org/a\n" in said
    assert "ahash 2 (in b)\n    Apache-2.0, offered as MIT OR Apache-2.0\n    Ann Author\n" in said
    assert [notices.texts_of(part) for part in parts] == [
        ["licences/NOTICES.txt", "licences/MIT.txt"],
        [own, "licences/NOTICES.txt", "licences/Apache-2.0.txt"],
        ["licences/libc.txt"],
        ["licences/NOTICES.txt", "licences/LGPL-3.0-only.txt", "licences/GPL-3.0-only.txt"],
    ]
    readme = (folder / "README.txt").read_text()
    assert "GNU Lesser General Public License" in readme
    assert "https://download.qt.io/official_releases/qt/" in readme
    bill = sbom.describe(tmp_path, parts)
    (described,) = [part for part in bill["components"] if part["name"] == "b"]
    assert described["components"][0]["bom-ref"] == "pkg:pypi/b@1#ahash@2"
    assert described["components"][0]["copyright"] == "Ann Author"
    assert {each["value"] for each in described["properties"]} == set(notices.texts_of(parts[1]))
    assert list(sbom.differences(bill, tmp_path)) == []


def test_a_missing_text_is_named(tmp_path: Path) -> None:
    part = sbom.Part("a", "1", "blessing", "pkg:pypi/a@1")
    with pytest.raises(
        InstallError, match=r"The text of the licence blessing, which must come along, is missing: \S+blessing\.txt"
    ):
        notices.write(tmp_path, [part])
