"""The list of versions: what it may contain, and what in it is new.

Its signature says that it is Sotto's, and that is all: the list may be old, and is checked like any other input.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, TypeVar

from sotto.errors import BrokenModelError
from sotto.store.bounded_json import kind_of, parse_object
from sotto.store.printable import printable
from sotto.updates.update_errors import UpdateError

_T = TypeVar("_T")
_FORM, _FORM_VERSION = "sotto-updates", 1
_NAME = "The list of versions"
_MAX_RELEASES, _MAX_CHANGES, _MAX_FILES = 100, 200, 20
_MAX_CHANGE, _MAX_ADDRESS = 1000, 500
_VERSION = re.compile(r"(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})", re.ASCII)
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_ADDRESS = re.compile(r"https://[A-Za-z0-9.-]+(:\d+)?/[!#$%&'()*+,./0-9:;=?@A-Z_a-z~-]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Release:
    """A version of Sotto.

    Attributes:
        version: As in `0.2.0`.
        day: When it was released.
        changes: What is new for its users, each in a sentence of plain text.
        page: The address of a web page about it, from which it can be downloaded.
        files: The addresses of its files, by the kind of installation and the machine, as in `tarball-x86_64`.
    """

    version: str
    day: date
    changes: tuple[str, ...]
    page: str
    files: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Feed:
    """The list of versions.

    Attributes:
        signed: When it was signed, in seconds since the epoch.
        releases: The versions, the newest first.
    """

    signed: float
    releases: tuple[Release, ...]

    def newer(self, version: str) -> tuple[Release, ...]:
        """Return the versions that are newer than `version`, the newest first."""
        return tuple(release for release in self.releases if version_key(release.version) > version_key(version))


def version_key(version: str) -> tuple[int, int, int]:
    """Return a version so that it can be compared.

    Raises:
        UpdateError: It is not a version of Sotto.
    """
    found = _VERSION.fullmatch(version)
    if found is None:
        raise UpdateError(f"'{printable(version)}' is not a version; it should be three numbers, as in 1.0.0.")
    major, minor, patch = map(int, found.groups())
    return major, minor, patch


def read_feed(text: bytes, now: float, seen: float) -> Feed:
    """Return the list of versions in a text whose signature is right.

    Args:
        text: The text.
        now: The time in seconds since the epoch.
        seen: When the newest list that was seen before was signed.

    Raises:
        UpdateError: It is not a list of versions, has expired, or is older than the one that was seen before.
    """
    try:
        fields = parse_object(text, "updates", strict=True)
    except BrokenModelError as error:
        raise UpdateError(f"{_NAME} cannot be read: {error.message}") from error
    if fields.get(_FORM) != _FORM_VERSION:
        raise UpdateError(f"{_NAME} has a form that this version of Sotto does not know: look at Sotto's web page.")
    signed = _moment(fields, "signed")
    if signed < seen:
        raise UpdateError(f"{_NAME} is older than the one that was read before, so it is not used.")
    if _moment(fields, "expires") <= now:
        raise UpdateError(f"{_NAME} has expired, so it is not used; if the date of this computer is right, try later.")
    releases = [_release(each) for each in _list(fields, "releases", dict, _MAX_RELEASES)]
    releases.sort(key=lambda release: version_key(release.version), reverse=True)
    return Feed(signed, tuple(releases))


def _release(fields: Mapping[str, Any]) -> Release:
    version = _value(fields, "version", str)
    version_key(version)
    changes = tuple(
        printable(" ".join(text.split()), _MAX_CHANGE) for text in _list(fields, "changes", str, _MAX_CHANGES)
    )
    page = _address(_value(fields, "page", str))
    return Release(version, _day(fields), changes, page, dict(_files(_value(fields, "files", dict))))


def _files(fields: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if len(fields) > _MAX_FILES:
        raise UpdateError(f"{_NAME} has more than {_MAX_FILES} files for a version.")
    for name in fields:
        yield name, _address(_value(fields, name, str))


def _address(text: str) -> str:
    if len(text) > _MAX_ADDRESS or _ADDRESS.fullmatch(text) is None:
        raise UpdateError(f"{_NAME} has an address that is not one of https: {printable(text)}.")
    return text


def _day(fields: Mapping[str, Any]) -> date:
    text = _value(fields, "date", str)
    try:
        if _DAY.fullmatch(text):
            return date.fromisoformat(text)
    except ValueError:
        pass  # a day that no calendar has is refused like any other text
    raise UpdateError(f"{_NAME} has '{printable(text)}' for date; it should be a day, as in 2027-01-31.")


def _moment(fields: Mapping[str, Any], name: str) -> float:
    text = _value(fields, name, str)
    try:
        if _MOMENT.fullmatch(text):
            return datetime.fromisoformat(text.removesuffix("Z")).replace(tzinfo=UTC).timestamp()
    except ValueError:
        pass  # as for a day
    raise UpdateError(f"{_NAME} has '{printable(text)}' for {name}; it should be a time, as in 2027-01-31T12:00:00Z.")


def _list(fields: Mapping[str, Any], name: str, kind: type[_T], most: int) -> list[_T]:
    values = _value(fields, name, list)
    if len(values) > most:
        raise UpdateError(f"{_NAME} has more than {most} {name}.")
    if wrong := [value for value in values if not isinstance(value, kind)]:
        raise UpdateError(f"{_NAME} has {kind_of(wrong[0])} among its {name}.")
    return values


def _value(fields: Mapping[str, Any], name: str, kind: type[_T]) -> _T:
    value = fields.get(name)
    if not isinstance(value, kind):
        found = kind_of(value) if name in fields else "no value"
        raise UpdateError(f"{_NAME} has {found} for '{printable(name)}'; it should have {kind_of(kind())}.")
    return value
