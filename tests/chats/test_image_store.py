"""Images of conversations on disk: each once, never lost while a message or draft has it, and deleted with the last."""

import hashlib
import os
import signal
import stat
import subprocess
import sys
import time

import pytest

from sotto.chats.chat_records import Attachment, Picture
from sotto.chats.chat_store import ChatStore
from sotto.chats.database import Database
from sotto.chats.image_store import GRACE_SECONDS, ImageStore, MissingImageError
from sotto.chats.message_changes import branch_off, delete_exchange, restore
from sotto.chats.search import search
from sotto.errors import SottoError

CAT, DOG = b"\x89PNG a cat", b"\xff\xd8\xff a dog"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "data" / "chats.sqlite3"


@pytest.fixture
def store(path):
    opened = ChatStore(Database(path))
    yield opened
    opened.database.close()


def attached(store, data, name="cat.png"):
    return Attachment(name, "", len(data), 0, 0, image=store.keep_image(data))


def files(store):
    """Return the contents of all files in the folder of images."""
    return sorted(path.read_bytes() for path in store.images.folder.rglob("*") if path.is_file())


def age(store):
    """Let all files seem old enough to be left over."""
    old = time.time() - GRACE_SECONDS - 60
    for path in store.images.folder.rglob("*"):
        os.utime(path, (old, old))


def test_an_image_is_stored_once_under_its_digest_for_its_owner_alone(store, path):
    digest = store.keep_image(CAT)
    assert digest == hashlib.sha256(CAT).hexdigest() == store.keep_image(CAT)
    file = path.parent / "images" / digest[:2] / digest
    assert files(store) == [CAT]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [stat.S_IMODE(folder.stat().st_mode) for folder in (file.parent, file.parent.parent)] == [0o700, 0o700]
    assert ImageStore(path).read(digest) == CAT


def test_a_missing_image_is_named_in_a_sentence(store):
    with pytest.raises(MissingImageError, match=r"^The file of an image is missing \(.*00\): attach it again\.$"):
        store.images.read("0" * 64)


def test_a_question_keeps_texts_and_images_in_their_order(store):
    chat, cat, dog = store.add_chat(), attached(store, CAT), attached(store, DOG, "dog.jpg")
    note = Attachment("a.txt", "one", 3, 0, 3)
    store.keep_attachments(chat, [note, cat, dog])
    assert store.drafted(chat) == (note, cat, dog)
    store.ask(chat, "Which is it?", None, [note, cat, dog])
    (turn,) = store.branch(chat).turns
    assert turn.attachments == (note, cat, dog)
    assert turn.content == (
        "a.txt:\n```\none\n```",
        Picture(cat.image, "cat.png"),
        Picture(dog.image, "dog.jpg"),
        "Which is it?",
    )


def test_images_go_with_the_last_conversation_that_has_them(store):
    cat = attached(store, CAT)
    first, second = store.add_chat(), store.add_chat()
    for chat in (first, second):
        store.ask(chat, "What?", None, [cat, attached(store, DOG, "dog.jpg")] if chat == first else [cat])
    store.throw_away([first, second])
    assert files(store) == [CAT, DOG]
    store.erase([first])
    assert files(store) == [CAT]
    store.empty_trash(older_than=0)
    assert files(store) == []


def test_all_images_go_with_all_conversations(store):
    store.keep_attachments(None, [attached(store, CAT)])
    store.erase_all()
    assert files(store) == []


def test_the_trash_is_purged_of_images_at_the_start(path):
    store = ChatStore(Database(path), lambda: 1000.0)
    chat = store.add_chat()
    store.ask(chat, "What?", None, [attached(store, CAT)])
    store.throw_away([chat])
    store.close()
    later = ChatStore(Database(path))
    assert (later.chats(), files(later)) == ((), [])
    later.close()


def test_what_can_come_back_is_deleted_when_the_file_is_closed(path):
    store = ChatStore(Database(path))
    chat = store.keep_attachments(None, [attached(store, CAT)])
    store.keep_attachments(chat, [])
    # The draft may be on its way into another conversation.
    assert files(store) == [CAT]
    chat = store.add_chat()
    question = store.ask(chat, "What?", None, [attached(store, DOG)])
    deleted = delete_exchange(store, question)
    restore(store, deleted)
    assert [each.image for each in store.branch(chat).turns[0].attachments] == [hashlib.sha256(DOG).hexdigest()]
    store.close()
    again = ChatStore(Database(path))
    assert files(again) == [DOG]
    again.close()


def test_a_branch_and_a_retracted_question_keep_their_images(store):
    chat = store.add_chat()
    question = store.ask(chat, "What?", None, [attached(store, CAT)])
    copy = branch_off(store, question)
    store.retract(question)
    assert store.drafted(chat) == store.branch(copy).turns[0].attachments
    store.throw_away([chat])
    store.erase([chat])
    assert files(store) == [CAT]


def test_left_over_files_are_swept_at_the_start_once_they_are_old(path):
    store = ChatStore(Database(path))
    store.keep_attachments(None, [attached(store, CAT)])
    left = store.images.path(store.keep_image(DOG))
    (left.parent / f"{'0' * 64}.partial").write_bytes(b"half")
    store.database.close()
    again = ChatStore(Database(path))
    assert len(files(again)) == 3
    again.database.close()
    age(again)
    again.images.folder.joinpath("notes.txt").write_text("mine")
    last = ChatStore(Database(path))
    assert files(last) == [b"mine", CAT]
    last.database.close()


def test_images_of_a_damaged_file_that_was_kept_stay(path):
    store = ChatStore(Database(path))
    store.keep_attachments(None, [attached(store, CAT)])
    store.database.close()
    age(store)
    path.write_bytes(b"not a database" * 100)
    again = ChatStore(Database(path))
    assert again.database.notices
    assert files(again) == [CAT]
    again.close()


def test_a_newer_file_is_not_written_and_loses_no_image(path):
    store = ChatStore(Database(path))
    store.keep_image(CAT)
    store.database.connection.execute("PRAGMA user_version = 99")
    store.database.close()
    age(store)
    newer = ChatStore(Database(path))
    with pytest.raises(SottoError, match="newer version"):
        newer.keep_image(DOG)
    newer.close()
    assert files(newer) == [CAT]


def test_a_digest_that_is_a_path_is_none(store):
    store.keep_attachments(None, [Attachment("x", "", 1, 0, 0, image="../../../etc/passwd")])
    (chat,) = (row[0] for row in store.database.connection.execute("SELECT id FROM chats"))
    assert store.drafted(chat)[0].image == ""


def test_images_are_not_found_by_the_search(store):
    chat = store.add_chat()
    question = store.ask(chat, "What?", None, [attached(store, CAT, "holiday.png")])
    store.retract(question)
    store.ask(chat, "What?", None, store.drafted(chat))
    connection = store.database.connection
    assert search(connection, "holiday") == ()
    connection.execute("INSERT INTO found_attached (found_attached) VALUES ('integrity-check')")


WRITER = """
import os, sys
from pathlib import Path
from sotto.chats.chat_records import Attachment
from sotto.chats.chat_store import ChatStore
from sotto.chats.database import Database
store = ChatStore(Database(Path(sys.argv[1])))
number = 0
while True:
    data = os.urandom(1 + number % 7 * 50_000)
    attachment = Attachment(f"{number}.png", "", len(data), 0, 0, image=store.keep_image(data))
    chat = store.keep_attachments(None, [attachment])
    store.ask(chat, "What?", None, [attachment])
    if number % 3 == 0:
        store.throw_away([chat])
        store.erase([chat])
    else:
        print(attachment.image, flush=True)
    number += 1
"""


@pytest.mark.parametrize("seconds", [0.0, 0.02, 0.1, 0.2])
def test_a_killed_process_loses_no_image_of_a_message_or_draft(path, seconds):
    process = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True)
    process.stdout.readline()
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    reported = process.stdout.read().split()
    process.wait()
    process.stdout.close()
    store = ChatStore(Database(path))
    rows = store.database.connection.execute("SELECT image FROM attachments").fetchall()
    digests = {digest for (digest,) in rows}
    assert digests.issuperset(line for line in reported if len(line) == 64)
    for digest in digests:
        assert hashlib.sha256(store.images.read(digest)).hexdigest() == digest
    store.images.sweep(digests, grace=-1.0)
    assert {hashlib.sha256(data).hexdigest() for data in files(store)} == digests
    store.close()


def test_an_image_of_a_draft_that_is_not_written_yet_stays_when_another_chat_is_erased(store):
    old = store.add_chat()
    store.ask(old, "What is it?", None, [attached(store, CAT)])
    store.throw_away([old])
    again = attached(store, CAT)
    store.erase([old])
    assert store.images.read(again.image) == CAT
    new = store.add_chat()
    store.ask(new, "And now?", None, [again])
    store.throw_away([new])
    store.erase([new])
    assert files(store) == []


def test_a_file_can_have_several_stores(path):
    database = Database(path)
    ChatStore(database)
    ChatStore(database).close()
