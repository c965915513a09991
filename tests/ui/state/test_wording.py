"""How the window formats numbers, sizes, durations and names."""

import pytest
from PySide6.QtCore import QLocale

from sotto.ui.state import wording
from sotto.ui.state.names import join_names


@pytest.fixture
def speaking():
    """Yield a function that changes the language's conventions, and restore them afterwards."""
    before = QLocale()
    yield lambda name: QLocale.setDefault(QLocale(name))
    QLocale.setDefault(before)


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


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (59, "just now"),
        (300, "5 min ago"),
        (3600, "1 hour ago"),
        (7200, "2 hours ago"),
        (86_400, "yesterday"),
        (172_800, "2 days ago"),
        (1000 * 86_400, "1,000 days ago"),
    ],
)
def test_ages(seconds, text):
    assert wording.ago(seconds) == text


def test_exact_durations():
    assert [wording.exact_duration(seconds) for seconds in (5, 60, 125)] == ["5 s", "1 min 0 s", "2 min 5 s"]
    assert [wording.seconds(seconds * 10**6) for seconds in (35, 400, 125_000)] == ["35 ms", "0.4 s", "2 min 5 s"]


@pytest.mark.parametrize(
    ("locale", "text"),
    [("en_GB", "a, b and c"), ("en_US", "a, b and c"), ("C", "a, b and c"), ("de", "a, b und c"), ("ja", "a、b、c")],
)
def test_lists_of_names(speaking, locale, text):
    speaking(locale)
    assert join_names(["a", "b", "c"]) == text
    assert join_names(["a"]) == "a"
    assert join_names([]) == ""


def test_numbers_follow_the_language_of_the_window(speaking):
    speaking("de_DE")
    texts = (wording.size(4_700_000_000), wording.count(12_345), wording.rate(82.6), wording.seconds(400_000_000))
    assert texts == ("4,7 GB", "12.345", "82,6 tok/s", "0,4 s")
    # Larger than Qt's numbers.
    assert wording.count(2**80) == "1.208.925.819.614.629.174.706.176"
    speaking("en_US")
    assert wording.count(12_345) == "12,345"
