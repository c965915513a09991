"""The script that the README's two commands run, as far as it can be tested without setting up a machine."""

import hashlib
import io
import re
import shutil
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import checkout
import installing
import start

START = Path(__file__).resolve().parents[2] / "packaging" / "start.py"
OLD_PYTHONS = ("2.7", "3.6", "3.8", "3.10")


def wheel() -> bytes:
    """Return a wheel that holds next to nothing."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        archive.writestr("pip/__main__.py", b"print(26)")
    return written.getvalue()


WHEEL = wheel()


class Index(BaseHTTPRequestHandler):
    """A package index whose only file is not what was published under its name."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        body = b'<a href="../../files/pip-26.1-py3-none-any.whl#sha256=00">pip</a>' if "simple" in self.path else WHEEL
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Do not log."""


@pytest.fixture
def index() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Index)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def old_python(version: str) -> Path | None:
    """Return a Python of an old version, where pyenv or the system has one."""
    kept = sorted((Path.home() / ".pyenv" / "versions").glob(f"{version}.*/bin/python"))
    found = shutil.which(f"python{version}", path="/usr/bin:/usr/local/bin:/opt/homebrew/bin")
    return kept[0] if kept else Path(found) if found else None


@pytest.mark.parametrize("version", OLD_PYTHONS)
def test_every_old_python_says_in_one_sentence_what_is_needed(version: str) -> None:
    python = old_python(version)
    if python is None:
        pytest.skip(f"there is no Python {version} here")
    result = subprocess.run([python, START], env={"PATH": "/nowhere"}, capture_output=True, text=True)
    assert result.returncode == 1
    assert re.fullmatch(
        rf"Sotto needs Python 3\.11 or newer, this is {re.escape(version)}\.\d+: "
        r"install one from python\.org, Homebrew or your distribution and type the line again\.\n",
        result.stderr,
    )


def test_an_old_python_starts_a_newer_one_that_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    newer = tmp_path / "python3.12"
    newer.write_text("#!/bin/sh\n")
    newer.chmod(0o755)
    started: list[list[str]] = []
    monkeypatch.setattr(start.sys, "version_info", (3, 9, 2))
    monkeypatch.setenv("PATH", f"/nowhere:{tmp_path}")
    monkeypatch.setattr(start.os, "execv", lambda _, command: started.append(command))
    with pytest.raises(SystemExit, match=r"needs Python 3\.11 or newer, this is 3\.9\.2"):
        start.run_in_newer_python(["test", "-x"])
    assert started == [[str(newer), str(START), "test", "-x"]]


def test_a_pip_with_a_wrong_hash_is_refused(index: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", f"{index}/simple")
    with pytest.raises(installing.InstallError, match="not the file that was published"):
        installing.fetch_pip(tmp_path)


def test_an_unreachable_index_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    with pytest.raises(installing.InstallError, match=r"127\.0\.0\.1:9"):
        installing.fetch_pip(tmp_path)


def test_relative_links_of_the_index_are_followed(index: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", f"{index}/simple/")
    monkeypatch.setattr(installing, "PIP", ("26.1", hashlib.sha256(WHEEL).hexdigest()))
    found = installing.fetch_pip(tmp_path)
    assert (found / "__main__.py").read_bytes() == b"print(26)"
    assert list(tmp_path.iterdir()) == [found.parent]
    # It is kept for the next time.
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    assert installing.fetch_pip(tmp_path) == found


def test_changed_native_sources_or_compilers_repeat_the_setup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "packaging").mkdir()
    (tmp_path / "desktop" / "native" / "part").mkdir(parents=True)
    for name in ("pyproject.toml", "packaging/build_hook.py", "packaging/native_build.py"):
        (tmp_path / name).write_text(name)
    source = tmp_path / "desktop" / "native" / "part" / "a.cpp"
    source.write_text("one")
    monkeypatch.setattr(checkout, "ROOT", tmp_path)
    monkeypatch.setattr(checkout, "can_compile", lambda: True)
    seen = {checkout.state_digest(), checkout.state_digest()}
    assert len(seen) == 1
    source.write_text("two")
    seen.add(checkout.state_digest())
    source.rename(source.with_name("b.cpp"))
    seen.add(checkout.state_digest())
    monkeypatch.setattr(checkout, "can_compile", lambda: False)
    seen.add(checkout.state_digest())
    assert len(seen) == 4


def test_a_compiler_is_installed_only_if_missing_and_possible(monkeypatch: pytest.MonkeyPatch) -> None:
    installed: list[str] = []
    monkeypatch.setattr(installing.sys, "platform", "linux")
    monkeypatch.setattr(installing, "install_packages", installed.extend)
    for lacking, root, expected in ((False, True, False), (True, False, False), (True, True, True)):
        installed.clear()
        monkeypatch.setattr(installing, "can_compile", lambda _, lacking=lacking: not lacking)
        monkeypatch.setattr(installing, "can_install_packages", lambda root=root: root)
        installing.provide_compiler()
        assert ("g++" in installed) is expected


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of an environment that was set up for an earlier state, in a checkout without a network."""
    scripts = tmp_path / ".venv" / "bin"
    scripts.mkdir(parents=True)
    python = scripts / "python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    (tmp_path / "pyproject.toml").write_text(
        '[project]\ndependencies = ["pytest>=999", "jinja2"]\noptional-dependencies.test = []\n[dependency-groups]\n'
        "weights = []\nsuites = []\n"
    )
    monkeypatch.setattr(checkout, "ROOT", tmp_path)
    monkeypatch.setattr(checkout, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(checkout, "STAMP", tmp_path / ".venv" / "sotto-ready")
    monkeypatch.setattr(checkout, "UNFINISHED", tmp_path / ".venv" / "sotto-unfinished")
    monkeypatch.setattr(checkout, "can_be_written", lambda _: True)
    monkeypatch.setattr(checkout.native_build, "why_missing", lambda: "")
    monkeypatch.setattr(checkout, "state_digest", lambda: "now")
    monkeypatch.setattr(checkout, "provide_compiler", lambda: None)
    monkeypatch.setattr(checkout, "can_compile", lambda: True)

    def fail(*_: object) -> None:
        raise installing.InstallError("Installing packages failed, see pip's messages above.")

    monkeypatch.setattr(checkout, "run_pip", fail)
    checkout.STAMP.write_text("earlier\njinja2\npytest>=8")
    return tmp_path


def test_without_a_network_an_older_environment_starts(environment: Path, capsys: pytest.CaptureFixture[str]) -> None:
    checkout.make_environment("", 0)
    assert capsys.readouterr().err == (
        "Bringing the packages in .venv up to date.\n"
        "Installing packages failed, see pip's messages above. Sotto starts with what is installed: "
        f"pytest {pytest.__version__} instead of pytest>=999.\n"
    )
    assert checkout.STAMP.read_text() == "earlier\njinja2\npytest>=8", "the next start must try again"


def test_changed_kernels_do_not_keep_an_environment_from_starting(
    environment: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    checkout.STAMP.write_text("earlier\njinja2\npytest>=999")
    checkout.make_environment("", 0)
    assert "installed: the native kernels are those of an earlier state." in capsys.readouterr().err


@pytest.mark.skipif(sys.platform != "linux", reason="the kernels are built on Linux only")
def test_a_missing_compiler_is_named_while_it_can_be_mended(
    environment: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(checkout, "can_compile", lambda: False)
    checkout.make_environment("", 0)
    assert (
        "Without a C++ compiler and Python's headers, answers take many times longer: install them "
        "(on Debian: sudo apt-get install g++ python3-dev) and type the line again.\n"
    ) in capsys.readouterr().err


def test_a_package_that_is_missing_stops_the_start(environment: Path) -> None:
    settings = environment / "pyproject.toml"
    settings.write_text(settings.read_text().replace("jinja2", "no-such-package>=2"))
    with pytest.raises(installing.InstallError, match=r"^no-such-package, which Sotto needs, cannot be installed"):
        checkout.make_environment("", 0)


@pytest.mark.parametrize("extra", ["", "test"])
def test_a_first_setup_and_tests_need_every_package(environment: Path, extra: str) -> None:
    if not extra:
        checkout.STAMP.unlink()
    with pytest.raises(SystemExit, match=r"^Installing packages failed, .* above\. Type the line again to go on\.$"):
        checkout.main([extra] if extra else [])


def test_what_is_installed_is_remembered(environment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[list[str]] = []
    monkeypatch.setattr(checkout, "run_pip", lambda _, steps, *more: commands.extend(steps))
    checkout.make_environment("", 0)
    assert commands[0] == ["install", "--no-compile", "pytest>=999", "jinja2"]
    assert checkout.STAMP.read_text().splitlines() == ["jinja2", "now", "pytest>=999"]
    commands.clear()
    checkout.make_environment("", 0)
    assert commands == []


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], ["-n", "logical"]),
        (["--all"], ["-n", "logical", "-m", "", "--hypothesis-profile", "full"]),
        (["tests/store"], ["tests/store"]),
        (["tests/store", "--all"], ["tests/store", "-m", "", "--hypothesis-profile", "full"]),
    ],
)
def test_arguments_choose_what_is_tested(
    monkeypatch: pytest.MonkeyPatch, arguments: list[str], expected: list[str]
) -> None:
    called: list[list[str]] = []
    monkeypatch.setattr(checkout, "PARALLEL", ("-n", "logical"))

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        called.append(command)
        return subprocess.CompletedProcess(command, 0, "")

    monkeypatch.setattr(checkout.subprocess, "run", run)
    assert checkout.run_checks(arguments) == 0
    assert [str(checkout.script("mypy"))] in called
    assert called[-1] == [str(checkout.script("pytest")), *expected]


@pytest.mark.parametrize("failing", ["ruff", "lint-imports", "mypy", "pytest"])
def test_a_check_that_fails_is_named_and_fails_the_run(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], failing: str
) -> None:
    monkeypatch.setattr(checkout, "script", lambda name: Path("/bin/false" if name == failing else "/bin/true"))
    assert checkout.run_checks([]) == 1
    assert f"Failed: {failing}" in capfd.readouterr().err
    monkeypatch.setattr(checkout, "script", lambda _: Path("/bin/true"))
    assert checkout.run_checks([]) == 0
