import math

import pytest

from sotto.api.durations import FOREVER, keep_alive
from sotto.api.error_bodies import ApiError


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, None),
        (0, 0),
        (5, 5),
        (1.5, 1.5),
        (-1, FOREVER),
        ("0", 0),
        ("10m", 600),
        ("1h30m", 5400),
        ("1.5h", 5400),
        (".5s", 0.5),
        ("300ms", 0.3),
        ("2us", 2e-6),
        ("2µs", 2e-6),
        ("+3s", 3),
        ("-1s", FOREVER),
        ("-5m", FOREVER),
        ("1s1s", 2),
    ],
)
def test_seconds(value, seconds):
    read = keep_alive(value)
    assert read == seconds or math.isclose(read, seconds)


@pytest.mark.parametrize(
    "value",
    ["", "10", "tomorrow", "1h1", "h", "1 h", "1x", "--1s", "٣s", True, [], {}, float("nan"), "1s" * 100, "1_0s"],
)
def test_invalid_durations(value):
    with pytest.raises(ApiError) as raised:
        keep_alive(value)
    assert raised.value.status == 400
