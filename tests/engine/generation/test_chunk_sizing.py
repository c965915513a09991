import pytest

from sotto.engine.generation.chunk_sizing import ChunkSize


@pytest.mark.parametrize(
    ("fixed", "each", "expected"),
    [
        (0.0, 1e-5, {2048}),  # even the largest chunk is fast enough
        (0.0, 1e-2, {16}),  # constant cost per token: as many as fit into the target time
        (0.05, 1e-3, {256}),  # half of it would cost a quarter more by the token than the cheapest size that was tried
        (0.45, 8e-3, {64}),  # smaller chunks would cost more per token, larger ones would take too long
        (3.0, 1e-4, {64, 32}),  # any size takes too long, so at least there should be few chunks
        (0.0, 2.0, {1}),
    ],
)
def test_chunks_follow_the_time_they_take(fixed, each, expected):
    size = ChunkSize(first=64, target=0.2)
    for _ in range(20):
        size.took(size.tokens, fixed + each * size.tokens)
    assert size.tokens in expected


def test_several_halvings_do_not_make_tokens_much_more_expensive():
    # Each halving alone costs a fifth more by the token, the second one too much beside 48 tokens, which take too long.
    seconds = {96: 1.6, 48: 0.96, 24: 0.576, 12: 0.3456, 6: 0.2074}
    size = ChunkSize(first=96, target=0.3, limit=0.8)
    for _ in range(20):
        size.took(size.tokens, seconds[size.tokens])
    assert size.tokens == 24


def test_the_last_chunk_of_a_prompt_changes_the_size_only_if_it_is_too_slow():
    size = ChunkSize(first=64, target=0.2)
    size.took(5, 0.3)
    assert size.tokens == 64
    size.took(40, 5.0)
    assert size.tokens == 20


def test_chunks_are_not_smaller_than_the_kernels_need_however_long_they_take():
    size = ChunkSize(first=192, target=0.8, limit=1.2, least=48)
    for _ in range(20):
        size.took(size.tokens, 0.1 + 0.05 * size.tokens)
    assert size.tokens == 48
    size.took(30, 5.0)
    assert size.tokens == 48


@pytest.mark.parametrize(
    "steps",
    [
        [(0.7, 384), (1.4, 192), (0.7, 192)],
        [(2.2, 144), (1.7, 144), (2.4, 72), (1.2, 72), (0.9, 144), (0.9, 288), (1.8, 144)],
    ],
)
def test_a_fair_chunk_may_take_longer(steps):
    size = ChunkSize(first=192, target=0.8, limit=2.0, least=72, fair=144)
    for seconds, expected in steps:
        size.took(size.tokens, seconds)
        assert size.tokens == expected


def test_how_long_a_chunk_will_take():
    size = ChunkSize(first=64, target=0.2)
    assert size.seconds_of(10) == float("inf")
    for tokens in (64, 5):
        size.took(tokens, tokens * 0.01)
        assert size.seconds_of(10) == pytest.approx(0.1)


def test_on_a_gpu_the_chunk_size_does_not_change():
    size = ChunkSize()
    size.took(2048, 60.0)
    assert size.tokens == 2048


def test_a_few_tokens_at_the_end_of_a_prompt_are_no_chunk_of_their_own():
    chunk = ChunkSize(first=64, target=0.5, limit=1.0)
    assert [chunk.next_of(remaining) for remaining in (1, 64, 80, 81, 1000)] == [1, 64, 80, 64, 64]
    chunk.took(80, 0.1)
    assert chunk.tokens == 64


def test_a_chunk_may_be_longer_where_it_may_take_more_time():
    chunk = ChunkSize(largest=200, first=16, target=0.2, limit=0.2)
    assert chunk.next_of(1000, 10.0) == 16  # nothing has been measured
    chunk.took(16, 0.16)
    assert [chunk.next_of(1000, seconds) for seconds in (0.0, 0.1, 0.5, 1.0, 9.0)] == [16, 16, 50, 100, 200]
    assert [chunk.next_of(remaining, 0.5) for remaining in (50, 75, 76)] == [50, 75, 50]
