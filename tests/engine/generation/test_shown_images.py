"""Images while prompts are fed: work that is shared, fails, is stopped, or is done again."""

from dataclasses import replace

import mlx.core as mx
import pytest

from shown_pictures import REFERENCES, answer, engine_of, request, user
from sotto.engine.architectures.towers import patch_merger_tower
from sotto.engine.contract.engine_settings import EngineSettings
from sotto.engine.contract.events import DoneReason, Failed, Finished, PrefillProgress, TextChunk
from sotto.engine.contract.requests import Message, Overflow
from sotto.engine.generation.looking import Vision

FAMILY = REFERENCES / "qwen2-5-vl"
QUESTION = request([user("a", 1, "b")])


@pytest.fixture(scope="module")
def expected():
    engine = engine_of(FAMILY)
    told = answer(engine, QUESTION)
    engine.unload()
    return told.token_ids


@pytest.fixture
def engine():
    engine = engine_of(FAMILY)
    yield engine
    engine.unload()


@pytest.fixture
def failing(monkeypatch):
    """Let the tower fail in its second step, as often as the list says."""
    tower, failures = patch_merger_tower.Qwen25Tower, []
    steps = tower.steps

    def failing_steps(self, tiles, layout):
        work = steps(self, tiles, layout)
        yield next(work)
        if failures:
            raise failures.pop()
        return (yield from work)

    monkeypatch.setattr(tower, "steps", failing_steps)
    return failures


def ends(engine):
    """Return the last event of each request in flight."""
    found = {}
    while engine.running:
        for event in engine.step():
            if isinstance(event, Finished | Failed):
                found[event.request_id] = event
    return found


def test_requests_with_the_same_image_share_the_work_and_not_its_failure(engine, failing, expected):
    failing.append(MemoryError("no room"))
    # The first step is for the oldest request, the next ones are for the one with the least left to feed.
    engine.start(engine.prepare(request([user("a", 1, "b c d")])))
    engine.start(engine.prepare(replace(QUESTION, id="short")))
    found = ends(engine)
    assert isinstance(found["short"], Failed)
    assert isinstance(found["r"], Finished)
    engine.start(engine.prepare(QUESTION))
    assert ends(engine)["r"].token_ids == expected


def test_an_answer_can_be_stopped_while_its_tower_works(engine, failing, expected):
    stopped = []
    for name in "12":
        engine.start(engine.prepare(replace(QUESTION, id=name)), lambda name=name: name == "1" and bool(stopped))
    for _ in range(2):
        engine.step()
    stopped.append(True)
    found = ends(engine)
    assert found["1"].done_reason is DoneReason.CANCELLED
    assert found["2"].token_ids == expected


def test_an_answer_goes_on_after_an_image_was_looked_at_again():
    """A shift of the context keeps the image in the system prompt, whose features had to go meanwhile."""
    asked = request([Message("system", user("a", 2).content), user("b", 1, "c")], 60, Overflow.SHIFT)
    whole = engine_of(FAMILY)
    length = len(whole.prepare(asked).prompt)
    whole.unload()
    small = engine_of(FAMILY, EngineSettings(prefix_budget=0), num_ctx=length * 4 // 3 + 4)
    events = list(small.generate(small.prepare(asked)))
    small.unload()
    assert events[-1].dropped_tokens > 0
    kinds = [type(event) for event in events]
    assert kinds == sorted(kinds, key=[PrefillProgress, TextChunk, Finished].index)


def test_features_are_not_held_uncounted_while_an_answer_is_written(engine, monkeypatch):
    kept = []
    keep = Vision.keep
    monkeypatch.setattr(
        Vision, "keep", lambda vision, image, features: kept.append(vision) or keep(vision, image, features)
    )
    engine.start(engine.prepare(QUESTION))
    while not any(isinstance(event, TextChunk) for event in engine.step()):
        pass
    (vision,) = kept
    held, before = vision.nbytes, mx.get_active_memory()
    vision.clear()
    assert mx.get_active_memory() <= before - held
