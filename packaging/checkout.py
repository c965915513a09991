"""What `start.py` does once a new enough Python runs: set up `.venv`, and start the app or the checks."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import platform
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import native_build
from installing import (
    ROOT,
    InstallError,
    ask,
    can_compile,
    make_venv,
    provide_compiler,
    provide_libraries,
    run_pip,
    say,
)
from unwritable import can_be_written, start_copy

VENV = ROOT / ".venv"
# What is installed, in lines: the digest of the state, each extra, and each requirement.
STAMP = VENV / "sotto-ready"
# There while packages are being installed: an interruption leaves it, and parts of a package.
UNFINISHED = VENV / "sotto-unfinished"
# Source distributions of packages whose tests we use.
SUITES = VENV / "share" / "sotto-suites"
# The scripts that build the native kernels from desktop/native.
BUILDERS = ("build_hook.py", "native_build.py")
CHECKS: tuple[tuple[str, ...], ...] = (("ruff", "format", "--check", "."), ("ruff", "check", "."), ("lint-imports",))
TYPES: tuple[str, ...] = ("mypy",)
# Several processes, each with up to a gigabyte of memory; one more than there are cores, as some tests wait for a
# network or a process. All tests of a file run in the same one, so that they share fixtures.
# WORKAROUND: crashed processes are not restarted, as pytest-xdist then waits forever for the rest of the file. Retry
# with its next release.
PARALLEL = (
    "-n",
    str(min(4, (os.cpu_count() or 1) + 1)),
    "--dist",
    "loadfile",
    "--no-loadscope-reorder",
    "--max-worker-restart",
    "0",
)
# The status of a program that was ended by Ctrl+C.
INTERRUPTED = 130
# For --all: also the tests marked `full`, and more Hypothesis examples.
EVERYTHING = ("-m", "", "--hypothesis-profile", "full")


def main(arguments: list[str]) -> int:
    """Set up and run the app or the checks, and return the exit status."""
    if sys.platform == "darwin" and platform.machine() != "arm64":
        sys.exit("Sotto runs on Apple silicon: MLX has no build for Intel Macs.")
    testing = arguments[:1] == ["test"]
    extra = "test" if testing else ""
    try:
        provide_compiler()
        if not is_ready(extra):
            if not can_be_written(ROOT):
                start_copy(arguments)
            with one_at_a_time() as lock:
                make_environment(extra, lock)
    except InstallError as error:
        sys.exit(f"{error} Type the line again to go on.")
    except OSError as error:
        sys.exit(f"{error.filename or ROOT} cannot be set up: {error.strerror}. Type the line again to go on.")
    except KeyboardInterrupt:
        say("Stopped. Type the line again to go on.")
        return INTERRUPTED
    display = sys.platform != "linux" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
    if testing or display:
        install_line = provide_libraries(windows=display and not testing)
        if testing and install_line:
            sys.exit(f"The tests draw windows, which needs this line first:\n    {install_line}")
    if testing:
        return run_checks(arguments[1:])
    return subprocess.call([str(script("sotto")), *arguments])


def script(name: str) -> Path:
    """Return the path of a command in the virtual environment."""
    return VENV / "bin" / name


def state_digest() -> str:
    """Return a digest of everything that the environment depends on, including whether kernels can be compiled."""
    digest = hashlib.sha256(sys.version.encode())
    sources = sorted(path for path in (ROOT / "desktop" / "native").rglob("*") if path.is_file())
    for path in (ROOT / "pyproject.toml", *(ROOT / "packaging" / name for name in BUILDERS), *sources):
        digest.update(f"{path.relative_to(ROOT)}\0{path.stat().st_size}\0".encode() + path.read_bytes())
    digest.update(f"{can_compile()}".encode())
    return digest.hexdigest()


def is_ready(extra: str) -> bool:
    """Return whether `.venv` has been set up for the current state, with the given extra."""
    done = what_is_done()
    return state_digest() in done and (not extra or extra in done) and is_usable(script("python"))


def what_is_done() -> set[str]:
    """Return the lines that were written after the last setup; none if one is under way or was interrupted."""
    return set(STAMP.read_text().splitlines()) if STAMP.is_file() and not UNFINISHED.exists() else set()


@contextlib.contextmanager
def one_at_a_time() -> Iterator[int]:
    """Wait until no other start sets up this checkout, and yield a file descriptor that keeps others waiting.

    Commands that inherit it do so, too: if this start is killed, the next one waits for its pip.
    """
    with (ROOT / "pyproject.toml").open("rb+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(
                "Another start is setting up this checkout, and says how far it is. This one goes on once that is done."
            )
            fcntl.flock(file, fcntl.LOCK_EX)
        yield file.fileno()


def make_environment(extra: str, lock: int) -> None:
    """Create `.venv` and install Sotto with the given extra, unless that has been done for the current state.

    Without a network, an environment from an earlier state is good enough for the app if it has every package.

    Args:
        extra: `test`, or nothing.
        lock: The file descriptor that keeps other starts waiting.

    Raises:
        InstallError: It cannot be done.
    """
    if is_ready(extra):
        return
    state, done, usable = state_digest(), what_is_done(), is_usable(script("python"))
    interrupted, first = UNFINISHED.exists(), not usable or not done
    if interrupted:
        say("The last setup was interrupted: it begins again, with what it has downloaded.")
    elif first:
        say("Setting up Sotto in .venv; the first time takes a minute or two.")
    else:
        say("Bringing the packages in .venv up to date.")
    if lacks_compiler := sys.platform == "linux" and not can_compile():
        say(
            "Without a C++ compiler and Python's headers, answers take many times longer: install them "
            "(on Debian: sudo apt-get install g++ python3-dev) and type the line again."
        )
    if interrupted or not usable:
        make_venv(VENV)
    wanted = requirements(extra)
    try:
        run_pip(script("python"), installation_steps(wanted, extra), UNFINISHED.touch, (lock,))
    except InstallError as error:
        # Pip has restored what it was about to replace.
        UNFINISHED.unlink(missing_ok=True)
        if first or extra:
            raise
        say(f"{error} Sotto starts with what is installed: {what_is_old(wanted, done)}.")
        return
    if not lacks_compiler and (why := native_build.why_missing()):
        say(f"The native kernels could not be built, and answers take many times longer: {why}.")
    kept = done if state in done else set()
    STAMP.write_text("\n".join(sorted({*kept, *wanted, state, extra} - {""})))
    UNFINISHED.unlink(missing_ok=True)


def requirements(extra: str) -> list[str]:
    """Return the packages that Sotto needs, as `pyproject.toml` states them."""
    project = read_settings()["project"]
    return [*project["dependencies"], *(project["optional-dependencies"][extra] if extra else ())]


def what_is_old(wanted: Iterable[str], done: set[str]) -> str:
    """Return which of the wanted packages are installed in an earlier version.

    Raises:
        InstallError: One is not installed at all, so that Sotto cannot start.
    """
    versions = dict(line.split("==") for line in ask(script("python"), _LIST_PACKAGES).splitlines())
    old = []
    for line in wanted:
        if line in done:
            continue
        name = re.split(r"[^\w.-]", line, maxsplit=1)[0]
        version = versions.get(name.lower().replace("_", "-"))
        if version is not None:
            old.append(f"{name} {version} instead of {line.partition(';')[0].strip()}")
        elif ";" not in line:
            raise InstallError(f"{name}, which Sotto needs, cannot be installed, see pip's messages above.")
    return ", ".join(old) or "the native kernels are those of an earlier state"


_LIST_PACKAGES = """
from importlib.metadata import distributions
for package in distributions():
    print(package.metadata["Name"].lower().replace("_", "-"), package.version, sep="==")
"""


def installation_steps(wanted: list[str], extra: str) -> list[list[str]]:
    """Return the pip commands that install Sotto; none depends on another, as each installs packages of its own.

    Installing Sotto compiles the kernels while its dependencies are unpacked. Bytecode is compiled at the first import,
    as most modules are never imported.
    """
    install = ["install", "--no-compile"]
    steps = [[*install, *wanted], [*install, "--no-deps", "-e", str(ROOT)]]
    if extra == "test":
        groups = read_settings()["dependency-groups"]
        # Tests need only the files of these packages, not what they depend on.
        steps.append([*install, "--no-deps", *groups["weights"]])
        steps.append(["download", "--no-deps", "--no-binary", "jsonschema", "-d", str(SUITES), *groups["suites"]])
    return steps


def read_settings() -> dict[str, Any]:
    """Return the content of `pyproject.toml`."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def is_usable(python: Path) -> bool:
    """Return whether an environment's Python starts and has the version of the one that runs this script."""
    if not python.exists():
        return False
    result = subprocess.run([str(python), "-c", "import sys; print(sys.version)"], capture_output=True, text=True)
    return result.returncode == 0 and result.stdout.strip() == sys.version.strip()


def run_checks(arguments: list[str]) -> int:
    """Run every check even if an earlier one fails, and return 0 only if all pass."""
    chosen = [argument for argument in arguments if argument != "--all"] or [*PARALLEL]
    if "--all" in arguments:
        chosen += EVERYTHING
    # The tests start many processes, which share compiled bytecode here.
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(VENV / "bytecode"), "PYTHONDONTWRITEBYTECODE": ""}
    failed = [command for command in CHECKS if run(command, environment) != 0]
    tests = ("pytest", *chosen)
    with ThreadPoolExecutor() as pool:
        types = pool.submit(run_quietly, TYPES, environment)
        if "-n" in chosen:
            # Compiles the tests' bytecode beside the check of types; otherwise each of the parallel processes would.
            run_quietly(("pytest", "--collect-only", "-q"), environment)
        failed += [tests] if run(tests, environment) != 0 else []
        failed += [TYPES] if types.result() != 0 else []
    if failed:
        say("Failed: " + "; ".join(map(shlex.join, failed)))
    return 1 if failed else 0


def run(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run a command of the virtual environment, and return its exit status."""
    say("$ " + shlex.join(command))
    return subprocess.run([str(script(command[0])), *command[1:]], cwd=ROOT, env=environment).returncode


def run_quietly(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run a command of the virtual environment, print its output if it fails, and return its exit status."""
    result = subprocess.run(
        [str(script(command[0])), *command[1:]],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if result.returncode != 0:
        say(f"\n$ {shlex.join(command)}\n{result.stdout}")
    return result.returncode
