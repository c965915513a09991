"""The limits of Linux control groups, of both versions, on the memory and processor time of this process.

The limits of all enclosing groups apply as well, so all of them are read.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

# Version 1 writes the largest number of whole pages for no limit.
_UNLIMITED = 1 << 60
# A file that exists in a group if the controller is enabled in it, by controller and version. The root group has no
# limits, and so in version 2 none of these files.
_SIGNS = {
    ("memory", 1): "memory.usage_in_bytes",
    ("memory", 2): "memory.current",
    ("cpu", 1): "cpu.cfs_quota_us",
    ("cpu", 2): "cpu.max",
}


@dataclass(frozen=True, slots=True)
class ControlGroup:
    """A group that contains this process, directly or through nested groups.

    In version 1 each controller has its own tree, so a group is for the controller that it was looked up for.

    Attributes:
        name: Its path in the hierarchy, for people.
        folder: Where its files are.
        version: 1 or 2.
    """

    name: str
    folder: Path
    version: int

    @property
    def pressure(self) -> Path | None:
        """The file that reports how long its processes waited for memory; None in version 1."""
        return self.folder / "memory.pressure" if self.version == 2 else None

    def limit(self) -> int | None:
        """Return the bytes that its processes may hold in total, or None for no limit.

        Above `memory.high` processes are slowed down until they are no faster than paging, so that is a limit, too.
        """
        names = ("memory.max", "memory.high") if self.version == 2 else ("memory.limit_in_bytes",)
        limits = [value for name in names if (value := _number(self.folder / name)) is not None and value < _UNLIMITED]
        return min(limits, default=None)

    def room(self) -> int | None:
        """Return the bytes that may still be allocated, or None for no limit.

        Inactive file pages are reclaimed before an allocation fails, so they count as free.
        """
        limit = self.limit()
        used = _number(self.folder / ("memory.current" if self.version == 2 else "memory.usage_in_bytes"))
        if limit is None or used is None:
            return None
        idle = _idle_file_pages(
            self.folder / "memory.stat", "inactive_file" if self.version == 2 else "total_inactive_file"
        )
        return max(0, limit - max(0, used - idle))

    def cores(self) -> int | None:
        """Return the number of cores that its processes may use in total, rounded down but at least one.

        None for no limit.
        """
        if self.version == 2:
            quota, _, period = _text(self.folder / "cpu.max").partition(" ")
        else:
            quota, period = _text(self.folder / "cpu.cfs_quota_us"), _text(self.folder / "cpu.cfs_period_us")
        # Without a limit, the quota is "max" or -1.
        if not quota.isdecimal() or not period.isdecimal() or not int(period):
            return None
        return max(1, int(quota) // int(period))


def cpu_quota(proc: Path = Path("/proc")) -> int | None:
    """Return how many cores the groups of this process allow, or None for no limit."""
    quotas = (group.cores() for group in own_groups("cpu", proc))
    return min((quota for quota in quotas if quota is not None), default=None)


def own_groups(controller: str, proc: Path = Path("/proc")) -> tuple[ControlGroup, ...]:
    """Return the groups that limit this process, innermost first; none without control groups.

    Args:
        controller: `memory` or `cpu`.
        proc: The mount point of Linux's `/proc`.
    """
    try:
        memberships = (proc / "self" / "cgroup").read_text(encoding="utf-8").splitlines()
        mounts = (proc / "self" / "mountinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return ()
    groups: list[ControlGroup] = []
    for line in memberships:
        _, controllers, path = line.split(":", 2)
        version = 2 if not controllers else 1
        if version == 1 and controller not in controllers.split(","):
            continue
        for root, mount_point in _mounts(mounts, controller, version):
            around = _upwards(PurePosixPath(path), PurePosixPath(root), Path(mount_point), version)
            groups += [group for group in around if (group.folder / _SIGNS[controller, version]).is_file()]
            break
    return tuple(groups)


def _mounts(lines: list[str], controller: str, version: int) -> Iterator[tuple[str, str]]:
    """Yield the mounts of a controller's hierarchy: the group at its root, and the folder."""
    for line in lines:
        before, _, after = line.partition(" - ")
        fields, kind = before.split(), after.split()
        if len(fields) < 5 or len(kind) < 3:
            continue
        fits = kind[0] == "cgroup2" if version == 2 else kind[0] == "cgroup" and controller in kind[2].split(",")
        if fits:
            yield _plain(fields[3]), _plain(fields[4])


def _upwards(path: PurePosixPath, root: PurePosixPath, mount_point: Path, version: int) -> Iterator[ControlGroup]:
    """Yield a group and its enclosing groups, up to the mounted root."""
    # In a container, the path may be that of the host, of which only a part is mounted.
    inside = path.relative_to(root) if path.is_relative_to(root) else PurePosixPath(str(path).lstrip("/"))
    if ".." in inside.parts or not (mount_point / inside).is_dir():
        inside = PurePosixPath()
    for part in (inside, *inside.parents) if inside.parts else (inside,):
        yield ControlGroup(f"/{part}" if part.parts else "/", mount_point / part, version)


def _plain(path: str) -> str:
    """Decode a path of `mountinfo`, in which some characters are octal escapes."""
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        path = path.replace(code, character)
    return path


def _number(path: Path) -> int | None:
    """Return the number in a file, or None if it is missing or `max`."""
    text = _text(path)
    return int(text) if text.isdecimal() else None


def _idle_file_pages(path: Path, name: str) -> int:
    return next((int(line.split()[1]) for line in _text(path).splitlines() if line.startswith(f"{name} ")), 0)


def _text(path: Path) -> str:
    """Return the text of a file, or an empty text if the file or its group does not exist."""
    try:
        return path.read_text(encoding="ascii").strip()
    except OSError:
        return ""
