"""The app for macOS is refused where a Mac would refuse it; tried with small programs and libraries."""

import json
import plistlib
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("macholib", reason="macholib, which reads programs of macOS, is not installed")

from artefacts import sbom
from installing import InstallError
from mach_files import ARM64, INTEL, binary, fat
from macos import bill, checks, macho, packages, property_list, python_support

_QT = "Contents/Resources/app_packages/PySide6"
_CORE = "@rpath/QtCore.framework/Versions/A/QtCore"


def write(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def write_bill(app: Path) -> None:
    sbom.write(app, [], app / "Contents" / "Resources" / sbom.NAME, "arm64")


@pytest.fixture
def app(tmp_path: Path) -> Path:
    """Return an app that has what a Mac expects, with one library and the framework that it needs."""
    folder = tmp_path / "Sotto.app"
    contents = folder / "Contents"
    write(contents / "Info.plist", plistlib.dumps(property_list.info()))
    write(contents / "MacOS" / "Sotto", binary()).chmod(0o755)
    write(contents / "Resources" / "sotto.icns", b"icns")
    core = binary("@rpath/QtCore.framework/Versions/A/QtCore", minimum=(12, 0))
    write(folder / _QT / "Qt/lib/QtCore.framework/Versions/A/QtCore", core)
    described = plistlib.dumps({"CFBundleExecutable": "QtCore"})
    write(folder / _QT / "Qt/lib/QtCore.framework/Versions/A/Resources/Info.plist", described)
    python_support.link(folder / _QT / "Qt/lib/QtCore.framework", "A")
    asked = (_CORE, "/System/Library/Frameworks/AppKit.framework/AppKit")
    write(folder / _QT / "QtCore.abi3.so", binary("QtCore.abi3.so", libraries=asked, folders=("@loader_path/Qt/lib",)))
    write_bill(folder)
    return folder


def test_folders_are_of_no_matter_where_only_the_system_is_asked(app: Path) -> None:
    content = binary("x", libraries=("/usr/lib/libSystem.B.dylib",), folders=("/Users/someone/lib",))
    write(app / _QT / "new.so", content)
    write_bill(app)
    assert list(checks.problems(app)) == []


def test_an_app_that_is_as_it_should_be_has_no_problems(app: Path) -> None:
    assert list(checks.problems(app)) == []
    assert checks.main([str(app)]) == 0


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (binary("x", architecture=INTEL), "new.so is for x86_64"),
        (fat((INTEL, binary("x", architecture=INTEL)), (ARM64, binary("x"))), "new.so is for x86_64"),
        (binary("x", minimum=(15, 0)), "new.so needs macOS 15.0"),
        (binary("x", kit=(10, 8)), "new.so was built with the kit of macOS 10.8"),
        (binary("x", signed=False), "new.so has no signature"),
        (binary("x", libraries=("/opt/homebrew/lib/libssl.3.dylib",)), "new.so asks for /opt/homebrew/lib/libssl.3"),
        (binary("x", libraries=("@rpath/QtGone.framework/QtGone",)), "new.so asks for @rpath/QtGone.framework/QtGone"),
        (binary("x", libraries=("@loader_path/../../../../../x",)), "new.so asks for @loader_path/../"),
        (
            binary("x", libraries=(_CORE,), folders=("@loader_path/Qt/lib", "/Users/someone/lib")),
            "new.so looks for libraries outside of the app: /Users/someone",
        ),
        (
            binary("x", libraries=(_CORE,), folders=("@loader_path/Qt/lib", "@loader_path/../../../../..")),
            "new.so looks for libraries outside of the app",
        ),
    ],
)
def test_binaries_that_would_not_load_are_noticed(app: Path, content: bytes, complaint: str) -> None:
    write(app / _QT / "new.so", content)
    write_bill(app)
    (found,) = checks.problems(app)
    assert complaint in found


def finder(app: Path) -> None:
    write(app / "Contents" / "Resources" / ".DS_Store", b"")


def outside(app: Path) -> None:
    (app / "Contents" / "Resources" / "link").symlink_to("/etc/hosts")


def dangling(app: Path) -> None:
    (app / "Contents" / "Resources" / "link").symlink_to("gone")


def beside(app: Path) -> None:
    write(app / "README", b"")


def script(app: Path) -> None:
    write(app / "Contents" / "MacOS" / "helper.sh", b"#!/bin/sh")


def twice(app: Path) -> None:
    write(app / "Contents" / "Resources" / "Sotto.ICNS", b"")


def flat_framework(app: Path) -> None:
    link = app / _QT / "Qt/lib/QtCore.framework/Resources"
    link.unlink()
    write(link / "Info.plist", plistlib.dumps({}))


def nameless_framework(app: Path) -> None:
    write(app / _QT / "Qt/lib/QtCore.framework/Versions/A/Resources/Info.plist", plistlib.dumps({}))


def source(app: Path) -> None:
    write(app / "Contents" / "Resources" / "module.py", b"")


def old_bytecode(app: Path) -> None:
    write(app / "Contents" / "Resources" / "module.pyc", b"\x00\x01\x0d\x0a")


def without_icon(app: Path) -> None:
    (app / "Contents" / "Resources" / "sotto.icns").unlink()


def without_program(app: Path) -> None:
    (app / "Contents" / "MacOS" / "Sotto").chmod(0o644)


def misspelt(app: Path) -> None:
    described = {**property_list.info(), "LSUIelement": True}
    write(app / "Contents" / "Info.plist", plistlib.dumps(described))


def undeclared(app: Path) -> None:
    described = {**property_list.info(), "UTExportedTypeDeclarations": []}
    write(app / "Contents" / "Info.plist", plistlib.dumps(described))


@pytest.mark.parametrize(
    ("damage", "complaints"),
    [
        (finder, [".DS_Store does not belong into a bundle"]),
        (outside, ["link is a link to /etc/hosts"]),
        (dangling, ["link is a link to gone"]),
        (beside, ["beside Contents there is README"]),
        (script, ["helper.sh is where programs are, and none"]),
        (twice, ["Contents/Resources/sotto.icns and Contents/Resources/Sotto.ICNS are one to a Mac"]),
        (flat_framework, ["QtCore.framework: Resources is no link into Versions/Current"]),
        (nameless_framework, ["its Info.plist does not name its library as CFBundleExecutable"]),
        (source, ["module.py is a source"]),
        (old_bytecode, ["module.pyc was compiled by another version of Python"]),
        (without_icon, ["Info.plist names an icon that is not there: sotto.icns"]),
        (without_program, ["Info.plist names a program that is none: Contents/MacOS/Sotto"]),
        (misspelt, ["Info.plist: the whole: Additional properties are not allowed ('LSUIelement' was unexpected)"]),
        (undeclared, ["app.sotto.weights, which nobody declares", "app.sotto.gguf, which nobody declares"]),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
def test_what_codesign_and_macos_refuse_is_noticed(
    app: Path, damage: Callable[[Path], None], complaints: list[str]
) -> None:
    damage(app)
    write_bill(app)
    found = list(checks.problems(app))
    assert len(found) == len(complaints)
    assert all(complaint in line for complaint, line in zip(complaints, found, strict=True)), found
    assert checks.main([str(app)]) == 1


def test_an_app_that_differs_from_its_bill_of_materials_is_noticed(app: Path) -> None:
    write(app / "Contents" / "Resources" / "extra", b"")
    assert list(checks.problems(app)) == ["Contents/Resources/extra is not listed"]


def test_of_several_architectures_one_is_left(tmp_path: Path) -> None:
    own = binary("x", content=b"own")
    path = write(tmp_path / "x.dylib", fat((INTEL, binary("x", architecture=INTEL)), (ARM64, own)))
    assert [part.architecture for part in macho.read(path)] == ["x86_64", "ARM64"]
    macho.thin(path)
    assert path.read_bytes() == own
    macho.thin(path)
    assert path.read_bytes() == own
    with pytest.raises(ValueError, match="no part for Apple silicon"):
        macho.thin(write(tmp_path / "y", fat((INTEL, binary("y")))))
    assert not macho.is_macho(write(tmp_path / "A.class", b"\xca\xfe\xba\xbe\0\0\0\x3d"))


def test_libraries_that_nothing_asks_for_go(tmp_path: Path) -> None:
    inside = tmp_path / "PySide6"
    library = "@rpath/{0}.framework/Versions/A/{0}"
    for name, asked in (("QtGui", "QtCore"), ("QtCore", ""), ("QtQml", "QtCore")):
        libraries = (library.format(asked),) if asked else ()
        path = inside / f"Qt/lib/{name}.framework/Versions/A/{name}"
        write(path, binary(library.format(name), libraries=libraries))
    write(inside / "QtGui.abi3.so", binary("QtGui.abi3.so", libraries=(library.format("QtGui"),)))
    write(inside / "libpyside6qml.dylib", binary("@rpath/libpyside6qml.dylib", libraries=(library.format("QtQml"),)))
    write(inside / "Qt/plugins/platforms/libqcocoa.dylib", binary("@rpath/libqcocoa.dylib"))
    write(inside / "lupdate", binary())
    packages.remove_unasked(tmp_path)
    left = {path.name for path in macho.files(tmp_path)}
    assert left == {"QtGui", "QtCore", "QtGui.abi3.so", "libqcocoa.dylib"}
    assert not (inside / "Qt/lib/QtQml.framework").exists()


def test_only_packages_of_other_systems_may_be_missing() -> None:
    # Not MLX, which has a line of its own for each system.
    assert packages.only_elsewhere() == {"jeepney", "scipy_openblas32"}


def test_packages_keep_their_names_in_the_bill(app: Path) -> None:
    site = app / "Contents" / "Resources" / "app_packages"
    write(site / "jinja2" / "module.py", b"")
    write(site / "jinja2-3.1.dist-info" / "METADATA", b"Name: jinja2\nVersion: 3.1\nLicense-Expression: BSD-3-Clause\n")
    names = ("jinja2/module.py,sha256=AAAA,1", "jinja2/gone.py,,", "jinja2-3.1.dist-info/METADATA,,")
    write(site / "jinja2-3.1.dist-info" / "RECORD", "\n".join(names).encode())
    found = bill.packages(site)
    (site / "jinja2" / "module.py").rename(site / "jinja2" / "module.pyc")
    (part,) = bill.parts(app, found, None)
    assert (part.name, part.version, part.licence, part.address) == (
        "jinja2",
        "3.1",
        "BSD-3-Clause",
        "pkg:pypi/jinja2@3.1",
    )
    assert sorted(Path(name).name for name in part.files) == ["METADATA", "module.pyc"]
    sbom.write(app, [part], app / "Contents" / "Resources" / sbom.NAME, "arm64")
    described = json.loads((app / "Contents" / "Resources" / sbom.NAME).read_text())
    assert described["metadata"]["component"]["purl"].endswith("?arch=arm64")


def python_for_macs(folder: Path, library: bytes) -> Path:
    """Write a Python for Macs as python-build-standalone lays it out, and return its folder."""
    home = folder / "python"
    write(home / "lib" / "libpython3.13.dylib", library)
    write(home / "lib" / "python3.13" / "os.py", b"")
    write(home / "lib" / "python3.13" / "LICENSE.txt", b"PSF")
    write(home / "lib" / "python3.13" / "test" / "test_os.py", b"")
    write(home / "include" / "python3.13" / "patchlevel.h", b'#define PY_VERSION              "3.13.9"\n')
    return home


LIBRARY = binary("@executable_path/../lib/libpython3.13.dylib", minimum=(11, 0))


@pytest.mark.parametrize("packed", [False, True])
def test_a_python_for_macs_is_laid_out_as_a_framework(tmp_path: Path, packed: bool) -> None:
    given = python_for_macs(tmp_path, LIBRARY)
    if packed:
        with tarfile.open(tmp_path / "python.tar.gz", "w:gz") as archive:
            archive.add(given, "python")
        given = tmp_path / "python.tar.gz"
    work = tmp_path / "work"
    work.mkdir()
    support = python_support.find(given, work, "3.13", (14, 0))
    assert support.version == "3.13.9"
    framework = tmp_path / "Frameworks" / "Python.framework"
    python_support.install(support, framework, "3.13")
    assert (framework / "Python").read_bytes() == LIBRARY
    assert list(checks.framework(framework)) == []
    assert (framework / "Resources" / "LICENSE.txt").read_text() == "PSF"
    modules = framework / "Versions" / "3.13" / "lib" / "python3.13"
    assert sorted(path.name for path in modules.iterdir()) == ["LICENSE.txt", "os.py"]


def test_of_python_for_several_systems_the_mac_s_is_taken(tmp_path: Path) -> None:
    for system, content in (("ios-arm64", b"i"), ("macos-arm64_x86_64", b"m")):
        home = tmp_path / "Python.xcframework" / system / "Python.framework" / "Versions" / "3.13"
        write(home / "Python", binary("@rpath/Python.framework/Versions/3.13/Python", content=content))
        write(home / "lib" / "python3.13" / "os.py", b"")
        write(home / "include" / "python3.13" / "patchlevel.h", b'#define PY_VERSION "3.13.9"\n')
    support = python_support.find(tmp_path, tmp_path, "3.13", (14, 0))
    assert support.library.read_bytes().endswith(b"m")


@pytest.mark.parametrize(
    ("library", "reason"),
    [
        (binary("x", architecture=INTEL), r"libpython3\.13\.dylib has no part for Apple silicon \(arm64\)"),
        (binary("x", minimum=(15, 0)), r"libpython3\.13\.dylib needs macOS 15\.0, but Sotto runs from 14\.0 on"),
        (
            binary("x", libraries=("/Library/Frameworks/Python.framework/Versions/3.13/Python",)),
            r"asks for /Library/Frameworks/\S+, which is outside of the app",
        ),
        (b"\x7fELF", r"has no library of Python 3\.13 for macOS: name python-build-standalone's"),
    ],
)
def test_a_python_that_does_not_fit_is_refused_with_the_reason(tmp_path: Path, library: bytes, reason: str) -> None:
    given = python_for_macs(tmp_path, library)
    with pytest.raises(InstallError, match=reason):
        python_support.find(given, tmp_path, "3.13", (14, 0))


def test_what_is_no_python_is_refused_with_the_reason(tmp_path: Path) -> None:
    text = write(tmp_path / "python.tar.gz", b"no archive")
    with pytest.raises(InstallError, match=r"python\.tar\.gz is neither a folder nor a tar archive that can be read"):
        python_support.find(text, tmp_path, "3.13", (14, 0))
    given = python_for_macs(tmp_path, LIBRARY)
    with pytest.raises(InstallError, match=r"has no library of Python 3\.12"):
        python_support.find(given, tmp_path, "3.12", (14, 0))
    (given / "include" / "python3.13" / "patchlevel.h").unlink()
    with pytest.raises(InstallError, match=r"lacks Python's header patchlevel\.h"):
        python_support.find(given, tmp_path, "3.13", (14, 0))
    (given / "lib" / "python3.13" / "os.py").unlink()
    with pytest.raises(InstallError, match=r"lacks Python's own modules, lib/python3\.13"):
        python_support.find(given, tmp_path, "3.13", (14, 0))
