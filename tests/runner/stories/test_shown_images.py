"""Images through both hosts: what a model in another process sees is what one in this process sees."""

import pytest

from hosts import Host, is_a, thread_loop
from places import VISION_REFERENCES
from shown_pictures import picture, request, user
from sotto.engine.contract.events import Counted, Failed, Loaded
from sotto.engine.contract.message_content import ImagePart
from sotto.engine.contract.requests import CountRequest, Message
from sotto.runner.commands import Count, Generate, Load
from sotto.runner.isolated.process import RunnerProcess
from sotto.store.opening import record_of

ASKED = request([user("a b", 1, "c", 2, "d")])


@pytest.fixture(params=[thread_loop, RunnerProcess], ids=["thread", "process"], scope="module")
def host(request):
    host = Host(request.param)
    host.loop.send(Load(record_of(VISION_REFERENCES / "gemma3")))
    host.wait(is_a(Loaded))
    yield host
    host.close()
    assert host.error is None


@pytest.fixture(scope="module")
def expected():
    from shown_pictures import answer, engine_of

    engine = engine_of(VISION_REFERENCES / "gemma3")
    yield answer(engine, ASKED).token_ids
    engine.unload()


def test_answers_about_images_are_those_of_an_engine_alone(host, expected):
    host.loop.send(Generate(ASKED))
    assert host.ended("r").token_ids == expected


def test_images_are_counted(host):
    host.loop.send(Count(CountRequest("count", ASKED.messages, images=(ImagePart(picture(1)),))))
    counted = host.wait(is_a(Counted))
    assert len(counted.image_sizes) == 1
    assert 0 < counted.image_sizes[0] < counted.tokens


def test_a_file_that_is_no_image_fails_the_request_alone(host, expected):
    from dataclasses import replace

    broken = replace(ASKED, id="broken", messages=(Message("user", (ImagePart(b"no image"),)),))
    host.loop.send(Generate(broken))
    failed = host.wait(lambda event: isinstance(event, Failed) and event.request_id == "broken")
    assert not failed.bug
    host.loop.send(Generate(replace(ASKED, id="again")))
    assert host.ended("again").token_ids == expected
