"""Facts about the machine, from files that everybody may read. Does not import MLX."""

import os
import platform
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path


def _usable() -> frozenset[int]:
    return frozenset(os.sched_getaffinity(0)) if sys.platform == "linux" else frozenset(range(os.cpu_count() or 1))


@dataclass(frozen=True)
class Machine:
    """A machine, as far as a program can see without privileges.

    Attributes:
        root: Where `/proc`, `/sys` and `/dev` are found.
        environment: The variables of the environment.
        usable: The numbers of the processors that this process may use.
        architecture: For example `x86_64`.
        system: For example `linux`, as in `sys.platform`.
    """

    root: Path = Path("/")
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)
    usable: frozenset[int] = field(default_factory=_usable)
    architecture: str = field(default_factory=platform.machine)
    system: str = sys.platform

    def text(self, path: str) -> str:
        """Return the text of a file, without white space around it; empty if it is missing or may not be read."""
        try:
            return (self.root / path).read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            return ""

    def exists(self, path: str) -> bool:
        """Return whether there is such a file or folder."""
        return (self.root / path).exists()

    def glob(self, pattern: str) -> Iterator[str]:
        """Yield the paths that match, below the root and in order."""
        return (str(path.relative_to(self.root)) for path in sorted(self.root.glob(pattern)))

    @cached_property
    def instructions(self) -> frozenset[str]:
        """The names of the processor's abilities, as Linux writes them; empty if unknown."""
        for line in self.text("proc/cpuinfo").splitlines():
            name, _, value = line.partition(":")
            if name.strip() in ("flags", "Features"):
                return frozenset(value.split())
        return frozenset()

    @property
    def has_kernels(self) -> bool:
        """Whether native kernels can be built for it."""
        return self.system == "linux" and self.architecture in ("x86_64", "aarch64")

    @property
    def is_virtual(self) -> bool:
        """Whether this is a virtual machine, which may not show what the real one can do."""
        return "hypervisor" in self.instructions

    def cores(self) -> int | None:
        """Return the number of cores that the usable processors belong to; None if unknown."""
        siblings = set()
        for number in self.usable:
            listed = self.text(f"sys/devices/system/cpu/cpu{number}/topology/thread_siblings_list")
            if not listed:
                return None
            siblings.add(listed)
        return len(siblings)

    def memory(self) -> dict[str, int]:
        """Return the figures of `/proc/meminfo` in bytes, by their names there; empty if unknown."""
        found = {}
        for line in self.text("proc/meminfo").splitlines():
            name, _, value = line.partition(":")
            number = value.split()[:1]
            if number and number[0].isdecimal():
                found[name] = int(number[0]) * 1024
        return found
