import ctypes
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from fake_proc import FakeProc
from sotto.engine.memory import macos_memory
from sotto.engine.memory.control_groups import own_groups
from sotto.engine.memory.system_memory import RESERVE, Accelerator, Pressure, SystemMemory

GIB = 2**30
linux = pytest.mark.skipif(sys.platform != "linux", reason="control groups exist on Linux only")


@pytest.fixture
def proc(tmp_path: Path) -> FakeProc:
    return FakeProc(tmp_path)


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch):
    """Simulate a machine with 16 GiB, of which 12 are free."""
    memory = type("Memory", (), {"total": 16 * GIB, "available": 12 * GIB})
    monkeypatch.setattr("psutil.virtual_memory", lambda: memory)
    return memory


@linux
def test_without_control_groups_the_memory_that_other_programs_leave_counts(tmp_path, machine):
    limits = SystemMemory(tmp_path).limits()
    assert (limits.budget, limits.total) == (12 * GIB - RESERVE, 16 * GIB - RESERVE)
    assert "other programs" in limits.source
    assert SystemMemory(tmp_path).limits(reserve=0).budget == 12 * GIB
    assert SystemMemory(tmp_path).limits(reserve=13 * GIB).budget == 0


@linux
def test_a_version_2_group_limits_memory(proc, machine):
    proc.set_groups("0::/app\n", "cgroup2 cgroup2 rw")
    proc.group("app", memory__max=4 * GIB, memory__high="max", memory__current=1 * GIB, memory__stat="file 9\nslab 1")
    limits = SystemMemory(proc.path).limits(reserve=0)
    assert (limits.budget, limits.total) == (3 * GIB, 4 * GIB)
    assert "/app" in limits.source


@linux
def test_the_threshold_at_which_a_group_is_throttled_is_a_limit_too(proc, machine):
    proc.set_groups("0::/app\n", "cgroup2 cgroup2 rw")
    proc.group("app", memory__max=8 * GIB, memory__high=2 * GIB, memory__current=1 * GIB)
    assert SystemMemory(proc.path).limits(reserve=0).budget == 1 * GIB


@linux
def test_inactive_file_pages_count_as_free(proc, machine):
    proc.set_groups("0::/app\n", "cgroup2 cgroup2 rw")
    stat = f"anon 5\ninactive_file {GIB}\nactive_file 7"
    proc.group("app", memory__max=4 * GIB, memory__current=3 * GIB, memory__stat=stat)
    assert SystemMemory(proc.path).limits(reserve=0).budget == 2 * GIB


@linux
@pytest.mark.parametrize(("outer", "inner", "room"), [(2, 4, 1), (8, 4, 3), ("max", 4, 3), (2, "max", 1)])
def test_the_tightest_of_nested_groups_counts(proc, machine, outer, inner, room):
    size = lambda value: value if value == "max" else value * GIB  # noqa: E731
    proc.set_groups("0::/slice/app\n", "cgroup2 cgroup2 rw")
    proc.group("slice", memory__max=size(outer), memory__current=GIB)
    proc.group("slice/app", memory__max=size(inner), memory__current=GIB)
    assert SystemMemory(proc.path).limits(reserve=0).budget == room * GIB


@linux
def test_a_version_1_group_limits_memory(proc, machine):
    proc.set_groups("5:cpu,cpuacct:/x\n4:memory:/docker/abc\n0::/\n", "cgroup cgroup rw,memory")
    unlimited = 0x7FFFFFFFFFFFF000
    proc.group("", memory__limit_in_bytes=unlimited, memory__usage_in_bytes=5)
    proc.group("docker", memory__limit_in_bytes=unlimited, memory__usage_in_bytes=5)
    stat = f"inactive_file 1\ntotal_inactive_file {GIB}"
    proc.group("docker/abc", memory__limit_in_bytes=6 * GIB, memory__usage_in_bytes=3 * GIB, memory__stat=stat)
    groups = own_groups("memory", proc.path)
    assert [group.name for group in groups] == ["/docker/abc", "/docker", "/"]
    assert [group.limit() for group in groups] == [6 * GIB, None, None]
    assert SystemMemory(proc.path).limits(reserve=0).budget == 4 * GIB


@linux
def test_a_container_sees_its_own_group_at_the_root(proc, machine):
    proc.set_groups("4:memory:/docker/abc\n", "cgroup cgroup rw,memory", root="/docker/abc")
    proc.group("", memory__limit_in_bytes=2 * GIB, memory__usage_in_bytes=GIB)
    assert SystemMemory(proc.path).limits(reserve=0).budget == GIB
    # A namespace shows a path from the machine's root, but only the group itself is mounted.
    proc.set_groups("0::/../../outside\n", "cgroup2 cgroup2 rw")
    proc.group("", memory__max=3 * GIB, memory__current=GIB)
    assert SystemMemory(proc.path).limits(reserve=0).budget == 2 * GIB


@linux
def test_groups_without_limits_or_files_change_nothing(proc, machine):
    proc.set_groups("0::/app\n", "cgroup2 cgroup2 rw")
    assert own_groups("memory", proc.path) == ()
    proc.group("app", memory__max="max", memory__current=GIB)
    assert SystemMemory(proc.path).limits(reserve=0).budget == 12 * GIB


@linux
def test_the_groups_of_this_process_can_be_read():
    limits = SystemMemory().limits(reserve=0)
    assert 0 < limits.budget <= limits.total <= psutil.virtual_memory().total
    for group in own_groups("memory"):
        if group.limit() is not None:
            assert 0 <= group.room() <= group.limit()


@linux
@pytest.mark.parametrize(
    ("some", "full", "expected"),
    [(0, 0, Pressure.NONE), (8, 1, Pressure.SOME), (50, 1, Pressure.CRITICAL), (20, 15, Pressure.CRITICAL)],
)
def test_processes_that_wait_for_memory_are_pressure(proc, machine, some, full, expected):
    proc.set_pressure(some, full)
    assert SystemMemory(proc.path).pressure() is expected


@linux
def test_pressure_in_the_own_group_counts_more_than_on_the_machine(proc, machine):
    proc.set_groups("0::/app\n", "cgroup2 cgroup2 rw")
    folder = proc.group("app", memory__max="max", memory__current=GIB)
    proc.set_pressure(0, 0, folder)
    proc.set_pressure(90, 90)
    assert SystemMemory(proc.path).pressure() is Pressure.NONE


@linux
@pytest.mark.parametrize(("left", "expected"), [(0.5, 0), (0.09, 1), (0.03, 2)])
def test_little_free_memory_is_pressure(proc, machine, left, expected):
    machine.available = int(left * machine.total)
    assert SystemMemory(proc.path).pressure() == expected
    machine.available = machine.total
    proc.set_groups("0::/app\n", "cgroup2 cgroup2 rw")
    proc.group("app", memory__max=4 * GIB, memory__current=int((1 - left) * 4 * GIB))
    assert SystemMemory(proc.path).pressure() == expected


def test_metal_is_limited_by_its_recommendation_and_by_other_programs(tmp_path, machine):
    info = {"max_recommended_working_set_size": 11 * GIB, "memory_size": 16 * GIB}
    chip = Accelerator.of("metal", info, 3 * GIB)
    limits = SystemMemory(tmp_path, chip).limits(reserve=0)
    assert (limits.budget, limits.total) == (8 * GIB, 11 * GIB)
    assert "Metal" in limits.source
    machine.available = 5 * GIB
    if sys.platform == "linux":
        assert SystemMemory(tmp_path, chip).limits(reserve=0).budget == 5 * GIB


def test_a_graphics_card_has_its_own_memory(tmp_path, machine):
    card = Accelerator.of("cuda", {"total_memory": 80 * GIB, "free_memory": 70 * GIB}, 0)
    limits = SystemMemory(tmp_path, card).limits(reserve=0)
    assert (limits.budget, limits.total) == (70 * GIB, 80 * GIB)
    assert Accelerator.of("cpu", {"architecture": "x86_64"}, 0) is None


@pytest.mark.skipif(sys.platform != "linux", reason="these machines run Linux")
def test_a_graphics_processor_that_shares_the_memory_of_the_machine(tmp_path, machine):
    # CUDA calls memory that holds cached files used, which the machine does not.
    info = {"architecture": "sm_121", "total_memory": 16 * GIB, "free_memory": 1 * GIB}
    machine.total, machine.available = 16 * GIB, 9 * GIB
    limits = SystemMemory(tmp_path, Accelerator.of("cuda", info, 2 * GIB)).limits(reserve=0)
    assert (limits.budget, limits.total) == (9 * GIB, 16 * GIB)
    machine.available = 15 * GIB
    limits = SystemMemory(tmp_path, Accelerator.of("cuda", info, 2 * GIB)).limits(reserve=0)
    assert (limits.budget, limits.source) == (14 * GIB, "what the graphics processor can hold")


def test_free_memory_on_macos_is_what_is_neither_used_nor_wired_nor_compressed():
    pages = {name: 0 for name, _ in macos_memory.VmStatistics._fields_}
    assert macos_memory.free_of(pages, 16384, 16 * GIB) == 16 * GIB
    pages |= {"active_count": 1000, "inactive_count": 500, "speculative_count": 50, "wire_count": 300}
    pages |= {"compressor_page_count": 200, "purgeable_count": 40, "external_page_count": 600}
    used = 1000 + 500 + 50 + 300 + 200 - 40 - 600
    assert macos_memory.free_of(pages, 16384, 16 * GIB) == 16 * GIB - used * 16384
    pages["active_count"] = 10**9
    assert macos_memory.free_of(pages, 16384, 16 * GIB) == 0
    pages |= {"active_count": 0, "external_page_count": 10**6}
    assert macos_memory.free_of(pages, 16384, 16 * GIB) == 16 * GIB


@pytest.mark.skipif(sys.platform != "darwin", reason="reads the memory of macOS")
def test_macos_reports_its_memory():
    assert 0 < macos_memory.free_memory() < psutil.virtual_memory().total
    assert macos_memory.pressure_level() in (0, 1, 2)


_FREE_BLOCKS = """
import ctypes, psutil
from sotto.engine.memory.system_memory import give_back
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]
blocks = [libc.malloc(100_000) for _ in range(1000)]
for block in blocks:
    ctypes.memset(block, 1, 100_000)
for block in blocks[:-1]:
    libc.free(block)
kept = psutil.Process().memory_info().rss
give_back()
print(kept - psutil.Process().memory_info().rss)
"""


@linux
@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="not glibc")
def test_memory_that_the_c_library_keeps_is_given_back_to_the_system():
    done = subprocess.run([sys.executable, "-c", _FREE_BLOCKS], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 80_000_000
