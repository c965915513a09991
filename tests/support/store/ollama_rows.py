"""What is listed of a store in Ollama's layout."""

from sotto.store.discovery import discover
from sotto.store.records import Source
from sotto.store.roots import Root
from stores import assert_sentence


def listing(store, **options):
    return discover([Root(Source.OLLAMA, store.root, True)], **options)


def only(store):
    found = listing(store)
    assert not found.problems
    (record,) = found.records
    return record


def broken(store, *mentions):
    """Return the one row, which cannot run, and whose reason is the one problem."""
    found = listing(store)
    (record,), (problem,) = found.records, found.problems
    assert (record.runnable, record.reason, record.path) == (False, problem.message, problem.path)
    assert_sentence(record.reason, store.root, *mentions)
    return record
