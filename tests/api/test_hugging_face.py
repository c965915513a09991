"""Models of Hugging Face through the API: downloaded with Ollama's client, by a name as people paste it."""

import shutil

import pytest

from builtin_repository import builtin_files
from hub_server import hub_serving
from sotto.store.removal import own_store

QUESTION = [{"role": "user", "content": "Who are you?"}]


@pytest.fixture
def hub(monkeypatch):
    """Serve the built-in model as a repository of Hugging Face."""
    for variable in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_TOKEN_PATH"):
        monkeypatch.delenv(variable, raising=False)
    with hub_serving() as (hub, _):
        monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
        hub.add("Org/Sotto-8bit", builtin_files(), card={"license": "mit"})
        yield hub
    shutil.rmtree(own_store(), ignore_errors=True)


@pytest.mark.parametrize("text", ["Org/Sotto-8bit", "https://huggingface.co/Org/Sotto-8bit"])
def test_a_download_says_what_it_is_and_the_model_answers(hub, ollama_client, text):
    rows = list(ollama_client.pull(text, insecure=True, stream=True))
    statuses = list(dict.fromkeys(row.status for row in rows))
    assert statuses[:2] == ["pulling manifest", "The licence is mit."]
    assert statuses[-3:] == ["verifying sha256 digest", "writing manifest", "success"]
    assert "hf.co/Org/Sotto-8bit:latest" in [row.model for row in ollama_client.list().models]
    # The name that was pasted is one that the model answers to.
    for name in ("Org/Sotto-8bit", "hf.co/Org/Sotto-8bit"):
        answer = ollama_client.chat(name, QUESTION, options={"num_predict": 20})
        assert "Sotto" in answer.message.content
    shown = ollama_client.show("Org/Sotto-8bit")
    assert (shown.details.family, shown.details.quantization_level) == ("llama", "int8")
    ollama_client.delete("Org/Sotto-8bit")
    assert [path.name for path in own_store().rglob("*") if path.is_file()] == ["lock"]


def test_an_unknown_model_is_refused_in_a_sentence(hub, served):
    body = {"model": "Org/None", "insecure": True, "stream": False}
    answer = served.http.post("/api/pull", json=body)
    assert answer.status_code == 500
    assert "has no model Org/None" in answer.json()["error"]
