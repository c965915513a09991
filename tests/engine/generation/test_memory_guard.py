import mlx.core as mx
import pytest

from generating import empty, finished, run, task
from sotto.engine.generation import memory_guard
from sotto.engine.generation.memory_guard import MemoryGuard
from sotto.engine.memory.system_memory import Pressure


class Memory:
    """Reports a given pressure, because real memory pressure would affect the tests themselves."""

    def __init__(self):
        self.current, self.queries = Pressure.NONE, 0

    def pressure(self):
        self.queries += 1
        return self.current


@pytest.fixture
def prefix():
    cache = empty("plain")
    for number in range(4):
        run("plain", cache, task([number, *range(60)], 2))
    return cache


def test_without_pressure_nothing_is_evicted(prefix):
    before = prefix.nbytes
    assert MemoryGuard(Memory(), [prefix], 2048).look() == 2048
    assert prefix.nbytes == before


def test_some_pressure_halves_the_prefix_cache_and_shrinks_chunks(prefix, monkeypatch):
    monkeypatch.setattr(memory_guard, "_CHECK_SECONDS", 0.0)
    memory, before, budget = Memory(), prefix.nbytes, prefix.budget
    guard = MemoryGuard(memory, [prefix], 2048)
    memory.current = Pressure.SOME
    assert guard.look() == 512
    assert 0 < prefix.nbytes <= before / 2
    assert finished(run("plain", prefix, task([3, *range(60)], 2))).cached_tokens == 60
    memory.current = Pressure.NONE
    assert guard.look() == 2048
    assert prefix.budget == budget


def test_critical_pressure_leaves_only_running_sequences(prefix, monkeypatch):
    monkeypatch.setattr(memory_guard, "_CHECK_SECONDS", 0.0)
    memory = Memory()
    memory.current = Pressure.CRITICAL
    running = prefix.begin([9, 9, 9])
    assert MemoryGuard(memory, [prefix], 2048).look() == 32
    assert prefix.nbytes == prefix.live_nbytes
    prefix.end(running)


@pytest.mark.parametrize("pressure", [Pressure.SOME, Pressure.CRITICAL])
def test_under_pressure_freed_memory_goes_back_to_the_system(prefix, monkeypatch, pressure):
    monkeypatch.setattr(memory_guard, "_CHECK_SECONDS", 0.0)
    memory, before = Memory(), mx.get_active_memory()
    guard = MemoryGuard(memory, [prefix], 2048)
    mx.eval(mx.zeros((1 << 20,)))
    guard.look()
    assert mx.get_cache_memory() > 1 << 20
    memory.current = pressure
    guard.look()
    assert mx.get_active_memory() < before
    assert mx.get_cache_memory() < 1 << 16


def test_pressure_is_checked_once_a_second(prefix):
    memory = Memory()
    guard = MemoryGuard(memory, [prefix], 2048)
    for _ in range(100):
        guard.look()
    assert memory.queries == 1


def test_all_prefix_caches_shrink_and_get_their_own_budgets_back(prefix, monkeypatch):
    monkeypatch.setattr(memory_guard, "_CHECK_SECONDS", 0.0)
    draft = empty("window", budget=1 << 20)
    run("window", draft, task([7, *range(60)], 2), task([8, *range(60)], 2, request_id="s"))
    memory, before, budgets = Memory(), (prefix.nbytes, draft.nbytes), (prefix.budget, draft.budget)
    guard = MemoryGuard(memory, [prefix, draft], 2048)
    memory.current = Pressure.SOME
    guard.look()
    assert 0 < prefix.nbytes <= before[0] / 2
    assert 0 < draft.nbytes <= before[1] / 2
    memory.current = Pressure.CRITICAL
    running = draft.begin([9, 9, 9])
    guard.look()
    assert prefix.nbytes == 0
    assert draft.nbytes == draft.live_nbytes
    memory.current = Pressure.NONE
    guard.look()
    assert (prefix.budget, draft.budget) == budgets
    draft.end(running)
