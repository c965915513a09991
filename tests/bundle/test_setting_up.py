"""Starting a checkout in the ways and places in which people do: each says in a sentence what is wrong."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mounts import mounted, read_only
from small_checkout import SmallCheckout

pytestmark = pytest.mark.slow
SETTING_UP = "Setting up Sotto in .venv; the first time takes a minute or two.\n"
AGAIN = "Type the line again to go on.\n"
STARTED = "Started with part 1.0 []\n"


@pytest.fixture
def checkout(tmp_path: Path) -> SmallCheckout:
    return SmallCheckout.create(tmp_path / "a place ä ☃" / "sotto", tmp_path / "aside")


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> SmallCheckout:
    """Return a checkout that has been started once; tests leave its environment as it is."""
    folder = tmp_path_factory.mktemp("prepared")
    made = SmallCheckout.create(folder / "a place ä ☃" / "sotto", folder / "aside")
    result = made.start("a file", "ä.txt")
    assert result.stdout == "Started with part 1.0 ['a file', 'ä.txt']\n"
    assert result.stderr.startswith(SETTING_UP)
    return made


@pytest.fixture
def held(checkout: SmallCheckout, tmp_path: Path) -> Iterator[Callable[[], "subprocess.Popen[str]"]]:
    """Return a function that starts it until its packages are being installed; `hold` in the folder is there till then.

    What it leaves running ends when `hold` is gone.
    """
    hold = tmp_path / "hold"
    hold.touch()
    started = []

    def start() -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            checkout.command(),
            env=checkout.environment(SOTTO_TEST_HOLD=str(hold)),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        started.append(process)
        wait(lambda: (tmp_path / "building").exists() and (checkout.venv / "sotto-unfinished").exists())
        return process

    yield start
    hold.unlink(missing_ok=True)
    for process in started:
        process.communicate(timeout=60)


def wait(condition: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_the_second_start_says_nothing(prepared: SmallCheckout) -> None:
    again = prepared.start(PIP_FIND_LINKS="/nowhere")
    assert (again.returncode, again.stdout, again.stderr) == (0, STARTED, "")


def test_without_a_network_it_starts_with_what_is_installed(prepared: SmallCheckout) -> None:
    prepared.ask_for(">=2")
    result = prepared.start()
    prepared.ask_for("")
    assert result.stdout == STARTED
    assert "Bringing the packages in .venv up to date.\n" in result.stderr
    assert result.stderr.endswith("Sotto starts with what is installed: part 1.0 instead of part>=2.\n")
    assert prepared.start().stderr == ""


def test_a_checkout_that_cannot_be_written_is_set_up_as_a_copy(checkout: SmallCheckout) -> None:
    def start() -> "subprocess.CompletedProcess[str]":
        return checkout.start(before=read_only(checkout.root))

    first = start()
    (copy,) = (checkout.home / ".cache" / "sotto-checkouts").iterdir()
    assert first.stderr.startswith(f"{checkout.root} cannot be written, so a copy is used: {copy}\n{SETTING_UP}")
    assert first.stdout == STARTED
    assert not checkout.venv.exists()
    # A new state of the checkout is what starts next.
    (checkout.root / "desktop" / "gone.py").touch()
    (checkout.root / "desktop" / "small.py").write_text("def main():\n    print('new')\n")
    assert start().stdout == "new\n"
    assert (copy / "desktop" / "gone.py").exists()
    (checkout.root / "desktop" / "gone.py").unlink()
    second = start()
    assert second.stderr == f"{checkout.root} cannot be written, so a copy is used: {copy}\n"
    assert not (copy / "desktop" / "gone.py").exists()


def test_what_is_ready_starts_where_nothing_can_be_written(prepared: SmallCheckout) -> None:
    result = prepared.start(before=read_only(prepared.root))
    assert (result.stdout, result.stderr) == (STARTED, "")


def test_nowhere_to_write_is_a_sentence(checkout: SmallCheckout) -> None:
    result = checkout.start(before=read_only(checkout.root.parent.parent))
    assert result.returncode == 1
    assert result.stderr.endswith(
        f" cannot be written, either (Read-only file system): copy {checkout.root} into a folder of yours, and start "
        f"that. {AGAIN}"
    )


@pytest.mark.parametrize(
    ("module", "said"),
    [
        (
            "venv",
            " has no module venv, which Sotto is set up with: install it (on Debian: sudo apt-get install "
            f"python3-venv). {AGAIN}",
        ),
        (
            "tomllib",
            "This Python is incomplete, it has no module tomllib: install all of it (on Debian: sudo apt-get install "
            "python3 python3-venv) and type the line again.\n",
        ),
    ],
)
def test_a_python_without_one_of_its_modules_is_a_sentence(
    checkout: SmallCheckout, tmp_path: Path, module: str, said: str
) -> None:
    (tmp_path / "lacking").mkdir()
    (tmp_path / "lacking" / f"{module}.py").write_text(
        f"raise ModuleNotFoundError('No module named {module}', name='{module}')"
    )
    result = checkout.start(PYTHONPATH=str(tmp_path / "lacking"))
    assert result.returncode == 1
    assert result.stderr.endswith(said)
    assert "Traceback" not in result.stderr


def test_without_any_pip_and_without_a_network_it_says_so(checkout: SmallCheckout, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare"], check=True)
    result = checkout.start(python=str(tmp_path / "bare" / "bin" / "python"), PIP_INDEX_URL="http://127.0.0.1:9/simple")
    assert result.returncode == 1
    assert "This Python has no pip, and fetching one from http://127.0.0.1:9/simple/pip/ failed" in result.stderr
    assert result.stderr.endswith(f"install pip (on Debian: sudo apt-get install python3-pip ca-certificates). {AGAIN}")


@pytest.mark.skipif(sys.platform != "linux", reason="the kernels are built on Linux only")
def test_without_a_compiler_it_says_at_once_what_is_lost(checkout: SmallCheckout) -> None:
    checkout.compiler.unlink()
    result = checkout.start()
    assert result.stdout == STARTED
    assert result.stderr.startswith(
        f"{SETTING_UP}Without a C++ compiler and Python's headers, answers take many times longer: install them "
        "(on Debian: sudo apt-get install g++ python3-dev) and type the line again.\n"
    )


@pytest.mark.skipif(sys.platform != "linux", reason="the kernels are built on Linux only")
def test_kernels_that_cannot_be_built_are_named(checkout: SmallCheckout) -> None:
    result = checkout.start(SOTTO_TEST_REASON="the build failed: a.cpp:1: error")
    assert result.stdout == STARTED
    assert result.stderr.endswith(
        "The native kernels could not be built, and answers take many times longer: the build failed: a.cpp:1: error.\n"
    )


def test_ctrl_c_ends_it_with_a_sentence(checkout: SmallCheckout, held: Callable[[], "subprocess.Popen[str]"]) -> None:
    process = held()
    os.killpg(process.pid, signal.SIGINT)
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 130
    assert said.endswith(f"Stopped. {AGAIN}")
    assert "Traceback" not in said
    again = checkout.start()
    assert again.stdout == STARTED
    assert again.stderr.startswith("The last setup was interrupted: it begins again, with what it has downloaded.\n")


def test_one_that_is_killed_is_begun_again_once_its_pip_has_ended(
    checkout: SmallCheckout, held: Callable[[], "subprocess.Popen[str]"], tmp_path: Path
) -> None:
    held().kill()
    wait(lambda: (checkout.venv / "sotto-unfinished").exists())
    again = subprocess.Popen(
        checkout.command(), env=checkout.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert again.stderr is not None
    assert again.stderr.readline().startswith("Another start is setting up this checkout")
    (tmp_path / "hold").unlink()
    out, said = again.communicate(timeout=60)
    assert out == STARTED
    assert said.startswith("The last setup was interrupted: it begins again, with what it has downloaded.\n")


def test_the_second_of_two_at_once_waits_for_the_first(
    checkout: SmallCheckout, held: Callable[[], "subprocess.Popen[str]"], tmp_path: Path
) -> None:
    first = held()
    second = subprocess.Popen(
        checkout.command(), env=checkout.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert second.stderr is not None
    waiting = second.stderr.readline()
    (tmp_path / "hold").unlink()
    assert first.communicate(timeout=60)[0] == STARTED
    assert second.communicate(timeout=60) == (STARTED, "")
    assert waiting == (
        "Another start is setting up this checkout, and says how far it is. This one goes on once that is done.\n"
    )


@pytest.mark.parametrize("room", ["2m", "40m"], ids=["for pip", "for packages"])
def test_a_full_disk_is_a_sentence(checkout: SmallCheckout, room: str) -> None:
    checkout.publish("2.0", size=60 << 20)
    checkout.venv.mkdir()
    result = checkout.start(before=mounted(f'mount -t tmpfs -o size={room} none "$0"', checkout.venv))
    assert result.returncode == 1
    assert result.stderr.endswith(
        f"The disk is full: Sotto takes 500 MB in {checkout.venv}, and half of that again while it is installed. "
        f"{AGAIN}"
    )
