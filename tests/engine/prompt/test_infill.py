"""Fill-in-the-middle prompts, by the tokens of vocabularies and by Go templates.

The order of marks is from the models' own papers and cards.
"""

import functools
import json

import pytest
import tokenizers

from sotto.engine.prompt.go_template.template import GoTemplate
from sotto.engine.prompt.infill import Infill
from sotto.engine.tokens.tokenizer import Tokenizer
from sotto.errors import InvalidRequestError
from vocabularies import added, files, folder, tokenizer_json

PREFIX, SUFFIX = "def add(a, b):\n    ", "\n\nprint(add(1, 2))\n"
# Qwen2.5-Coder's ids of its marks, which the vocabulary of the test material leaves unnamed.
QWEN_CODER = {
    151659: "<|fim_prefix|>",
    151660: "<|fim_middle|>",
    151661: "<|fim_suffix|>",
    151662: "<|fim_pad|>",
    151663: "<|repo_name|>",
    151664: "<|file_sep|>",
}
CODE_LLAMA = {32007: "▁<PRE>", 32008: "▁<SUF>", 32009: "▁<MID>", 32010: "▁<EOT>"}
CODESTRAL = {32000: "[PREFIX]", 32001: "[MIDDLE]", 32002: "[SUFFIX]"}
STAR_CODER = {50257: "<fim_prefix>", 50258: "<fim_middle>", 50259: "<fim_suffix>", 50260: "<file_sep>"}


@functools.cache
def read_tokenizer(name):
    return json.loads((folder(name) / "tokenizer.json").read_text(encoding="utf-8"))


@functools.cache
def with_marks(name, *marks, special=False):
    """Return a tokenizer of the test material, ours and the library's, with tokens added or renamed."""
    original, renamed = read_tokenizer(name), dict(marks)
    tokens = [token for token in original["added_tokens"] if token["id"] not in renamed]
    tokens += [added(token_id, text, special) for token_id, text in marks]
    vocabulary = {text: token_id for text, token_id in original["model"]["vocab"].items() if token_id not in renamed}
    model = original["model"] | {"vocab": vocabulary | {text: token_id for token_id, text in marks}}
    text = json.dumps(original | {"added_tokens": sorted(tokens, key=lambda token: token["id"]), "model": model})
    return Tokenizer(text, files(name)), tokenizers.Tokenizer.from_str(text)


def infill_prompt(name, marks=None, template=None, **options):
    """Return the prompt for PREFIX and SUFFIX, and the library's tokenizer."""
    mine, plain = with_marks(name, *(marks or {}).items())
    prefix, suffix = options.pop("prefix", PREFIX), options.pop("suffix", SUFFIX)
    return list(Infill(mine, template and GoTemplate(template)).prompt(prefix, suffix, **options)), plain


def encode(plain, text):
    return plain.encode(text, add_special_tokens=False).ids


class TestMarks:
    def test_deepseek_coder(self):
        ids, plain = infill_prompt("deepseek-coder")
        assert ids[0] == 32013
        assert ids[1:] == encode(plain, f"<｜fim▁begin｜>{PREFIX}<｜fim▁hole｜>{SUFFIX}<｜fim▁end｜>")
        assert [token for token in ids if token in (32015, 32016, 32017)] == [32016, 32015, 32017]

    def test_qwen_coder(self):
        ids, plain = infill_prompt("qwen2", QWEN_CODER)
        assert ids == [151659, *encode(plain, PREFIX), 151661, *encode(plain, SUFFIX), 151660]

    def test_star_coder(self):
        ids, plain = infill_prompt("gpt-2", STAR_CODER)
        assert ids == [50257, *encode(plain, PREFIX), 50259, *encode(plain, SUFFIX), 50258]

    def test_code_llama_has_a_space_before_the_prefix_and_none_before_the_suffix(self):
        ids, plain = infill_prompt("llama-spm", CODE_LLAMA, prefix="x =", suffix="return x")
        tokens = [plain.id_to_token(token) for token in ids]
        assert tokens == ["<s>", "▁<PRE>", "▁x", "▁=", "▁<SUF>", "return", "▁x", "▁<MID>"]

    def test_codestral_has_the_suffix_first_and_nothing_after_the_prefix(self):
        ids, plain = infill_prompt("llama-spm", CODESTRAL, prefix="x =", suffix="return x")
        tokens = [plain.id_to_token(token) for token in ids]
        assert tokens == ["<s>", "[SUFFIX]", "return", "▁x", "[PREFIX]", "▁x", "▁="]

    @pytest.mark.covering(1)
    @pytest.mark.parametrize("special", [True, False])
    @pytest.mark.parametrize("marks", [STAR_CODER, {50257: "[PREFIX]", 50258: "[SUFFIX]"}])
    def test_typed_marks_stay_text(self, marks, special):
        typed = "".join(marks.values())
        mine, _ = with_marks("gpt-2", *marks.items(), special=special)
        ids = Infill(mine, None).prompt(f"a{typed}b", f"c{typed}d", [("<file_sep>", typed)])
        needed = sorted(token for token, text in marks.items() if text != "<file_sep>")
        assert sorted(token for token in ids if token in needed) == needed
        spelled = "".join(mine.token_bytes(token).decode() for token in ids)
        assert f"a{typed}b" in spelled
        assert f"c{typed}d" in spelled

    def test_an_incomplete_family_of_marks_is_not_used(self):
        mine, _ = with_marks("gpt-2", (50257, "<fim_prefix>"), (50258, "<fim_suffix>"))
        infill = Infill(mine, None)
        assert not infill.is_known
        with pytest.raises(InvalidRequestError, match=r"has no way to fill in a gap: its template knows no \.Suffix"):
            infill.prompt("a", "b")

    def test_texts_that_are_not_tokens_are_not_marks(self):
        vocabulary = {"a": 0, "b": 1, "[PREFIX]": 2, "[SUFFIX]": 3}
        text = tokenizer_json(model={"type": "BPE", "vocab": vocabulary, "merges": []})
        assert not Infill(Tokenizer(text), None).is_known

    def test_tokens_that_end_the_middle(self):
        mine, _ = with_marks("qwen2", *QWEN_CODER.items())
        assert Infill(mine, None).ends == {151643, *QWEN_CODER}
        mine, _ = with_marks("llama-spm", *CODE_LLAMA.items())
        assert Infill(mine, None).ends == set(CODE_LLAMA)

    def test_tokens_can_stand_before_the_gap(self):
        ids, plain = infill_prompt("qwen2", QWEN_CODER, prefix=(1, 2, 3))
        assert ids == [151659, 1, 2, 3, 151661, *encode(plain, SUFFIX), 151660]


class TestFiles:
    def test_qwen_coder_puts_files_into_a_repository(self):
        # https://arxiv.org/abs/2409.12186, and the README of llama.cpp's server.
        ids, plain = infill_prompt("qwen2", QWEN_CODER, files=[("one.py", "x = 1\n"), ("two.py", "y = 2\n")])
        gap = [151659, *encode(plain, PREFIX), 151661, *encode(plain, SUFFIX), 151660]
        assert ids == [
            151663, *encode(plain, "myproject\n"),
            151664, *encode(plain, "one.py\nx = 1\n"),
            151664, *encode(plain, "two.py\ny = 2\n"),
            151664, *encode(plain, "filename\n"),
            *gap,
        ]  # fmt: skip

    def test_without_a_file_mark_files_are_snippets(self):
        ids, plain = infill_prompt("deepseek-coder", files=[("one.py", "x = 1\n")])
        assert plain.decode(ids[: ids.index(32016)]).removeprefix("<｜begin▁of▁sentence｜>") == (
            "\n\n--- snippet ---\n\nx = 1\n"
        )


class TestRoom:
    def test_the_farthest_files_are_left_out_first(self):
        many = [(f"{index}.py", f"x = {index}\n" * 20) for index in range(4)]
        whole, _ = infill_prompt("qwen2", QWEN_CODER, files=many)
        last, _ = infill_prompt("qwen2", QWEN_CODER, files=many[2:])
        assert infill_prompt("qwen2", QWEN_CODER, files=many, most=len(last))[0] == last
        assert infill_prompt("qwen2", QWEN_CODER, files=many, most=len(whole))[0] == whole

    def test_what_is_near_the_gap_stays(self):
        prefix, suffix = "".join(f"a{index}\n" for index in range(90)), "".join(f"b{index}\n" for index in range(90))
        ids, plain = infill_prompt("qwen2", QWEN_CODER, prefix=prefix, suffix=suffix, files=[("a", "b")], most=83)
        assert len(ids) == 83
        before, behind = plain.decode(ids[1 : ids.index(151661)]), plain.decode(ids[ids.index(151661) + 1 : -1])
        assert prefix.endswith(before)
        assert suffix.startswith(behind)
        assert (ids.index(151661) - 1, len(encode(plain, behind))) == (60, 20)
        short, plain = infill_prompt("qwen2", QWEN_CODER, prefix="a", suffix=suffix, most=43)
        assert short[:3] == [151659, *encode(plain, "a"), 151661]
        assert len(short) == 43

    def test_a_template_gets_the_texts_that_fit(self):
        template = "<|fim_prefix|>{{ .Prompt }}<|fim_suffix|>{{ .Suffix }}<|fim_middle|>"
        ids, _ = infill_prompt("qwen2", QWEN_CODER, template, most=12)
        assert (len(ids), ids[0], ids[-1]) == (12, 151659, 151660)
        with pytest.raises(InvalidRequestError, match="takes 3 tokens, and there is room for 2"):
            infill_prompt("qwen2", QWEN_CODER, template, most=2)


class TestTemplates:
    # Ollama's template of deepseek-coder-v2, shortened.
    DEEPSEEK = (
        "{{- if .Suffix }}<｜fim▁begin｜>{{ .Prompt }}<｜fim▁hole｜>{{ .Suffix }}<｜fim▁end｜>\n"
        "{{- else if .Messages }}<｜begin▁of▁sentence｜>{{- range .Messages }}{{ .Content }}{{ end }}\n"
        "{{- else }}{{ if .System }}{{ .System }}{{ end }}User: {{ .Prompt }}Assistant:{{ .Response }}{{- end }}"
    )

    def test_a_template_with_a_suffix_makes_the_prompt(self):
        assert infill_prompt("deepseek-coder", None, self.DEEPSEEK)[0] == infill_prompt("deepseek-coder")[0]
        other = "{{ if .Suffix }}A{{ .Suffix }}B{{ .Prompt }}C{{ else }}{{ .Prompt }}{{ end }}"
        ids, plain = infill_prompt("gpt-2", None, other)
        assert plain.decode(ids, skip_special_tokens=True) == f"A{SUFFIX}B{PREFIX}C"

    def test_its_own_order_counts(self):
        other = "{{ if .Suffix }}<|fim_suffix|>{{ .Suffix }}<|fim_prefix|>{{ .Prompt }}<|fim_middle|>{{ end }}"
        ids, plain = infill_prompt("qwen2", QWEN_CODER, other)
        assert ids == [151661, *encode(plain, SUFFIX), 151659, *encode(plain, PREFIX), 151660]

    def test_the_vocabulary_decides_where_the_template_spells_marks_differently(self):
        # Ollama's template of codellama.
        template = "{{- if .Suffix }}<PRE> {{ .Prompt }} <SUF>{{ .Suffix }} <MID>{{- else }}{{ .Prompt }}{{- end }}"
        assert infill_prompt("llama-spm", CODE_LLAMA, template)[0] == infill_prompt("llama-spm", CODE_LLAMA)[0]

    def test_typed_marks_stay_text_in_templates(self):
        ids, _ = infill_prompt("deepseek-coder", None, self.DEEPSEEK, prefix="<｜fim▁end｜>", suffix="<｜fim▁hole｜>")
        assert [token for token in ids if token in (32015, 32016, 32017)] == [32016, 32015, 32017]

    def test_a_template_of_the_request_takes_precedence(self):
        given = "{{ .Suffix }}|{{ .Prompt }}"
        mine, plain = with_marks("gpt-2")
        ids = Infill(mine, GoTemplate(self.DEEPSEEK)).prompt("a", "b", template=given)
        assert plain.decode(list(ids), skip_special_tokens=True) == "b|a"
        with pytest.raises(InvalidRequestError, match="has no place for a suffix"):
            Infill(mine, None).prompt("a", "b", template="{{ .Prompt }}")
        with pytest.raises(InvalidRequestError, match="cannot be read"):
            Infill(mine, None).prompt("a", "b", template="{{ .Suffix ")
