"""Making the signed list of versions, with the tools of a release, and reading it with Sotto's own eyes."""

import json
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

import changelog
import feed
from artefacts import definition, release
from changelog import rendered
from feed import FeedError
from installing import InstallError
from signed_feeds import Signer
from sotto.updates.feed import read_feed
from sotto.updates.feed_source import own_source
from sotto.updates.minisign import signed_text

NOW = datetime(2027, 2, 1, 12, tzinfo=UTC)
HOME = "https://github.com/sotto-app/sotto"


@pytest.fixture
def released(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a list of changes with two releases."""
    path = tmp_path / "CHANGELOG.md"
    changes = {"Chats": ["A `sotto pull` in\ntwo *lines*, with snake_case and _emphasis_."], "API": ["Another one."]}
    path.write_text(
        "# Changes\n\n## Unreleased\n\n### Chats\n\n- Not yet.\n\n"
        + rendered("9.1.0", NOW.date(), changes)
        + rendered("9.0.0", datetime(2027, 1, 1, tzinfo=UTC).date(), {"API": ["Older."]})
        + "## 0.1.0\n\n- Before there were dates.\n"
    )
    monkeypatch.setattr(changelog, "CHANGELOG", path)
    return path


@pytest.fixture
def resource(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "updates.json"
    path.write_text('{"url": "", "key": ""}')
    monkeypatch.setattr(feed, "RESOURCE", path)
    return path


def test_the_list_has_what_was_released(released: Path, tmp_path: Path) -> None:
    files = tmp_path / "files"
    files.mkdir()
    for name in (
        "sotto_9.1.0_amd64.deb", "sotto_9.1.0_arm64.deb", "sotto-9.1.0-linux-x86_64.tar.xz",
        "sotto-9.1.0-linux-aarch64.AppImage", "Sotto-9.1.0.dmg", "sotto-9.1.0-linux-x86_64.cdx.json",
    ):  # fmt: skip
        (files / name).touch()
    text = json.dumps(feed.listed(NOW, files)).encode()
    newest, older = read_feed(text, NOW.timestamp(), 0).releases
    assert (newest.version, older.version, older.files) == ("9.1.0", "9.0.0", {})
    assert newest.changes == ("A sotto pull in two lines, with snake_case and emphasis.", "Another one.")
    assert newest.page == f"{HOME}/releases/tag/v9.1.0"
    there = f"{HOME}/releases/download/v9.1.0"
    assert newest.files == {
        "deb-x86_64": f"{there}/sotto_9.1.0_amd64.deb",
        "deb-aarch64": f"{there}/sotto_9.1.0_arm64.deb",
        "tarball-x86_64": f"{there}/sotto-9.1.0-linux-x86_64.tar.xz",
        "appimage-aarch64": f"{there}/sotto-9.1.0-linux-aarch64.AppImage",
        "app-arm64": f"{there}/Sotto-9.1.0.dmg",
    }


@pytest.mark.parametrize("name", ["sotto_9.0.0_amd64.deb", "sotto_9.1.0.deb"])
def test_a_file_of_another_version_or_machine_is_refused(released: Path, tmp_path: Path, name: str) -> None:
    files = tmp_path / "files"
    files.mkdir()
    (files / name).touch()
    with pytest.raises(FeedError, match=name):
        feed.listed(NOW, files)


def test_without_a_release_there_is_no_list(released: Path) -> None:
    released.write_text("# Changes\n\n## 0.1.0\n\n- It runs.\n")
    with pytest.raises(FeedError, match="make a release first"):
        feed.listed(NOW)


def test_a_list_that_sotto_refuses_is_not_published(released: Path, resource: Path) -> None:
    signer = Signer()
    text = json.dumps(feed.listed(datetime.now(UTC))).encode()
    with pytest.raises(FeedError, match="has no key"):
        feed.check(signer.sign(text))
    resource.write_text(json.dumps({"url": "https://example.org/updates", "key": signer.line}))
    feed.check(signer.sign(text))
    with pytest.raises(FeedError, match="Sotto would refuse this list: The signature"):
        feed.check(Signer(b"\x02" * 32).sign(text))


@pytest.mark.skipif(shutil.which("minisign") is None, reason="minisign is not installed")
def test_a_release_is_signed_with_minisign(
    released: Path, resource: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = feed._minisign
    # Without a password, which it would ask for at a terminal.
    monkeypatch.setattr(feed, "_minisign", lambda *given: plain(*given, *(["-W"] if given[0] == "-G" else [])))
    secret, out = tmp_path / "sotto-updates.key", tmp_path / "updates"
    assert feed.main(["keys", str(tmp_path), "--url", "https://example.org/updates"]) == 0
    assert secret.stat().st_mode & 0o777 == 0o600
    assert feed.main(["keys", str(tmp_path), "--url", "https://example.org/updates"]) == 1, "a second key"
    assert feed.main(["sign", "--key", str(secret), "--out", str(out)]) == 0
    source = own_source(resource)
    assert source is not None
    assert source.url == "https://example.org/updates"
    text = signed_text(out.read_bytes(), source.key)
    assert [each.version for each in read_feed(text, datetime.now(UTC).timestamp(), 0).releases] == ["9.1.0", "9.0.0"]


def test_no_secret_goes_into_the_repository(resource: Path) -> None:
    with pytest.raises(FeedError, match="no secret belongs"):
        feed.make_keys(definition.ROOT / "packaging", "https://example.org/")


def test_what_is_tagged_as_a_release_needs_a_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def git(*arguments: str) -> None:
        identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        subprocess.run(["git", "-C", str(tmp_path), *identity, *arguments], check=True, capture_output=True)

    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    monkeypatch.setattr(definition, "ROOT", tmp_path)
    monkeypatch.setattr(definition, "project", lambda: {"version": "9.1.0"})
    (tmp_path / "resources").mkdir()
    source = tmp_path / "resources" / "updates.json"
    source.write_text('{"url": "", "key": ""}')
    release.check()
    git("init")
    git("commit", "--allow-empty", "-m", "a")
    release.check()
    git("tag", "v9.1.0")
    with pytest.raises(InstallError, match="needs a key for updates"):
        release.check()
    source.write_text(json.dumps({"url": "https://example.org/", "key": Signer().line}))
    release.check()
    git("tag", "-d", "v9.1.0")
    git("tag", "v9.0.0")
    with pytest.raises(InstallError, match=r"tagged as v9\.0\.0, but its version is 9\.1\.0"):
        release.check()
