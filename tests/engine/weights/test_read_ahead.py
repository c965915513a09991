"""The system reads a model's files while its load is planned, and stops when that is over."""

import ctypes
import mmap
import os
import threading
import time
from dataclasses import replace

import mlx.core as mx
import pytest

from checkpoints import LLAMA, source_of, write_blob
from loading import PLENTY
from sotto.engine.weights.read_ahead import reading_ahead

pytestmark = pytest.mark.skipif(not hasattr(os, "posix_fadvise"), reason="this system cannot be asked to read ahead")
NAME = "read-ahead"


@pytest.fixture
def file(tmp_path):
    """Return a file of 8 MB that is not in memory."""
    file = write_blob(tmp_path, {"tensor": mx.ones((2 << 20,))})
    descriptor = os.open(file.path, os.O_RDWR)
    os.fsync(descriptor)
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(descriptor)
    if is_in_memory(file.path):
        pytest.skip("this file system keeps its files in memory")
    return file


def is_in_memory(path):
    """Return whether the system holds all pages of a file."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY) as mapped:
        first = ctypes.c_char.from_buffer(mapped)
        pages = (ctypes.c_ubyte * -(-len(mapped) // mmap.PAGESIZE))()
        failed = ctypes.CDLL(None).mincore(
            ctypes.c_void_p(ctypes.addressof(first)), ctypes.c_size_t(len(mapped)), pages
        )
        del first
    assert not failed
    return all(page & 1 for page in pages)


def readers():
    return [thread for thread in threading.enumerate() if thread.name == NAME]


def test_files_are_in_memory_before_they_are_read(file):
    with reading_ahead(source_of([file], LLAMA), PLENTY):
        deadline = time.monotonic() + 30
        while not is_in_memory(file.path):
            assert time.monotonic() < deadline
            time.sleep(0.01)
    assert not readers()


def test_nothing_is_read_ahead_where_memory_is_short(file):
    with reading_ahead(source_of([file], LLAMA), replace(PLENTY, budget=file.nbytes)):
        assert not readers()
    assert not is_in_memory(file.path)


def test_a_file_that_is_gone_is_left_to_the_load(file):
    file.path.unlink()
    with reading_ahead(source_of([file], LLAMA), PLENTY):
        pass
    assert not readers()
