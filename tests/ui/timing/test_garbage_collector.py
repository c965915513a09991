"""Unreferenced objects are collected only on Qt's thread."""

import gc
import threading
import weakref

import pytest

from sotto.ui.timing.garbage_collector import GarbageCollector

pytestmark = pytest.mark.slow


class Cycle:
    """An object in a reference cycle, as a window that holds a lambda over itself is."""

    def __init__(self):
        self.ring = self


@pytest.fixture
def collector(qapp):
    made = GarbageCollector()
    yield made
    made.end()


def allocate(stop):
    """Allocate objects in a way that triggers Python's garbage collection on this thread."""
    while not stop.is_set():
        _ = [[] for _ in range(5000)]


def test_cycles_are_collected_on_qts_thread_whichever_thread_allocates(qtbot, collector):
    gc.enable()
    collector.begin()
    ended = []
    stop = threading.Event()
    busy = threading.Thread(target=allocate, args=(stop,))
    busy.start()
    try:
        for _ in range(2000):
            weakref.finalize(Cycle(), lambda: ended.append(threading.get_ident()))
        qtbot.waitUntil(lambda: len(ended) >= 1500)
    finally:
        stop.set()
        busy.join()
    assert set(ended) == {threading.get_ident()}


def test_it_takes_over_again_if_pythons_own_collector_is_enabled(qtbot, collector):
    collector.begin()
    gc.enable()
    qtbot.waitUntil(lambda: not gc.isenabled())


def test_pythons_own_collector_is_enabled_again_at_the_end(collector):
    collector.begin()
    assert not gc.isenabled()
    collector.end()
    assert gc.isenabled()


def test_old_objects_are_collected_too(qtbot, collector):
    collector.begin()
    for _ in range(10):  # until the startup phase is over
        collector.collect()
    cycle, ended = Cycle(), []
    gc.collect()
    weakref.finalize(cycle, lambda: ended.append(True))
    del cycle
    for _ in range(1000):
        kept = [[] for _ in range(1000)]
        collector.collect()
        del kept
        if ended:
            return
    pytest.fail("The oldest generation was never collected.")
