"""The log of requests: what each is doing, how it ended, and nothing of what was said."""

import json
import threading
import time

import httpx
import pytest

from scripted_loop import Script, ScriptedLoop, record
from sotto.api.request_log import CAPACITY, RequestLog, Stage
from sotto.api.server import Address, ApiServer
from sotto.runner.loop_host import LoopHost

SECRET = "xylophone"
KEY = "k3y-of-the-server"
CHAT = {"model": "sotto", "messages": [{"role": "user", "content": f"Spell {SECRET}"}]}
SHORT = {"options": {"num_predict": 8, "temperature": 0}}
# The temperature is so high that the answer continues until the context is full, which takes seconds.
ENDLESS = {"options": {"num_predict": 4000, "temperature": 5.0, "top_k": 0, "top_p": 1.0, "seed": 4}}


def wait_until(condition):
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


@pytest.fixture
def logged(host):
    """Yield a log, and a client of the server over the real engine that fills it."""
    log = RequestLog()
    server = ApiServer(host, Address("127.0.0.1", 0, key=KEY), log)
    server.start()
    with httpx.Client(base_url=server.url, timeout=60, headers={"Authorization": f"Bearer {KEY}"}) as client:
        yield log, client
    assert server.stop()


def ended(log):
    """Return all requests in the order of their arrival, once none is under way."""
    wait_until(lambda: all(request.ended for request in log.read()))
    return sorted(log.read(), key=lambda request: request.number)


def outcomes(log):
    """Return what is known of each request, once none is under way."""
    return [(request.method, request.path, request.model, request.status, request.cancelled) for request in ended(log)]


def test_every_request_is_logged_with_its_end(logged):
    log, client = logged
    began = time.time()
    client.get("/api/tags")
    whole = client.post("/api/chat", json=CHAT | SHORT | {"stream": False}).json()
    streamed = client.post("/api/chat", json=CHAT | SHORT)
    vectors = client.post("/v1/embeddings", json={"model": "sotto", "input": SECRET}).json()
    with client.stream("POST", "/api/chat", json=CHAT | ENDLESS) as answer:
        next(answer.iter_lines())
    client.post("/api/chat?key=querysecret", json=CHAT | {"model": "nope"})
    client.get("/nothing", headers={"Authorization": "Bearer wrongkey"})
    client.get("/api/tags", headers={"Host": "evil.example"})
    assert outcomes(log) == [
        ("GET", "/api/tags", "", 200, False),
        ("POST", "/api/chat", "sotto:latest", 200, False),
        ("POST", "/api/chat", "sotto:latest", 200, False),
        ("POST", "/v1/embeddings", "sotto:latest", 200, False),
        ("POST", "/api/chat", "sotto:latest", 200, True),
        ("POST", "/api/chat", "nope", 404, False),
        ("GET", "/nothing", "", 401, False),
        ("GET", "/api/tags", "", 403, False),
    ]
    tags, first, second, embedding, broken, *refused = ended(log)
    end = json.loads(streamed.text.splitlines()[-1])
    assert (first.prompt_tokens, first.answer_tokens) == (whole["prompt_eval_count"], whole["eval_count"])
    assert (second.prompt_tokens, second.answer_tokens) == (end["prompt_eval_count"], end["eval_count"])
    assert (embedding.prompt_tokens, embedding.answer_tokens) == (vectors["usage"]["prompt_tokens"], 0)
    assert broken.prompt_tokens == first.prompt_tokens
    assert 0 < broken.answer_tokens < 4000
    assert all(request.answer_tokens == 0 for request in (tags, *refused))
    assert all(0 < request.seconds < 60 and began <= request.arrived <= time.time() for request in log.read())
    everything = repr(log.read())
    for hidden in (SECRET, "Spell", KEY, "wrongkey", "querysecret", whole["message"]["content"].strip()):
        assert hidden
        assert hidden not in everything


def test_requests_under_way_say_what_they_do():
    script = Script(hold_load=threading.Event(), hold_prefill=threading.Event(), hold_answer=threading.Event())
    host = LoopHost(make_loop=lambda emit: ScriptedLoop(emit, script), models=lambda: (record("tiny:latest"),))
    log = RequestLog()
    server = ApiServer(host, Address("127.0.0.1", 0), log)
    server.start()
    body = {"model": "tiny", "messages": CHAT["messages"]}
    thread = threading.Thread(target=lambda: httpx.post(f"{server.url}/api/chat", json=body, timeout=60))
    thread.start()
    for stage, hold in (
        (Stage.QUEUED, script.hold_load),
        (Stage.READING, script.hold_prefill),
        (Stage.WRITING, script.hold_answer),
    ):
        wait_until(lambda stage=stage: [request.stage for request in log.read()] == [stage])
        (request,) = log.read()
        assert (request.model, request.ended, request.seconds) == ("tiny:latest", False, 0)
        hold.set()
    thread.join()
    assert outcomes(log) == [("POST", "/api/chat", "tiny:latest", 200, False)]
    script.fail_answer = "The model is broken."
    assert '"error"' in httpx.post(f"{server.url}/api/chat", json=body, timeout=60).text
    assert outcomes(log)[-1] == ("POST", "/api/chat", "tiny:latest", 400, False)
    assert server.stop()
    assert host.close()


def test_the_log_is_bounded():
    log = RequestLog()
    first = log.begin("GET", "/first")
    for number in range(CAPACITY + 20):
        log.begin("GET", f"/{number}").end(200, whole=True)
    requests = log.read()
    assert len(requests) == CAPACITY + 1
    assert (requests[0].path, requests[0].ended) == ("/first", False)
    assert [request.path for request in requests[1:3]] == [f"/{CAPACITY + 19}", f"/{CAPACITY + 18}"]
    log.clear()
    assert [request.path for request in log.read()] == ["/first"]
    first.end(200, whole=True)
    first.ask_for("too late")
    assert [(request.path, request.model) for request in log.read()] == [("/first", "")]


def test_what_a_client_sends_is_short_and_harmless_in_the_log():
    log = RequestLog()
    log.begin("X" * 5000, "/\x1b[31m\u202e" + "a" * 5000).ask_for("m\n" * 5000)
    (request,) = log.read()
    assert all(len(text) < 600 and text.isprintable() for text in (request.method, request.path, request.model))


def test_a_change_is_told_once_until_it_is_read():
    told = []
    log = RequestLog(lambda: told.append(len(told)))
    request = log.begin("GET", "/")
    request.enter(Stage.QUEUED)
    assert told == [0]
    log.read()
    request.enter(Stage.QUEUED)
    assert told == [0]
    request.end(200, whole=True)
    log.clear()
    assert told == [0, 1]
