"""A fake `/proc` and control group hierarchy."""

from pathlib import Path


class FakeProc:
    """A folder with a fake `/proc` and a mounted control group hierarchy."""

    def __init__(self, root: Path) -> None:
        self.path = root / "proc"
        self.mounted = root / "groups with spaces"
        self.mounted.mkdir(parents=True)
        (self.path / "self").mkdir(parents=True)
        (self.path / "pressure").mkdir()
        self.set_pressure(some=0, full=0)

    def set_groups(self, memberships: str, kind: str, root: str = "/") -> None:
        """Put this process into control groups.

        Args:
            memberships: The contents of `/proc/self/cgroup`.
            kind: The file system type, source and options of the mounted hierarchy.
            root: The group that is visible as the root of the hierarchy.
        """
        place = str(self.mounted).replace(" ", "\\040")
        (self.path / "self" / "cgroup").write_text(memberships)
        (self.path / "self" / "mountinfo").write_text(
            f"23 1 0:21 / /proc rw - proc proc rw\n31 23 0:27 {root} {place} rw,nosuid shared:9 - {kind}\n"
        )

    def group(self, path: str, **files: object) -> Path:
        """Create a control group with these files, `__` in their names standing for `.`, and return its folder."""
        folder = self.mounted / path
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (folder / name.replace("__", ".")).write_text(f"{content}\n")
        return folder

    def set_pressure(self, some: float, full: float, folder: Path | None = None) -> None:
        """Set the percentage of time that some, or all, processes wait for memory, on the machine or in a group."""
        path = (folder / "memory.pressure") if folder else self.path / "pressure" / "memory"
        rows = (("some", some), ("full", full))
        path.write_text("".join(f"{kind} avg10={share:.2f} avg60=0.00 avg300=0.00 total=1\n" for kind, share in rows))
