"""Versions and changes: one place each, and files that anyone can add to."""

import re
from datetime import date
from pathlib import Path

import pytest

import changelog
import sotto
from artefacts import definition
from changelog import KINDS, ChangelogError, fragments, released, rendered, sections, unreleased

ROOT = Path(__file__).resolve().parents[2]
OLD = """# Changes

## Unreleased

### Chats

- A first change, which takes
  two lines.

### Installation

- A second one.

## 0.1.0

The first version.

- It runs.
"""


def test_the_version_is_semantic_and_written_once() -> None:
    # https://semver.org, without what comes before or after a release.
    assert re.fullmatch(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)", sotto.__version__)
    assert definition.project()["version"] == sotto.__version__
    folders = [ROOT / "desktop" / "sotto", ROOT / "packaging"]
    files = [
        path for folder in folders for path in folder.rglob("*") if path.suffix in (".py", ".toml", ".json", ".spec")
    ]
    files += [ROOT / "briefcase.toml", ROOT / "pyproject.toml"]
    version = re.compile(rf"""["' (]v?{re.escape(sotto.__version__)}["' )]""")
    named = {path for path in files if version.search(path.read_text(encoding="utf-8", errors="replace"))}
    assert named == {ROOT / "desktop" / "sotto" / "__init__.py"}


def test_the_newest_version_in_the_list_is_this_one() -> None:
    listed = sections(changelog.CHANGELOG.read_text(encoding="utf-8"))
    versions = [section.version for section in listed if section.version != "Unreleased"]
    assert versions[0] == sotto.__version__
    assert versions == sorted(versions, key=lambda text: [int(part) for part in text.split(".")], reverse=True)


def test_the_changes_of_this_checkout_are_well_formed() -> None:
    found = unreleased(changelog.CHANGELOG.read_text(encoding="utf-8"))
    assert set(found) <= set(KINDS.values())
    for changes in found.values():
        for change in changes:
            assert change.endswith((".", ")")), change


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "README.md").write_text("# What this is\n")
    (tmp_path / "b.chats.md").write_text("A `third` change,\nin two lines.\n")
    (tmp_path / "a.security.md").write_text("A fourth one.\n")
    return tmp_path


def test_a_release_has_what_was_written_and_what_was_added(folder: Path) -> None:
    text = released(OLD, "0.2.0", date(2027, 1, 31), folder)
    assert text == (
        "# Changes\n\n## 0.2.0 (2027-01-31)\n\n### Chats\n\n- A first change, which takes\n  two lines.\n"
        "- A `third` change,\n  in two lines.\n\n### Installation\n\n- A second one.\n\n"
        "### Security and robustness\n\n- A fourth one.\n\n## 0.1.0\n\nThe first version.\n\n- It runs.\n"
    )
    newest, oldest = sections(text)
    assert (newest.version, newest.day) == ("0.2.0", date(2027, 1, 31))
    assert newest.changes["Chats"] == ("A first change, which takes\ntwo lines.", "A `third` change,\nin two lines.")
    assert (oldest.version, oldest.day, oldest.changes) == ("0.1.0", None, {"": ("It runs.",)})
    # And the next one, of files alone.
    again = released(text, "0.3.0", date(2027, 2, 1), folder)
    assert sections(again)[0].changes["Chats"] == ("A `third` change,\nin two lines.",)
    assert sections(again)[1:] == [newest, oldest]


@pytest.mark.parametrize("version", ["0.1.0", "0.0.9", "0.2", "v0.2.0", "0.2.0-rc1", "01.0.0"])
def test_only_a_greater_version_can_follow(folder: Path, version: str) -> None:
    with pytest.raises(ChangelogError, match=r"should be"):
        released(OLD, version, date(2027, 1, 31), folder)


def test_nothing_is_not_released(tmp_path: Path) -> None:
    with pytest.raises(ChangelogError, match="Nothing has changed"):
        released(
            "# Changes\n\n" + rendered("0.1.0", date(2027, 1, 1), {"Chats": ["a."]}),
            "0.2.0",
            date(2027, 1, 2),
            tmp_path,
        )


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("subject.md", "A change.", "should be named SUBJECT.KIND.md"),
        ("Subject.chats.md", "A change.", "should be named SUBJECT.KIND.md"),
        ("subject.colours.md", "A change.", "should be named SUBJECT.KIND.md"),
        ("subject.chats.txt", "A change.", "should be named SUBJECT.KIND.md"),
        ("subject.chats.md", "", "one paragraph"),
        ("subject.chats.md", "A change", "ends with a full stop"),
        ("subject.chats.md", "One.\n\nTwo.", "one paragraph"),
        ("subject.chats.md", "- A change.", "without marks"),
        ("subject.chats.md", "A " + "long " * 30 + "change.", "at most 118 characters"),
        ("subject.chats.md", "A\n  change.", "without marks"),
    ],
)
def test_a_file_that_is_not_as_it_should_be_is_named(tmp_path: Path, name: str, text: str, why: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(ChangelogError, match=why) as refusal:
        fragments(tmp_path)
    assert name in str(refusal.value)


def test_a_release_writes_the_version_into_its_one_place(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module, listed = folder / "module", folder / "listed"
    module.write_text('"""Sotto."""\n\n__version__ = "0.1.0"\n')
    listed.write_text(OLD)
    changes = folder / "changes"
    changes.mkdir()
    for path in folder.glob("*.md"):
        path.rename(changes / path.name)
    monkeypatch.setattr(changelog, "MODULE", module)
    monkeypatch.setattr(changelog, "CHANGELOG", listed)
    monkeypatch.setattr(changelog, "FRAGMENTS", changes)
    assert changelog.main(["release", "0.1.0"]) == 1
    assert '__version__ = "0.1.0"' in module.read_text()
    assert changelog.main(["release", "0.2.0"]) == 0
    assert module.read_text() == '"""Sotto."""\n\n__version__ = "0.2.0"\n'
    assert sections(listed.read_text())[0].version == "0.2.0"
    assert [path.name for path in changes.iterdir()] == ["README.md"]
