"""Decides whether a `tokenizer.json` is safe to give to the tokenizers library.

Most files are proved harmless by their structure. If nothing is known of the time that its expressions take, a file is
tried once in a separate process, which can be killed: `tokenizer_trying` runs there. Results are cached by the file's
digest, also for large files, as checking one takes as long as reading it.
"""

import contextlib
import hashlib
import json
import logging
import re
from pathlib import Path

import tokenizers

from sotto import paths
from sotto.bounded_process import BoundedProcessError, Bounds, Exceeded, run
from sotto.engine.tokens.expressions.cost import Cost, Growth
from sotto.engine.tokens.tokenizer_checks import check_tokenizer
from sotto.errors import BrokenModelError
from sotto.store.atomic_writing import write_atomically
from sotto.store.files import read_all

_log = logging.getLogger(__name__)

WORD = "try-tokenizer"
BOUNDS = Bounds(seconds=90.0, cpu_seconds=20.0, memory=3 * 1000**3, output=1 << 16)
_REASONS = {
    Exceeded.TIME: "it takes too long to be tried; its expressions should match each text in one way",
    Exceeded.MEMORY: f"it takes more than {BOUNDS.memory / 1e9:.0f} GB of memory",
    Exceeded.OUTPUT: "it could not be tried",
    Exceeded.ENDED: "it ended a process in which it was tried, or took all of its memory",
    Exceeded.NOT_STARTED: "it has to be tried in a process of its own, which the system does not start",
}
# Raise it whenever the checks change: cached results with another number are not used.
_FORMAT = 1
_LARGE = 1 << 20
_MAX_CACHED_RESULTS = 200


def admit(text: str) -> Cost:
    """Check the text of a `tokenizer.json`, or recall its check; return what its expressions cost.

    Raises:
        BrokenModelError: It is damaged, or could end or block the process.
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


def folder() -> Path:
    """Return the directory of cached results; it may not exist."""
    return paths.cache_dir() / "tokenizers"


def _try(text: str) -> None:
    """Raise BrokenModelError unless a separate process can load and use a tokenizer."""
    try:
        written = run(WORD, bounds=BOUNDS, given=text.encode())
    except BoundedProcessError as error:
        raise BrokenModelError(f"tokenizer.json: {_REASONS[error.exceeded]}.") from error
    try:
        why = json.loads(written)["why"]
    except (ValueError, TypeError, KeyError) as error:
        raise BrokenModelError(f"tokenizer.json: {_REASONS[Exceeded.ENDED]}.") from error
    if why:
        raise BrokenModelError(str(why))


def _key(text: str) -> str:
    found = hashlib.sha256(f"{_FORMAT} {tokenizers.__version__} ".encode())
    found.update(text.encode(errors="surrogatepass"))
    return found.hexdigest()


def _recall(key: str) -> Cost | None:
    path = folder() / key
    if not path.exists():
        return None
    try:
        growth, runs = json.loads(read_all(path, _LARGE, "a cached check of a tokenizer"))
        for run in runs:
            re.compile(run)
        return Cost(Growth(growth), frozenset(runs))
    except (BrokenModelError, ValueError, TypeError, re.error) as error:
        _log.info("The cached check of a tokenizer in %s is not used: %s", path.name, error)
        return None


def _keep(key: str, cost: Cost) -> None:
    """Cache a result; if that fails, the file is checked again the next time."""
    try:
        write_atomically(folder() / key, json.dumps([cost.growth, sorted(cost.runs)]))
        ages = []
        for path in folder().iterdir():
            # Another process may have removed it meanwhile.
            with contextlib.suppress(FileNotFoundError):
                ages.append((path.stat().st_mtime, path))
        for _, path in sorted(ages, reverse=True)[_MAX_CACHED_RESULTS:]:
            path.unlink(missing_ok=True)
    except OSError as error:
        _log.info("The check of a tokenizer cannot be cached in %s: %s", folder(), error.strerror)
