"""Edited answers, branches as conversations of their own, and deleted messages that come back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sotto.chats.chat_records import Attachment, Role, State
from sotto.chats.chat_store import ChatStore
from sotto.chats.database import Database
from sotto.chats.message_changes import branch_off, delete_exchange, edit_answer, restore
from sotto.chats.schema import TABLES
from sotto.chats.search import search
from sotto.errors import SottoError
from thoroughness import examples

NOTES = Attachment("notes.txt", "one two", 7, 0, 7)


@pytest.fixture
def store(tmp_path):
    opened = ChatStore(Database(tmp_path / "chats.sqlite3"), lambda: 5000.0)
    yield opened
    opened.database.close()


def exchange(store, chat, text, parent=None, attachments=()):
    question = store.ask(chat, text, parent, attachments)
    answer = store.begin_answer(question, "small")
    store.end_answer(answer, f"{text}!", State.COMPLETE, {"tokens": 3, "prompt": 9, "format": "json"})
    return question, answer


def conversation(store, *texts, chat=None):
    """Add exchanges one after the other, and return the conversation with the numbers of all messages."""
    chat, messages = store.add_chat() if chat is None else chat, [None]
    for text in texts:
        messages += exchange(store, chat, text, messages[-1])
    return chat, messages[1:]


def texts(store, chat):
    return [turn.text for turn in store.branch(chat).turns]


def rows(store):
    """Return all data; the indexes of the search are compared by what is found."""
    return {
        table: sorted(store.database.connection.execute(f"SELECT {', '.join(columns)} FROM {table}").fetchall())
        for table, columns in TABLES.items()
    }


def found(store, word):
    return [hit.message for hit in search(store.database.connection, word)]


def test_an_edited_answer_is_a_version_with_the_same_messages_after_it(store):
    chat, (_, first, *_) = conversation(store, "one", "two", "three")
    before = texts(store, chat)
    edit_answer(store, first, "<think>\nHm.\n</think>\n\nuno")
    assert texts(store, chat) == ["one", "<think>\nHm.\n</think>\n\nuno", *before[2:]]
    turn = store.branch(chat).turns[1]
    assert (turn.model, turn.state, len(turn.versions)) == ("small", State.COMPLETE, 2)
    # The old statistics are not those of another text.
    assert turn.figures == {"format": "json", "edited": True}
    store.view(first)
    assert texts(store, chat) == before
    assert store.branch(chat).turns[1].figures["tokens"] == 3
    with pytest.raises(SottoError, match="no longer in the chat database"):
        edit_answer(store, 999, "x")


def test_the_last_answer_is_edited_and_what_follows_a_version_out_of_view_stays_there(store):
    chat, (first, answer, *_) = conversation(store, "one", "two")
    other = store.begin_answer(first, "large")
    store.end_answer(other, "eins", State.COMPLETE)
    edit_answer(store, other, "zwei")
    assert texts(store, chat) == ["one", "zwei"]
    store.view(answer)
    assert texts(store, chat) == ["one", "one!", "two", "two!"]


def test_open_edits_follow_the_messages_that_they_belong_to(store):
    chat, (_, answer, second, last) = conversation(store, "one", "two")
    for message in (answer, second, last):
        store.keep_edit(message, f"edit of {message}")
    # A branch is a copy of what was said, and nothing is edited in it.
    assert store.edits(branch_off(store, last)) == {}
    # An edit that is made ends; those of the messages that follow are shown after the new version.
    edit_answer(store, answer, "uno")
    _, _, second_shown, last_shown = (turn.id for turn in store.branch(chat).turns)
    edits = {second_shown: f"edit of {second}", last_shown: f"edit of {last}"}
    assert store.edits(chat) == edits
    deleted = delete_exchange(store, last_shown)
    assert store.edits(chat) == {}
    restore(store, deleted)
    assert store.edits(chat) == edits
    store.keep_edit(last_shown, "")
    assert list(store.edits(chat)) == [second_shown]


def test_a_branch_is_a_chat_with_the_messages_up_to_one(store):
    chat = store.add_chat()
    question, answer = exchange(store, chat, "one", attachments=[NOTES])
    exchange(store, chat, "two", answer)
    folder = store.add_folder("Work")
    store.change(chat, folder=folder, system="Be brief.", options={"top_k": 3}, trims=True, pinned=True)
    before = rows(store)
    branch = branch_off(store, answer)
    assert texts(store, branch) == ["one", "one!"]
    assert store.branch(branch).turns[0].attachments == (NOTES,)
    copied = store.chat(branch)
    assert (copied.title, copied.folder, copied.pinned, copied.model) == ("Branch of one", folder, False, "small")
    assert (copied.system, copied.options, copied.trims) == ("Be brief.", {"top_k": 3}, True)
    assert (copied.created, copied.changed) == (5000.0, 5000.0)
    # The original stays as it was.
    after = rows(store)
    assert all(set(before[table]) <= set(after[table]) for table in before)
    assert texts(store, chat) == ["one", "one!", "two", "two!"]
    # The titles differ, also for a branch of a branch.
    again = branch_off(store, question)
    deeper = branch_off(store, store.branch(branch).turns[0].id)
    assert [store.chat(number).title for number in (again, deeper)] == ["Branch 2 of one", "Branch 3 of one"]
    assert texts(store, again) == ["one"]


def test_a_question_is_deleted_with_its_answers_and_what_follows_stays(store):
    chat, (first, answer, second, *_) = conversation(store, "one", "two")
    other = store.begin_answer(first, "large")
    store.end_answer(other, "eins", State.COMPLETE)
    exchange(store, chat, "drei", other)
    store.view(answer)
    before = rows(store)
    deleted = delete_exchange(store, answer)
    assert (deleted.count(Role.USER), deleted.count(Role.ASSISTANT)) == (1, 2)
    # What followed either answer is kept, as versions.
    assert texts(store, chat) == ["two", "two!"]
    assert len(store.branch(chat).turns[0].versions) == 2
    assert found(store, "eins") == []
    store.view(store.branch(chat).turns[0].versions[1])
    assert texts(store, chat) == ["drei", "drei!"]
    store.view(second)
    restore(store, deleted)
    assert rows(store) == before
    assert found(store, "eins") == [other]


def test_deleting_the_end_shows_what_was_before(store):
    chat, (*_, answer, last, _) = conversation(store, "one", "two")
    deleted = delete_exchange(store, last)
    assert texts(store, chat) == ["one", "one!"]
    # A question asked since then has the number of the deleted one, and stays.
    new, _ = exchange(store, chat, "new", answer)
    assert new == last
    restore(store, deleted)
    assert texts(store, chat) == ["one", "one!", "two", "two!"]
    assert len(store.branch(chat).turns[2].versions) == 2
    store.view(new)
    assert texts(store, chat) == ["one", "one!", "new", "new!"]


def test_deleting_a_version_of_a_question_shows_another(store):
    chat, (first, _) = conversation(store, "one")
    edited, _ = exchange(store, chat, "uno")
    delete_exchange(store, edited)
    assert texts(store, chat) == ["one", "one!"]
    delete_exchange(store, first)
    assert texts(store, chat) == []
    assert store.chat(chat).model == ""


def test_a_question_without_an_answer_is_deleted_with_its_attachments(store):
    chat = store.add_chat()
    question = store.ask(chat, "read", None, [NOTES])
    before = rows(store)
    deleted = delete_exchange(store, question)
    assert rows(store)["attachments"] == []
    restore(store, deleted)
    assert store.branch(chat).turns[0].attachments == (NOTES,)
    assert rows(store) == before


def test_messages_of_a_chat_that_is_gone_are_not_put_back(store):
    _, (first, _) = conversation(store, "one")
    deleted = delete_exchange(store, first)
    store.erase_all()
    with pytest.raises(SottoError, match="deleted meanwhile"):
        restore(store, deleted)
    assert rows(store)["messages"] == []


@examples(40)
@given(st.data())
def test_deleting_and_restoring_anything_leaves_the_same_rows(tmp_path_factory, data):
    store = ChatStore(Database(tmp_path_factory.mktemp("chats") / "chats.sqlite3"))
    chat, answers = store.add_chat(), [None]
    for number in range(data.draw(st.integers(1, 12))):
        _, answer = exchange(store, chat, f"q{number}", data.draw(st.sampled_from(answers)))
        answers.append(answer)
        if data.draw(st.booleans()):
            question = store.branch(chat).turns[-2].id
            other = store.begin_answer(question, "large")
            store.end_answer(other, f"other {number}", State.COMPLETE)
            answers.append(other)
    for _ in range(data.draw(st.integers(1, 3))):
        turns = store.branch(chat).turns
        if not turns:
            break
        before, shown = rows(store), texts(store, chat)
        chosen = data.draw(st.integers(0, len(turns) - 1))
        deleted = delete_exchange(store, turns[chosen].id)
        first = chosen - chosen % 2
        if first + 2 < len(shown):
            assert texts(store, chat) == shown[:first] + shown[first + 2 :]
        else:
            assert texts(store, chat)[:first] == shown[:first]
        if data.draw(st.booleans()):
            restore(store, deleted)
            assert rows(store) == before
            assert texts(store, chat) == shown
    store.database.close()
