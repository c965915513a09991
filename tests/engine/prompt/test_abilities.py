"""What models can be asked for, decided by their files alone."""

import json
from dataclasses import replace

import gguf
import pytest

from gguf_vocabularies import write_vocabulary
from gguf_writing import write_folder
from material import ROOT
from sotto.engine.prompt.abilities import abilities_in_files
from sotto.engine.prompt.request_preparation import Preparer
from sotto.errors import BrokenModelError
from sotto.store.gguf.vocabulary import added_tokens_of, vocabulary_of
from sotto.store.opening import open_model, open_texts, record_of
from tiny_random import write_model

_RENDERS = ROOT / "go-templates" / "renders.json"
RECORDED = json.loads(_RENDERS.read_text(encoding="utf-8"))["models"] if _RENDERS.exists() else {}
HERMES = "{% for tool in tools %}{{ tool }}{% endfor %}<think>{% for m in messages %}{{ m.content }}{% endfor %}"
# Their templates have marks of thoughts, by which we recognise thinking; Ollama looks for a variable that switches it.
THEY_THINK = {"library/command-a:111b", "library/command-r7b-arabic:7b", "library/granite3.3:2b"}
MARKS = ["<fim_prefix>", "<fim_suffix>", "<fim_middle>"]


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    return open_texts(record_of(write_model(tmp_path_factory.mktemp("models") / "plain", "plain")))


def added(*texts):
    return json.dumps({"version": "1.0", "added_tokens": [{"id": index, "content": text} for index, text in
                                                         enumerate(texts)], "model": {}})  # fmt: skip


def of_go(source, template, tokenizer='{"added_tokens": []}'):
    texts = {**source.json_files, "tokenizer_config.json": {}}
    return abilities_in_files(replace(source, go_template=template, tokenizer_json=tokenizer, json_files=texts))


@pytest.mark.skipif(not RECORDED, reason=f"needs {_RENDERS}, which is not on this machine")
@pytest.mark.parametrize("model", RECORDED)
def test_go_templates_have_the_abilities_that_ollama_reports(source, model):
    theirs = set(RECORDED[model]["capabilities"])
    ours = of_go(source, RECORDED[model]["template"])
    assert (ours.tools, ours.infills) == ("tools" in theirs, "insert" in theirs)
    assert (ours.thinks != ("thinking" in theirs)) == (model in THEY_THINK)


def test_a_template_with_a_suffix_fills_gaps(source):
    assert of_go(source, "{{ if .Suffix }}{{ .Suffix }}{{ .Prompt }}{{ else }}{{ .Prompt }}{{ end }}").infills
    assert not of_go(source, "{{ .Prompt }}").infills
    # It need not be the template that renders conversations.
    assert abilities_in_files(replace(source, go_template="{{ .Suffix }}{{ .Prompt }}")).infills


def test_a_vocabulary_with_marks_fills_gaps(source):
    assert abilities_in_files(replace(source, tokenizer_json=added(*MARKS))).infills
    assert not abilities_in_files(replace(source, tokenizer_json=added(*MARKS[:2]))).infills


@pytest.mark.parametrize(
    "text",
    [
        '{"a": {"added_tokens": [{"content": "<fim_prefix>"}]}, "added_tokens": ALL}',
        '{"a": "\\"added_tokens\\": []", "b": [1, {"c": null}], "added_tokens": ALL, "model": {}',
        '\n{ "model" : { } , "added_tokens" : ALL }\n',
    ],
)
def test_added_tokens_are_found_anywhere_in_the_file(source, text):
    tokens = json.dumps([{"content": mark} for mark in MARKS])
    assert abilities_in_files(replace(source, tokenizer_json=text.replace("ALL", tokens))).infills


@pytest.mark.parametrize("text", ["", "[]", "{", '{"a"', '{"a": ', '{"a": 1 "b": 2}', '{"a": [' + "[" * 100_000])
def test_invalid_json_is_reported(source, text):
    with pytest.raises(BrokenModelError, match=r"tokenizer\.json is not readable JSON"):
        abilities_in_files(replace(source, tokenizer_json=text))


@pytest.mark.parametrize("text", ["{}", '{"added_tokens": 1}', '{"added_tokens": [1, {"content": 2}, {}]}'])
def test_without_added_tokens_there_are_no_marks(source, text):
    assert not abilities_in_files(replace(source, tokenizer_json=text)).infills


class TestGguf:
    @pytest.mark.parametrize("kind", ["gpt2", "llama"])
    def test_added_tokens_are_those_of_the_whole_vocabulary(self, tmp_path, kind):
        texts = ["<unk>", "<s>", "</s>", "a", "b", "ab", *MARKS, "<|x|>", "<think>"]
        normal, control, mine = gguf.TokenType.NORMAL, gguf.TokenType.CONTROL, gguf.TokenType.USER_DEFINED
        kinds = [gguf.TokenType.UNKNOWN, *[control] * 2, *[normal] * 3, *[normal] * 3, control, mine]
        values = write_vocabulary(
            tmp_path / "model.gguf",
            {
                "ggml.model": kind,
                "ggml.pre": "gpt-2",
                "ggml.tokens": texts,
                "ggml.token_type": [int(token_type) for token_type in kinds],
                "ggml.scores": [0.0] * len(texts),
                "ggml.merges": ["a b"],
                "ggml.eos_token_id": 2,
                # The marks as files without a token type for them have them.
                "ggml.fim_pre_token_id": 6,
                "ggml.fim_suf_token_id": 7,
                "ggml.fim_mid_token_id": 8,
                "chat_template": HERMES,
            },
        )
        whole, some = vocabulary_of(values), added_tokens_of(values)
        assert json.loads(some.tokenizer)["added_tokens"] == json.loads(whole.tokenizer)["added_tokens"]
        assert {token["content"] for token in json.loads(some.tokenizer)["added_tokens"]} >= {*MARKS, "<think>"}
        assert some.files["tokenizer_config.json"]["chat_template"] == HERMES

    def test_a_file_shows_the_same_abilities_as_the_loaded_model(self, tmp_path):
        folder = write_model(tmp_path / "folder", "plain")

        def vocabulary(writer, count):
            texts = [f"<{index}>" for index in range(count - len(MARKS))]
            writer.add_tokenizer_model("gpt2")
            writer.add_tokenizer_pre("gpt-2")
            writer.add_token_list([*texts, *MARKS])
            writer.add_token_types([gguf.TokenType.NORMAL] * len(texts) + [gguf.TokenType.CONTROL] * len(MARKS))
            writer.add_token_merges([])
            writer.add_chat_template(HERMES)

        record = record_of(write_folder(tmp_path / "model.gguf", folder, vocabulary=vocabulary))
        found = abilities_in_files(open_texts(record))
        assert found == Preparer(open_model(record)).abilities
        assert (found.tools, found.thinks, found.infills) == (True, True, True)
