"""Conversations with pictures through the whole engine: decoding, prompts, towers, caches and answers."""

import random
from dataclasses import replace

import pytest

from shown_pictures import REFERENCES, answer, conversation, engine_of, picture, request, user
from sotto.engine.contract.engine_settings import EngineSettings
from sotto.engine.contract.message_content import ImagePart
from sotto.engine.contract.requests import CountRequest, Message, Overflow
from sotto.engine.vision.prompt_images import is_image_token
from sotto.errors import InvalidRequestError

FAMILIES = sorted(folder.name for folder in REFERENCES.iterdir() if (folder / "model.safetensors").exists())
families = pytest.mark.parametrize("family", FAMILIES)


def tokens_of(family, asked, num_ctx=None):
    """Return the answer of a fresh engine."""
    engine = engine_of(REFERENCES / family, num_ctx=num_ctx)
    try:
        return answer(engine, asked).token_ids
    finally:
        engine.unload()


def fitting(engine, chance, pictures):
    """Return a request that the small contexts of the references have room for."""
    while True:
        asked = request(conversation(chance, pictures))
        if engine.count(CountRequest("c", asked.messages)).tokens < engine.info.context_length - 10:
            return asked


@pytest.fixture
def engine(family):
    engine = engine_of(REFERENCES / family)
    yield engine
    engine.unload()


@families
def test_a_second_question_about_a_picture_computes_only_what_is_new(family, engine):
    assert engine.info.sees
    first = [user("a b", 1, "c d")]
    told = answer(engine, request(first))
    assert told.cached_tokens == 0
    second = [*first, Message("assistant", "a"), user("e")]
    end = answer(engine, request(second))
    prepared = engine.prepare(request(first))
    last_row = max(place for place, token in enumerate(prepared.prompt) if is_image_token(token))
    assert end.cached_tokens > last_row
    assert end.token_ids == tokens_of(family, request(second))


@families
def test_another_picture_is_not_taken_for_the_first(family, engine):
    for number in (1, 2, 1):
        asked = request([user("a", number, "b")])
        assert answer(engine, asked).token_ids == tokens_of(family, asked)


@families
def test_the_same_pixels_in_another_file_are_the_same_picture(family, engine):
    answer(engine, request([user("a", 1, "b")]))
    other = Message("user", (*user("a").parts, ImagePart(picture(1) + b"trailing"), *user("b").parts))
    assert answer(engine, request([other])).cached_tokens > 0


@pytest.mark.one_in(4)
@families
def test_pictures_are_found_again_after_a_restart(family, tmp_path):
    settings = EngineSettings(disk_root=tmp_path, disk_budget=1 << 30)
    asked = request([user("a b c d e " * 20, 3, "c d" * 20)])
    first = engine_of(REFERENCES / family, settings)
    told = answer(first, asked)
    first.unload()
    second = engine_of(REFERENCES / family, settings)
    end = answer(second, asked)
    second.unload()
    assert end.cached_tokens == end.prompt_tokens - 1
    assert end.token_ids == told.token_ids


@pytest.mark.parametrize("count", [4, pytest.param(-(-1000 // len(FAMILIES)), marks=pytest.mark.full)])
@families
def test_random_conversations_equal_those_of_fresh_engines(family, engine, count):
    chance = random.Random(family)
    for _ in range(count):
        asked = fitting(engine, chance, pictures=4)
        assert answer(engine, asked).token_ids == tokens_of(family, asked)


@pytest.mark.one_in(3)
@families
def test_answers_at_once_equal_those_alone(family, engine):
    chance = random.Random(family)
    asked = [fitting(engine, chance, pictures=2) for _ in range(3)]
    for number, each in enumerate(asked):
        engine.start(engine.prepare(replace(each, id=str(number))))
    found = {}
    while engine.running:
        for event in engine.step():
            if hasattr(event, "done_reason"):
                found[event.request_id] = event.token_ids
    assert [found[str(number)] for number in range(3)] == [tokens_of(family, each) for each in asked]


@pytest.mark.one_in(4)
@families
def test_a_context_that_is_shifted_loses_pictures_as_a_whole(family):
    asked = request([user("a", 1, "b"), Message("assistant", "c"), user("d", 2, "e")], overflow=Overflow.SHIFT)
    whole = engine_of(REFERENCES / family)
    length = len(whole.prepare(asked).prompt)
    whole.unload()
    small = engine_of(REFERENCES / family, num_ctx=length + 3)
    end = answer(small, request(asked.messages, tokens=24, overflow=Overflow.SHIFT))
    small.unload()
    assert len(end.token_ids) == 24
    assert end.dropped_tokens > 0


@families
def test_pictures_are_counted(family, engine):
    asked = request([user("a", 1, "b", 2, "c")])
    counted = engine.count(CountRequest("c", asked.messages, images=(ImagePart(picture(1)), ImagePart(picture(2)))))
    prompt = engine.prepare(asked).prompt
    assert counted.tokens == len(prompt)
    assert sum(counted.image_sizes) >= sum(map(is_image_token, prompt))
    assert all(size < counted.tokens for size in counted.image_sizes)


@pytest.mark.one_in(4)
@families
def test_what_is_no_picture_is_refused(family, engine):
    for data in (b"", b"<svg xmlns='http://www.w3.org/2000/svg'/>", picture(1)[:40]):
        with pytest.raises(InvalidRequestError, match="image"):
            engine.prepare(request([Message("user", (ImagePart(data),))]))
