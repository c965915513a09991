"""Requests of published programs, recorded with `tests/clients`; a real model answers all of them.

Texts and schemas were shortened, but the fields are those that the programs sent.
"""

import json
from pathlib import Path

import httpx
import pytest

from sotto.api.server import Address, ApiServer
from sotto.runner.loop_host import LoopHost
from sotto.store.opening import record_of
from written_model import call, write_answers

REQUESTS = json.loads(Path(__file__).with_name("client_requests.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def client(own_home, tmp_path_factory):
    """Yield a client of a model that first calls a tool, then reports success; without tools, it writes a title."""
    answers = [f"I look.\n{call('shell', command='date')}", "It is made."]
    written = record_of(write_answers(tmp_path_factory.mktemp("models") / "written", answers, "A title."))
    host = LoopHost(models=lambda: (written,))
    server = ApiServer(host, Address("127.0.0.1", 0))
    server.start()
    with httpx.Client(base_url=server.url, timeout=60) as client:
        yield client
    assert server.stop()
    assert host.close()


def objects(answer):
    """Return the JSON objects of an answer, streamed or not."""
    if answer.headers["content-type"].startswith("application/json"):
        return [answer.json()]
    rows = [row.removeprefix("data: ") for row in answer.text.splitlines()]
    return [json.loads(row) for row in rows if row.startswith("{")]


def in_chat(rows):
    deltas = [choice["delta"] for row in rows for choice in row["choices"]]
    calls = [call["function"]["name"] for delta in deltas for call in delta.get("tool_calls", ())]
    return "".join(delta.get("content") or "" for delta in deltas), calls, rows[-1]


def in_ollama(rows):
    calls = [call["function"]["name"] for row in rows for call in row["message"].get("tool_calls", ())]
    return "".join(row["message"]["content"] for row in rows), calls, rows[-1]


def in_responses(rows):
    response = rows[-1].get("response", rows[-1])
    texts = [part["text"] for item in response["output"] for part in item.get("content", ())]
    return "".join(texts), [item["name"] for item in response["output"] if "name" in item], response


def in_messages(rows):
    begun = [event["content_block"] for event in rows if event["type"] == "content_block_start"]
    deltas = [event["delta"] for event in rows if event["type"] == "content_block_delta"]
    calls = [block["name"] for block in begun if block["type"] == "tool_use"]
    return "".join(delta.get("text", "") for delta in deltas), calls, rows[0]["message"]


READERS = {
    "/v1/chat/completions": in_chat,
    "/api/chat": in_ollama,
    "/v1/responses": in_responses,
    "/v1/messages": in_messages,
}


@pytest.mark.parametrize("name", REQUESTS)
def test_a_request_is_answered(client, name):
    sent = REQUESTS[name]
    answer = client.post(sent["path"], json=sent["body"])
    assert answer.status_code == 200, answer.text
    text, calls, whole = READERS[sent["path"].partition("?")[0]](objects(answer))
    if "says" in sent:
        assert {"text": text, "calls": calls} == sent["says"]
    assert whole.get("warnings", []) == sent.get("warnings", [])


@pytest.mark.parametrize("path", ["/v1/messages", "/v1/messages/count_tokens"])
def test_a_whole_answer_has_warnings(client, path):
    sent = REQUESTS["Claude Code 2.1.330: a search of the web"]
    answer = client.post(path, json=sent["body"] | {"stream": False})
    assert answer.json()["warnings"] == sent["warnings"]


def test_the_number_of_warnings_is_limited(client):
    tools = [{"type": f"kind {number}"} for number in range(1000)]
    answer = client.post("/v1/responses", json={"model": "written", "input": "Hi", "tools": tools})
    *_, last = warnings = answer.json()["warnings"]
    assert (len(warnings), last) == (16, "985 more parts of the request were ignored.")


def test_the_version_satisfies_clients_of_ollama(client):
    version = client.get("/api/version").json()
    least = {"Codex": (0, 13, 4), "Copilot Chat": (0, 6, 4)}
    assert tuple(map(int, version["version"].split("."))) >= max(least.values())
    assert version["sotto"] == client.get("/openapi.json").json()["info"]["version"]
    described = client.get("/openapi.json").json()["paths"]["/api/version"]["get"]["responses"]["200"]["description"]
    assert "the version of Ollama with which this server is compatible" in described
