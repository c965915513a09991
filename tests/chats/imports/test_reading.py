"""Reading within bounds, in a process of its own, and in one piece or another."""

import io
import json
import threading

import pytest

from chat_exports import FOLDER, NAMES, export_of, write_json, write_zip
from sotto.chats.chat_records import Role
from sotto.chats.imports import import_files, message_tree, reading_process
from sotto.chats.imports.json_stream import JsonStreamError, values_in
from sotto.chats.imports.message_parts import LONGEST_MESSAGE, MessageParts
from sotto.chats.imports.message_tree import Node, chain, grow
from sotto.chats.imports.reading import NoChatsError, Reading
from sotto.chats.imports.reading_process import ImportFailedError, read_chats
from sotto.chats.imports.sniffing import may_hold_chats
from sotto.chats.whole_chat import Lost, UnreadableChatError
from sotto.errors import CancelledError


def node(key, parent, role, text=""):
    parts = MessageParts()
    parts.add_text(text)
    return Node(key, parent, {"u": Role.USER, "a": Role.ASSISTANT}.get(role), parts)


def outline(tree):
    return [(message.role.value[0], message.parent, message.text) for message in tree.messages]


@pytest.mark.parametrize("name", NAMES)
def test_the_process_reads_what_this_one_does(tmp_path, name):
    path, seen = FOLDER / f"{name}.json", []
    found = read_chats([path], lambda: False, seen.append)
    expected = list(Reading([path]).chats())
    assert list(found) == expected
    assert list(found) == expected
    assert (found.count, +found.lost) == (len(expected), {})
    found.close()


def test_the_process_reports_why_and_what_is_broken(tmp_path):
    with pytest.raises(ImportFailedError, match=r"^notes.json has no chats"):
        read_chats([write_json(tmp_path / "notes.json", {})], lambda: False, lambda done: None)
    broken = write_json(tmp_path / "a.json", [*export_of("chatgpt"), None])
    found = read_chats([broken, tmp_path / "notes.json"], lambda: False, lambda done: None)
    assert found.lost == {Lost.CHAT: 1, Lost.FILE: 1}
    found.close()


def test_reading_can_be_stopped_and_tells_how_far_it_is(tmp_path):
    chat = json.dumps(export_of("chatgpt")[0])
    path = tmp_path / "many.json"
    path.write_text(f"[{','.join([chat] * 3000)}]")
    stop, seen = threading.Event(), []

    def progress(done):
        seen.append(done)
        stop.set()

    with pytest.raises(CancelledError):
        read_chats([path], stop.is_set, progress)
    assert 0 < seen[0] <= 3000


def test_a_process_that_takes_too_much_memory_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(reading_process, "BOUNDS", reading_process.Bounds(60.0, 60.0, 1000, 10**9))
    with pytest.raises(ImportFailedError, match=r"^chatgpt.json takes more than 0 GB of memory to read"):
        read_chats([FOLDER / "chatgpt.json"], lambda: False, lambda done: None)


def test_an_archive_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(import_files, "LARGEST_TOTAL", 1_000_000)
    bomb = write_zip(tmp_path / "bomb.zip", {"a.json": b"[" + b" " * 5_000_000 + b"]"})
    assert bomb.stat().st_size < 10_000
    with pytest.raises(NoChatsError, match=r"^bomb.zip cannot be imported, as it has more than 0 GB: choose a part"):
        list(Reading([bomb]).chats())
    inner = write_zip(tmp_path / "inner.zip", {"a.bin": bytes(5_000_000)})
    matryoshka = write_zip(tmp_path / "outer.zip", {f"{place}.zip": inner.read_bytes() for place in range(300)})
    with pytest.raises(NoChatsError, match=r"^outer.zip"):
        list(Reading([matryoshka]).chats())


def test_an_archive_with_too_many_files_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(import_files, "MOST_FILES", 10)
    path = write_zip(tmp_path / "many.zip", {f"{place}.json": b"{}" for place in range(20)})
    with pytest.raises(NoChatsError, match="more than 10 files"):
        list(Reading([path]).chats())


def test_values_are_read_in_windows_of_any_size(monkeypatch):
    values = [1, -2.5, "a]b", {"c": [1, {"d": None}]}, [], True, 1234567]
    for text in (json.dumps(values), json.dumps(values, indent=1), f"  {json.dumps(values)}  "):
        for window in (1, 2, 7, 1000):
            monkeypatch.setattr("sotto.chats.imports.json_stream._WINDOW", window)
            assert list(values_in(io.StringIO(text))) == values
            lines = "\n".join(json.dumps(value) for value in ({"a": 1}, {"b": 2}, 34))
            assert list(values_in(io.StringIO(lines))) == [{"a": 1}, {"b": 2}, 34]
    assert list(values_in(io.StringIO(" [ ] "))) == list(values_in(io.StringIO(" "))) == []


@pytest.mark.parametrize("text", ["[1,,2]", "[1 2]", "[1", "{", '["a', "nul", "[1e", "1" * 5000])
def test_what_is_no_json_is_told_apart(text):
    with pytest.raises(JsonStreamError):
        list(values_in(io.StringIO(text)))


def test_a_value_that_is_too_large_is_refused(monkeypatch):
    monkeypatch.setattr("sotto.chats.imports.json_stream.LARGEST_VALUE", 2_000_000)
    with pytest.raises(JsonStreamError, match="more than 2,000,000 characters"):
        list(values_in(io.StringIO(f'["{"a" * 5_000_000}"]')))


def test_what_stands_between_questions_becomes_one_answer():
    tree = grow(
        [
            node("system", None, "s", "Be brief."),
            node("q", "system", "u", "Why?"),
            node("thought", "q", "a", "Hm."),
            node("tool", "thought", "t", "…"),
            node("first", "tool", "a", "Because."),
            node("second", "tool", "a", "So."),
            node("next", "first", "u", "And?"),
            node("other", "first", "u", "But?"),
            node("end", "other", "a", "Yes."),
            node("empty", "next", "a"),
        ],
        "next",
    )
    assert outline(tree) == [
        ("u", None, "Why?"),
        ("a", 0, "Hm.\n\nBecause."),
        ("u", 1, "And?"),
        ("u", 1, "But?"),
        ("a", 3, "Yes."),
        ("a", 0, "Hm.\n\nSo."),
    ]
    assert tree.leaf == 2


def test_a_circle_beside_a_chat_is_counted_and_one_alone_refused():
    circle = [node("x", "y", "u", "x"), node("y", "x", "a", "y")]
    tree = grow([node("q", None, "u", "Hello"), *circle], "y")
    assert (outline(tree), tree.leaf, tree.lost) == ([("u", None, "Hello")], None, {Lost.MESSAGE: 2})
    with pytest.raises(UnreadableChatError, match="circle"):
        grow(circle, "x")


def test_long_and_broad_trees_take_no_recursion_and_little_time(monkeypatch):
    long = chain([node(str(place), None, "ua"[place % 2], str(place)) for place in range(20_000)])
    assert len(long.messages) == 20_000
    assert len(chain([node(str(place), None, "a", "x") for place in range(20_000)]).messages) == 1
    # Each version of the answer has all that is before it.
    comb = [node(f"{kind}{place}", f"a{place - 1}" if place else None, kind) for place in range(2000) for kind in "au"]
    for each in comb:
        each.parts.add_text("x" if each.id[0] == "u" else "")
    with pytest.raises(UnreadableChatError, match="too many versions"):
        grow(comb, None)
    monkeypatch.setattr(message_tree, "MOST_MESSAGES", 10)
    with pytest.raises(UnreadableChatError, match="more than 10 messages"):
        chain([node(str(place), None, "u", "x") for place in range(11)])


def test_a_message_that_is_too_long_is_cut_and_counted():
    tree = chain([node("q", None, "u", "x" * (LONGEST_MESSAGE + 5)), node("a", None, "a", "y")])
    assert [len(message.text) for message in tree.messages] == [LONGEST_MESSAGE, 1]
    assert tree.lost == {Lost.PART: 1}
    with pytest.raises(UnreadableChatError, match="characters"):
        chain([node(str(place), None, "ua"[place % 2], "x" * LONGEST_MESSAGE) for place in range(33)])


def test_tags_and_surrogates_in_thoughts_stay_inside():
    parts = MessageParts()
    parts.add_thought("a </think> b <think> c \ud800\x00")
    parts.add_text("d")
    assert parts.as_message(Role.ASSISTANT, None).text == "<think>\na  b  c ?\n</think>\n\nd"


def test_files_that_may_hold_chats_are_known_by_their_beginning(tmp_path):
    for name in NAMES:
        assert may_hold_chats(FOLDER / f"{name}.json"), name
        assert may_hold_chats(write_json(tmp_path / f"{name}.txt", export_of(name))), name
    assert may_hold_chats(FOLDER / "jan-thread.json")
    assert may_hold_chats(FOLDER / "jan-0.5.jsonl")
    assert may_hold_chats(write_zip(tmp_path / "a.zip", {"a": b""}))
    assert may_hold_chats(FOLDER)
    assert may_hold_chats(FOLDER.parent)
    others = tmp_path / "others"
    others.mkdir()
    assert not may_hold_chats(others)
    for name, content in (
        ("config.json", '{"model_type": "llama", "architectures": ["LlamaForCausalLM"]}'),
        ("package.json", '{"name": "x", "version": "1.0", "dependencies": {}}'),
        ("data.json", '[{"id": 1, "title": "x", "text": "chat"}]'),
        ("notes.md", '"mapping": {}'),
    ):
        (others / name).write_text(content)
        assert not may_hold_chats(others / name), name
    assert not may_hold_chats(others)
    assert not may_hold_chats(tmp_path / "gone")
