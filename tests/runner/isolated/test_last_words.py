"""The part of a process's output that is kept."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sotto.runner.isolated.last_words import LastWords


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ("2026-01-01 loading weights", ""),
        ("12:00 mlx: no such kernel", "mlx: no such kernel"),
        ("thread 1: panic: index", "panic: index"),
        ("RuntimeError: boom", "RuntimeError: boom"),
        ("sotto.errors.BrokenModelError: config.json", "BrokenModelError: config.json"),
        ("libc++abi: terminating", "libc++abi: terminating"),
        ("worker: CUDA error 2", "CUDA error 2"),
        ("  the device ran Out Of Memory today ", "the device ran Out Of Memory today"),
        ("std::bad_alloc", "std::bad_alloc"),
        ("Fatal Python error: Aborted", "Fatal Python error: Aborted"),
        ("error: port is taken; Error: again", "error: port is taken; Error: again"),
    ],
)
def test_lines_with_an_error_are_kept_from_where_it_begins(line, kept):
    words = LastWords()
    assert words.feed(f"{line}\n".encode()) == [line.rstrip()]
    assert words.text == words.last() == kept


def test_the_last_eight_kilobytes_are_kept_in_whole_lines():
    words = LastWords()
    for number in range(2000):
        words.feed(b"error: number %04d\n" % number)
    assert len(words.text.encode()) <= 8 << 10
    lines = words.text.splitlines()
    assert lines[-1] == words.last() == "error: number 1999"
    assert all(len(line) == len(lines[-1]) for line in lines)
    assert len(lines) > 400


def test_an_unfinished_line_counts_at_the_end_and_is_bounded():
    words = LastWords()
    assert words.feed(b"error: cut") == []
    assert words.finish() == ["error: cut"]
    assert words.finish() == []
    assert words.last() == "error: cut"
    words.feed(b"error: " + b"x" * 100_000)
    assert len(words.text) <= 8 << 10


def test_known_lines_are_skipped():
    words = LastWords()
    words.feed(b"mlx: lost\nFatal Python error: Aborted\n")
    assert words.last("Aborted") == "mlx: lost"
    assert words.last() == "Fatal Python error: Aborted"


@given(st.lists(st.binary(max_size=30), max_size=8))
def test_any_bytes_are_accepted(pieces):
    words = LastWords()
    for piece in pieces:
        words.feed(piece)
    words.finish()
    assert len(words.text.encode()) <= 8 << 10
