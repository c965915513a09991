"""A trained model sees: it names shape, colour and count of drawings that its training never drew."""

import importlib.util
import io
import sys
from pathlib import Path

import pytest

from shown_pictures import GREEDY, engine_of
from sotto.engine.contract.events import Finished, TextChunk
from sotto.engine.contract.message_content import ImagePart, TextPart
from sotto.engine.contract.requests import GenerateRequest, Message
from thoroughness import share

MODEL = Path(__file__).with_name("drawings")
SCRIPT = Path(__file__).resolve().parents[3] / "packaging" / "vision_model" / "drawings.py"
QUESTION = "What do you see?"
SEED = 2


@pytest.fixture(scope="module")
def drawings():
    spec = importlib.util.spec_from_file_location("drawings", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look their module up.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.fixture(scope="module")
def engine():
    engine = engine_of(MODEL)
    yield engine
    engine.unload()


def file_of(picture):
    written = io.BytesIO()
    picture.save(written, "PNG")
    return written.getvalue()


def said(engine, *messages):
    asked = GenerateRequest("r", messages=messages, sampling=GREEDY, num_predict=30)
    events = list(engine.generate(engine.prepare(asked)))
    assert isinstance(events[-1], Finished)
    return "".join(event.text for event in events if isinstance(event, TextChunk))


def showing(picture, question=QUESTION):
    return Message("user", (ImagePart(file_of(picture)), TextPart(question)))


def test_nine_of_ten_drawings_are_named(drawings, engine):
    wrong, count = [], share(40, 10)
    for drawing, picture in drawings.held_out(count, SEED):
        wanted = f"{drawing.number.capitalize()} {drawing.colour} {drawing.things}."
        if (found := said(engine, showing(picture))) != wanted:
            wrong.append((wanted, found))
    assert len(wrong) <= count / 10, wrong


def test_further_questions_are_about_the_same_drawing(drawings, engine):
    drawing, picture = next(drawings.held_out(1, SEED))
    messages = [showing(picture)]
    for question, answer in (
        ("What colour?", drawing.colour),
        ("How many?", drawing.number),
        ("What shape?", drawing.things),
    ):
        messages += [Message("assistant", said(engine, *messages)), Message("user", question)]
        assert said(engine, *messages) == f"{answer.capitalize()}."


def test_without_a_drawing_nothing_is_seen(engine):
    assert said(engine, Message("user", "Hello")) == "Show me a drawing, and I say what is in it."
