"""The metrics, as Prometheus parses them."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from prometheus_client.parser import text_string_to_metric_families

from scripted_loop import Script, ScriptedLoop, record
from sotto.engine.caches.batch import batch_caches
from sotto.engine.generation import scheduler
from sotto.runner import faults
from sotto.runner.loop_host import LoopHost

ASK = {"messages": [{"role": "user", "content": "Who are you?"}], "stream": False}
OPTIONS = {"temperature": 0, "num_predict": 150}


def metric_values(served):
    """Return the value of every metric by its name and labels."""
    answer = served.http.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    return {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def test_requests_tokens_and_memory_are_counted(serve):
    served = serve()
    served.http.post("/api/chat", json={"model": "nope", **ASK})
    answer = served.http.post("/api/chat", json={"model": "sotto", **ASK}).json()
    vectors = served.http.post("/v1/embeddings", json={"model": "sotto", "input": "One."}).json()
    for path in ("/nothing", "/api/nothing/else"):
        served.http.get(path)
    served.http.get("/api/tags", headers={"Host": "evil.example"})
    numbers = metric_values(served)
    assert numbers["sotto_requests_total", "/api/chat", "200"] == 1
    assert numbers["sotto_requests_total", "/api/chat", "404"] == 1
    # All unknown paths share one line.
    assert numbers["sotto_requests_total", "404", "other"] == 2
    assert numbers["sotto_requests_total", "403", "other"] == 1
    read = answer["prompt_eval_count"] + vectors["usage"]["prompt_tokens"]
    assert numbers["sotto_prompt_tokens_total", "sotto:latest"] == read
    assert numbers["sotto_generated_tokens_total", "sotto:latest"] == answer["eval_count"]
    assert numbers["sotto_time_to_first_token_seconds_count", "sotto:latest"] == 1
    assert numbers["sotto_time_to_first_token_seconds_sum", "sotto:latest"] > 0
    rows = {row["name"]: row for row in served.http.get("/api/ps").json()["models"]}
    assert numbers["sotto_models_loaded",] == len(rows)
    assert numbers["sotto_model_memory_bytes", "sotto:latest"] == pytest.approx(rows["sotto:latest"]["size"], rel=0.2)
    assert numbers["sotto_waiting_requests",] == 0


def test_answers_slowed_down_by_a_fault_in_a_shared_step_are_counted(serve, monkeypatch):
    served, happened = serve(), threading.Event()
    ask = {"model": "sotto", "prompt": "Who are you?", "raw": True, "stream": False}
    wanted = served.http.post("/api/generate", json=ask | {"options": OPTIONS}).json()["response"]

    def broken(sequences):
        if not happened.is_set():
            happened.set()
            raise RuntimeError("broken on purpose")
        return batch_caches(sequences)

    monkeypatch.setattr(scheduler, "batch_caches", broken)
    before = len(faults.recorded())
    for _ in range(20):
        with ThreadPoolExecutor(2) as pool:
            futures = [
                pool.submit(served.http.post, "/api/generate", json=ask | {"options": OPTIONS}) for _ in range(2)
            ]
        assert [future.result().json()["response"] for future in futures] == [wanted] * 2
        if happened.is_set():
            break
    assert metric_values(served)["sotto_shared_step_failures_total", "sotto:latest"] == 2
    found = faults.recorded()[before:]
    assert [(fault.model, fault.reason) for fault in found] == [("sotto:latest", "RuntimeError: broken on purpose")] * 2


def test_waiting_requests_are_counted(serve):
    script = Script(hold_load=threading.Event())
    host = LoopHost(make_loop=lambda emit: ScriptedLoop(emit, script), models=lambda: (record("tiny:latest"),))
    served = serve(host)
    asking = [
        threading.Thread(target=lambda: served.http.post("/api/chat", json={"model": "tiny", **ASK})) for _ in range(3)
    ]
    for thread in asking:
        thread.start()
    deadline = time.monotonic() + 5
    while metric_values(served)["sotto_waiting_requests",] != 3:
        assert time.monotonic() < deadline
    assert ("sotto_model_memory_bytes", "tiny:latest") not in metric_values(served)
    script.hold_load.set()
    for thread in asking:
        thread.join()
    # A response is counted after its last byte was sent, so its reader may have it before that.
    deadline = time.monotonic() + 5
    while metric_values(served).get(("sotto_requests_total", "/api/chat", "200")) != 3:
        assert time.monotonic() < deadline
    assert metric_values(served)["sotto_waiting_requests",] == 0
    assert host.close()


def test_metrics_need_the_key_too(serve):
    served = serve(key="s3cret")
    assert served.http.get("/metrics").status_code == 401
    served.http.headers["Authorization"] = "Bearer s3cret"
    assert metric_values(served)["sotto_requests_total", "401", "other"] == 1
