"""Entries for tests of the disk tier, with contents derived from their tokens."""

import hashlib
import random
import struct
import subprocess
import sys
from pathlib import Path

from sotto.engine.caches.disk_file import checksum
from sotto.engine.caches.disk_format import EntryHead, pack_entry
from sotto.engine.caches.disk_tier import Bounds

# No reserve, because tests run on disks of any size, and no pauses.
FREE = Bounds(reserve=0, pause=0.0, index_delay=0.05)


def head(ids, parent=None):
    """Return the head of an entry with these tokens that continues `parent`."""
    start = parent.end if parent else 0
    return EntryHead(start, start + len(ids), struct.pack(f"<{len(ids)}I", *ids), parent.id if parent else "")


def arrays(of, rows=3):
    """Return arrays whose bytes depend only on an entry's head."""
    noise = random.Random(of.id).randbytes(4 * rows)
    return {"keys": ("F32", (rows,), noise), "values": ("BF16", (2, rows), noise), "ring": ("U8", (1,), b"x")}


def matches(loaded, of, rows=3):
    """Return whether a loaded entry has this head and the arrays derived from it."""
    content = {name: (array.dtype, tuple(array.shape), bytes(array.data)) for name, array in loaded.arrays.items()}
    return loaded.head == of and content == arrays(of, rows)


def folder_of(root, key="key"):
    return Path(root) / hashlib.sha256(key.encode()).hexdigest()[:32]


def path_of(root, of, key="key"):
    return folder_of(root, key) / f"{of.id}.safetensors"


def write_entry(root, of, rows=3, key="key"):
    """Write an entry's file directly, not through the tier, and return its path."""
    path = path_of(root, of, key)
    path.parent.mkdir(parents=True, exist_ok=True)
    parts = pack_entry(of, path.parent.name, arrays(of, rows))
    path.write_bytes(b"".join([*parts, checksum(parts)]))
    return path


def names(root, key="key"):
    """Return the names of the files in a folder, except for the lock and index files."""
    found = [path.name for path in folder_of(root, key).iterdir()]
    return sorted(name for name in found if name != "lock" and name.partition(".")[0] != "index")


def start_child(code, *args):
    """Start a Python process that runs `code` with the names of this module and of the disk tier imported."""
    setup = (
        f"import os, signal, sys, pathlib; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from disk_entries import *\nfrom sotto.engine.caches.disk_tier import *\nimport dataclasses\n"
    )
    return subprocess.Popen(
        [sys.executable, "-c", setup + code, *map(str, args)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
