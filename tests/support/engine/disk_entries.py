"""Entries for tests of the disk tier: what is in one can be told from its tokens alone."""

import hashlib
import random
import struct
import subprocess
import sys
from pathlib import Path

from sotto.engine.caches.disk_file import checksum
from sotto.engine.caches.disk_format import EntryHead, packed_entry
from sotto.engine.caches.disk_tier import Bounds

# Tests have disks of any size, and none may wait.
FREE = Bounds(reserve=0, pause=0.0, index_delay=0.05)


def head(ids, parent=None):
    """Return the head of the entry that continues another with these tokens."""
    start = parent.end if parent else 0
    return EntryHead(start, start + len(ids), struct.pack(f"<{len(ids)}I", *ids), parent.id if parent else "")


def arrays(of, rows=3):
    """Return arrays whose bytes follow from the head."""
    noise = random.Random(of.id).randbytes(4 * rows)
    return {"keys": ("F32", (rows,), noise), "values": ("BF16", (2, rows), noise), "ring": ("U8", (1,), b"x")}


def same(loaded, of, rows=3):
    """Return whether what was loaded is what `arrays` made."""
    found = {name: (one.dtype, tuple(one.shape), bytes(one.data)) for name, one in loaded.arrays.items()}
    return loaded.head == of and found == arrays(of, rows)


def folder_of(root, key="key"):
    return Path(root) / hashlib.sha256(key.encode()).hexdigest()[:32]


def path_of(root, of, key="key"):
    return folder_of(root, key) / f"{of.id}.safetensors"


def lay(root, of, rows=3, key="key"):
    """Write an entry's file without the tier and return its path."""
    path = path_of(root, of, key)
    path.parent.mkdir(parents=True, exist_ok=True)
    parts = packed_entry(of, path.parent.name, arrays(of, rows))
    path.write_bytes(b"".join([*parts, checksum(parts)]))
    return path


def names(root, key="key"):
    """Return the names in a folder, except those that come and go."""
    found = [path.name for path in folder_of(root, key).iterdir()]
    return sorted(name for name in found if name != "lock" and name.partition(".")[0] != "index")


def child(code, *args):
    """Start Python with the names of this module and of the tier at hand."""
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
