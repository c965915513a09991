"""Whether a `tokenizer.json` can be given to the tokenizers library.

What its structure proves harmless is not tried. Where the time of its expressions is not known, it is tried once in a
process of its own, which can be ended: `tokenizer_trying` is what runs there. What was found out is remembered by the
file's digest, as is that a large file was checked, which takes as long as reading it.
"""

import contextlib
import hashlib
import json
import logging
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import IO

import psutil
import tokenizers

from sotto import paths
from sotto.engine.expressions.cost import Cost, Growth
from sotto.engine.tokenizer_checks import check_tokenizer
from sotto.errors import BrokenModelError
from sotto.store.files import read_all
from sotto.store.writing import write_whole

_log = logging.getLogger(__name__)

WORD = "try-tokenizer"
MOST_CPU_SECONDS = 20
MOST_MEMORY = 3 * 1000**3
_MOST_SECONDS = 90.0
_LOOK_EVERY = 0.02
_LONGEST_OUTPUT = 1 << 16
# To be raised whenever more is checked.
_FORMAT = 1
_LARGE = 1 << 20
_MOST_FILES = 200


def admitted(text: str) -> Cost:
    """Check the text of a `tokenizer.json`; return what its expressions take.

    Raises:
        BrokenModelError: It is damaged, or could end or hold the process.
    """
    key = _key(text)
    known = _recall(key)
    if known is not None:
        return known
    cost = check_tokenizer(text)
    if cost.growth is Growth.UNKNOWN:
        _try(text)
    if cost.growth is Growth.UNKNOWN or len(text) > _LARGE:
        _keep(key, cost)
    return cost


def command() -> list[str]:
    """Return the command line that tries a tokenizer; packaged apps are started by themselves, others by Python."""
    program = sys.executable
    if Path(program).name.lower().startswith("python"):
        # -P: a folder `sotto` where the app was started is not the app.
        return [program, "-P", "-m", "sotto", WORD]
    return [program, WORD]


def folder() -> Path:
    """Return where it is kept what was found out; it may not exist."""
    return paths.cache_dir() / "tokenizers"


def _try(text: str) -> None:
    """Raise BrokenModelError unless a process of its own can load and use a tokenizer."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as output:
        given.write(text.encode())
        given.seek(0)
        try:
            process = subprocess.Popen(command(), stdin=given, stdout=output, stderr=subprocess.DEVNULL)
        except OSError as error:
            raise BrokenModelError(
                "tokenizer.json: it has to be tried in a process of its own, which the system does not start "
                f"({error.strerror})."
            ) from error
        try:
            _wait(process, output)
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()
        output.seek(0)
        written = output.read(_LONGEST_OUTPUT)
    try:
        why = json.loads(written)["why"]
    except (ValueError, TypeError, KeyError) as error:
        raise BrokenModelError(
            "tokenizer.json: it ended a process in which it was tried, or took all of its memory or time."
        ) from error
    if why:
        raise BrokenModelError(str(why))


def _wait(process: "subprocess.Popen[bytes]", output: IO[bytes]) -> None:
    """Wait for the child's end, within its bounds."""
    end = time.monotonic() + _MOST_SECONDS
    watched = psutil.Process(process.pid)
    while process.poll() is None:
        time.sleep(_LOOK_EVERY)
        if time.monotonic() > end:
            raise BrokenModelError(
                f"tokenizer.json: it takes longer than {_MOST_SECONDS:.0f} seconds to be tried; its expressions should "
                "match each text in one way."
            )
        with contextlib.suppress(psutil.Error):  # it has just ended
            if watched.memory_info().rss > MOST_MEMORY:
                raise BrokenModelError(f"tokenizer.json: it takes more than {MOST_MEMORY / 1e9:.0f} GB of memory.")


def _key(text: str) -> str:
    found = hashlib.sha256(f"{_FORMAT} {tokenizers.__version__} ".encode())
    found.update(text.encode(errors="surrogatepass"))
    return found.hexdigest()


def _recall(key: str) -> Cost | None:
    path = folder() / key
    if not path.exists():
        return None
    try:
        growth, runs = json.loads(read_all(path, _LARGE, "what is known of a tokenizer"))
        for run in runs:
            re.compile(run)
        return Cost(Growth(growth), frozenset(runs))
    except (BrokenModelError, ValueError, TypeError, re.error) as error:
        _log.info("%s is of no use: %s", path.name, error)
        return None


def _keep(key: str, cost: Cost) -> None:
    """Keep what was found out; where that is not possible, it is found out again the next time."""
    try:
        write_whole(folder() / key, json.dumps([cost.growth, sorted(cost.runs)]))
        ages = []
        for path in folder().iterdir():
            # Another process may have removed it meanwhile.
            with contextlib.suppress(FileNotFoundError):
                ages.append((path.stat().st_mtime, path))
        for _, path in sorted(ages, reverse=True)[_MOST_FILES:]:
            path.unlink(missing_ok=True)
    except OSError as error:
        _log.info("What is known of a tokenizer cannot be kept in %s: %s", folder(), error.strerror)
