"""Listing a store in Ollama's layout, and checking its records."""

from sotto.store.discovery import discover
from sotto.store.records import Source
from sotto.store.roots import Root
from stores import assert_sentence


def listing(store, **options):
    """Return the listing of a store."""
    return discover([Root(Source.OLLAMA, store.root, True)], **options)


def only(store):
    """Check that a store has one record and no problems, and return the record."""
    result = listing(store)
    assert not result.problems
    (record,) = result.records
    return record


def broken(store, *mentions):
    """Check that a store's only record cannot run because of its only problem, and return the record."""
    result = listing(store)
    (record,), (problem,) = result.records, result.problems
    assert (record.runnable, record.reason, record.path) == (False, problem.message, problem.path)
    assert_sentence(record.reason, store.root, *mentions)
    return record
