"""The list of versions: what is new in it, and that nothing else than such a list is accepted."""

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from signed_feeds import feed, moment, release
from sotto.updates.feed import read_feed, version_key
from sotto.updates.update_errors import UpdateError

NOW = 1_800_000_000.0


def test_newer_versions_come_first_and_older_ones_never() -> None:
    found = read_feed(feed(NOW, [release(name) for name in ("0.1.0", "0.9.0", "0.10.0", "0.2.0")]), NOW, 0)
    assert [each.version for each in found.newer("0.2.0")] == ["0.10.0", "0.9.0"]
    assert found.newer("0.10.0") == ()
    assert found.newer("1.0.0") == ()
    assert found.signed == NOW - 60


def test_texts_are_plain_and_on_one_line() -> None:
    hostile = "A <b>bold</b>\n\n change\x1b[31m \u202eback\u2069 " + "x" * 2000
    (found,) = read_feed(feed(NOW, [release(changes=[hostile])]), NOW, 0).releases
    (change,) = found.changes
    assert change.startswith("A <b>bold</b> change\\x1b[31m \\u202eback\\u2069 x")
    assert change.isprintable()
    assert len(change) < 1100


def test_what_a_later_form_adds_is_ignored() -> None:
    (found,) = read_feed(feed(NOW, [release(colour="red")], more=[1]), NOW, 0).releases
    assert found.version == "9.0.0"


def test_an_older_list_than_before_is_recognised() -> None:
    text = feed(NOW)
    assert read_feed(text, NOW, NOW - 60).releases
    with pytest.raises(UpdateError, match="older than the one that was read before"):
        read_feed(text, NOW, NOW - 59)


def test_an_expired_list_is_recognised() -> None:
    with pytest.raises(UpdateError, match="has expired"):
        read_feed(feed(NOW, expires=moment(NOW)), NOW, 0)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"sotto-updates": 2}, "form that this version of Sotto does not know"),
        ({"signed": 5}, "a number for 'signed'; it should have a text"),
        ({"signed": "yesterday"}, "'yesterday' for signed; it should be a time"),
        ({"signed": "2027-13-01T00:00:00Z"}, "for signed; it should be a time"),
        ({"expires": "0000-00-00T00:00:00Z"}, "for expires; it should be a time"),
        ({"releases": {}}, "an object for 'releases'; it should have a list"),
        ({"releases": [1]}, "a number among its releases"),
        ({"releases": [release()] * 101}, "more than 100 releases"),
        ({"releases": [release("1.0")]}, "'1.0' is not a version; it should be three numbers"),
        ({"releases": [release("1.0.0-rc1")]}, "is not a version"),
        ({"releases": [release("01.0.0")]}, "is not a version"),
        ({"releases": [release("١.0.0")]}, "is not a version"),
        ({"releases": [release(date="2027-02-30")]}, "'2027-02-30' for date; it should be a day"),
        ({"releases": [release(date="2027-2-3")]}, "for date; it should be a day"),
        ({"releases": [release(changes=["a"] * 201)]}, "more than 200 changes"),
        ({"releases": [release(changes=[None])]}, "null among its changes"),
        ({"releases": [release(page="http://example.org/")]}, "not one of https"),
        ({"releases": [release(page="https://user@example.org/")]}, "not one of https"),
        ({"releases": [release(page="file:///etc/passwd")]}, "not one of https"),
        ({"releases": [release(page="https://example.org/\n")]}, "not one of https"),
        ({"releases": [release(page="https://example.org/" + "a" * 500)]}, "not one of https"),
        ({"releases": [release(files={"deb-x86_64": "javascript:1"})]}, "not one of https"),
        ({"releases": [release(files={"deb-x86_64": 1})]}, "a number for 'deb-x86_64'"),
        ({"releases": [release(files={str(name): "https://a/" for name in range(21)})]}, "more than 20 files"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_in_one_sentence(changes: dict[str, Any], why: str) -> None:
    with pytest.raises(UpdateError) as refusal:
        read_feed(feed(NOW, **changes), NOW, 0)
    assert why in refusal.value.message
    assert refusal.value.message.isprintable()


@pytest.mark.parametrize("missing", ["version", "date", "changes", "page", "files"])
def test_nothing_may_be_missing(missing: str) -> None:
    fields = release()
    del fields[missing]
    with pytest.raises(UpdateError, match=f"no value for '{missing}'"):
        read_feed(feed(NOW, [fields]), NOW, 0)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"null",
        b"[]",
        b"\xff",
        b"{" * 10_000,
        b'{"a": 1, "a": 2}',
        b'{"a": NaN}',
        json.dumps([[[[]]]] * 9).encode(),
    ],
)
def test_garbage_is_refused(text: bytes) -> None:
    with pytest.raises(UpdateError, match="The list of versions cannot be read"):
        read_feed(text, NOW, 0)


def test_versions_are_compared_as_numbers() -> None:
    assert version_key("0.10.0") > version_key("0.9.9")


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(max_size=8), inside, max_size=3),
    max_leaves=5,
)


@given(st.sampled_from(["signed", "expires", "releases"]), ANYTHING, st.sampled_from([*release(), "more"]), ANYTHING)
def test_any_content_is_read_or_refused(name: str, value: Any, part: str, inside: Any) -> None:
    for text in (feed(NOW, **{name: value}), feed(NOW, [release(**{part: inside})])):
        with contextlib.suppress(UpdateError):
            for each in read_feed(text, NOW, 0).releases:
                assert all(change.isprintable() for change in each.changes)
                assert all(url.startswith("https://") for url in (each.page, *each.files.values()))
