"""The OpenAPI document, and the answers to requests that it allows or forbids."""

from dataclasses import replace

import httpx
import jsonschema
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given
from hypothesis import strategies as st

from scripted_loop import Script, ScriptedLoop
from sent_bodies import BODIES
from sotto.api.server import Address, ApiServer
from sotto.runner.catalogue import catalogue
from sotto.runner.loop_host import LoopHost
from thoroughness import examples

pytestmark = pytest.mark.slow

# What may download something, or receives files, is tested elsewhere.
EXCLUDED = {"/api/create", "/api/pull", "/api/push"}


@pytest.fixture(scope="module")
def served(own_home):
    """Yield a server whose models answer every request at once."""
    builtin = next(record for record in catalogue().records if record.builtin)
    others = {"all-minilm:latest": "0" * 64, "qwen2.5-coder:latest": "1" * 64}
    models = (builtin, *(replace(builtin, name=name, digest=digest) for name, digest in others.items()))
    host = LoopHost(make_loop=lambda emit: ScriptedLoop(emit, Script(sees=True)), models=lambda: models)
    server = ApiServer(host, Address("127.0.0.1", 0))
    server.start()
    yield server
    assert server.stop()
    assert host.close()


@pytest.fixture(scope="module")
def document(served):
    return httpx.get(f"{served.url}/openapi.json").raise_for_status().json()


@pytest.fixture(scope="module")
def operations(document):
    loaded = schemathesis.openapi.from_dict(document)
    found = {(result.ok().method, result.ok().path): result.ok() for result in loaded.get_all_operations()}
    assert len(found) > 20
    return found


def body_of(document, path, method="post"):
    return document["paths"][path][method]["requestBody"]["content"]["application/json"]["schema"]


def test_bodies_are_described_as_they_are_read(document):
    chat = body_of(document, "/v1/chat/completions")
    assert chat["required"] == ["model", "messages"]
    assert chat["properties"]["n"] == {"type": "integer", "minimum": 1, "maximum": 16}
    assert {"type": "array", "items": {"type": "string"}} in chat["properties"]["stop"]["anyOf"]
    assert chat["properties"]["temperature"] == {"type": "number", "minimum": 0, "maximum": 100}
    message = chat["properties"]["messages"]["items"]["properties"]
    assert {"role", "content", "tool_calls", "tool_call_id"} <= message.keys()
    assert body_of(document, "/v1/messages")["required"] == ["model", "messages", "max_tokens"]
    assert body_of(document, "/api/delete", "delete")["properties"].keys() == {"model", "name"}
    streamed = document["paths"]["/api/chat"]["post"]["responses"]["200"]["content"]
    assert streamed.keys() == {"application/json", "application/x-ndjson"}


def test_every_route_with_a_body_is_described_or_refused(document):
    for path, methods in document["paths"].items():
        for method in methods.keys() & {"post", "delete"}:
            content = methods[method].get("requestBody", {}).get("content", {})
            assert ("application/json" in content) == (path in BODIES), path
            assert content or "501" in methods[method]["responses"], path


@pytest.mark.parametrize("path", sorted(BODIES.keys() - EXCLUDED))
def test_examples_match_the_description_and_are_answered(served, document, path):
    method = "delete" if path == "/api/delete" else "post"
    for body in BODIES[path]:
        jsonschema.validate(body, body_of(document, path, method))
        answer = httpx.request(method, served.url + path, json=body)
        # The models that some examples download do not exist here.
        assert answer.status_code == (404 if path in ("/api/copy", "/api/delete") else 200), answer.text


def undeclared(value, schema):
    """Yield the paths of the fields in a value that its schema does not declare."""
    kinds = schema.get("anyOf", [schema])
    for name, inner in value.items() if isinstance(value, dict) else ():
        known = [kind["properties"][name] for kind in kinds if name in kind.get("properties", {})]
        if not known and any("properties" in kind and kind["properties"] for kind in kinds):
            yield name
        for each in known[:1]:
            yield from (f"{name}.{rest}" for rest in undeclared(inner, each))
    for item in value if isinstance(value, list) else ():
        for kind in kinds:
            yield from (f"[].{rest}" for rest in undeclared(item, kind.get("items", {})))


@pytest.mark.parametrize("path", sorted(BODIES))
def test_fields_that_clients_send_are_declared(document, path):
    schema = body_of(document, path, "delete" if path == "/api/delete" else "post")
    assert [name for body in BODIES[path] for name in undeclared(body, schema)] == []


@pytest.mark.parametrize("path", sorted(BODIES.keys() - EXCLUDED))
def test_requests_without_required_fields_are_refused(served, document, path):
    method = "delete" if path == "/api/delete" else "post"
    required = body_of(document, path, method).get("required", [])
    for name in BODIES[path][0]:
        # Requests that others send without it need no trial; some of the rest name models that do not exist here.
        needless = any(name not in body for body in BODIES[path]) or any(
            httpx.request(method, served.url + path, json={key: body[key] for key in body if key != name}).status_code
            not in (400, 404)
            for body in BODIES[path]
        )
        assert (name in required) != needless or path in ("/api/copy", "/api/delete"), name


@examples(40, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_no_input_causes_an_internal_error(served, operations, data):
    modes = (schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE)
    operation = operations[data.draw(st.sampled_from(sorted(key for key in operations if key[1] not in EXCLUDED)))]
    case = data.draw(operation.as_strategy(generation_mode=data.draw(st.sampled_from(modes))))
    answer = case.call(base_url=served.url)
    assert answer.status_code < 500 or answer.status_code == 501, answer.text
