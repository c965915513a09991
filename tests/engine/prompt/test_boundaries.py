"""Where the parts of a prompt end, with the templates and tokenizers of real models."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from material import ROOT, material
from sotto.engine.contract.requests import Message
from sotto.engine.prompt.boundaries import Boundaries, find_boundaries
from sotto.engine.prompt.common_prefix import shared_count
from sotto.engine.prompt.template_choice import TemplateChoice, TemplateKind
from sotto.engine.prompt.templates import ChatTemplate
from sotto.errors import SottoError
from thoroughness import some
from vocabularies import NAMES, tokenizer

TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}
SYSTEM = Message("system", "You are kind and brief.")
TALK = tuple(Message(("user", "assistant")[turn % 2], f"Words of turn {turn}, some of them.") for turn in range(7))
JINJA = sorted(path.stem for path in (ROOT / "chat-templates").glob("*.jinja"))
CHATML = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


@pytest.fixture(scope="module")
def qwen():
    return tokenizer("qwen2")


def found(template, words, messages):
    text = template.render(messages)
    prompt = tuple(words.encode(text))
    return find_boundaries(template, words, messages, text, prompt), prompt


def shared_tokens(template, words, prompt, messages, asks=False):
    """Return how many tokens a conversation has in common with a prompt, or None where the template refuses it."""
    try:
        other = words.encode(template.render(messages, add_generation_prompt=asks))
    except SottoError:
        return None
    return next(
        (index for index, pair in enumerate(zip(prompt, other, strict=False)) if pair[0] != pair[1]), len(other)
    )


@pytest.mark.covering(1)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("turns", [1, 3, 7])
@pytest.mark.parametrize("system", [(SYSTEM,), ()])
@pytest.mark.parametrize("text", [CHATML, ""])
def test_each_place_is_where_the_shorter_conversation_ends(name, turns, system, text):
    words, template = tokenizer(name), ChatTemplate(text)
    messages = (*system, *TALK[:turns])
    places, prompt = found(template, words, messages)
    # The last characters of a text may be tokenized differently where nothing follows, like empty lines by GPT-2.
    assert places.answer == pytest.approx(shared_tokens(template, words, prompt, messages), abs=2)
    ends = [shared_tokens(template, words, prompt, messages[:-left_out]) for left_out in (2, 1) if left_out < turns]
    assert len(places.messages) == len(ends)
    assert all(abs(place - end) <= 2 for place, end in zip(places.messages, ends, strict=True))
    if system:
        assert places.system == pytest.approx(shared_tokens(template, words, prompt, system), abs=2)
    else:
        other = (Message("user", "0"), *messages[1:])
        assert places.system == pytest.approx(shared_tokens(template, words, prompt, other, asks=True), abs=2)
    assert places.all == tuple(sorted({places.system, *places.messages, places.answer} - {0}))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", some(list(JINJA), 35))
def test_real_templates(name, qwen):
    template = ChatTemplate(material("chat-templates", f"{name}.jinja").read_text(encoding="utf-8"), TOKENS)
    for system in ((SYSTEM,), ()):
        messages = (*system, *TALK)
        try:
            places, prompt = found(template, qwen, messages)
        except SottoError:
            continue  # wants tools, or no system prompt
        assert all(0 < place <= len(prompt) for place in places.all)
        assert list(places.all) == sorted(set(places.all))
        history = shared_tokens(template, qwen, prompt, messages)
        assert abs(places.answer - history) <= 1
        # Another question after the same system prompt can reuse all of that.
        other = (*system, Message("user", "Something else?"))
        common = shared_tokens(template, qwen, prompt, other, asks=True)
        assert places.system <= common
        assert places.system >= common - 30 or SYSTEM.content not in qwen.decode(prompt[:common])
        # Another last message.
        edited = shared_tokens(template, qwen, prompt, (*messages[:-1], Message("user", "Really?")), asks=True)
        assert any(place <= edited for place in places.all)


@pytest.mark.parametrize("model", ["library/qwen2.5:0.5b", "library/llama2:7b", "library/llama3.2:3b", "library/yi:6b"])
def test_go_templates(model, qwen):
    recorded = json.loads(material("go-templates", "renders.json").read_text(encoding="utf-8"))["models"][model]
    template = ChatTemplate(TemplateChoice(TemplateKind.GO, recorded["template"]))
    messages = (SYSTEM, *TALK)
    places, prompt = found(template, qwen, messages)
    assert 0 < places.system < places.answer < len(prompt)
    # The conversation continues after an answer.
    longer = (*messages, Message("assistant", "Six."), Message("user", "And then?"))
    assert places.answer <= shared_tokens(template, qwen, prompt, longer, asks=True)
    other = shared_tokens(template, qwen, prompt, (SYSTEM, Message("user", "Something else?")), asks=True)
    assert other - 30 <= places.system <= other
    edited = shared_tokens(template, qwen, prompt, (*messages[:-1], Message("user", "Really?")), asks=True)
    assert any(places.system < place <= edited for place in places.all)


def test_most_templates_have_every_place(qwen):
    complete = 0
    for name in JINJA:
        template = ChatTemplate(material("chat-templates", f"{name}.jinja").read_text(encoding="utf-8"), TOKENS)
        try:
            places, _ = found(template, qwen, (SYSTEM, *TALK))
        except SottoError:
            continue
        complete += bool(places.system and places.answer and len(places.messages) == 2)
    assert complete > 55


def test_the_cost_does_not_grow_with_the_conversation(qwen):
    class Counting(ChatTemplate):
        lengths = ()

        def render(self, messages, add_generation_prompt=True):
            self.lengths = (*self.lengths, len(messages))
            return super().render(messages, add_generation_prompt)

    template = Counting(CHATML)
    long = tuple(Message(("user", "assistant")[turn % 2], f"turn {turn}") for turn in range(501))
    found(template, qwen, (SYSTEM, *long))
    assert sorted(template.lengths)[:-1] == [1, 2, 3, 4, 4]


def test_places_that_no_template_has_are_left_out(qwen):
    system_in_front = ChatTemplate("{% for message in messages %}{{ message.content }}{% endfor %}")
    places, prompt = found(system_in_front, qwen, (Message("user", "alone"),))
    assert places == Boundaries(system=0, messages=(), answer=len(prompt))
    only_system, _ = found(ChatTemplate(CHATML), qwen, (SYSTEM,))
    assert only_system.messages == ()
    assert only_system.system > 0


@given(common=st.text(max_size=30), first=st.text(max_size=9), second=st.text(max_size=9))
def test_length_of_the_common_prefix(common, first, second):
    first, second = common + first, common + second
    pairs = zip(first, second, strict=False)
    expected = next((index for index, (left, right) in enumerate(pairs) if left != right), min(len(first), len(second)))
    assert shared_count(first, second) == expected
    assert shared_count(tuple(first), tuple(second)) == expected
