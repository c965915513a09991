"""Objects that nobody refers to are found on Qt's thread alone."""

import gc
import threading
import weakref

import pytest

from sotto.ui.toolkit.garbage_collector import GarbageCollector


class Ring:
    """An object that refers to itself, as a window with a lambda of its own does."""

    def __init__(self):
        self.ring = self


@pytest.fixture
def collector(qapp):
    made = GarbageCollector()
    yield made
    made.end()


def allocate(stop):
    """Do what makes Python collect on this thread."""
    while not stop.is_set():
        _ = [[] for _ in range(5000)]


def test_rings_end_on_qts_thread_whoever_allocates(qtbot, collector):
    gc.enable()
    collector.begin()
    ended = []
    stop = threading.Event()
    busy = threading.Thread(target=allocate, args=(stop,))
    busy.start()
    try:
        for _ in range(2000):
            weakref.finalize(Ring(), lambda: ended.append(threading.get_ident()))
        qtbot.waitUntil(lambda: len(ended) >= 1500)
    finally:
        stop.set()
        busy.join()
    assert set(ended) == {threading.get_ident()}


def test_it_takes_over_again_from_whoever_resumes_pythons_own(qtbot, collector):
    collector.begin()
    gc.enable()
    qtbot.waitUntil(lambda: not gc.isenabled())


def test_it_hands_back_at_the_end(collector):
    collector.begin()
    assert not gc.isenabled()
    collector.end()
    assert gc.isenabled()


def test_what_became_old_is_found_too(qtbot, collector):
    collector.begin()
    for _ in range(10):  # until the start is over
        collector.collect()
    ring, ended = Ring(), []
    gc.collect()
    weakref.finalize(ring, lambda: ended.append(True))
    del ring
    for _ in range(1000):
        kept = [[] for _ in range(1000)]
        collector.collect()
        del kept
        if ended:
            return
    pytest.fail("The oldest generation was never searched.")
