"""The chats of each program, read from files in the forms that it writes."""

import hashlib
import json
from collections import Counter

import pytest

from chat_exports import FOLDER, export_of, write_jan, write_json, write_ollama, write_zip
from sotto.chats.chat_records import Role, State
from sotto.chats.imports.reading import NoChatsError, Reading
from sotto.chats.whole_chat import Lost
from sotto.engine.contract.answer_parts import Kind, Piece, markup


def read(*paths):
    """Return the chats of some files, by title."""
    reading = Reading(paths)
    chats = {chat.title: chat for chat in reading.chats()}
    assert (reading.broken, reading.files) == (0, 0)
    return chats


def outline(chat):
    """Return the messages of a chat, each with its place and that of the one before it."""
    return [(message.role.value[0], message.parent, message.text) for message in chat.messages]


def thought(text):
    """Return a thought as it stands before the text of an answer."""
    return markup([Piece(Kind.THOUGHT, text, begins=True, ends=True)])


def test_chatgpt_of_2023_with_versions():
    rice = read(FOLDER / "chatgpt.json")["Rice"]
    assert (rice.created, rice.changed, rice.model) == (1_690_000_000.25, 1_690_000_500.5, "gpt-4")
    assert outline(rice) == [
        ("u", None, "How long does rice boil?"),
        ("a", 0, "Ten minutes."),
        ("a", 0, "It **depends**."),
        ("u", 2, "On what?"),
        ("a", 3, "The grain."),
    ]
    assert rice.leaf == 4
    assert [message.model for message in rice.messages][1:3] == ["text-davinci-002-render-sha", "gpt-4"]
    assert rice.messages[1].created == 1_690_000_010.0
    assert not rice.lost


def test_chatgpt_of_2026_with_thoughts_tools_and_files():
    tides = read(FOLDER / "chatgpt.json")["Tides"]
    assert outline(tides) == [
        ("u", None, "Why are there tides?"),
        ("a", 0, thought("**Considering the moon**\n\nIt pulls.") + "The Moon pulls the sea as $F = ma$ says."),
        ("u", 1, "Write that down."),
        ("a", 2, "**tides**\n\n```python\nprint('tides')\n```\n\nThere it is."),
    ]
    answer = tides.messages[1]
    assert (answer.model, answer.figures, tides.messages[3].state) == ("o3", {"thoughts": [65]}, State.STOPPED)
    assert (tides.model, tides.pinned, tides.archived, tides.leaf) == ("gpt-5", True, True, 3)
    assert tides.lost == {Lost.IMAGE: 1, Lost.FILE: 1, Lost.TOOL_CALL: 1}


def test_claude_of_2024_with_texts_and_a_document():
    haiku = read(FOLDER / "claude.json")["A haiku"]
    assert haiku.created == pytest.approx(1_709_632_800.123456)
    assert outline(haiku) == [
        ("u", None, "A haiku about the attached, please."),
        ("a", 0, "Here:\n\n**Pond**\n\nold pond\n\nEnjoy."),
    ]
    (notes,) = haiku.messages[0].attachments
    assert (notes.name, notes.text, notes.whole) == ("notes.txt", "frogs, pond", True)
    assert haiku.lost == {Lost.IMAGE: 1}


def test_claude_of_2026_with_blocks_and_versions():
    weather = read(FOLDER / "claude.json")["Weather"]
    assert outline(weather) == [
        ("u", None, "Rain in Lima?"),
        ("a", 0, thought("A desert.") + "Hardly ever."),
        ("a", 0, "Almost none."),
        ("u", 2, "(image)"),
        ("a", 3, "**Rain**\n\n```python\nprint('dry')\n```\n\nA program."),
    ]
    assert (weather.messages[1].figures, weather.leaf) == ({"thoughts": [7]}, 4)
    assert weather.lost == {Lost.TOOL_CALL: 1, Lost.IMAGE: 1}


def test_lm_studio_with_versions_and_steps():
    bread = read(FOLDER / "lm-studio.json")["Bread"]
    assert outline(bread) == [
        ("u", None, "Bread?"),
        ("u", None, "How do I bake bread?"),
        ("a", 1, thought("Flour, water.") + "Mix and *wait*."),
        ("u", 2, "Thanks"),
        ("a", 1, "Buy it."),
    ]
    assert (bread.created, bread.changed) == (1_736_789_912.98, 1_736_790_000.0)
    assert [message.model for message in bread.messages] == ["", "", "qwen3-4b", "", "gemma-3"]
    assert bread.messages[2].created == 1_736_789_920.0
    assert (bread.system, bread.pinned, bread.leaf) == ("You bake.", True, 3)
    assert bread.lost == {Lost.IMAGE: 1, Lost.TOOL_CALL: 1}


@pytest.mark.parametrize("chosen", ["", "thread.json", "messages.jsonl"])
def test_jan_with_thoughts_in_the_text(tmp_path, chosen):
    stars = read(write_jan(tmp_path / "threads" / "jan_1", "0.5") / chosen)["Stars"]
    assert outline(stars) == [
        ("u", None, "Which star is the brightest?"),
        ("a", 0, "<think>Not the sun.</think>\n\nSirius."),
    ]
    assert (stars.created, stars.changed) == (1_719_387_240.0, 1_719_387_300.0)
    assert (stars.model, stars.messages[1].model) == ("llama3.2-3b-instruct", "llama3.2-3b-instruct")
    assert (stars.system, stars.pinned) == ("You know the sky.", True)


def test_jan_with_versions(tmp_path):
    write_jan(tmp_path / "threads" / "jan_1")
    stars = read(tmp_path / "threads")["Stars"]
    assert outline(stars) == [
        ("u", None, "Which star is the brightest?"),
        ("a", 0, thought("Hm.") + "Vega."),
        ("a", 0, thought("Look it up.") + "Sirius."),
    ]
    assert (stars.leaf, stars.messages[2].state) == (2, State.STOPPED)
    assert [each.name for each in stars.messages[0].attachments] == ["sky.txt"]
    assert stars.lost == {Lost.IMAGE: 1, Lost.TOOL_CALL: 1}


def test_an_exported_chat_of_jan():
    stars = read(FOLDER / "jan.json")["Stars"]
    assert [message.role for message in stars.messages] == [Role.USER, Role.ASSISTANT]
    assert (stars.created, stars.changed) == (1_719_387_241.0, 1_719_387_245.0)


def test_open_webui_with_answers_of_two_models():
    dice = read(FOLDER / "open-webui.json")["🎲 Dice"]
    assert outline(dice) == [
        ("u", None, "How old are dice?"),
        ("a", 0, "Very old."),
        ("a", 0, thought("It's old.\nGreek.") + "5000 years.\n\nSo it is."),
    ]
    assert [message.model for message in dice.messages] == ["", "llama3.2:latest", "qwen3:8b"]
    assert (dice.messages[2].figures, dice.leaf) == ({"thoughts": [13]}, 2)
    assert (dice.system, dice.pinned, dice.created, dice.changed) == (
        "Be fair.",
        True,
        1_744_577_500.0,
        1_744_577_600.0,
    )
    assert [(each.name, each.text) for each in dice.messages[0].attachments] == [("dice.txt", "of bone")]
    assert dice.lost == {Lost.IMAGE: 1, Lost.TOOL_CALL: 1}


def test_open_webui_with_parts_and_without_a_tree():
    chats = read(FOLDER / "open-webui.json")
    assert outline(chats["Cards"])[1] == ("a", 0, thought("China.") + "From China.")
    assert (chats["Cards"].messages[1].figures, chats["Cards"].archived) == ({"thoughts": [4]}, True)
    assert chats["Cards"].lost == {Lost.TOOL_CALL: 1}
    assert outline(chats["Chess"]) == [("u", None, "Who won?"), ("a", 0, "White.")]


@pytest.mark.parametrize("newest", [True, False])
def test_ollamas_database_is_read_with_its_log_and_stays_as_it_is(tmp_path, newest):
    path = tmp_path / "db.sqlite"
    connection = write_ollama(path, newest=newest)
    before = {each.name: hashlib.sha256(each.read_bytes()).digest() for each in tmp_path.iterdir()}
    assert path.with_name("db.sqlite-wal").stat().st_size > path.stat().st_size
    snow = read(path)["Snow"]
    assert {each.name: hashlib.sha256(each.read_bytes()).digest() for each in tmp_path.iterdir()} == before
    connection.close()
    assert outline(snow) == [
        ("u", None, "Why is snow white?"),
        ("a", 0, thought("Let me look.") + "It scatters light."),
    ]
    assert snow.created == pytest.approx(1_754_035_200.123456)
    assert (snow.changed, snow.model) == (1_754_035_260.0, "gpt-oss:20b")
    assert snow.messages[1].figures == {"thoughts": [8]}
    assert [each.text for each in snow.messages[0].attachments] == (["# Snow"] if newest else [])
    assert snow.lost == ({Lost.IMAGE: 1, Lost.TOOL_CALL: 1} if newest else {Lost.TOOL_CALL: 1})


def test_sottos_own_export():
    lily = read(FOLDER / "sotto.json")["Lily"]
    assert (lily.draft, lily.options, lily.trims, lily.leaf) == ("go on", {"temperature": 0.5}, True, 2)
    assert [each.name for each in lily.attachments] == ["a.txt"]
    assert lily.messages[2].state is State.STOPPED


def test_archives_and_folders_with_anything_else_in_them(tmp_path):
    chatgpt, claude = (json.dumps(export_of(name)).encode() for name in ("chatgpt", "claude"))
    inner = write_zip(tmp_path / "inner.zip", {"conversations-001.json": claude})
    archive = write_zip(
        tmp_path / "export.zip",
        {
            "user.json": b'{"id": "user-1"}',
            "chat.html": b"<html></html>",
            "file-1.png": b"\x89PNG\r\n\x1a\n" + bytes(1000),
            "conversations-000.json": b"\xef\xbb\xbf  " + chatgpt,
            "Conversations.zip": inner.read_bytes(),
        },
    )
    inner.unlink()
    assert set(read(archive)) == {"Rice", "Tides", "A haiku", "Weather"}
    write_json(tmp_path / "bread.conversation.json", export_of("lm-studio"))
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "also.json").symlink_to(archive)
    assert set(read(tmp_path)) == {"Rice", "Tides", "A haiku", "Weather", "Bread"}


def test_a_list_in_an_object_and_names_that_say_nothing(tmp_path):
    path = write_json(tmp_path / "README.txt", {"conversations": export_of("claude")})
    assert set(read(path)) == {"A haiku", "Weather"}


def test_broken_chats_and_files_are_counted_and_the_rest_is_read(tmp_path):
    mixed = [
        export_of("chatgpt")[0],
        {"mapping": {"a": {"parent": "b", "message": None}, "b": {"parent": "a", "message": None}}},
        {"mapping": {key: {"parent": key, "message": {"author": {"role": "user"}, "content": {"parts": [key]}}}
                     for key in "xy"}, "title": "circle"},
        None,
        {"mapping": []},
    ]  # fmt: skip
    text = write_json(tmp_path / "conversations.json", mixed)
    reading = Reading([text, write_json(tmp_path / "other.json", {"a": 1})])
    assert [chat.title for chat in reading.chats()] == ["Rice"]
    assert (reading.broken, reading.files) == (3, 1)


def test_a_file_that_ends_early_gives_what_is_whole(tmp_path):
    path = tmp_path / "conversations.json"
    path.write_bytes((FOLDER / "chatgpt.json").read_bytes()[:-300])
    reading = Reading([path])
    assert [chat.title for chat in reading.chats()] == ["Rice"]
    assert (reading.broken, reading.files) == (0, 1)


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("notes.json", b'{"a": 1}', "notes.json has no chats that can be imported: choose an export of Sotto,"),
        ("notes.json", b"[1, 2", "notes.json cannot be imported, as it is not JSON at character 5: choose an"),
        ("deep.json", b"[" * 200_000, "nested too deeply at character 1: choose"),
        ("picture.png", b"\x89PNG\r\n", "picture.png has no chats that can be imported: choose an export of"),
        ("empty.json", b"", "empty.json has no chats"),
        ("x.zip", b"PK\x03\x04" + bytes(50), "x.zip cannot be imported, as it is a damaged archive."),
        ("db.sqlite", b"SQLite format 3\x00" + bytes(50), "as it is a damaged database: choose an export of"),
        ("all.json", b'{"format": "sotto-chats", "version": 9}', "all.json is of version 9 of Sotto's exports, and"),
        ("all.json", b'{"format": "sotto-chats", "version": 1}', "all.json has no chats: an export of Sotto"),
        ("all.json", b'{"format": "sotto-chats", "version": 1, "chats": [{"title": 5}]}',
         "all.json: chats[0].title is 5; it must be a text."),
        ("none.json", b'[{"mapping": {}}]', "none.json has no messages in it"),
    ],
)  # fmt: skip
def test_what_is_no_export_gets_one_sentence_with_its_name(tmp_path, name, content, sentence):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(NoChatsError) as refused:
        list(Reading([path]).chats())
    assert sentence in refused.value.message
    assert refused.value.message.startswith(name)
    assert refused.value.message.endswith(".")


def test_a_folder_without_chats_and_a_file_that_is_gone(tmp_path):
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "a.json").write_text("{}")
    with pytest.raises(NoChatsError, match=r"^inside has no chats"):
        list(Reading([tmp_path / "inside"]).chats())
    with pytest.raises(NoChatsError, match=r"^gone.json cannot be imported, as it could not be read \(No such file"):
        list(Reading([tmp_path / "gone.json"]).chats())


def test_a_locked_archive_is_refused(tmp_path):
    path = write_zip(tmp_path / "x.zip", {"a.json": b"[]"})
    data = bytearray(path.read_bytes())
    # The flag of encryption, in the header of the file and in the directory.
    for at in (data.index(b"PK\x03\x04") + 6, data.index(b"PK\x01\x02") + 8):
        data[at] |= 1
    path.write_bytes(data)
    with pytest.raises(NoChatsError, match="locked with a password; unpack it first"):
        list(Reading([path]).chats())


def test_the_lost_are_counted_once(tmp_path):
    again = export_of("chatgpt")
    path = write_json(tmp_path / "a.json", again)
    assert sum((chat.lost for chat in Reading([path]).chats()), Counter()) == {
        Lost.IMAGE: 1,
        Lost.FILE: 1,
        Lost.TOOL_CALL: 1,
    }
