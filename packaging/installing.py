"""Installing what is needed on a machine with only Python: packages from PyPI, and from Debian where we may.

Shared by `start.py`, which sets up a checkout, and `build.py`, which builds what people install. Both use the standard
library only.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import hashlib
import io
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import threading
import urllib.parse
import urllib.request
import zipfile
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from progress import PipRun, Progress

ROOT = Path(__file__).resolve().parent.parent
PIP = ("26.1", "4e8486d821d814b77319acb7b9e8bf5a4ee7590a643e7cb21029f209be8573c1")


# How long pip may take to end after it has been asked to.
ENDING_S = 5.0
# Less room than this on a disk is what is left of a full one.
NEXT_TO_NOTHING = 1 << 20


class InstallError(Exception):
    """Something cannot be installed; the message is a sentence for the person who started the script."""


def say(text: str) -> None:
    """Print a line to stderr."""
    print(text, file=sys.stderr, flush=True)


def can_compile(python: str | Path = sys.executable) -> bool:
    """Return whether a C++ compiler and a Python's headers, which the native kernels need, are installed."""
    compiler = os.environ.get("CXX", "").split()[:1] or ["g++", "clang++", "c++"]
    return any(map(shutil.which, compiler)) and Path(include_folder(str(python)), "Python.h").is_file()


@functools.cache
def include_folder(python: str) -> str:
    """Return the folder of a Python's headers."""
    if python == sys.executable:
        return sysconfig.get_paths()["include"]
    return ask(python, "import sysconfig; print(sysconfig.get_paths()['include'])")


def ask(python: str | Path, code: str) -> str:
    """Run `code` in another Python, and return what it prints.

    Raises:
        InstallError: It fails.
    """
    try:
        result = subprocess.run([str(python), "-c", code], capture_output=True, text=True)
    except OSError as error:
        raise InstallError(f"{python} cannot be started: {error.strerror}.") from error
    if result.returncode != 0:
        raise InstallError(f"{python} does not work: {result.stderr.strip() or f'it exits with {result.returncode}'}.")
    return result.stdout.strip()


def provide_compiler(python: str | Path = sys.executable) -> None:
    """Install a C++ compiler and a Python's headers if they are missing and we may."""
    if sys.platform == "linux" and not can_compile(python) and can_install_packages():
        include = include_folder(str(python))
        headers = [f"lib{Path(include).name}-dev"] if include.startswith("/usr/include/") else []
        install_packages(["g++", *headers])


def make_venv(folder: Path, python: str | Path = sys.executable) -> Path:
    """Create a virtual environment without pip, and return its Python.

    Raises:
        InstallError: That Python has no module `venv`, or the folder cannot be written.
    """
    result = subprocess.run(
        [str(python), "-m", "venv", "--clear", "--symlinks", "--without-pip", str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    said = result.stdout.strip()[-500:]
    if "No module named" in said:
        raise InstallError(
            f"{python} has no module venv, which Sotto is set up with: install it "
            "(on Debian: sudo apt-get install python3-venv)."
        )
    if result.returncode != 0:
        raise InstallError(f"{folder} cannot be made a virtual environment: {said}")
    return folder / "bin" / "python"


def run_pip(
    python: Path,
    steps: Sequence[Sequence[str]],
    begin_installing: Callable[[], None] = lambda: None,
    keep_open: Sequence[int] = (),
) -> None:
    """Run pip commands for an environment at the same time, and say what is being installed.

    Args:
        python: The environment's.
        steps: The arguments of each command.
        begin_installing: Called in a thread once, before the first file of the environment changes.
        keep_open: File descriptors that the commands hold, too.

    Raises:
        InstallError: One of them fails; its own messages have been printed.
    """
    folder = python.parent.parent
    command = [*pip_command(folder), "--python", str(python)]
    options = ("--disable-pip-version-check", "--progress-bar", "off")
    (site,) = (folder / "lib").glob("python3.*/site-packages")
    with tempfile.TemporaryDirectory(prefix="installing-", dir=folder) as temporary:
        # Files are downloaded into the folder for temporary ones, which is often a small one in memory.
        environment = {**os.environ, "PIP_ROOT_USER_ACTION": "ignore", "PYTHONUNBUFFERED": "1", "TMPDIR": temporary}
        processes = [
            subprocess.Popen(
                [*command, *step, *options],
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                pass_fds=keep_open,
                # Ctrl+C in a terminal goes to this process alone: pip would print where it was.
                start_new_session=True,
            )
            for step in steps
        ]
        runs = [PipRun(Path(temporary), site) for _ in steps]
        statuses = follow(processes, runs, begin_installing)
        # Not every message of pip's says so: it may find, say, a file of its own cut short.
        full = any(run.disk_is_full for run in runs) or shutil.disk_usage(folder).free < NEXT_TO_NOTHING
    if any(statuses) and full:
        raise full_disk(folder)
    if any(statuses):
        raise InstallError("Installing packages failed, see pip's messages above.")


def follow(
    processes: Sequence[subprocess.Popen[str]], runs: Sequence[PipRun], begin_installing: Callable[[], None]
) -> list[int]:
    """Show what pip commands do until all have ended, and return their statuses."""
    begun = threading.Lock()

    def read(output: Iterable[str] | None, run: PipRun) -> None:
        for line in output or ():
            begins = run.read(line)
            if run.installs and begun.acquire(blocking=False):
                begin_installing()
            if begins:
                progress.begin(run)

    def pass_on(errors: Iterable[str] | None, run: PipRun) -> None:
        for line in errors or ():
            run.read(line)
            progress.say(line.rstrip())

    with Progress(runs) as progress, ThreadPoolExecutor(2 * len(runs)) as pool:
        readers = [pool.submit(read, process.stdout, run) for process, run in zip(processes, runs, strict=True)]
        readers += [pool.submit(pass_on, process.stderr, run) for process, run in zip(processes, runs, strict=True)]
        try:
            statuses = [process.wait() for process in processes]
        except KeyboardInterrupt:
            end(processes)
            raise
        for reader in readers:
            reader.result()
    return statuses


def end(processes: Iterable[subprocess.Popen[str]]) -> None:
    """End commands and what they have started."""
    for process in processes:
        for signal_number in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal_number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=ENDING_S)
                break


def pip_command(folder: Path) -> list[str]:
    """Return a pip that can install into other environments: this Python's, Debian's or a downloaded one.

    Args:
        folder: Where a downloaded one is kept.

    Raises:
        InstallError: There is none, and none can be downloaded.
    """
    own_pip = [sys.executable, "-m", "pip"]
    if pip_is_new_enough(own_pip):
        return own_pip
    if can_install_packages():
        install_packages(["python3-pip", "ca-certificates"])
        if pip_is_new_enough(own_pip):
            return own_pip
    return [sys.executable, str(fetch_pip(folder))]


def pip_is_new_enough(command: list[str]) -> bool:
    """Return whether `command` is a pip that supports `--python`, which is 22.3 or newer."""
    result = subprocess.run([*command, "--version"], capture_output=True, text=True)
    version = re.match(r"pip (\d+)\.(\d+)", result.stdout)
    return version is not None and (int(version[1]), int(version[2])) >= (22, 3)


def fetch_pip(folder: Path) -> Path:
    """Return the runnable path of a pinned pip, downloaded from the package index if it is not in a folder.

    It is unpacked there: of a pip that runs from its wheel, no bytecode is kept, so that each of its processes would
    compile it again.

    Raises:
        InstallError: The index cannot be reached, or has another file under that name.
    """
    version, digest = PIP
    index = os.environ.get("PIP_INDEX_URL", "https://pypi.org/simple").rstrip("/") + "/pip/"
    name = f"pip-{version}-py3-none-any.whl"
    unpacked = folder / f"pip-{version}"
    if unpacked.is_dir():
        return unpacked / "pip"
    try:
        with urllib.request.urlopen(index, timeout=60) as response:
            link = re.search(rf'href="([^"#]*{re.escape(name)})[#"]', response.read().decode())
        if link is None:
            raise OSError(f"it does not list {name}")
        with urllib.request.urlopen(urllib.parse.urljoin(index, link.group(1)), timeout=60) as response:
            content = response.read()
    except (OSError, ValueError) as error:
        raise InstallError(
            f"This Python has no pip, and fetching one from {index} failed ({error}): "
            "install pip (on Debian: sudo apt-get install python3-pip ca-certificates)."
        ) from error
    if hashlib.sha256(content).hexdigest() != digest:
        raise InstallError(
            f"{name} from {index} is not the file that was published under that name: nothing was installed."
        )
    try:
        with tempfile.TemporaryDirectory(prefix="unpacking-", dir=folder) as temporary:
            whole = Path(temporary) / "pip"
            zipfile.ZipFile(io.BytesIO(content)).extractall(whole)
            whole.rename(unpacked)
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise full_disk(folder) from error
        raise
    return unpacked / "pip"


def full_disk(folder: Path) -> InstallError:
    """Return the error for a disk without room for an environment in a folder."""
    return InstallError(
        f"The disk is full: Sotto takes 500 MB in {folder}, and half of that again while it is installed."
    )


def provide_libraries(windows: bool) -> str:
    """Install the system libraries that Qt needs if we may; return the command that installs those still missing."""
    sys.path.insert(0, str(ROOT / "desktop"))
    from sotto.cli import linux_packages

    missing = linux_packages.missing(windows=windows)
    if missing and can_install_packages():
        install_packages(sorted(set(missing.values())))
        missing = linux_packages.missing(windows=windows)
    return linux_packages.install_line(sorted(set(missing.values()))) if missing else ""


def can_install_packages() -> bool:
    """Return whether this is root on a Debian-like system."""
    return os.name == "posix" and os.geteuid() == 0 and shutil.which("apt-get") is not None


def install_packages(packages: list[str]) -> None:
    """Install Debian packages; after a failure the later checks find what is missing."""
    say(f"Installing {' '.join(packages)} ...")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    install = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages]
    for command in (["apt-get", "update", "-qq"], install):
        result = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if result.returncode != 0:
            say(f"{' '.join(command)} failed: {result.stdout.strip()[-500:]}")
