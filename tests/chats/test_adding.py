"""Adding chats to the database, in steps: new ones, ones that are there, and ones with further messages."""

import copy
import json
import sqlite3
from dataclasses import replace

import pytest

from chat_exports import FOLDER, add_chats, export_of, write_json
from sotto.chats import adding as adding_module
from sotto.chats import pending_chats
from sotto.chats.adding import Adding
from sotto.chats.chat_records import Role
from sotto.chats.chat_store import ChatStore
from sotto.chats.database import Database
from sotto.chats.exchange import as_json
from sotto.chats.imports.reading import Reading
from sotto.chats.pending_chats import erase_some
from sotto.chats.search import search, search_titles
from sotto.chats.whole_chat import WholeChat, WholeMessage


@pytest.fixture
def store(tmp_path):
    opened = ChatStore(Database(tmp_path / "chats.sqlite3"))
    yield opened
    opened.database.close()


def read(path):
    return list(Reading([path]).chats())


def counts(added):
    return len(added.new), len(added.grown), added.known


def texts(store, chat):
    return [turn.text for turn in store.branch(chat).turns]


def test_chats_keep_their_times_versions_models_and_places_in_the_list(store):
    mine = store.add_chat()
    store.ask(mine, "mine", None)
    added = add_chats(store.database, read(FOLDER / "chatgpt.json"))
    rice, tides = map(store.chat, added.new)
    assert (rice.title, rice.created, rice.changed, rice.model) == ("Rice", 1_690_000_000.25, 1_690_000_500.5, "gpt-4")
    assert (tides.pinned, tides.archived) == (True, True)
    _, answer, *_ = turns = store.branch(rice.id).turns
    assert [turn.text for turn in turns] == ["How long does rice boil?", "It **depends**.", "On what?", "The grain."]
    assert (len(answer.versions), answer.model, answer.created) == (2, "gpt-4", 1_690_000_020.0)
    store.view(answer.versions[0])
    assert texts(store, rice.id) == ["How long does rice boil?", "Ten minutes."]
    assert [hit.chat for hit in search(store.database.connection, "grain")] == [rice.id]
    assert texts(store, mine) == ["mine"]


def test_importing_twice_doubles_nothing(store):
    chats = [*read(FOLDER / "chatgpt.json"), *read(FOLDER / "sotto.json")]
    assert counts(add_chats(store.database, [*chats, chats[0]])) == (3, 0, 1)
    before = "\n".join(store.database.connection.iterdump())
    assert counts(add_chats(store.database, chats)) == (0, 0, 3)
    assert "\n".join(store.database.connection.iterdump()) == before
    # What Sotto itself has exported is the same as what is there.
    exported = store.database.path.with_name("all.json")
    exported.write_text(as_json(store.database))
    assert counts(add_chats(store.database, read(exported))) == (0, 0, 3)


def test_versions_with_the_same_text_are_told_apart(store):
    (bread,) = read(FOLDER / "lm-studio.json")
    question, answer = replace(bread.messages[0], parent=None), bread.messages[2]
    twice = replace(
        bread, leaf=None, messages=(question, replace(answer, parent=0), question, replace(answer, parent=2))
    )
    assert counts(add_chats(store.database, [twice, twice])) == (1, 0, 1)
    more = replace(twice, messages=(*twice.messages, question))
    assert counts(add_chats(store.database, [more, more])) == (0, 1, 1)


def test_a_later_export_brings_only_what_is_new(store, tmp_path):
    (number,) = add_chats(store.database, read(FOLDER / "chatgpt.json")[:1]).new
    # It was continued and renamed here, and there as well.
    store.change(number, title="Grain")
    store.ask(number, "Here", store.branch(number).turns[-1].id)
    later = copy.deepcopy(export_of("chatgpt")[0])
    node = copy.deepcopy(later["mapping"]["q2"])
    node["message"]["content"]["parts"] = ["There"]
    later["mapping"]["q3"] = {**node, "id": "q3", "parent": "a3", "children": []}
    later |= {"current_node": "q3", "update_time": 1_690_009_000.0, "title": "Renamed there"}
    added = add_chats(store.database, read(write_json(tmp_path / "later.json", [later])))
    assert (counts(added), added.grown) == ((0, 1, 0), [number])
    chat = store.chat(number)
    assert (chat.title, len(store.chats())) == ("Grain", 1)
    assert texts(store, number)[-2:] == ["The grain.", "There"]
    store.view(store.branch(number).turns[-1].versions[0])
    assert texts(store, number)[-1] == "Here"


def test_a_chat_in_the_trash_is_imported_anew(store):
    chats = read(FOLDER / "lm-studio.json")
    (number,) = add_chats(store.database, chats).new
    store.throw_away([number])
    assert counts(add_chats(store.database, chats)) == (1, 0, 0)


def test_chats_that_only_began_alike_stay_apart(store):
    (chat,) = read(FOLDER / "lm-studio.json")
    other = replace(chat, created=chat.created + 1)
    unknown = replace(chat, created=0.0)
    assert counts(add_chats(store.database, [chat, other, unknown, unknown])) == (4, 0, 0)
    assert all(each.changed > 1e9 for each in store.chats())


def test_a_chat_without_a_title_gets_one_so_that_it_is_listed(store):
    (chat,) = read(FOLDER / "lm-studio.json")
    untitled = replace(chat, title="", created=1.0)
    silent = replace(chat, title="", created=2.0, messages=tuple(m for m in chat.messages[:0]))
    answered = replace(chat, title="", created=3.0, leaf=None, messages=(replace(chat.messages[2], parent=None),))
    numbers = add_chats(store.database, [untitled, silent, answered]).new
    assert [store.chat(number).title for number in numbers] == ["Bread?", "", "Imported chat"]


def test_an_error_on_the_way_leaves_everything_as_it_was(store):
    before = "\n".join(store.database.connection.iterdump())

    def breaks():
        yield from read(FOLDER / "chatgpt.json")
        raise RuntimeError("the file is gone")

    with pytest.raises(RuntimeError):
        add_chats(store.database, breaks())
    assert "\n".join(store.database.connection.iterdump()) == before


def test_an_empty_chat_is_a_chat_all_the_same(store):
    chat = WholeChat("Draft", 5.0, 5.0, (), draft="typed")
    assert counts(add_chats(store.database, [chat, chat])) == (1, 0, 1)


# Steps


@pytest.fixture
def short_steps(monkeypatch):
    """Let a step take only two messages or so."""
    monkeypatch.setattr(adding_module, "STEP", 500)
    monkeypatch.setattr(pending_chats, "STEP", 500)


def conversations(count, messages=5):
    """Return conversations that each take more than a step."""
    return [
        WholeChat(
            f"Chat {number}",
            1e9 + number,
            1e9 + number,
            tuple(
                WholeMessage(Role.USER, f"{number}.{place} " + "words " * 20, place - 1 if place else None)
                for place in range(messages)
            ),
        )
        for number in range(count)
    ]


def stored(store):
    """Return the number of messages on the disk, of any chat."""
    (count,) = store.database.connection.execute("SELECT count(*) FROM messages").fetchone()
    return count


def test_text_is_added_in_short_steps_and_appears_at_once(store, short_steps):
    mine = store.add_chat()
    store.ask(mine, "mine", None)
    adding = Adding(store.database, conversations(4))
    steps = 0
    while not adding.done:
        # Nothing shows what is not complete.
        assert [chat.id for chat in store.chats()] == [mine]
        assert search(store.database.connection, "words") == ()
        assert search_titles(store.database.connection, "Chat") == ()
        assert json.loads(as_json(store.database))["chats"][0]["messages"][0]["text"] == "mine"
        before = stored(store)
        adding.step()
        assert stored(store) - before <= 2
        assert not store.database.connection.in_transaction
        steps += 1
    assert steps > 8
    assert {chat.title for chat in store.chats()} == {"mine", "Chat 0", "Chat 1", "Chat 2", "Chat 3"}
    assert all(len(store.branch(number).turns) == 5 for number in adding.added.new)
    assert len(search(store.database.connection, "words")) == 20


@pytest.mark.parametrize("steps", [1, 2, 5, 9])
def test_what_does_not_end_leaves_whole_chats_and_is_added_the_next_time(tmp_path, short_steps, steps):
    path = tmp_path / "chats.sqlite3"
    store = ChatStore(Database(path))
    whole = conversations(5)
    # One is there already, and gets two more messages.
    (old,) = add_chats(store.database, [replace(whole[0], messages=whole[0].messages[:3])]).new
    adding = Adding(store.database, whole)
    for _ in range(steps):
        adding.step()
    # As if the app had been killed and started again.
    store.database.close()
    store = ChatStore(Database(path))
    assert [chat.id for chat in store.chats()] == [old]
    assert len(store.branch(old).turns) == 5
    left = stored(store)
    while erase_some(store.database):
        assert left - stored(store) <= 2
        left = stored(store)
    for table, count in (("chats", 1), ("messages", 5), ("found", 5)):
        assert store.database.connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (count,)
    assert counts(add_chats(store.database, whole)) == (4, 0, 1)
    assert len(store.chats()) == 5
    assert counts(add_chats(store.database, whole)) == (0, 0, 5)
    store.database.close()


def test_an_error_in_a_later_step_leaves_whole_chats(store, short_steps):
    whole = conversations(3)

    def breaks():
        yield from whole[:2]
        raise RuntimeError("the file is gone")

    with pytest.raises(RuntimeError):
        add_chats(store.database, breaks())
    assert store.chats() == ()
    while erase_some(store.database):
        pass
    assert counts(add_chats(store.database, whole)) == (3, 0, 0)


def test_a_chat_that_is_deleted_between_two_steps_is_added_anew(store, short_steps):
    whole = conversations(3)
    (last,) = add_chats(store.database, whole[2:]).new
    adding = Adding(store.database, whole)
    adding.step()
    store.throw_away([last])
    while not adding.done:
        adding.step()
    assert counts(adding.added) == (3, 0, 0)
    assert len(store.branch(last).turns) == 5


def test_erasing_all_chats_ends_an_import(store, short_steps):
    adding = Adding(store.database, conversations(3))
    adding.step()
    store.erase_all()
    with pytest.raises(sqlite3.IntegrityError):
        adding.step()
    assert store.chats() == ()
