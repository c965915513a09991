"""A fake `/proc` and tree of control groups."""

from pathlib import Path


class FakeProc:
    """A fake `/proc` and mounted control groups in a folder."""

    def __init__(self, root: Path) -> None:
        self.path = root / "proc"
        self.mounted = root / "groups with spaces"
        self.mounted.mkdir(parents=True)
        (self.path / "self").mkdir(parents=True)
        (self.path / "pressure").mkdir()
        self.wait(some=0, full=0)

    def belong(self, memberships: str, kind: str, root: str = "/") -> None:
        place = str(self.mounted).replace(" ", "\\040")
        (self.path / "self" / "cgroup").write_text(memberships)
        (self.path / "self" / "mountinfo").write_text(
            f"23 1 0:21 / /proc rw - proc proc rw\n31 23 0:27 {root} {place} rw,nosuid shared:9 - {kind}\n"
        )

    def group(self, path: str, **files: object) -> Path:
        folder = self.mounted / path
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (folder / name.replace("__", ".")).write_text(f"{content}\n")
        return folder

    def wait(self, some: float, full: float, folder: Path | None = None) -> None:
        path = (folder / "memory.pressure") if folder else self.path / "pressure" / "memory"
        rows = (("some", some), ("full", full))
        path.write_text("".join(f"{kind} avg10={share:.2f} avg60=0.00 avg300=0.00 total=1\n" for kind, share in rows))
