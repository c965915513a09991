"""Requests with tools and thoughts made into prompts, for models of several families."""

import pytest

from material import material
from sotto.engine.contract.answer_parts import Kind, Piece
from sotto.engine.contract.requests import CountRequest, GenerateRequest, Message, Overflow, Think
from sotto.engine.prompt.request_preparation import Preparer
from sotto.errors import InvalidRequestError
from sotto.store.opening import open_model, record_of
from tiny_random import VOCABULARY, write_model
from vocabularies import tokenizer

TOOL = {"type": "function", "function": {"name": "find", "description": "", "parameters": {"properties": {}}}}
ASKED = Message("user", "Why?")
CHATML = (
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>OPENING{% endif %}"
)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """Return what prepares for a tiny model with a template."""

    def prepare(template):
        folder = write_model(tmp_path_factory.mktemp("models") / "plain", "plain", template)
        preparer = Preparer(open_model(record_of(folder)))
        preparer.fit(100_000, None, VOCABULARY, finds_boundary=True)
        return preparer

    return prepare


@pytest.fixture(scope="module")
def qwen(model):
    return model(material("chat-templates", "Qwen-Qwen3-0.6B.jinja").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def harmony(model):
    return model(material("chat-templates", "openai-gpt-oss-120b.jinja").read_text(encoding="utf-8"))


def ask(preparer, *messages, **more):
    prepared = preparer.prepare(GenerateRequest("r", messages or (ASKED,), **more))
    return prepared, preparer.tokenizer.decode(list(prepared.prompt))


def test_tools_are_told_and_their_calls_read(qwen):
    prepared, text = ask(qwen, tools=(TOOL,))
    assert '"name":' in text
    assert "find" in text
    parser = prepared.parser()
    pieces = parser.feed('<tool_call>\n{"name": "find", "arguments": {}}\n</tool_call>')
    assert pieces[-1].call.name == "find"


def test_what_a_template_does_not_know_is_refused(model, qwen):
    plain = model(CHATML.replace("OPENING", ""))
    for more, sentence in (
        ({"tools": (TOOL,)}, "The model's chat template knows nothing of tools: leave tools out."),
        ({"think": Think.ON}, "The model's chat template knows nothing of thinking: leave think out."),
        ({"think": Think.HIGH}, "The model's chat template knows nothing of thinking: leave think out."),
    ):
        with pytest.raises(InvalidRequestError) as error:
            ask(plain, **more)
        assert str(error.value) == sentence
    assert ask(plain, think=Think.OFF)[1] == ask(plain)[1]
    with pytest.raises(InvalidRequestError, match=r"think_budget is -1; it should be .*\.$"):
        ask(qwen, think_budget=-1)


@pytest.mark.parametrize(
    ("opening", "tag", "end"),
    [
        ("<think>", "<think>", "<think></think>"),
        ("", "", ""),
        ("{# the model itself begins with <think> #}", "", "<think></think>"),
        ("{% if enable_thinking is defined and not enable_thinking %}<no>{% endif %}{# <think> #}", "", "<no>"),
        ("[THINK]", "[THINK]", "[THINK][/THINK]"),
    ],
)
def test_thoughts_are_left_out_in_every_way(model, opening, tag, end):
    preparer = model(CHATML.replace("OPENING", opening))
    usual, text = ask(preparer)
    assert (usual.opened.opens if usual.opened else "") == tag
    without, closed = ask(preparer, think=Think.OFF)
    assert without.opened is None
    assert closed == text.removesuffix(tag) + end
    # What asks for an answer is found although a longer conversation is rendered shorter for that.
    talk = [Message(role, f"{number}") for number in range(4) for role in ("user", "assistant")]
    for think in (None, Think.OFF):
        prepared, text = ask(preparer, *talk, ASKED, think=think, overflow=Overflow.SHIFT)
        opening_text = preparer.tokenizer.decode(list(prepared.opening))
        assert opening_text.startswith("<|assistant|>")
        assert text.endswith(opening_text)


@pytest.mark.parametrize(
    ("opening", "kept", "begun", "inside"),
    [
        ("", "Because", "Because", False),
        ("", "<think>\nHm", "<think>Hm", True),
        ("", "<think>\nHm.\n</think>\n\nBecause", "<think>Hm.</think>Because", False),
        ("<think>", "<think>\nHm", "<think>Hm", True),
        ("<think>", "<think>\nHm.\n</think>\n\nBecause", "<think>Hm.</think>Because", False),
        ("<think>", "Hm.\n</think>\n\nBecause", "<think>Hm.</think>Because", False),
        ("<think>", "Because", "<think></think>Because", False),
        ("[THINK]", "<think>\nHm", "[THINK]Hm", True),
    ],
)
def test_an_answer_is_gone_on_with_as_the_model_writes_it(model, opening, kept, begun, inside):
    preparer = model(CHATML.replace("OPENING", opening))
    prepared, text = ask(preparer, ASKED, Message("assistant", kept))
    assert text == f"<|user|>Why?<|assistant|>{begun}"
    assert prepared.begun
    assert (prepared.opened is not None) is inside
    kind = Kind.THOUGHT if inside else Kind.TEXT
    assert prepared.parser().feed(" more") == [Piece(kind, " more")]


def test_harmony_is_gone_on_with_in_its_channels(harmony):
    for kept, begun in (
        ("Because", "<|channel|>final<|message|>Because"),
        ("<think>\nHm", "<|channel|>analysis<|message|>Hm"),
        (
            "<think>\nHm.\n</think>\n\nBecause",
            "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Because",
        ),
    ):
        _, text = ask(harmony, ASKED, Message("assistant", kept))
        assert text.endswith(f"<|start|>assistant{begun}")
    prepared, text = ask(harmony, think=Think.OFF)
    assert text.endswith("<|channel|>final<|message|>")
    assert prepared.opened is None
    assert prepared.parser().feed("<|channel|>final<|message|>Yes")[-1] == Piece(Kind.TEXT, "Yes")


def test_earlier_answers_are_told_in_the_models_own_way(qwen, harmony):
    kept = Message("assistant", '<think>\nHm.\n</think>\n\nYes.\n<tool_call>\n{"name": "find"}\n</tool_call>\n')
    answer = Message("tool", "3", tool_name="find")
    _, text = ask(qwen, ASKED, kept, answer)
    assert '<think>Hm.</think>Yes.<tool_call>{"name": "find", "arguments": {}}</tool_call>' in text
    assert "<tool_response>3</tool_response>" in text
    _, text = ask(harmony, ASKED, Message("assistant", "<think>\nHm.\n</think>\n\nYes."), ASKED)
    assert "Hm." not in text
    assert "<|channel|>final<|message|>Yes.<|end|>" in text
    counted = qwen.count(CountRequest("c", (ASKED, kept, answer)))
    assert counted.tokens == len(qwen.prepare(GenerateRequest("r", (ASKED, kept, answer))).prompt)


def test_a_raw_prompt_is_gone_on_with_as_it_is(qwen):
    prepared = qwen.prepare(GenerateRequest("r", prompt="<think>"))
    assert prepared.parser().feed("<think>Hm</think> ") == [Piece(Kind.TEXT, "<think>Hm</think> ")]


@pytest.mark.parametrize("name", ["llama-bpe", "deepseek-coder", "gpt-2", "llama-spm"])
def test_special_tokens_are_shown_only_where_they_mean_something(name):
    words = tokenizer(name)
    special = sorted(token for token, added in words._added.items() if added.special)
    mark, other = words._added[special[0]].content, words._added[special[-1]].content
    ids = [special[0], *words.encode("hé", add_bos=False), special[-1], special[0]]
    assert mark not in words.decode(ids)
    shown = words.detokenizer(frozenset({mark}))
    text = "".join(map(shown.add, ids)) + shown.finish()
    assert text.replace(" ", "") == f"{mark}hé{mark * (1 + (mark == other))}"
