"""Engines with models that see, and conversations with drawn pictures."""

import io
import random
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from PIL import Image, ImageDraw

from places import VISION_REFERENCES
from sotto.engine.contract.engine_settings import EngineSettings
from sotto.engine.contract.events import Failed, Finished
from sotto.engine.contract.message_content import ImagePart, Part, TextPart, content_of
from sotto.engine.contract.requests import GenerateRequest, Message, Overflow, SamplingOptions
from sotto.engine.engine import Engine
from sotto.store.opening import open_model, record_of

REFERENCES = VISION_REFERENCES
GREEDY = SamplingOptions(temperature=0)
_SIDES = (17, 24, 31, 40, 57)
_COLOURS = ("red", "green", "blue", "black", "orange", "white")
_WORDS = ("a", "b", "c", "d", "e", " ")


@cache
def picture(number: int) -> bytes:
    """Return a small picture as PNG; each number gives another one."""
    chance = random.Random(number)
    size = chance.choice(_SIDES), chance.choice(_SIDES)
    image = Image.new("RGB", size, chance.choice(_COLOURS))
    draw = ImageDraw.Draw(image)
    for _ in range(3):
        corners = sorted(chance.randrange(size[0]) for _ in "12"), sorted(chance.randrange(size[1]) for _ in "12")
        (left, right), (top, bottom) = corners
        draw.ellipse((left, top, right, bottom), fill=chance.choice(_COLOURS))
    written = io.BytesIO()
    image.save(written, "PNG")
    return written.getvalue()


def engine_of(folder: Path, settings: EngineSettings | None = None, num_ctx: int | None = None) -> Engine:
    """Return an engine that has loaded the model in a folder."""
    engine = Engine(settings)
    engine.load(open_model(record_of(folder)), num_ctx=num_ctx)
    return engine


def user(*parts: str | int) -> Message:
    """Return a question of texts and of pictures by their numbers."""
    return Message("user", content_of(TextPart(p) if isinstance(p, str) else ImagePart(picture(p)) for p in parts))


def request(messages: Sequence[Message], tokens: int = 6, overflow: Overflow = Overflow.ERROR) -> GenerateRequest:
    """Return a request for an answer of exactly so many tokens, the most probable ones."""
    return GenerateRequest(
        "r", messages=tuple(messages), sampling=GREEDY, num_predict=tokens, ignore_eos=True, overflow=overflow
    )


def answer(engine: Engine, asked: GenerateRequest) -> Finished:
    """Return the end of an answer."""
    events = list(engine.generate(engine.prepare(asked)))
    failed = [event for event in events if isinstance(event, Failed)]
    assert not failed, failed
    (end,) = [event for event in events if isinstance(event, Finished)]
    return end


def answers(folder: Path, asked: Sequence[GenerateRequest]) -> list[Finished]:
    """Return the ends of answers of an engine that lives on a thread of its own, as several of them need."""

    def compute() -> list[Finished]:
        engine = engine_of(folder)
        try:
            return [answer(engine, each) for each in asked]
        finally:
            engine.close()

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(compute).result()


def conversation(chance: random.Random, pictures: int) -> list[Message]:
    """Return a conversation that ends with a question, with pictures at random places; most begin like others."""
    shared = random.Random(chance.randrange(4))
    messages: list[Message] = []
    for turn in range(chance.randrange(3) + 1):
        source = shared if turn == 0 else chance
        parts: list[Part] = [_text(source)]
        while source.random() < 0.5:
            parts += [ImagePart(picture(source.randrange(pictures))), _text(source)]
        if messages:
            messages.append(Message("assistant", _text(source).text))
        messages.append(Message("user", content_of(parts)))
    return messages


def _text(chance: random.Random) -> TextPart:
    return TextPart(" ".join(chance.choice(_WORDS[:-1]) for _ in range(chance.randrange(1, 5))))
