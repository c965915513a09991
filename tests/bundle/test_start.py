"""The script that the README's two commands run, as far as it can be tested without setting up a machine."""

import ast
import importlib.util
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType

import pytest

START = Path(__file__).resolve().parents[2] / "packaging" / "start.py"


@pytest.fixture
def start() -> ModuleType:
    spec = importlib.util.spec_from_file_location("sotto_start", START)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Index(BaseHTTPRequestHandler):
    """A package index whose only file has the wrong content."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        body = (
            b'<a href="../../files/pip-26.1-py3-none-any.whl#sha256=00">pip</a>' if "simple" in self.path else b"evil"
        )
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


def test_old_pythons_can_parse_the_script() -> None:
    ast.parse(START.read_text(), feature_version=(3, 7))


def test_an_old_python_is_told_what_is_needed(start: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start.sys, "version_info", (3, 9, 2))
    monkeypatch.setattr(start.shutil, "which", lambda _: None)
    with pytest.raises(SystemExit, match=r"needs Python 3\.11 or newer"):
        start.ensure_python([])


def test_a_pip_with_a_wrong_hash_is_refused(start: ModuleType, index: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", f"{index}/simple")
    with pytest.raises(SystemExit, match="not the file that was published"):
        start.fetch_pip()


def test_an_unreachable_index_is_named(start: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    with pytest.raises(SystemExit, match=r"127\.0\.0\.1:9"):
        start.fetch_pip()


def test_relative_links_of_the_index_are_followed(
    start: ModuleType, index: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import hashlib

    monkeypatch.setenv("PIP_INDEX_URL", f"{index}/simple/")
    monkeypatch.setattr(start, "PIP", ("26.1", hashlib.sha256(b"evil").hexdigest()))
    found = start.fetch_pip()
    assert found.name == "pip"
    assert found.parent.read_bytes() == b"evil"


def test_changed_native_sources_or_compilers_repeat_the_setup(
    start: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "packaging").mkdir()
    (tmp_path / "desktop" / "native" / "part").mkdir(parents=True)
    for name in ("pyproject.toml", "packaging/build_hook.py", "packaging/native_build.py"):
        (tmp_path / name).write_text(name)
    source = tmp_path / "desktop" / "native" / "part" / "a.cpp"
    source.write_text("one")
    monkeypatch.setattr(start, "ROOT", tmp_path)
    monkeypatch.setattr(start, "can_compile", lambda: True)
    seen = {start.state_digest(), start.state_digest()}
    assert len(seen) == 1
    source.write_text("two")
    seen.add(start.state_digest())
    source.rename(source.with_name("b.cpp"))
    seen.add(start.state_digest())
    monkeypatch.setattr(start, "can_compile", lambda: False)
    seen.add(start.state_digest())
    assert len(seen) == 4


def test_a_compiler_is_installed_only_if_missing_and_possible(
    start: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed: list[str] = []
    monkeypatch.setattr(start.sys, "platform", "linux")
    monkeypatch.setattr(start, "install_packages", installed.extend)
    for lacking, root, expected in ((False, True, False), (True, False, False), (True, True, True)):
        installed.clear()
        monkeypatch.setattr(start, "can_compile", lambda lacking=lacking: not lacking)
        monkeypatch.setattr(start, "can_install_packages", lambda root=root: root)
        start.provide_compiler()
        assert ("g++" in installed) is expected


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
    start: ModuleType, monkeypatch: pytest.MonkeyPatch, arguments: list[str], expected: list[str]
) -> None:
    called: list[list[str]] = []
    monkeypatch.setattr(start, "PARALLEL", ("-n", "logical"))

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        called.append(command)
        return subprocess.CompletedProcess(command, 0, "")

    monkeypatch.setattr(start.subprocess, "run", run)
    assert start.run_checks(arguments) == 0
    assert [str(start.script("mypy"))] in called
    assert called[-1] == [str(start.script("pytest")), *expected]


@pytest.mark.parametrize("failing", ["ruff", "lint-imports", "mypy", "pytest"])
def test_a_check_that_fails_is_named_and_fails_the_run(
    start: ModuleType, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], failing: str
) -> None:
    monkeypatch.setattr(start, "script", lambda name: Path("/bin/false" if name == failing else "/bin/true"))
    assert start.run_checks([]) == 1
    assert f"Failed: {failing}" in capfd.readouterr().err
    monkeypatch.setattr(start, "script", lambda _: Path("/bin/true"))
    assert start.run_checks([]) == 0
