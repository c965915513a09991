"""The app's launcher, compiled for this system: what it starts, and what it says when the app lacks something."""

import py_compile
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import sotto

ROOT = Path(__file__).resolve().parents[2]
MACOS = ROOT / "packaging" / "macos"
VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"
LIBRARY = Path(sysconfig.get_config_var("LIBDIR") or "", sysconfig.get_config_var("INSTSONAME") or "")
COMPILER = shutil.which("cc") or shutil.which("g++")
pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="on a Mac, release.sh starts the app itself"),
    pytest.mark.skipif(COMPILER is None, reason="no C compiler is installed"),
    pytest.mark.skipif(not LIBRARY.name.startswith("libpython") or ".so" not in LIBRARY.name or not LIBRARY.is_file(),
                       reason="this Python has no shared library"),
]  # fmt: skip


def compiled(target: Path, *options: str) -> Path:
    """Compile the launcher into a program."""
    target.parent.mkdir(parents=True, exist_ok=True)
    command = [str(COMPILER), "-x", "c", "-Wall", "-Wextra", "-Werror", f'-DVERSION="{VERSION}"', *options]
    subprocess.run([*command, MACOS / "launcher.c", "-o", target, "-ldl"], check=True)
    return target


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("launcher") / "Sotto")


@pytest.fixture
def app(program: Path, tmp_path: Path) -> Path:
    """Return the contents of an app whose packages and Python are those of the tests, in a path that is not simple."""
    contents = tmp_path / "Anwendungen ä ☃" / "Sotto.app" / "Contents"
    python = contents / "Frameworks" / "Python.framework" / "Versions" / VERSION
    for folder in (contents / "MacOS", contents / "Resources" / "app", python):
        folder.mkdir(parents=True)
    shutil.copy2(program, contents / "MacOS" / "Sotto")
    (python / "Python.so").symlink_to(LIBRARY)
    (python / "lib").symlink_to(Path(sysconfig.get_path("stdlib")).parent)
    (contents / "Resources" / "app" / "sotto").symlink_to(ROOT / "desktop" / "sotto")
    (contents / "Resources" / "app_packages").symlink_to(sysconfig.get_path("purelib"))
    py_compile.compile(str(MACOS / "start.py"), str(contents / "Resources" / "start.pyc"), doraise=True)
    return contents


def run(app: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [app / "MacOS" / "Sotto", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env={"HOME": str(app), **environment}, timeout=120)


def test_the_launcher_runs_sotto_in_its_own_process(app: Path) -> None:
    # The person's own settings for Python are none of the app's.
    result = run(app, "--version", PYTHONHOME="/nowhere", PYTHONPATH="/nowhere")
    assert (result.returncode, result.stdout.split()[-1], result.stderr) == (0, sotto.__version__, "")
    result = run(app, "no such command")
    assert result.returncode == 2
    assert "neither a command nor a file" in result.stderr


def test_processes_that_sotto_starts_are_the_launcher_again(app: Path) -> None:
    result = run(app, "doctor")
    assert f"({app / 'MacOS' / 'Sotto'})" in next(line for line in result.stdout.splitlines() if "Python" in line)


def test_an_app_that_is_linked_to_starts(app: Path, tmp_path: Path) -> None:
    link = tmp_path / "sotto"
    link.symlink_to(app / "MacOS" / "Sotto")
    result = subprocess.run([link, "--version"], capture_output=True, text=True, timeout=60)
    assert result.stdout.split()[-1] == sotto.__version__


def test_an_app_that_lacks_something_says_so(app: Path) -> None:
    sentence = "Sotto is incomplete: delete it, and install it again."
    (app / "Resources" / "app_packages").unlink()
    result = run(app, "list")
    assert result.returncode == 78
    lines = result.stderr.splitlines()
    assert lines[0].startswith("Sotto cannot start, as a part of it cannot be loaded: No module named ")
    assert lines[1:] == [sentence]
    (app / "Frameworks" / "Python.framework" / "Versions" / VERSION / "Python.so").unlink()
    result = run(app, "--version")
    assert (result.returncode, result.stderr.splitlines()[-1]) == (78, sentence)
    (app / "Resources" / "start.pyc").unlink()
    result = run(app, "--version")
    assert (result.returncode, result.stderr.splitlines()) == (78, [sentence])


def test_an_app_without_python_names_the_one_to_install(app: Path) -> None:
    compiled(app / "MacOS" / "Sotto", "-DINSTALLED_PYTHON")
    assert run(app, "--version").returncode == 0
    shutil.rmtree(app / "Frameworks")
    result = run(app, "--version")
    assert result.returncode == 78
    assert result.stderr == f"This copy of Sotto comes without Python: install Python {VERSION} from python.org.\n"
