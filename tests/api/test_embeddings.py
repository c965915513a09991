"""Embeddings with the published clients, compared with those of PyTorch and Ollama."""

import json
import time

import numpy as np
import ollama
import openai
import pytest
from safetensors.numpy import load_file

from material import ROOT
from places import EMBEDDINGS

TEXTS = json.loads((EMBEDDINGS / "texts.json").read_text(encoding="utf-8"))[2:6]
WANTED = load_file(EMBEDDINGS / "minilm.safetensors")["vectors"][2:6]
RECORDED = ROOT / "ollama-api" / "recorded.json"


def distance(vectors, wanted):
    return np.abs(np.array(vectors) - wanted).max()


class TestOllama:
    def test_texts(self, ollama_client):
        answer = ollama_client.embed("all-minilm", TEXTS)
        assert distance(answer.embeddings, WANTED) < 1e-4
        assert answer.model == "all-minilm"
        assert answer.prompt_eval_count > 4 * len(TEXTS)
        assert answer.total_duration >= answer.load_duration > 0

    def test_one_text_with_the_older_endpoint(self, ollama_client):
        assert distance(ollama_client.embeddings("all-minilm", TEXTS[0]).embedding, WANTED[0]) < 1e-4

    def test_fewer_dimensions(self, ollama_client):
        (vector,) = ollama_client.embed("all-minilm", TEXTS[0], dimensions=8).embeddings
        assert distance(vector, WANTED[0, :8] / np.linalg.norm(WANTED[0, :8])) < 1e-4

    def test_a_generative_model(self, ollama_client):
        vectors = ollama_client.embed("sotto", ["Once upon a time", "there was"]).embeddings
        assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
        assert distance(vectors[0], vectors[1]) > 1e-3

    def test_without_texts_no_model_is_loaded(self, ollama_client):
        ollama_client.generate("sotto", "", keep_alive=60)
        ollama_client.generate("all-minilm", "", keep_alive=0)
        assert ollama_client.embed("all-minilm", []).embeddings == []
        loaded = [row.model for row in ollama_client.ps().models]
        assert "sotto:latest" in loaded
        assert "all-minilm:latest" not in loaded

    def test_each_model_stays_loaded_as_long_as_requested(self, ollama_client):
        ollama_client.generate("sotto", "", keep_alive=120)
        ollama_client.embed("all-minilm", "a", keep_alive=60)
        both = ["sotto:latest", "all-minilm:latest"]
        loaded = [row for row in ollama_client.ps().models if row.model in both]  # other tests loaded others
        assert [row.model for row in loaded] == both
        left = [model.expires_at.timestamp() - time.time() for model in loaded]
        assert 110 < left[0] <= 120
        assert 50 < left[1] <= 60
        assert [model.context_length for model in loaded] == [4096, 256]
        assert all(0 < model.size == model.size_vram for model in loaded)

    def test_its_capability_is_shown(self, ollama_client):
        assert ollama_client.show("all-minilm").capabilities == ["embedding"]

    def test_a_gguf_file(self, ollama_client):
        assert ollama_client.show("nomic-embed-text").capabilities == ["embedding"]
        (vector,) = ollama_client.embed("nomic-embed-text", "a b").embeddings
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)
        with pytest.raises(ollama.ResponseError, match="makes embeddings only"):
            ollama_client.generate("nomic-embed-text", "Hi")


class TestOpenAI:
    @pytest.mark.parametrize("form", [openai.NOT_GIVEN, "float", "base64"])
    def test_texts(self, openai_client, form):
        """Check both formats; without one, the client itself requests base64."""
        answer = openai_client.embeddings.create(model="all-minilm", input=TEXTS, encoding_format=form)
        vectors = [row.embedding for row in answer.data]
        if form == "base64" and isinstance(vectors[0], str):
            import base64

            vectors = [np.frombuffer(base64.b64decode(vector), dtype="<f4") for vector in vectors]
        assert distance(vectors, WANTED) < 1e-4
        assert [row.index for row in answer.data] == list(range(len(TEXTS)))
        assert answer.usage.prompt_tokens == answer.usage.total_tokens > 4 * len(TEXTS)

    @pytest.mark.parametrize(
        ("asked", "message"),
        [
            ({"input": 5}, "invalid input type"),
            ({"input": ""}, "invalid input"),
            ({"input": []}, "invalid input"),
            ({"input": ["a"] * 2049}, "2049 texts; at most 2048 are allowed"),
            ({"input": "a", "encoding_format": "hex"}, "Supported values"),
            ({"input": "a", "dimensions": 385}, "have 384"),
        ],
    )
    def test_errors(self, openai_client, asked, message):
        with pytest.raises(openai.BadRequestError, match=message):
            openai_client.embeddings.create(model="all-minilm", **asked)


@pytest.mark.skipif(not RECORDED.exists(), reason=f"needs {RECORDED}, which is not on this machine")
@pytest.mark.parametrize("name", ["embed-list-empty", "embed-dims", "embeddings-old", "v1-emb", "v1-emb-list"])
def test_vectors_are_ollamas(served, name):
    """Compare vectors with those recorded from Ollama, which differ slightly because it uses 16 bits."""
    recorded = json.loads(RECORDED.read_text())[name]
    theirs = recorded["json"]
    ours = served.http.post(recorded["request"]["path"], json=recorded["request"]["body"]).json()
    for read in (
        lambda answer: answer.get("embeddings"),
        lambda answer: answer.get("embedding"),
        lambda answer: [row["embedding"] for row in answer.get("data", ())],
    ):
        if read(theirs):
            assert distance(read(ours), np.array(read(theirs))) < 5e-3
            break
    else:
        pytest.fail("nothing was compared")
    assert ours.get("prompt_eval_count") == theirs.get("prompt_eval_count")
    assert ours.get("usage") == theirs.get("usage")
