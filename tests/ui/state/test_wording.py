"""How the window formats numbers, sizes, durations and names."""

import pytest

from sotto.ui.state import wording
from sotto.ui.state.names import join_names


def test_sizes():
    sizes = (0, 999, 11_900_000, 310_000_000, 1_810_000_000, 4.66e12)
    assert [wording.size(n) for n in sizes] == ["0 B", "999 B", "12 MB", "310 MB", "1.8 GB", "4.7 TB"]


def test_numbers_of_weights():
    assert wording.parameters(4_600_000) == "4.6M"
    assert wording.parameters(7_000_000_000) == "7B"


def test_too_few_tokens_have_no_speed():
    assert wording.speed(1, 10**9) == ""


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.2, "1 s"), (59, "59 s"), (90, "2 min"), (3600, "1 h"), (3900, "1 h 5 min")]
)
def test_durations(seconds, text):
    assert wording.duration(seconds) == text


def test_lists_of_names():
    assert join_names(["a", "b", "c"]) == "a, b and c"
