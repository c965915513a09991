"""The wording of downloads, compared with exact arithmetic."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripted_loop import record
from sotto.store.pull.progress import PullProgress, PullState
from sotto.store.sources.hugging_face_names import parse_wanted
from sotto.store.sources.model_names import parse_name
from sotto.ui.models import download_words

UNITS = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
TOTALS = st.integers(0, 10**13)


@given(TOTALS, st.fractions(0, 1))
def test_amounts_have_one_unit_and_are_rounded_down(total, share):
    done = int(total * share)
    here, of, whole, unit = download_words.amounts(done, total).split()
    assert of == "of"
    digits = len(here.partition(".")[2])
    assert len(whole.partition(".")[2]) == digits
    step = Fraction(UNITS[unit], 10**digits)
    assert Fraction(here) * UNITS[unit] <= done
    # It is less than one step too low, unless it was limited to the total, which is itself rounded down.
    assert done - Fraction(here) * UNITS[unit] < step or here == whole


@given(TOTALS, TOTALS)
def test_percent_is_rounded_down(done, total):
    reached = download_words.percent(PullProgress("a:b", PullState.DOWNLOADING, done, total))
    if not total:
        assert reached is None
    else:
        assert reached == min(100, Fraction(100 * done, total).__floor__())
        assert (reached == 100) == (done >= total)


@pytest.mark.parametrize(
    ("done", "total", "said"),
    [
        (1_264_000_000, 4_100_000_000, "1.2 of 4.1 GB"),
        (0, 4_100_000_000, "0.0 of 4.1 GB"),
        (999_999_999, 1_000_000_000, "0.9 of 1.0 GB"),
        (4_149_999_999, 4_149_999_999, "4.1 of 4.1 GB"),
        (70_000_000_000, 140_000_000_000, "70 of 140 GB"),
        (0, 0, "0 of 0 B"),
        (0, None, ""),
        (5_000, None, "5 KB"),
    ],
)
def test_amounts(done, total, said):
    assert download_words.amounts(done, total) == said


@pytest.mark.parametrize(
    ("speed", "left", "said"),
    [
        (34_300_000.0, 128.0, "34 MB/s · 2 min left"),
        (34_300_000.0, 0.2, "34 MB/s · 1 s left"),
        (1_234.0, 3900.0, "1 KB/s · 1 h 5 min left"),
        (12.0, 1e9, "12 B/s · more than a day left"),
        (5e6, None, "5.0 MB/s"),
        (None, 5.0, "Downloading"),
        (0.0, None, "Downloading"),
    ],
)
def test_speed_and_time_left(speed, left, said):
    progress = PullProgress("a:b", PullState.DOWNLOADING, 1, 10, speed, left)
    assert download_words.status(progress) == said


def test_a_model_on_the_disk_is_never_called_downloading():
    progress = PullProgress("a:b", PullState.DOWNLOADING, 1, 10)
    assert "ownloading" not in download_words.status(progress, known=True)
    assert "ownloading" not in download_words.accessible_name(progress, known=True)


def test_every_state_in_the_list_has_its_own_label():
    listed = set(PullState) - {PullState.DONE}
    statuses = [download_words.status(PullProgress("a:b", state)) for state in listed]
    assert all(statuses)
    assert len(set(statuses)) == len(listed)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("llama3.2:3b", "From Ollama’s library, at registry.ollama.ai."),
        ("someone/model", "From registry.ollama.ai, where someone publishes it."),
        ("hf.co/org/repo:Q4", "From Hugging Face, where org publishes it."),
        ("mlx-community/gemma-3-1b", "From Hugging Face, where mlx-community publishes it."),
        ("reg.example/org/repo:Q4", "From reg.example, where org publishes it."),
    ],
)
def test_the_origin_of_a_model(name, said):
    assert download_words.origin(parse_wanted(name)) == said


def test_the_origin_mentions_a_model_that_is_already_installed():
    models = [record("other:1b"), record("qwen3:latest"), record("away:1b", present=False)]
    library = "From Ollama’s library, at registry.ollama.ai."
    assert download_words.origin(parse_name("qwen3"), models) == f"{library} You already have it: Ollama."
    assert download_words.origin(parse_name("qwen3:8b"), models) == library
    assert download_words.origin(parse_name("away:1b"), models) == library
