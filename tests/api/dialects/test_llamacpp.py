"""Filling a gap between two texts in the dialects of Ollama, OpenAI and llama.cpp; and LM Studio's model list."""

import json
import threading
import time
from dataclasses import replace
from itertools import count
from types import SimpleNamespace

import httpx
import ollama
import openai
import pytest

from scripted_loop import Script, ScriptedLoop, record
from sotto.api.dialects.lmstudio import _row
from sotto.api.server import Address, ApiServer
from sotto.runner.catalogue import catalogue
from sotto.runner.loop_host import LoopHost
from sotto.runner.profiles import Profile
from sotto.store.records import Format, Source

GREEDY = {"temperature": 0, "num_predict": 6}
MARKS = "<fim_prefix>def f(x):<fim_suffix>return x<fim_middle>"
GAP = {"input_prefix": "def f", "prompt": "(x):", "input_suffix": "return x", "temperature": 0, "n_predict": 6}
FILLING = "filling:latest"
LOAD = {"model": "tiny"}


def wait_for_status(ask, status, seconds=20):
    """Repeat a request until its answer has this status, and return the answer."""
    deadline = time.monotonic() + seconds
    while (answer := ask()).status_code != status:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return answer


@pytest.fixture(scope="module")
def middle(served):
    """Return the model's answer to a raw prompt with its own infill tokens."""
    body = {"model": FILLING, "prompt": MARKS, "raw": True, "stream": False, "options": GREEDY}
    answer = served.http.post("/api/generate", json=body).json()
    assert answer["prompt_eval_count"] == len("def f(x):return x") + 3
    return answer["response"]


def infill(served, **fields):
    return served.http.post("/infill", json={"model": FILLING} | GAP | fields)


def rows(answer):
    return [json.loads(line.removeprefix("data: ")) for line in answer.text.splitlines() if line]


class TestOllama:
    def test_a_suffix_follows_the_gap(self, ollama_client, middle):
        answer = ollama_client.generate(FILLING, "def f(x):", suffix="return x", options=GREEDY)
        assert (answer.response, answer.prompt_eval_count) == (middle, 20)
        pieces = ollama_client.generate(FILLING, "def f(x):", suffix="return x", options=GREEDY, stream=True)
        assert "".join(piece.response for piece in pieces) == middle

    def test_marks_in_the_text_are_text(self, ollama_client):
        answer = ollama_client.generate(FILLING, "<fim_middle>", suffix="b", options=GREEDY)
        assert answer.prompt_eval_count == len("<fim_middle>") + 1 + 3

    def test_the_text_before_the_gap_may_be_empty(self, ollama_client):
        answer = ollama_client.generate(FILLING, "", suffix="return x", options=GREEDY)
        assert answer.prompt_eval_count == 11
        assert answer.done_reason != "load"

    def test_a_template_of_the_request_makes_the_prompt(self, ollama_client):
        answer = ollama_client.generate(
            FILLING, "ab", suffix="c", template="{{ .Suffix }}{{ .Prompt }}!", options=GREEDY
        )
        assert answer.prompt_eval_count == 4
        with pytest.raises(ollama.ResponseError, match="has no place for a suffix"):
            ollama_client.generate(FILLING, "ab", suffix="c", template="{{ .Prompt }}")

    def test_a_model_without_infill_is_reported(self, ollama_client):
        with pytest.raises(ollama.ResponseError, match="sotto does not support insert") as raised:
            ollama_client.generate("sotto", "a", suffix="b")
        assert raised.value.status_code == 400


class TestOpenAI:
    def test_a_suffix_follows_the_gap(self, openai_client, middle):
        fields = {"model": FILLING, "prompt": "def f(x):", "suffix": "return x", "temperature": 0, "max_tokens": 6}
        answer = openai_client.completions.create(**fields)
        assert (answer.choices[0].text, answer.usage.prompt_tokens) == (middle, 20)
        pieces = openai_client.completions.create(**fields, stream=True)
        assert "".join(piece.choices[0].text for piece in pieces) == middle
        echoed = openai_client.completions.create(**fields, echo=True)
        assert echoed.choices[0].text == f"def f(x):{middle}"

    def test_the_text_before_the_gap_may_be_empty(self, openai_client):
        answer = openai_client.completions.create(model=FILLING, prompt="", suffix="return x", max_tokens=2)
        assert answer.usage.prompt_tokens == 11
        with pytest.raises(openai.BadRequestError, match="prompt is empty"):
            openai_client.completions.create(model=FILLING, prompt="", max_tokens=2)

    def test_a_model_without_infill_is_reported(self, openai_client):
        with pytest.raises(openai.BadRequestError, match="sotto does not support insert"):
            openai_client.completions.create(model="sotto", prompt="a", suffix="b")


class TestLlamaCpp:
    def test_the_gap_is_filled(self, served, middle):
        answer = infill(served).json()
        assert (answer["content"], answer["stop"], answer["truncated"]) == (middle, True, False)
        assert (answer["tokens_predicted"], answer["tokens_evaluated"], answer["tokens_cached"]) == (6, 20, 26)
        assert (answer["stop_type"], answer["model"]) == ("limit", FILLING)
        assert answer["generation_settings"]["n_ctx"] == 1024
        timings = answer["timings"]
        assert timings["cache_n"] + timings["prompt_n"] == 20
        assert timings["predicted_n"] == 6
        for name in ("prompt", "predicted"):
            assert timings[f"{name}_per_second"] == pytest.approx(
                timings[f"{name}_n"] * 1000 / timings[f"{name}_ms"], rel=1e-6
            )

    def test_it_streams(self, served, middle):
        *pieces, last = rows(infill(served, stream=True))
        assert "".join(piece["content"] for piece in pieces) == middle
        assert not any(piece["stop"] for piece in pieces)
        assert (last["stop"], last["content"], last["tokens_predicted"]) == (True, "", 6)

    def test_files_come_first(self, served):
        files = [{"filename": "a.py", "text": "x\n"}, {"text": "y\n"}]
        more = infill(served, input_extra=files).json()["tokens_evaluated"]
        # Each follows its mark, and a last mark names the file of the gap.
        assert more == 20 + len("|a.py\nx\n") + len("|tmp\ny\n") + len("|filename\n")

    def test_a_long_text_loses_what_is_farthest_from_the_gap(self, served):
        files = [{"filename": "a.py", "text": "x" * 3000}]
        answer = infill(served, input_extra=files, input_prefix="y" * 3000).json()
        assert answer["truncated"]
        assert answer["tokens_evaluated"] == 1024 - 6

    def test_a_prompt_can_be_cached_for_the_next_request(self, served):
        first = infill(served, n_predict=0, input_suffix="return read").json()
        assert (first["content"], first["tokens_predicted"], first["tokens_cached"]) == ("", 0, 23)
        assert infill(served, input_suffix="return read").json()["timings"]["cache_n"] >= 20

    def test_fields_are_chosen_by_their_paths(self, served, middle):
        paths = ["content", "timings/predicted_n", "generation_settings/n_ctx", "timings/nothing", "nothing/else"]
        assert infill(served, response_fields=paths).json() == {
            "content": middle,
            "timings/predicted_n": 6,
            "generation_settings/n_ctx": 1024,
        }

    def test_a_word_stops_it(self, served, middle):
        answer = infill(served, stop=[middle[3]]).json()
        assert (answer["stop_type"], answer["stopping_word"]) == ("word", middle[3])
        assert answer["content"] == middle[: middle.index(middle[3])]

    def test_without_a_name_the_only_capable_model_answers(self, served, middle):
        fields = {name: value for name, value in GAP.items() if name != "model"}
        assert served.http.post("/infill", json=fields).json()["content"] == middle

    def test_after_its_time_limit_it_ends_with_the_line(self, url, script, monkeypatch):
        # Each reading of the clock is a second later than the one before.
        clock = SimpleNamespace(monotonic=map(float, count()).__next__)
        monkeypatch.setattr("sotto.api.dialects.llamacpp.time", clock)
        # Otherwise pieces would be joined for a slow reader, and the clock would be read less often.
        monkeypatch.setattr("sotto.api.stream.join_events", list)
        monkeypatch.setattr(script, "chunks", ["a", "b", "c\n", "d", "e"])
        fields = {"model": "tiny"} | GAP | {"t_max_predict_ms": 1500, "temperature": 0.8}
        answer = httpx.post(f"{url}/infill", json=fields).json()
        assert (answer["content"], answer["tokens_predicted"], answer["stop_type"]) == ("abc\n", 3, "limit")
        assert httpx.post(f"{url}/infill", json=fields | {"t_max_predict_ms": 0}).json()["content"] == "abc\nde"

    @pytest.mark.parametrize(
        ("fields", "status", "kind", "message"),
        [
            ({"input_prefix": None}, 400, "invalid_request_error", '"input_prefix" is required'),
            ({"input_suffix": None}, 400, "invalid_request_error", '"input_suffix" is required'),
            ({"input_extra": ["a"]}, 400, "invalid_request_error", "input_extra[0] must be an object"),
            ({"model": "sotto"}, 501, "not_supported_error", "does not support infill"),
            ({"model": "nope"}, 404, "not_found_error", "model 'nope' not found"),
            ({"grammar": "root ::= a"}, 400, "invalid_request_error", "use json_schema instead"),
            ({"top_k": "x"}, 400, "invalid_request_error", "Option top_k must be"),
            ({"response_fields": [1]}, 400, "invalid_request_error", "response_fields[0] must be the path of a field"),
        ],
    )
    def test_errors(self, served, fields, status, kind, message):
        answer = infill(served, **fields)
        error = answer.json()["error"]
        assert (answer.status_code, error["code"], error["type"]) == (status, status, kind)
        assert message in error["message"]


class TestHealth:
    @pytest.mark.parametrize("path", ["/health", "/v1/health"])
    def test_it_is_healthy(self, served, path):
        answer = served.http.get(path)
        assert (answer.status_code, answer.json()) == (200, {"status": "ok"})

    def test_the_first_model_is_being_loaded(self, own_home):
        script = Script(hold_load=threading.Event())
        host = LoopHost(make_loop=lambda emit: ScriptedLoop(emit, script), models=lambda: (record("tiny:latest"),))
        server = ApiServer(host, Address("127.0.0.1", 0))
        server.start()
        load = threading.Thread(target=httpx.post, args=(f"{server.url}/api/generate",), kwargs={"json": LOAD})
        load.start()
        try:
            answer = wait_for_status(lambda: httpx.get(f"{server.url}/health"), 503)
            assert answer.json() == {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}}
            script.hold_load.set()
            load.join()
            assert httpx.get(f"{server.url}/health").json() == {"status": "ok"}
        finally:
            script.hold_load.set()
            load.join()
            assert server.stop()
            assert host.close()


class TestLMStudio:
    def test_models_are_listed(self, served):
        listed = served.http.get("/api/v0/models").json()
        found = {row["id"]: row for row in listed["data"]}
        assert listed["object"] == "list"
        assert found["nomic-embed-text:latest"] | {"state": "", "loaded_context_length": 0} == {
            "id": "nomic-embed-text:latest",
            "object": "model",
            "type": "embeddings",
            "publisher": "library",
            "arch": "nomic-bert",
            "compatibility_type": "gguf",
            "quantization": found["nomic-embed-text:latest"]["quantization"],
            "state": "",
            "max_context_length": 24,
            "loaded_context_length": 0,
            "capabilities": [],
        }
        mine = found["thinking:latest"]
        assert (mine["type"], mine["compatibility_type"]) == ("llm", "mlx")
        assert mine["capabilities"] == ["tool_use"]

    def test_a_model_that_sees_has_a_type_of_its_own(self):
        builtin = next(record for record in catalogue().records if record.builtin)
        assert _row(builtin, Profile(("completion", "vision")), None)["type"] == "vlm"

    def test_a_loaded_model_shows_its_context_length(self, served):
        served.http.post("/api/generate", json={"model": "sotto", "options": {"num_ctx": 512}})
        row = served.http.get("/api/v0/models/sotto").json()
        assert (row["state"], row["loaded_context_length"], row["max_context_length"]) == ("loaded", 512, 4096)
        served.http.post("/api/generate", json={"model": "sotto", "keep_alive": 0})
        row = served.http.get("/api/v0/models/sotto:latest").json()
        assert (row["state"], "loaded_context_length" in row) == ("not-loaded", False)

    def test_publishers_are_those_of_names(self, own_home):
        builtin = next(record for record in catalogue().records if record.builtin)
        names = {"mlx-community/Qwen3-4B-4bit": "mlx-community", "My Model": "folder"}
        models = [replace(builtin, name=name, digest="", source=Source.FOLDER) for name in names]
        models[0] = replace(models[0], format=Format.GGUF)
        host = LoopHost(make_loop=lambda emit: ScriptedLoop(emit, Script()), models=lambda: models)
        server = ApiServer(host, Address("127.0.0.1", 0))
        server.start()
        try:
            found = httpx.get(f"{server.url}/api/v0/models").json()["data"]
            assert {row["id"]: row["publisher"] for row in found} == names
        finally:
            assert server.stop()
            assert host.close()

    def test_an_unknown_model_is_not_found(self, served):
        answer = served.http.get("/api/v0/models/nope")
        assert (answer.status_code, answer.json()["error"]["type"]) == (404, "not_found_error")
