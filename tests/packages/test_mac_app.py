"""The app for macOS as `build.py` makes it here, with the wheels that it really has. Its Python is a stand-in where no
registry has one for Macs: a library with nothing in it, and the modules of the Python that runs the tests."""

import importlib.util
import json
import os
import plistlib
import shutil
import subprocess
import sys
import sysconfig
import time
from collections import Counter
from pathlib import Path

import pytest

import sotto

ROOT = Path(__file__).resolve().parents[2]
VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"
TOOLS = ROOT / "build" / "artefacts" / f"macos-cp{VERSION.replace('.', '')}" / "environment" / "bin" / "python"
REQUEST = "SOTTO_PACKAGES"
# The first test also builds.
pytestmark = pytest.mark.timeout(3600)


def build(out: Path, *options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, ROOT / "packaging" / "build.py", "app", "--out", out, *map(str, options)]
    return subprocess.run(command, capture_output=True, text=True, timeout=1800)


@pytest.fixture(scope="session")
def python_support(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a stand-in of the right shape for python-build-standalone's folder."""
    subprocess.run(
        [sys.executable, "-c", "import sys; sys.path.append('packaging'); from pathlib import Path; "
         "from artefacts.workshop import Workshop; Workshop.with_tools(Path(sys.executable), 'macos')"],
        cwd=ROOT, check=True, timeout=900,
    )  # fmt: skip
    home = tmp_path_factory.mktemp("support") / "python"
    modules = home / "lib" / f"python{VERSION}"
    ignored = shutil.ignore_patterns("__pycache__", "site-packages", "lib-dynload", "test", "config-*")
    shutil.copytree(sysconfig.get_path("stdlib"), modules, ignore=ignored)
    header = home / "include" / f"python{VERSION}" / "patchlevel.h"
    header.parent.mkdir(parents=True)
    header.write_text(f'#define PY_VERSION "{sys.version.split()[0]}"\n')
    (modules / "LICENSE.txt").touch()
    compiled = Path(sysconfig.get_path("stdlib"), "lib-dynload").glob("*.so")
    names = {*sys.builtin_module_names, *(path.name.partition(".")[0] for path in compiled)}
    # Of the Mac alone.
    names |= {"_scproxy"}
    source = home / "python.c"
    texts = "".join(f'"{name}\\0"' for name in sorted(names))
    source.write_text(f'const char table[] = "\\0" {texts};\nint Py_BytesMain(void) {{ return table[1]; }}\n')
    library = home / "lib" / f"libpython{VERSION}.dylib"
    target = ("-target", "aarch64-macos.11.0", "-shared", "-Wl,-install_name,@rpath/libpython.dylib")
    subprocess.run([TOOLS, "-m", "ziglang", "cc", *target, "-o", library, source], check=True, timeout=600)
    return home


@pytest.fixture(scope="session")
def app(python_support: Path) -> Path:
    """Return the app with a Python, built if the folder lacks it."""
    out = Path(os.environ[REQUEST]).absolute() / "macos"
    if (out / "Sotto.app").is_dir():
        return out / "Sotto.app"
    result = build(out, "--python-support", python_support)
    assert result.returncode == 0, result.stderr
    assert result.stdout == f"{out / 'Sotto.app'}\n"
    return out / "Sotto.app"


def files(app: Path) -> list[Path]:
    return [path for path in app.rglob("*") if path.is_file() and not path.is_symlink()]


def test_the_app_is_complete(app: Path) -> None:
    contents = app / "Contents"
    described = plistlib.loads((contents / "Info.plist").read_bytes())
    assert described["CFBundleShortVersionString"] == sotto.__version__
    assert (contents / "PkgInfo").read_text() == "APPL????"
    for name in ("MacOS/Sotto", "Frameworks/Python.framework/Python", "Resources/sotto.icns", "Resources/start.pyc"):
        assert (contents / name).is_file(), name
    sotto_inside = contents / "Resources" / "app" / "sotto"
    assert (sotto_inside / "_resources" / "help").is_dir()
    sources = [path.relative_to(ROOT / "desktop") for path in (ROOT / "desktop" / "sotto").rglob("*.py")]
    assert [path for path in sources if not (contents / "Resources" / "app" / path).with_suffix(".pyc").is_file()] == []
    models = contents / "Resources" / "app_packages" / "mlx_lm" / "models"
    assert len(list(models.glob("*.pyc"))) > 120


def test_every_binary_is_for_apple_silicon_and_the_oldest_macos(app: Path) -> None:
    """Check what the build has checked with macholib once more, with bytes alone."""
    magics = Counter(path.read_bytes()[:8] for path in files(app))
    arm64 = b"\xcf\xfa\xed\xfe\x0c\x00\x00\x01"
    assert magics[arm64] > 20
    assert not [magic for magic in magics if magic[:4] in (b"\xca\xfe\xba\xbe", b"\xce\xfa\xed\xfe", b"\x7fELF")]
    assert {magic for magic in magics if magic[:4] == b"\xcf\xfa\xed\xfe"} == {arm64}


def test_what_is_never_imported_stays_out(app: Path) -> None:
    site = app / "Contents" / "Resources" / "app_packages"
    present = {path.name for path in site.iterdir()}
    assert present >= {"PySide6", "mlx", "mlx_lm", "rubicon", "tokenizers"}
    assert not present & {"transformers", "huggingface_hub", "numpy", "pydantic", "sentencepiece", "jeepney", "yaml"}
    frameworks = {path.stem for path in site.rglob("*.framework")}
    assert frameworks == {"QtCore", "QtDBus", "QtGui", "QtPrintSupport", "QtSvg", "QtWidgets"}
    suffixes = Counter(path.suffix for path in files(app))
    assert not suffixes.keys() & {".py", ".pyi", ".h", ".a", ".app"}
    assert {path.read_bytes()[:4] for path in files(app) if path.suffix == ".pyc"} == {importlib.util.MAGIC_NUMBER}


def test_the_bill_of_materials_names_every_part(app: Path) -> None:
    bill = json.loads((app / "Contents" / "Resources" / "sbom.cdx.json").read_text())
    parts = {part["name"]: part for part in bill["components"]}
    assert parts.keys() >= {"CPython", "PySide6_Essentials", "mlx", "mlx-metal", "rubicon-objc"}
    assert parts["PySide6_Essentials"]["version"].startswith("6.9.")
    everything = [each for part in (bill["metadata"]["component"], *parts.values()) for each in part["components"]]
    listed = [each["name"] for each in everything if each["type"] == "file"]
    assert len(listed) == len(set(listed)) == len(files(app)) - 1
    assert (app / "Contents" / "Resources" / "licences" / "LGPL-3.0-only.txt").is_file()


def test_the_size_is_what_the_readme_says(app: Path) -> None:
    """Check the sum of the sizes: on a Mac's disk it is less, as the file system compresses it."""
    assert sum(path.stat().st_size for path in files(app)) / 2**20 < 285


def test_damage_is_noticed(app: Path, tmp_path: Path) -> None:
    copy = tmp_path / "Sotto.app"
    subprocess.run(["cp", "-al", app, copy], check=True)
    checks = ROOT / "packaging" / "macos" / "checks.py"
    assert subprocess.run([TOOLS, checks, copy], capture_output=True, text=True).stdout == ""
    shutil.rmtree(copy / "Contents/Resources/app_packages/PySide6/Qt/lib/QtDBus.framework")
    result = subprocess.run([TOOLS, checks, copy], capture_output=True, text=True)
    assert result.returncode == 1
    asked = "QtGui.framework/Versions/A/QtGui asks for @rpath/QtDBus.framework/Versions/A/QtDBus"
    assert any(line.endswith(asked) for line in result.stdout.splitlines())


def test_without_a_python_the_app_starts_an_installed_one(app: Path, tmp_path: Path) -> None:
    result = build(tmp_path)
    assert result.returncode == 0
    assert f"The app has no Python: it starts the Python {VERSION} that is installed on a Mac" in result.stderr
    assert not (tmp_path / "Sotto.app" / "Contents" / "Frameworks").exists()
    program = (tmp_path / "Sotto.app" / "Contents" / "MacOS" / "Sotto").read_bytes()
    assert b"/Library/Frameworks/Python.framework/" in program


def test_a_python_that_does_not_fit_is_refused_before_anything_is_built(tmp_path: Path) -> None:
    result = build(tmp_path / "out", "--python-support", ROOT / "resources")
    assert result.returncode == 1
    reason = f"resources has no library of Python {VERSION} for macOS: name python-build-standalone's"
    assert reason in result.stderr
    assert "Traceback" not in result.stderr


@pytest.fixture(scope="session")
def on_linux(app: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the contents of the app with this system's own launcher, Python and libraries."""
    library = Path(sysconfig.get_config_var("LIBDIR"), sysconfig.get_config_var("INSTSONAME"))
    if not library.name.startswith("libpython") or not library.is_file():
        pytest.skip("this Python has no shared library")
    contents = tmp_path_factory.mktemp("an app ä ☃") / "Sotto.app" / "Contents"
    shutil.copytree(app / "Contents" / "Resources", contents / "Resources", symlinks=True)
    packages, site = contents / "Resources" / "app_packages", Path(sysconfig.get_path("purelib"))
    for path in files(packages):
        if path.suffix in (".so", ".dylib", ".metallib"):
            path.unlink()
    # Of Qt, Linux has another version.
    for name in ("PySide6", "shiboken6"):
        shutil.rmtree(packages / name)
        shutil.copytree(
            site / name, packages / name, ignore=shutil.ignore_patterns("*.pyi", "qml", "metatypes", "include")
        )
    for path in site.rglob("*.so*"):
        target = packages / path.relative_to(site)
        package = path.relative_to(site).parts[0]
        if ((packages / package).exists() or package == "mlx_cpu.libs") and not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, target)
    framework = contents / "Frameworks" / "Python.framework" / "Versions" / VERSION
    framework.mkdir(parents=True)
    (framework / "Python.so").symlink_to(library)
    (framework / "lib").symlink_to(Path(sysconfig.get_path("stdlib")).parent)
    (contents / "MacOS").mkdir()
    source = ROOT / "packaging" / "macos" / "launcher.c"
    command = [TOOLS, "-m", "ziglang", "cc", f'-DVERSION="{VERSION}"', source, "-o", contents / "MacOS" / "Sotto"]
    subprocess.run(command, check=True, timeout=600)
    return contents


def environment(home: Path) -> dict[str, str]:
    return {"HOME": str(home), "PATH": os.environ["PATH"], "QT_QPA_PLATFORM": "offscreen", "LANG": "C.UTF-8"}


def test_what_is_in_the_app_answers(on_linux: Path, tmp_path: Path) -> None:
    """Run the app's own bytecode, packages, start and launcher; only what is compiled is this system's."""
    command = [on_linux / "MacOS" / "Sotto", "run", "sotto", "Who are you?"]
    result = subprocess.run(command, capture_output=True, text=True, env=environment(tmp_path), timeout=300)
    assert result.returncode == 0, result.stderr
    assert "Sotto" in result.stdout


def test_what_is_in_the_app_opens_its_window(on_linux: Path, tmp_path: Path) -> None:
    command = [on_linux / "MacOS" / "Sotto"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment(tmp_path))
    try:
        # The chats are opened once the window has begun.
        deadline = time.monotonic() + 120
        while not list(tmp_path.rglob("chats.sqlite3")) and time.monotonic() < deadline and process.poll() is None:
            time.sleep(0.2)
        time.sleep(3)
        process.terminate()
        _, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    assert list(tmp_path.rglob("chats.sqlite3"))
    assert "Traceback" not in errors
    assert process.returncode == 0, errors
