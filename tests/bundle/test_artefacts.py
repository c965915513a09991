"""What goes into the packages that people install, and what stays out, as far as nothing has to be built for that."""

import ast
import importlib.metadata
import importlib.util
import re
import runpy
import shutil
import struct
import sys
import tomllib
import zipfile
from email.message import Message
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

from artefacts import (
    contents,
    definition,
    docstrings,
    elf,
    icu_data,
    licences,
    older_glibc,
    portable,
    sbom,
    slimming,
    wheels,
    workshop,
)
from installing import InstallError
from sotto.ui.preferences.languages import available_languages

ROOT = Path(__file__).resolve().parents[2]
SITE = Path(str(importlib.metadata.distribution("jinja2").locate_file("")))
# What is in wheels of other versions.
ELSEWHERE = {
    "**/PySide6/Qt/translations/qtdeclarative_*",
}
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="about packages for Linux, and built there")


@LINUX
def test_each_glob_of_what_stays_out_matches_something() -> None:
    """Check the globs for Linux; those for macOS are checked while the app is built."""
    tops = ("PIL", "PySide6", "mlx", "pillow.libs", "ziafont")
    names = [str(path.relative_to(SITE)) for top in tops for path in (SITE / top).rglob("*")]
    names += [f"app_packages/{path.name}" for path in SITE.iterdir()]
    names += [f"sotto/_resources/{path.relative_to(ROOT / 'resources')}" for path in (ROOT / "resources").rglob("*")]
    stale = {
        glob
        for glob in definition.cleanup_paths("linux")
        if not any(fnmatch(name, glob.removeprefix("**/")) for name in names)
    }
    assert stale <= ELSEWHERE


def test_nothing_that_is_imported_stays_out() -> None:
    unused = set(definition.unused_packages())
    assert {"transformers", "huggingface_hub", "numpy"} < unused
    for path in (ROOT / "desktop" / "sotto").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [node.module] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            assert not {str(name).partition(".")[0] for name in names} & unused, path


def test_qt_modules_that_are_imported_stay_in() -> None:
    imported = {
        module
        for path in (ROOT / "desktop" / "sotto").rglob("*.py")
        for module in re.findall(r"PySide6\.(Qt\w+)", path.read_text(encoding="utf-8"))
    }
    assert {"QtCore", "QtGui", "QtWidgets"} < imported
    for module in imported:
        for name in (f"PySide6/{module}.abi3.so", f"PySide6/Qt/lib/libQt6{module[2:]}.so.6"):
            assert not any(fnmatch(name, glob.removeprefix("**/")) for glob in definition.unused_files())


def packed_distributions() -> dict[str, importlib.metadata.Distribution]:
    """Return the packages that are packed: what Sotto depends on, without what stays out."""
    found: dict[str, importlib.metadata.Distribution] = {}
    unused = set(definition.unused_packages())
    waiting = [Requirement(line) for line in definition.project()["dependencies"]]
    while waiting:
        requirement = waiting.pop()
        name = requirement.name.lower().replace("_", "-")
        if name in found or (requirement.marker and not requirement.marker.evaluate({"extra": ""})):
            continue
        package = importlib.metadata.distribution(requirement.name)
        if unused.isdisjoint(file.parts[0] for file in package.files or ()):
            found[name] = package
            waiting += map(Requirement, package.requires or ())
    return found


def test_every_licence_fits() -> None:
    found = packed_distributions()
    assert {"mlx", "pyside6-essentials", "certifi", "starlette"} <= found.keys()
    parts = [
        sbom.Part(package.metadata["Name"], package.version, licences.stated(package.metadata), "")
        for package in found.values()
    ]
    licences.check(parts)


@pytest.mark.parametrize(
    ("name", "licence", "fits"),
    [
        ("any", "MIT", True),
        ("any", "Apache-2.0 AND BSD-2-Clause", True),
        ("any", "GPL-3.0-only OR MIT", True),
        ("any", "GPL-3.0-only", False),
        ("any", "MIT AND GPL-3.0-only", False),
        ("any", "LGPL-3.0-only", False),
        ("shiboken6", "LGPL-3.0-only OR GPL-2.0-only", True),
        ("certifi", "MPL-2.0", True),
        ("any", "MPL-2.0", False),
        ("any", "", False),
    ],
)
def test_licences_are_permissive_but_for_named_parts(name: str, licence: str, fits: bool) -> None:
    assert licences.fits(name, licence) is fits
    if not fits:
        with pytest.raises(InstallError, match=re.escape(f"{name} ({licence or 'none stated'})")):
            licences.check([sbom.Part(name, "1", licence, "")])


@pytest.mark.parametrize(
    ("fields", "licence"),
    [
        ([("License-Expression", "MIT"), ("License", "whatever")], "MIT"),
        ([("License", "x" * 500), ("Classifier", "License :: OSI Approved :: MIT License")], "MIT"),
        (
            [("License", "BSD 2-Clause License"), ("Classifier", "License :: OSI Approved :: BSD License")],
            "BSD-2-Clause",
        ),
        ([("License", "LGPL-3.0-only OR GPL-2.0-only")], "LGPL-3.0-only OR GPL-2.0-only"),
        ([("Classifier", "Programming Language :: Python")], ""),
    ],
)
def test_metadata_states_licences_in_many_ways(fields: list[tuple[str, str]], licence: str) -> None:
    metadata = Message()
    for name, value in fields:
        metadata[name] = value
    assert licences.stated(metadata) == licence


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with three files and a link."""
    for name, content in (("sotto", "program"), ("_internal/a.so", "library"), ("licences/LICENSE", "MIT")):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content)
    (tmp_path / "_internal" / "b.so").symlink_to("a.so")
    return tmp_path


def bill_of(folder: Path) -> dict[str, Any]:
    return sbom.describe(folder, [sbom.Part("a", "1", "MIT", "pkg:pypi/a@1", {"_internal/a.so": "00"})])


def test_every_file_is_in_the_bill_of_materials_once(folder: Path) -> None:
    bill = bill_of(folder)
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    (part,) = bill["components"]
    assert part["licenses"] == [{"expression": "MIT"}]
    (file,) = part["components"]
    assert file["name"] == "_internal/a.so"
    assert file["properties"] == [{"name": "sotto:sha256-as-installed", "value": "00"}]
    assert [own["name"] for own in bill["metadata"]["component"]["components"]] == ["licences/LICENSE", "sotto"]
    assert list(sbom.differences(bill, folder)) == []
    assert bill_of(folder)["serialNumber"] == bill["serialNumber"]


def test_a_folder_that_differs_from_its_bill_is_noticed(folder: Path) -> None:
    bill = bill_of(folder)
    bill["components"].append(bill["components"][0])
    (folder / "_internal" / "a.so").write_text("other")
    (folder / "licences" / "LICENSE").rename(folder / "licences" / "MIT")
    assert list(sbom.differences(bill, folder)) == [
        "_internal/a.so is listed twice",
        "licences/LICENSE is missing",
        "licences/MIT is not listed",
        "_internal/a.so is not the file that is listed",
    ]


def test_a_wheel_without_kernels_is_refused_with_the_reason(tmp_path: Path) -> None:
    wheel = tmp_path / "sotto.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("sotto/_native/cpython-311.json", '{"built": false, "reason": "there was no C++ compiler"}')
    with pytest.raises(
        InstallError, match=r"sotto\.whl lacks kernels and libsotto_blas: there was no C\+\+ compiler\."
    ):
        wheels.check_kernels(wheel)
    with zipfile.ZipFile(wheel, "w") as archive:
        for name in ("kernels.cpython-311-x86_64-linux-gnu.so", "libsotto_blas.x86_64.so"):
            archive.writestr(f"sotto/_native/{name}", "")
    wheels.check_kernels(wheel)


def test_definitions_and_own_modules_are_packed_by_name() -> None:
    found = contents.hidden_imports(SITE)
    assert "mlx_lm.models.llama" in found
    own = contents.hidden_imports(ROOT / "desktop") if (ROOT / "desktop" / "mlx_lm").is_dir() else found
    assert "scipy_openblas32" in own
    for name in contents.NEVER_IMPORTED:
        assert name not in found


@pytest.mark.parametrize(
    ("destination", "source", "expected"),
    [
        ("libssl.so.3", "/usr/lib/x86_64-linux-gnu/libssl.so.3", True),
        ("libpython3.11.so.1.0", "/opt/python/lib/libpython3.11.so.1.0", True),
        ("libxcb-cursor.so.0", "/usr/lib/x86_64-linux-gnu/libxcb-cursor.so.0", True),
        ("libxcb.so.1", "/usr/lib/x86_64-linux-gnu/libxcb.so.1", False),
        ("libX11.so.6", "/usr/lib/x86_64-linux-gnu/libX11.so.6", False),
        ("libreadline.so.8", "/usr/lib/x86_64-linux-gnu/libreadline.so.8", False),
        ("libQt6Core.so.6", str(SITE / "PySide6/Qt/lib/libQt6Core.so.6"), True),
        ("python3.11/lib-dynload/_ssl.so", "/usr/lib/python3.11/lib-dynload/_ssl.so", True),
    ],
)
def test_libraries_of_the_system_stay_there(destination: str, source: str, expected: bool) -> None:
    assert contents.comes_along(destination, source, SITE) is expected


def test_modules_that_were_not_found_are_reported() -> None:
    warnings = """
missing module named tomllib - imported by mypy.config (top-level), sotto.paths (delayed)
missing module named numpy - imported by mlx_lm.models.dbrx (top-level), mlx_lm.models.new (top-level)
missing module named 'click.testing' - imported by sotto.cli.main (top-level), uvicorn.main (top-level)
"""
    assert list(portable.missing_modules(warnings)) == [
        "mlx_lm.models.new imports numpy",
        "sotto.cli.main imports click.testing",
    ]


@LINUX
def test_libraries_that_nobody_provides_are_reported(tmp_path: Path) -> None:
    if not shutil.which("readelf"):
        pytest.skip("binutils are not installed")
    library = SITE / "PySide6" / "Qt" / "lib" / "libQt6Core.so.6"
    shutil.copy2(library, tmp_path)
    assert any(line.startswith("libicui18n.so.") for line in portable.foreign_libraries(tmp_path))
    for path in library.parent.glob("libicu*"):
        shutil.copy2(path, tmp_path)
    assert {line.split()[0] for line in portable.foreign_libraries(tmp_path)} <= {"libz.so.1"}
    assert portable.oldest_glibc(elf.files(tmp_path)).startswith("2.")


@LINUX
def test_a_version_of_glibc_can_be_made_optional(tmp_path: Path) -> None:
    if not shutil.which("readelf"):
        pytest.skip("binutils are not installed")
    library = Path(shutil.copy2(SITE / "mlx" / "lib" / "libmlx.so", tmp_path))
    assert elf.glibc(library) == tuple(map(int, older_glibc.GLIBC.split(".")))
    version = f"GLIBC_{older_glibc.GLIBC}"
    assert "hypotf" in elf.asked_of(library, version)
    elf.make_optional(library, version)
    assert (0,) < elf.glibc(library) < (2, 35)


def icu(items: dict[str, bytes]) -> bytes:
    """Return ICU's data with some items, as ICU's own tools write it."""
    header = struct.pack("<HBBHHBBBB4s4B", 32, 0xDA, 0x27, 20, 0, 0, 0, 2, 0, b"CmnD", 1, 0, 0, 0).ljust(32, b"\0")
    names, contents_of, table = b"", b"", b""
    start = 4 + 8 * len(items)
    first = -(-(start + sum(len(f"icudt73l/{name}") + 1 for name in items)) // 16) * 16
    for name, content in items.items():
        table += struct.pack("<II", start + len(names), first + len(contents_of))
        names += f"icudt73l/{name}".encode() + b"\0"
        contents_of += content.ljust(-(-len(content) // 16) * 16, b"\0")
    return header + (struct.pack("<I", len(items)) + table + names).ljust(first, b"\0") + contents_of


def test_icu_keeps_what_qt_reads() -> None:
    items = {
        "cnvalias.icu": b"a" * 20,
        "coll/de.res": b"b" * 7,
        "de.res": b"c" * 30,
        "ibm-37_P100-1995.cnv": b"d",
        "root.res": b"e" * 16,
        "unit/de.res": b"f",
        "zoneinfo64.res": b"g" * 33,
    }
    kept = ("cnvalias.icu", "coll/de.res", "root.res", "zoneinfo64.res")
    assert icu_data.selected(icu(items)) == icu({name: items[name] for name in kept})
    with pytest.raises(ValueError, match="not the collection"):
        icu_data.selected(b"\0" * 64)


@LINUX
def test_icu_s_real_data_is_understood() -> None:
    (library,) = (SITE / "PySide6" / "Qt" / "lib").glob("libicudata.so.*")
    if not shutil.which("readelf"):
        pytest.skip("binutils are not installed")
    place = elf.place(library, r"icudt\d+_dat")
    data = library.read_bytes()[place.offset : place.offset + place.size]
    smaller = icu_data.selected(data)
    assert len(smaller) < len(data) / 4
    for name in (b"coll/ucadata.icu", b"coll/zh.res", b"nfkc.nrm", b"zoneinfo64.res"):
        assert name in smaller
    assert b"/unit/" not in smaller


def test_modules_lose_their_docstrings_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "explained.py"
    path.write_text(
        '''"""What this is for."""
from __future__ import annotations
class Pair:
    """Two of them."""
    one: Unknown = "kept"
    async def wait(self):
        """Does nothing else."""
def said():
    """Says it."""
    assert True, "kept"
    return "kept"
NONE = (lambda: "kept")()
'''
    )
    code = docstrings.compile_without(path)
    assert code.co_filename == str(path)
    made: dict[str, Any] = {}
    exec(code, made)
    pair = made["Pair"]
    assert [each.__doc__ for each in (pair, pair.wait, made["said"])] == ["."] * 3
    assert (made["__doc__"], pair().one, made["said"](), made["NONE"]) == (".", "kept", "kept", "kept")
    assert made["said"].__code__.co_firstlineno == 8


def test_removing_leaves_no_dangling_links(folder: Path) -> None:
    slimming.remove(folder, ["**/a.so", "licences", "**/absent*"])
    slimming.remove_dangling(folder)
    assert sorted(path.name for path in folder.rglob("*")) == ["_internal", "sotto"]


def test_only_texts_of_qt_in_languages_of_the_window_stay(tmp_path: Path) -> None:
    for name in ("qtbase_de.qm", "qtbase_lg.qm", "qtbase_zh_CN.qm", "qtbase_zh_TW.qm", "sotto_lg.qm"):
        (tmp_path / name).touch()
    slimming.remove_translations(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"qtbase_de.qm", "qtbase_zh_CN.qm", "sotto_lg.qm"}
    assert definition.languages() | {"en"} == set(available_languages())


def test_programs_that_the_packed_one_starts_do_not_load_its_libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    script = str(ROOT / "packaging" / "artefacts" / "at_start.py")
    monkeypatch.setenv("LD_LIBRARY_PATH", "/opt/sotto/_internal")
    monkeypatch.delenv("LD_LIBRARY_PATH_ORIG", raising=False)
    runpy.run_path(script)
    assert "LD_LIBRARY_PATH" not in os.environ
    monkeypatch.setenv("LD_LIBRARY_PATH", "/opt/sotto/_internal")
    monkeypatch.setenv("LD_LIBRARY_PATH_ORIG", "/own")
    runpy.run_path(script)
    assert os.environ["LD_LIBRARY_PATH"] == "/own"


def test_sizes_are_in_a_table() -> None:
    text = (ROOT / "packaging" / "README.md").read_text(encoding="utf-8")
    table = re.search(
        r"^\| artefact \| on disk \| packed \|\n\| --- \| ---: \| ---: \|\n((?:\|.*\|\n)+)", text, re.MULTILINE
    )
    assert table is not None
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.group(1).splitlines()]
    assert {"environment of a checkout", "wheel", "tarball", "`.deb`", "AppImage", "Flatpak", "`Sotto.app`"} == {
        row[0].split(" (")[0] for row in rows
    }
    for _, *sizes in rows:
        assert all(re.fullmatch(r"(\d+(\.\d)? MB)?", size) for size in sizes)


def test_another_python_gets_another_environment(tmp_path: Path) -> None:
    other = tmp_path / "python"
    other.write_text("#!/bin/sh\necho another\n")
    other.chmod(0o755)
    own = Path(sys.executable)
    assert workshop.is_made_from(own, own)
    assert not workshop.is_made_from(own, other)
    assert not workshop.is_made_from(tmp_path / "absent", own)


def test_tools_have_exact_versions() -> None:
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]
    assert all(re.fullmatch(r"[\w-]+(\[[\w-]+\])?==[\d.]+", line) for line in (*groups["packaging"], *groups["bills"]))
