"""Takes out of texts who somebody is, where they live and what they keep secret.

Home folders become `~`, the names of the user and the machine `<user>` and `<host>`, keys and tokens `<secret>`.
"""

import json
import os
import platform
import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from urllib.parse import quote

HOME, USER, HOST, SECRET = "~", "<user>", "<host>", "<secret>"

# Names of environment variables whose values nobody else should see.
_SECRET_NAMES = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|COOKIE|AUTH(?!ORITY)", re.IGNORECASE)
# Secrets that tell what they are.
_SECRET_FORMS = re.compile(
    r"\bBearer\s+[^\s,;'\"]+|\bsk-[\w-]{8,}|\bhf_\w{8,}|\bgh[pousr]_\w{8,}|(?<=//)[^/\s@]+:[^/\s@]*(?=@)", re.IGNORECASE
)
# Names that say nothing about anybody, and words that reports consist of.
_ANYBODY = frozenset(
    "admin debian default guest home host linux localdomain localhost none python root sotto system ubuntu unknown "
    "user users".split()
)
# Shorter names are only replaced where they are words of their own.
_DISTINCT = 6
_PATH = re.compile(r"(?<![\w.>/-])~?/[^\s'\"<>|;,()]*")

_secrets: set[str] = set()


def keep_secret(text: str) -> None:
    """Replace this text, such as a key that was given on the command line, from now on."""
    if text:
        _secrets.add(text)


def scrub(text: str) -> str:
    """Return a text without names of the user and the machine, home folders, and secrets."""
    return _scrubber(frozenset(_secret_values()), frozenset(_homes()), frozenset(_users()), frozenset(_hosts()))(text)


class _Scrubber:
    """Replaces certain texts, the longest first; upper and lower case are the same."""

    def __init__(
        self, secrets: Iterable[str], homes: Iterable[str], users: Iterable[str], hosts: Iterable[str]
    ) -> None:
        self._secrets = _any_of(part for secret in secrets for part in _whole(secret))
        self._homes = _any_of(re.escape(form) for home in homes for form in _forms(home))
        users, hosts = list(users), list(hosts)
        self._users = _any_of(part for name in users for part in _whole(name))
        self._hosts = _any_of(part for name in hosts for part in _whole(name))
        # In paths, names may be part of longer words, such as `janesmodels`.
        self._users_in_paths = _any_of(re.escape(form) for name in users if len(name) > 2 for form in _forms(name))
        self._hosts_in_paths = _any_of(re.escape(form) for name in hosts if len(name) > 2 for form in _forms(name))

    def __call__(self, text: str) -> str:
        text = _SECRET_FORMS.sub(SECRET, self._secrets.sub(SECRET, text))
        text = _PATH.sub(self._path, self._homes.sub(HOME, text))
        return self._users.sub(USER, self._hosts.sub(HOST, text))

    def _path(self, match: re.Match[str]) -> str:
        return self._users_in_paths.sub(USER, self._hosts_in_paths.sub(HOST, match.group()))


@lru_cache(8)
def _scrubber(
    secrets: frozenset[str], homes: frozenset[str], users: frozenset[str], hosts: frozenset[str]
) -> _Scrubber:
    return _Scrubber(secrets, homes, users, hosts)


def _any_of(patterns: Iterable[str]) -> re.Pattern[str]:
    ordered = sorted(set(patterns), key=lambda pattern: (-len(pattern), pattern))
    return re.compile("|".join(ordered) or r"(?!)", re.IGNORECASE)


def _whole(text: str) -> Iterator[str]:
    """Yield patterns of a text: anywhere if it is distinct, else only where no letter or digit is beside it."""
    for form in _forms(text):
        pattern = re.escape(form)
        yield pattern if len(text) >= _DISTINCT else rf"(?:(?<![^\W_])|(?<=%[0-9A-F]{{2}})){pattern}(?![^\W_])"


def _forms(text: str) -> set[str]:
    """Return the ways in which a text is written: as it is, in addresses, in JSON, and by Python."""
    found = set()
    for form in {unicodedata.normalize(kind, text) for kind in ("NFC", "NFD")} | {text}:
        inside = json.dumps(form, ensure_ascii=False)[1:-1]
        found |= {form, inside, json.dumps(form)[1:-1], repr(form)[1:-1], ascii(form)[1:-1]}
        found.add(quote(form, errors="replace"))
    return found


def _secret_values() -> Iterator[str]:
    yield from _secrets
    for name, value in os.environ.items():
        # Short words are settings, such as KEYMAP=us.
        if _SECRET_NAMES.search(name) and (len(value) >= _DISTINCT or not value.isalnum()):
            yield from filter(None, (value, value.strip()))


def _homes() -> Iterator[str]:
    for home in (os.environ.get("HOME", ""), str(Path("~").expanduser()), _account()[1]):
        for path in (home.rstrip("/"), os.path.realpath(home) if home else ""):
            if len(path) > 1:
                yield path


def _users() -> Iterator[str]:
    name, home, full = _account()
    names = [name, full, Path(home).name, Path(os.environ.get("HOME", "")).name]
    names += [os.environ.get(variable, "") for variable in ("LOGNAME", "USER", "USERNAME", "SUDO_USER")]
    names += [word for word in full.split() if len(word) > 3]
    yield from _telling(names)


def _hosts() -> Iterator[str]:
    names = (platform.node(), os.environ.get("HOSTNAME", ""), os.environ.get("HOST", ""))
    yield from _telling([*names, *(name.partition(".")[0] for name in names)])


def _telling(names: Iterable[str]) -> Iterator[str]:
    return (name for name in names if len(name) > 1 and name.casefold() not in _ANYBODY)


@lru_cache(1)
def _account() -> tuple[str, str, str]:
    """Return the name, the home folder and the full name of the user, as the system has them."""
    import pwd

    try:
        entry = pwd.getpwuid(os.getuid())
    except KeyError:
        return "", "", ""  # an account that the system does not list, as in some containers
    return entry.pw_name, entry.pw_dir, entry.pw_gecos.partition(",")[0]
