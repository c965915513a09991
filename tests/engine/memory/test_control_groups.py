import os
import sys
from pathlib import Path

import pytest

from fake_proc import FakeProc
from sotto.engine.memory.control_groups import cpu_quota, own_groups

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="control groups exist on Linux only")


@pytest.fixture
def proc(tmp_path: Path) -> FakeProc:
    return FakeProc(tmp_path)


def test_without_control_groups_there_are_no_limits(tmp_path):
    assert cpu_quota(tmp_path) is None
    assert own_groups("cpu", tmp_path) == own_groups("memory", tmp_path) == ()


@pytest.mark.parametrize(
    ("text", "cores"),
    [
        ("max 100000", None),
        ("200000 100000", 2),
        ("250000 100000", 2),
        ("50000 100000", 1),
        ("30000 10000", 3),
        ("200000", None),
        ("200000 0", None),
        ("", None),
    ],
)
def test_a_version_2_quota_is_converted_to_cores(proc, text, cores):
    proc.set_groups("0::/app\n", "cgroup2 cgroup2 rw")
    proc.group("app", cpu__max=text)
    assert cpu_quota(proc.path) == cores


@pytest.mark.parametrize(("quota", "period", "cores"), [(-1, 100000, None), (400000, 100000, 4), (1000, 100000, 1)])
def test_a_version_1_quota_is_converted_to_cores(proc, quota, period, cores):
    proc.set_groups("4:memory:/other\n3:cpu,cpuacct:/docker/abc\n0::/\n", "cgroup cgroup rw,cpu,cpuacct")
    proc.group("docker/abc", cpu__cfs_quota_us=quota, cpu__cfs_period_us=period)
    assert [group.name for group in own_groups("cpu", proc.path)] == ["/docker/abc"]
    assert cpu_quota(proc.path) == cores
    # The memory controller has its own hierarchy, which is not mounted here.
    assert own_groups("memory", proc.path) == ()


def test_a_quota_without_a_period_is_ignored(proc):
    proc.set_groups("3:cpu,cpuacct:/x\n", "cgroup cgroup rw,cpu,cpuacct")
    proc.group("x", cpu__cfs_quota_us=400000)
    assert cpu_quota(proc.path) is None


@pytest.mark.parametrize(
    ("outer", "middle", "inner", "cores"),
    [(2, 8, 4, 2), (8, 3, 4, 3), (8, 4, 1, 1), ("max", "max", 5, 5), (6, "max", "max", 6), ("max", None, 7, 7)],
)
@pytest.mark.parametrize("version", [1, 2])
def test_the_smallest_of_nested_quotas_counts(proc, outer, middle, inner, cores, version):
    if version == 2:
        proc.set_groups("0::/slice/pod/app\n", "cgroup2 cgroup2 rw")
    else:
        proc.set_groups("2:cpu:/slice/pod/app\n", "cgroup cgroup rw,cpu")
    for path, quota in (("slice", outer), ("slice/pod", middle), ("slice/pod/app", inner)):
        # A controller may be enabled for only some of the groups; the root group never has a quota.
        if quota is None:
            proc.group(path)
        elif version == 2:
            proc.group(path, cpu__max="max 100000" if quota == "max" else f"{quota * 100000} 100000")
        else:
            proc.group(path, cpu__cfs_quota_us=-1 if quota == "max" else quota * 50000, cpu__cfs_period_us=50000)
    assert cpu_quota(proc.path) == cores


def test_a_quota_of_one_controller_says_nothing_about_the_other(proc):
    proc.set_groups("0::/app\n", "cgroup2 cgroup2 rw")
    proc.group("app", cpu__max="100000 100000")
    assert cpu_quota(proc.path) == 1
    assert own_groups("memory", proc.path) == ()
    proc.group("app", memory__max="max", memory__current=5)
    assert [group.name for group in own_groups("memory", proc.path)] == ["/app"]


def test_a_container_sees_its_own_quota_at_the_root(proc):
    proc.set_groups("0::/\n", "cgroup2 cgroup2 rw")
    proc.group("", cpu__max="300000 100000")
    assert cpu_quota(proc.path) == 3
    proc.set_groups("0::/docker/abc\n", "cgroup2 cgroup2 rw", root="/docker/abc")
    assert cpu_quota(proc.path) == 3
    proc.set_groups("0::/../../outside\n", "cgroup2 cgroup2 rw")
    assert cpu_quota(proc.path) == 3


def test_the_quota_of_this_process_can_be_read():
    assert (quota := cpu_quota()) is None or 1 <= quota <= (os.cpu_count() or 1)
