import pytest
from hypothesis import given
from hypothesis import strategies as st

from sotto.chats.chat_records import FOUND, Attachment, Shelf, State
from sotto.chats.chat_store import ChatStore
from sotto.chats.database import Database
from sotto.chats.search import search, search_titles


@pytest.fixture
def store(tmp_path):
    opened = ChatStore(Database(tmp_path / "chats.sqlite3"))
    yield opened
    opened.database.close()


def ask(store, *texts):
    chat, parent = store.add_chat(), None
    for text in texts:
        parent = store.ask(chat, text, parent)
    return chat


def chats(store, text):
    return [hit.chat for hit in search(store.database.connection, text)]


def test_words_are_found_on_every_branch_ignoring_accents_and_case(store):
    chat = ask(store, "Où est le café près de l'église?")
    store.ask(chat, "Wo ist die Kirche?", None)
    ask(store, "something else")
    assert chats(store, "CAFE") == [chat]
    assert chats(store, "kirche wo") == [chat]
    assert chats(store, "kirche café") == []
    assert chats(store, "") == chats(store, " ?! ") == []


def test_the_last_word_may_be_a_prefix_and_matches_are_marked(store):
    chat = ask(store, "one two three " + "filling " * 40 + "the needle in it " + "filling " * 40)
    (hit,) = search(store.database.connection, "the need")
    assert hit.chat == chat
    assert f"{FOUND[0]}needle{FOUND[1]}" in hit.excerpt
    assert len(hit.excerpt) < 200
    assert chats(store, "need the") == []


@pytest.mark.parametrize(
    "text", ['"', "a AND", "NOT b", "x*", "text: y", "(", "NEAR(a b)", "a-b", "^a", "\x00", "\ud83d"]
)
def test_search_operators_have_no_special_meaning(store, text):
    ask(store, "a and not b x y near")
    chats(store, text)
    search_titles(store.database.connection, text)


@given(st.text(max_size=20))
def test_any_text_can_be_searched_for(tmp_path_factory, text):
    store = ChatStore(Database(tmp_path_factory.mktemp("search") / "chats.sqlite3"))
    chats(store, text)
    store.database.close()


def test_an_answer_is_found_from_its_completion_to_its_deletion(store):
    chat = store.add_chat()
    answer = store.begin_answer(store.ask(chat, "question", None), "small")
    store.grow(answer, "a rhinoceros")
    assert chats(store, "rhinoceros") == []
    store.end_answer(answer, "a rhinoceros stands there", State.COMPLETE)
    assert chats(store, "rhinoceros stands") == [chat]
    store.go_on(answer)
    store.end_answer(answer, "a rhinoceros stands there and sleeps", State.COMPLETE)
    assert chats(store, "rhinoceros sleeps") == [chat]
    store.throw_away([chat])
    assert chats(store, "rhinoceros") == []
    store.empty_trash(older_than=-1)
    assert store.database.connection.execute("SELECT count(*) FROM found").fetchone() == (0,)


def test_titles_are_found_by_any_substring(store):
    first, second = ask(store, "100% wool"), ask(store, "1000 sheep")
    assert search_titles(store.database.connection, "0%") == (first,)
    assert set(search_titles(store.database.connection, "100")) == {first, second}
    assert search_titles(store.database.connection, "_") == ()


def test_search_is_limited_to_one_shelf(store):
    plain, archived, trashed = (ask(store, f"needle {name}") for name in ("a", "b", "c"))
    store.change(archived, archived=True)
    store.throw_away([trashed])
    connection = store.database.connection
    for shelf, chat in ((Shelf.CURRENT, plain), (Shelf.ARCHIVED, archived), (Shelf.TRASH, trashed)):
        assert [hit.chat for hit in search(connection, "needle", shelf=shelf)] == [chat]
        assert search_titles(connection, "needle", shelf=shelf) == (chat,)
        assert store.chat(chat).shelf is shelf


def test_words_in_attachments_are_found_once_they_are_sent(store):
    document = Attachment("Reise.md", "Von Köln nach Basel", 20, 0, 19)
    chat = store.keep_attachments(None, [document])
    assert chats(store, "koln") == []
    question = store.ask(chat, "Where to?", None, [document])
    assert chats(store, "koln bas") == [chat]
    (hit,) = search(store.database.connection, "reise")
    assert (hit.message, hit.excerpt) == (question, f"{FOUND[0]}Reise{FOUND[1]}.md")
    store.retract(question)
    assert chats(store, "koln") == []
    assert store.database.connection.execute("INSERT INTO found_attached (found_attached) VALUES ('integrity-check')")
