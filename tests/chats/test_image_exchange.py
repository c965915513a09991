"""Images of conversations in exports and imports."""

import base64
import hashlib
import json

import pytest

from chat_exports import add_chats, export_of, write_jan, write_json, write_ollama
from sotto.chats.chat_records import Attachment
from sotto.chats.chat_store import ChatStore
from sotto.chats.database import Database
from sotto.chats.exchange import as_json, as_markdown, image_as_json, images_in
from sotto.chats.imports.reading import Reading
from sotto.chats.imports.reading_process import read_chats
from sotto.chats.imports.sniffing import may_hold_chats
from sotto.chats.whole_chat import Lost

CAT, DOG = b"\x89PNG\r\n\x1a\n a cat", b"\xff\xd8\xff a dog"
DATA_URL = f"data:image/png;base64,{base64.b64encode(CAT).decode()}"


@pytest.fixture
def stores(tmp_path):
    opened = [ChatStore(Database(tmp_path / name / "chats.sqlite3")) for name in ("one", "two")]
    yield opened
    for store in opened:
        store.close()


def attached(store, data, name):
    return Attachment(name, "", len(data), 0, 0, image=store.keep_image(data))


def fill(store):
    """Add a chat with an image in a question and one in its draft; return its number."""
    chat = store.add_chat()
    store.ask(chat, "What?", None, [attached(store, CAT, "cat.png")])
    store.keep_attachments(chat, [attached(store, DOG, "dog.jpg")])
    return chat


def exported(store, path, leave_out=()):
    """Write an export as the app does."""
    images = [image_as_json(store.images.read(digest)) for digest in images_in(store.database)]
    kept = [image for image in images if json.loads(image)["data"] not in leave_out]
    path.write_text("[\n" + "".join(f"{image},\n" for image in kept) + as_json(store.database) + "\n]\n")
    return path


def test_an_export_brings_images_along(stores, tmp_path):
    first, second = stores
    fill(first)
    path = exported(first, tmp_path / "export.json")
    assert may_hold_chats(path)
    found = read_chats([path], lambda: False, lambda count: None)
    added = add_chats(second.database, found)
    found.close()
    (chat,) = added.new
    assert not any(added.lost.values())
    assert second.branch(chat).turns[0].attachments == (attached(first, CAT, "cat.png"),)
    assert second.drafted(chat) == (attached(first, DOG, "dog.jpg"),)
    assert second.images.read(hashlib.sha256(CAT).hexdigest()) == CAT
    assert as_json(second.database) == as_json(first.database)
    # The same export once more adds nothing.
    again = read_chats([path], lambda: False, lambda count: None)
    assert add_chats(second.database, again).new == []
    again.close()


def test_an_image_that_an_export_lacks_is_counted_as_lost(stores, tmp_path):
    first, second = stores
    fill(first)
    path = exported(first, tmp_path / "export.json", leave_out=[base64.b64encode(CAT).decode()])
    added = add_chats(second.database, Reading([path]).chats())
    assert added.lost[Lost.IMAGE] == 1
    assert second.branch(added.new[0]).turns[0].attachments == ()
    assert [each.name for each in second.drafted(added.new[0])] == ["dog.jpg"]


@pytest.mark.parametrize("data", [None, 7, "no base64!", "", "AAAA"])
def test_a_broken_image_in_an_export_is_lost_and_nothing_else(stores, tmp_path, data):
    first, second = stores
    fill(first)
    path = tmp_path / "export.json"
    broken = json.dumps({"format": "sotto-image", "version": 1, "data": data})
    path.write_text(f"[{broken}, {as_json(first.database)}]")
    added = add_chats(second.database, Reading([path]).chats())
    assert (len(added.new), added.lost[Lost.IMAGE]) == (1, 2)


def test_markdown_names_images(stores):
    chat = fill(stores[0])
    assert "cat.png\n\nWhat?" in as_markdown(stores[0].database, chat)


def only_image(chats):
    """Return the only image of some chats, and its name."""
    (chat,) = [chat for chat in chats if chat.images]
    (attachment,) = [each for message in chat.messages for each in message.attachments if each.image]
    return chat.images[attachment.image], attachment.name, chat.lost[Lost.IMAGE]


def test_open_webui_has_images_in_its_exports(tmp_path):
    whole = json.dumps(export_of("open-webui")).replace("data:image/png;base64,AAAA", DATA_URL)
    data, _, lost = only_image(Reading([write_json(tmp_path / "a.json", json.loads(whole))]).chats())
    assert (data, lost) == (CAT, 0)


def test_jan_has_images_in_its_messages(tmp_path):
    folder = write_jan(tmp_path / "threads")
    (messages,) = folder.rglob("messages.jsonl")
    lines = messages.read_text().splitlines()
    first = json.loads(lines[0])
    first["content"] = [{"type": "image_url", "image_url": {"url": DATA_URL}}]
    messages.write_text("\n".join([json.dumps(first), *lines[1:]]))
    data, name, _ = only_image(Reading([folder]).chats())
    assert (data, name) == (CAT, "image")


def test_ollamas_app_has_images_in_its_database(tmp_path):
    path = tmp_path / "db.sqlite"
    connection = write_ollama(path)
    connection.execute("DELETE FROM attachments")
    (message,) = connection.execute("SELECT id FROM messages WHERE role = 'user'").fetchone()
    connection.execute(
        "INSERT INTO attachments (message_id, filename, data) VALUES (?, ?, ?)", (message, "cat.png", CAT)
    )
    connection.commit()
    connection.close()
    assert only_image(Reading([path]).chats()) == (CAT, "cat.png", 0)


def test_images_of_answers_are_lost(tmp_path):
    value = {
        "title": "Draw", "chat": {"title": "Draw", "history": {"currentId": "b", "messages": {
            "a": {"id": "a", "parentId": None, "childrenIds": ["b"], "role": "user", "content": "Draw a cat"},
            "b": {"id": "b", "parentId": "a", "childrenIds": [], "role": "assistant", "content": "Here",
                  "files": [{"type": "image", "url": DATA_URL}]},
        }}},
    }  # fmt: skip
    (chat,) = Reading([write_json(tmp_path / "a.json", [value])]).chats()
    assert chat.lost[Lost.IMAGE] == 1
    assert not chat.images
    assert [message.text for message in chat.messages] == ["Draw a cat", "Here"]
