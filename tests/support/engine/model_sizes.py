"""Strategies for the memory needs of models, in small numbers."""

from hypothesis import strategies as st

from sotto.engine.memory.memory_needs import CacheKind, CacheNeed, ModelNeeds, WorkPoint


@st.composite
def caches(draw):
    kind = draw(st.sampled_from([CacheKind.FULL, CacheKind.SLIDING, CacheKind.RECURRENT, CacheKind.LATENT]))
    window = draw(st.integers(1, 60)) if kind is CacheKind.SLIDING else None
    per_token = 0 if kind is CacheKind.RECURRENT else draw(st.integers(0, 50))
    return CacheNeed(kind, per_token, draw(st.integers(0, 500)), window, draw(st.integers(1, 16)))


@st.composite
def models(draw):
    points = st.builds(WorkPoint, st.sampled_from([1, 32, 64, 2048]), st.integers(1, 200), st.integers(0, 3000))
    return ModelNeeds(
        draw(st.integers(1, 5000)),
        draw(st.integers(0, 3000)),
        tuple(draw(st.lists(caches(), max_size=4))),
        tuple(draw(st.lists(points, min_size=1, max_size=8))),
        draw(st.integers(1, 150)),
    )
