"""How the API describes models: their capabilities, and the metadata in their files."""

import json
import shutil
from dataclasses import replace

import pytest

from embedding import minilm
from material import ROOT, material
from sotto.engine.prompt.abilities import abilities_in_files
from sotto.engine.prompt.request_preparation import Preparer
from sotto.runner import profiles
from sotto.runner.profiles import Profile, Profiles, profile_of
from sotto.store.opening import open_model, open_texts, record_of
from sotto.store.user_templates import save_user_template
from thinking_models import FAMILIES, HERMES, STAR_CODER, write_family
from tiny_random import write_model

ANSWERS = ROOT / "ollama-api" / "recorded.json"


@pytest.fixture(scope="module")
def families(tmp_path_factory):
    root = tmp_path_factory.mktemp("families")
    return {name: record_of(write_family(root / name, name)) for name in (*FAMILIES, STAR_CODER)}


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """Return the file of the profile cache, which is redirected to a temporary folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr("sotto.paths.cache_dir", lambda: tmp_path / "cache")
    return tmp_path / "cache" / "profiles.json"


class TestCapabilities:
    def test_capabilities_follow_the_templates(self, ollama_client):
        listed = {row.model: row for row in ollama_client.list().models}
        capabilities = {name: row["capabilities"] for name, row in listed_as_they_come(ollama_client).items()}
        assert capabilities["sotto:latest"] == ["completion"]
        assert capabilities["thinking:latest"] == ["completion", "tools", "thinking"]
        assert capabilities["filling:latest"] == ["completion", "tools", "insert"]
        assert capabilities["all-minilm:latest"] == ["embedding"]
        assert capabilities["nomic-embed-text:latest"] == ["embedding"]
        for name in listed:
            assert ollama_client.show(name).capabilities == capabilities[name]

    def test_listed_capabilities_match_the_answers(self, served, ollama_client):
        asks = {
            "tools": ("/api/chat", {"messages": [{"role": "user", "content": "a"}], "tools": [tool()]}),
            "insert": ("/api/generate", {"prompt": "a", "suffix": "b"}),
        }
        for name, row in listed_as_they_come(ollama_client).items():
            if "completion" not in row["capabilities"]:
                continue
            for ability, (path, body) in asks.items():
                options = {"options": {"num_predict": 1}, "stream": False, "model": name}
                answer = served.http.post(path, json=body | options)
                assert answer.is_success == (ability in row["capabilities"]), (name, answer.text)

    @pytest.mark.parametrize("name", [*FAMILIES, STAR_CODER])
    def test_capabilities_from_files_match_the_loaded_model(self, families, name):
        assert abilities_in_files(open_texts(families[name])) == Preparer(open_model(families[name])).abilities

    @pytest.mark.parametrize("name", ["deepseek-coder", "qwen2", "llama-spm"])
    def test_capabilities_from_files_match_with_real_vocabularies(self, tmp_path, name):
        folder = write_model(tmp_path / "model", "plain")
        for file in ("tokenizer.json", "tokenizer_config.json"):
            shutil.copy(material("tokenizers", name) / file, folder / file)
        record = record_of(folder)
        found = abilities_in_files(open_texts(record))
        assert found == Preparer(open_model(record)).abilities
        assert found.infills == (name == "deepseek-coder")

    def test_a_gguf_file_gives_the_same_capabilities(self):
        record = record_of(material("ollama-store") / "manifests/registry.ollama.ai/library/stories260k/latest")
        assert abilities_in_files(open_texts(record)) == Preparer(open_model(record)).abilities
        assert profile_of(record) == Profile(("completion",), 64)

    def test_an_unreadable_model_still_has_completion(self, tmp_path):
        record = record_of(write_model(tmp_path / "model", "plain"))
        (tmp_path / "model" / "tokenizer.json").write_text('{"added_tokens": [')
        assert profile_of(record) == Profile(("completion",))

    def test_a_model_that_sees_has_vision(self, families):
        seeing = replace(families[HERMES], capabilities=("completion", "vision"))
        assert profile_of(seeing).capabilities == ("completion", "vision", "tools", "thinking")

    def test_an_encoder_has_embedding(self):
        assert profile_of(record_of(minilm())) == Profile(("embedding",), 384)


class TestRemembered:
    def test_files_are_read_once(self, families, cache, monkeypatch):
        records = list(families.values()) * 20
        first = Profiles().of(records)
        assert [profile.capabilities for profile in first] == [profile_of(record).capabilities for record in records]
        assert cache.exists()
        monkeypatch.setattr(profiles, "open_texts", None)
        assert Profiles().of(records) == first

    def test_changed_files_are_read_again(self, families, cache):
        record, known = families[HERMES], Profiles()
        assert known.of([record])[0].capabilities == ("completion", "tools", "thinking")
        save_user_template(record.digest, "{% for message in messages %}{{ message.content }}{% endfor %}")
        try:
            assert known.of([record])[0].capabilities == ("completion", "thinking")
        finally:
            save_user_template(record.digest, "")
        assert known.of([record])[0].capabilities == ("completion", "tools", "thinking")

    @pytest.mark.parametrize(
        "written",
        [
            "",
            "[]",
            '{"by": 1}',
            '{"by": BY, "models": []}',
            '{"by": BY, "models": {"DIGEST": 1}}',
            '{"by": BY, "models": {"DIGEST": [[1, 2, 0, 0], ["smell"], 1]}}',
            '{"by": BY, "models": {"DIGEST": [[1, 2, 0, 0], ["completion"], -1]}}',
        ],
    )
    def test_a_damaged_cache_is_rebuilt(self, families, cache, written):
        record = families[HERMES]
        cache.parent.mkdir(parents=True)
        cache.write_text(written.replace("BY", json.dumps(profiles._versions())).replace("DIGEST", record.digest))
        assert Profiles().of([record]) == [profile_of(record)]


@pytest.mark.skipif(not ANSWERS.exists(), reason=f"needs {ANSWERS}, which is not on this machine")
class TestGguf:
    def test_header_values_are_shown_as_in_ollama(self, served):
        theirs = json.loads(ANSWERS.read_text())["show"]["json"]
        ours = served.http.post("/api/show", json={"model": "stories260k"}).json()
        assert ours["model_info"] == theirs["model_info"]
        assert ours["tensors"] == theirs["tensors"]
        assert ours["capabilities"] == theirs["capabilities"]

    def test_lists_are_shown_on_request(self, served):
        shown = served.http.post("/api/show", json={"model": "stories260k", "verbose": True}).json()["model_info"]
        assert len(shown["tokenizer.ggml.tokens"]) == len(shown["tokenizer.ggml.scores"]) == 512
        assert shown["tokenizer.ggml.tokens"][:3] == ["<unk>", "<s>", "</s>"]

    def test_listed_lengths_are_those_of_ollama(self, served):
        theirs = {row["name"]: row for row in json.loads(ANSWERS.read_text())["tags"]["json"]["models"]}
        ours = {row["name"]: row for row in served.http.get("/api/tags").json()["models"]}
        for key in ("context_length", "embedding_length"):
            assert ours["stories260k:latest"]["details"][key] == theirs["stories260k:latest"]["details"][key]
            # Ollama omits them for this model; they must equal those of the GGUF file.
            assert ours["stories260k-mlx:int4"]["details"][key] == theirs["stories260k:latest"]["details"][key]


def tool():
    return {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}


def listed_as_they_come(client):
    """Return the rows of the list, including fields that the client does not declare."""
    return {row["name"]: row for row in client._client.get("/api/tags").json()["models"]}
