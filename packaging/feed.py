"""Makes the signed list of versions that Sotto looks for updates in.

    python packaging/feed.py keys DIR                           makes a key pair, once
    python packaging/feed.py sign --key FILE --out FILE [...]   signs the list

`keys` asks for a password, writes the secret key into DIR, which must be outside of the repository, and the public one
into `resources/updates.json`, from where each build takes it. `sign` makes the list of what `CHANGELOG.md` says about
released versions, and has minisign sign it (on Debian, `apt install minisign`). `packaging/README.md` says when.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import changelog
from artefacts import definition

RESOURCE = definition.ROOT / "resources" / "updates.json"
_SECRET = "sotto-updates.key"
_MAX_RELEASES = 20
_MAX_CHANGES = 200
# A list that nobody signs anew is not trusted for ever.
_VALID = timedelta(days=365)
_MACHINES = {"amd64": "x86_64", "arm64": "aarch64", "x86_64": "x86_64", "aarch64": "aarch64"}
# The ends of the names of artefacts, by the installations that they are for, as Sotto names these.
_KINDS = {".deb": "deb", ".tar.xz": "tarball", ".AppImage": "appimage", ".dmg": "app"}


class FeedError(Exception):
    """The list cannot be made; the message says why."""


def make_keys(folder: Path, address: str) -> None:
    """Make a key pair, and write the public key and the address of the list into the resources.

    Raises:
        FeedError: There is a key already, the folder is in the repository, or minisign fails.
    """
    if json.loads(RESOURCE.read_text(encoding="utf-8"))["key"]:
        raise FeedError(f"{RESOURCE} has a key already: builds that are in use trust that one alone.")
    if folder.resolve().is_relative_to(definition.ROOT):
        raise FeedError(f"{folder} is in the repository, where no secret belongs.")
    public = folder / "sotto-updates.pub"
    _minisign("-G", "-s", folder / _SECRET, "-p", public)
    (folder / _SECRET).chmod(0o600)
    key = public.read_text(encoding="utf-8").splitlines()[1]
    RESOURCE.write_text(json.dumps({"url": address, "key": key}, indent=4) + "\n", encoding="utf-8")


def listed(now: datetime, artefacts: Path | None = None) -> dict[str, Any]:
    """Return the list of versions.

    Args:
        now: When it is signed.
        artefacts: The folder with the files of the newest version; None to offer its page alone.

    Raises:
        FeedError: No version has been released, or a file has an unknown name.
    """
    home = definition.project()["urls"]["Homepage"]
    sections = changelog.sections(changelog.CHANGELOG.read_text(encoding="utf-8"))
    releases = [
        {
            "version": section.version,
            "date": section.day.isoformat(),
            "changes": [_plain(change) for changes in section.changes.values() for change in changes][:_MAX_CHANGES],
            "page": f"{home}/releases/tag/v{section.version}",
            "files": {},
        }
        for section in sections
        if section.day is not None
    ][:_MAX_RELEASES]
    if not releases:
        raise FeedError("CHANGELOG.md has no version with a date: make a release first (packaging/changelog.py).")
    version = releases[0]["version"]
    if artefacts is not None:
        releases[0]["files"] = {
            kind: f"{home}/releases/download/v{version}/{path.name}" for kind, path in _files(artefacts, str(version))
        }
    moments = {"signed": now, "expires": now + _VALID}
    return {
        "sotto-updates": 1,
        **{name: moment.strftime("%Y-%m-%dT%H:%M:%SZ") for name, moment in moments.items()},
        "releases": releases,
    }


def _files(folder: Path, version: str) -> Iterator[tuple[str, Path]]:
    """Yield the files of a version with the names under which Sotto looks for them, such as `deb-x86_64`."""
    for path in sorted(folder.iterdir()):
        kind = next((kind for end, kind in _KINDS.items() if path.name.endswith(end)), None)
        if kind is None:
            continue
        words = re.split(r"[_.-]", path.name.replace("x86_64", "amd64"))
        machine = next((_MACHINES[word] for word in words if word in _MACHINES), "aarch64" if kind == "app" else "")
        if version not in path.name or not machine:
            raise FeedError(f"{path.name} should name the version {version} and one of {', '.join(_MACHINES)}.")
        # Python on a Mac calls its machine by another name than on Linux.
        yield f"{kind}-{'arm64' if kind == 'app' else machine}", path


def _plain(change: str) -> str:
    """Return a change without line breaks and the marks of Markdown."""
    return re.sub(r"[`*]|(?<!\w)_|_(?!\w)", "", " ".join(change.split()))


def sign(text: bytes, secret: Path, comment: str) -> bytes:
    """Return a text with the signature of minisign before it.

    Raises:
        FeedError: minisign fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        content, signature = Path(folder, "updates.json"), Path(folder, "updates.minisig")
        content.write_bytes(text)
        _minisign("-S", "-s", secret, "-m", content, "-x", signature, "-t", comment)
        return signature.read_bytes() + text


def check(signed: bytes) -> None:
    """Check that the Sotto of this checkout trusts a signed list and can read it.

    Raises:
        FeedError: It does not.
    """
    sys.path.insert(0, str(definition.ROOT / "desktop"))
    from sotto.updates.feed import read_feed
    from sotto.updates.feed_source import own_source
    from sotto.updates.minisign import signed_text
    from sotto.updates.update_errors import UpdateError

    try:
        source = own_source(RESOURCE)
        if source is None:
            raise FeedError(f"{RESOURCE} has no key: make one first (packaging/feed.py keys).")
        read_feed(signed_text(signed, source.key), datetime.now(UTC).timestamp(), 0)
    except UpdateError as error:
        raise FeedError(f"Sotto would refuse this list: {error}") from error


def _minisign(*arguments: object) -> None:
    try:
        # It asks for the password itself.
        subprocess.run(["minisign", *map(str, arguments)], check=True, stdout=sys.stderr)
    except FileNotFoundError as error:
        raise FeedError("minisign is missing (on Debian: sudo apt install minisign; on a Mac: brew).") from error
    except subprocess.CalledProcessError as error:
        raise FeedError("minisign failed.") from error


def main(arguments: list[str]) -> int:
    """Make keys or sign the list; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="feed.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    keys = commands.add_parser("keys", help="make a key pair")
    keys.add_argument("folder", type=Path, metavar="DIR", help="where the secret key goes")
    keys.add_argument("--url", required=True, help="the address at which the list will be, without redirects")
    signing = commands.add_parser("sign", help="sign the list of versions")
    signing.add_argument("--key", type=Path, required=True, metavar="FILE", help="the secret key")
    signing.add_argument("--out", type=Path, required=True, metavar="FILE", help="where the signed list goes")
    signing.add_argument("--artefacts", type=Path, metavar="DIR", help="the files of the newest version")
    parsed = parser.parse_args(arguments)
    try:
        if parsed.command == "keys":
            make_keys(parsed.folder, parsed.url)
        else:
            text = json.dumps(listed(datetime.now(UTC), parsed.artefacts), indent=1, ensure_ascii=False).encode()
            signed = sign(text, parsed.key, f"Sotto {definition.project()['version']}")
            check(signed)
            parsed.out.write_bytes(signed)
    except (FeedError, changelog.ChangelogError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
