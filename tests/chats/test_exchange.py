import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat_exports import add_chats
from sotto.chats.chat_records import Attachment, State
from sotto.chats.chat_store import ChatStore
from sotto.chats.database import Database
from sotto.chats.exchange import as_json, as_markdown
from sotto.chats.imports.reading import NoChatsError, Reading
from thoroughness import examples


@pytest.fixture
def store(tmp_path):
    opened = ChatStore(Database(tmp_path / "chats.sqlite3"), lambda: 1_700_000_000.0)
    yield opened
    opened.database.close()


def import_json(database, text):
    """Import an export as the app does; return the numbers of the conversations that were added."""
    path = database.path.with_name("export.json")
    path.write_text(text, encoding="utf-8")
    return tuple(add_chats(database, Reading([path]).chats()).new)


def fill(store):
    chat = store.add_chat()
    store.change(chat, system="Be brief.\nBe kind.", pinned=True, options={"seed": 7})
    question = store.ask(chat, "What is `a|b`?", None)
    first = store.begin_answer(question, "small")
    store.end_answer(first, "A *pipe*.", State.COMPLETE, {"tokens": 4, "nanoseconds": 5})
    second = store.begin_answer(question, "large")
    store.end_answer(second, "Alternation.", State.STOPPED)
    store.view(first)
    return chat


def test_markdown_shows_the_branch_in_view(store):
    assert as_markdown(store.database, fill(store)) == (
        "# What is a|b?\n\n> Be brief.\n> Be kind.\n\n## You · 2023-11-14 22:13 UTC\n\nWhat is `a|b`?\n\n"
        "## small · 2023-11-14 22:13 UTC\n\nA *pipe*.\n"
    )


def test_attachments_are_exported_and_imported(store):
    chat = store.add_chat()
    sent = Attachment("a.txt", "one two", 7, 0, 3, 12)
    store.ask(chat, "Read", None, [sent])
    store.change(chat, trims=True)
    drafted = Attachment("b.txt", "three", 5, 0, 5)
    store.keep_attachments(chat, [drafted])
    assert "a.txt, characters 1 to 3 of 7:\n```\none\n```\n\nRead" in as_markdown(store.database, chat)
    exported = as_json(store.database, (chat,))
    store.throw_away([chat])
    (number,) = import_json(store.database, exported)
    assert store.branch(number).turns[0].attachments == (sent,)
    assert store.drafted(number) == (drafted,)
    assert store.chat(number).trims


def test_json_includes_the_figures_of_answers(store):
    export = json.loads(as_json(store.database, (fill(store),)))
    messages = export["chats"][0]["messages"]
    assert (messages[1]["model"], messages[1]["figures"]) == ("small", {"tokens": 4, "nanoseconds": 5})


def test_json_restores_everything(store, tmp_path):
    chat = fill(store)
    store.throw_away([store.add_chat()])
    exported = as_json(store.database)
    other = ChatStore(Database(tmp_path / "other.sqlite3"))
    ask = other.add_chat()
    other.ask(ask, "mine", None)
    (number,) = import_json(other.database, exported)
    assert number != chat
    assert as_markdown(other.database, number) == as_markdown(store.database, chat)
    assert as_json(other.database, (number,)) == exported
    branch = other.branch(number).turns
    assert len(branch[1].versions) == 2
    assert other.chat(number).options == {"seed": 7}
    assert [turn.text for turn in other.branch(ask).turns] == ["mine"]
    other.database.close()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda export: export.update(format="other"), "export.json has no chats that can be imported: choose"),
        (lambda export: export.update(version=2), "export.json is of version 2 of Sotto's exports, and"),
        (lambda export: export.update(chats={}), "export.json has no chats: an export of Sotto must have a list"),
        (lambda export: export.update(chats=[5]), r"chats\[0\] is 5; it must be an object"),
        (lambda export: export["chats"][0].update(title=5), r"chats\[0\].title is 5; it must be a text"),
        (lambda export: export["chats"][0].update(pinned=1), r"chats\[0\].pinned is 1; it must be true or false"),
        (lambda export: export["chats"][0].update(created=True), r"chats\[0\].created is true; it must be a number"),
        (lambda export: export["chats"][0].update(leaf=9), r"chats\[0\].leaf is 9; it must be the number"),
        (lambda export: export["chats"][0]["messages"][0].update(parent=0), r"messages\[0\].parent is 0"),
        (lambda export: export["chats"][0]["messages"][1].update(parent=-1), r"messages\[1\].parent is -1"),
        (lambda export: export["chats"][0]["messages"][1].update(role="wizard"), r"messages\[1\].role is 'wizard'"),
        (lambda export: export["chats"][0]["messages"][0].update(attachments=[3]), r"attachments\[0\] is 3"),
        (lambda export: export["chats"][0].update(attachments={}), r"chats\[0\].attachments is {}; it must be a list"),
        (lambda export: export["chats"][0]["messages"].append("x"), r"messages\[3\] is \"x\""),
    ],
)
def test_an_invalid_export_is_refused_with_the_place_and_adds_nothing(store, change, reason):
    fill(store)
    export = json.loads(as_json(store.database))
    change(export)
    before = "\n".join(store.database.connection.iterdump())
    with pytest.raises(NoChatsError, match=reason):
        import_json(store.database, json.dumps(export))
    assert "\n".join(store.database.connection.iterdump()) == before


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, "null", '"x"'])
def test_invalid_json_is_refused(store, text):
    with pytest.raises(NoChatsError):
        import_json(store.database, text)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@examples(60)
@given(
    where=st.sampled_from("title text changed created pinned leaf options messages figures attachments".split()),
    value=_JSON | st.sampled_from([10**30, -1e300, 1e300, "half \ud83d"]),
    message=st.booleans(),
)
def test_any_value_anywhere_is_imported_or_refused(tmp_path_factory, where, value, message):
    store = ChatStore(Database(tmp_path_factory.mktemp("export") / "chats.sqlite3"))
    fill(store)
    export = json.loads(as_json(store.database))
    (export["chats"][0]["messages"][1] if message else export["chats"][0])[where] = value
    store.throw_away([chat.id for chat in store.chats()])
    try:
        (number,) = import_json(store.database, json.dumps(export))
    except NoChatsError:
        assert len(store.chats()) == 1
    else:
        store.branch(number)
        as_markdown(store.database, number)
        as_json(store.database)
    store.database.close()


def test_lone_surrogates_in_options_or_figures_do_not_prevent_exports(store):
    message = {"role": "user", "text": "a", "figures": {"\ud800": "\udfff"}}
    chat = {"title": "t", "options": {"stop": ["\ud800"], "\ud83d": 1}, "messages": [message], "leaf": 0}
    (added,) = import_json(store.database, json.dumps({"format": "sotto-chats", "version": 1, "chats": [chat]}))
    exported = as_json(store.database, (added,)).encode()
    (again,) = json.loads(exported)["chats"]
    assert again["options"] == {"stop": ["?"], "?": 1}
    assert again["messages"][0]["figures"] == {"?": "?"}
