"""Adopting models as a program does, and checking what comes of it."""

from pulling import models_in
from sotto.store.discovery import discover
from sotto.store.roots import Root
from sotto.store.sources.model_names import parse_name
from sotto.store.upkeep.adopting import adopt
from sotto.store.upkeep.linking import Sharing
from sotto.store.verify import verify

SHARED = [Sharing.CLONED, Sharing.LINKED]


def found(source, root):
    return {record.name: record for record in discover([Root(source, root, True)]).records}


def keep(record, name="kept", **options):
    """Adopt a model, and check that the progress rises to the total."""
    seen = []
    adopted = adopt(
        record,
        record.places[0],
        parse_name(name),
        lambda done, total: seen.append((done, total)),
        options.pop("cancelled", lambda: False),
        **options,
    )
    assert seen == sorted(seen)
    assert seen[-1][0] == seen[-1][1]
    return adopted


def assert_whole(root, name):
    record = models_in(root)[name]
    assert verify(record, lambda done, total: None, lambda: False).problems == ()
    assert not list((root / "working").iterdir())
    assert not (root / "staging").exists()
    return record
