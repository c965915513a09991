"""Preparation of requests, with a tokenizer that has a token for each printable character."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sotto.engine.contract.options import DEFAULT_MAX_TOKENS
from sotto.engine.contract.requests import CountRequest, GenerateRequest, Message, Overflow, SamplingOptions
from sotto.engine.prompt.overflow import MARK, shift_context
from sotto.engine.prompt.request_preparation import Preparer
from sotto.errors import InvalidRequestError
from sotto.store.opening import open_model, record_of
from thoroughness import examples
from tiny_random import VOCABULARY, write_model

SHORTENING = [Overflow.TRUNCATE, Overflow.SHIFT]
shortening = pytest.mark.parametrize("overflow", SHORTENING)
SYSTEM = Message("system", "Be kind.")


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    # Its template ends each message with the end-of-sequence token.
    return open_model(record_of(write_model(tmp_path_factory.mktemp("models") / "plain", "plain")))


@pytest.fixture(scope="module")
def fitted(source):
    preparer = Preparer(source)

    def fit(num_ctx=None, *, maximum=1000, finds_boundary=True, room=None):
        preparer.fit(maximum, num_ctx, VOCABULARY, finds_boundary=finds_boundary, room=room)
        return preparer

    return fit


def talk(count, length=20):
    return tuple(
        Message(("user", "assistant")[index % 2], f"{index}:".ljust(length, chr(97 + index % 26)))
        for index in range(count)
    )


def chat(messages, overflow=Overflow.ERROR, **options):
    return GenerateRequest(id="r", messages=messages, overflow=overflow, **options)


def raw(prompt, overflow=Overflow.ERROR, **options):
    return GenerateRequest(id="r", prompt=prompt, overflow=overflow, **options)


@pytest.mark.parametrize(
    ("limits", "expected_limit"),
    [
        ({}, "the model's maximum context length (1000 tokens)"),
        ({"num_ctx": 50}, "the context length asked for, num_ctx (50 tokens)"),
        ({"num_ctx": 50, "room": 40}, "the context length that memory has room for (40 tokens)"),
        ({"num_ctx": 5000, "room": 1000}, "the model's maximum context length (1000 tokens)"),
        ({"num_ctx": 1}, "the context length asked for, num_ctx (4 tokens)"),
    ],
)
def test_the_error_names_the_limit_and_its_value(fitted, limits, expected_limit):
    preparer = fitted(**limits)
    with pytest.raises(InvalidRequestError) as error:
        preparer.prepare(raw("x" * 1000))
    assert str(error.value) == f"input length (1000 tokens) exceeds {expected_limit}"
    limit = preparer.context_length
    assert len(preparer.prepare(raw("x" * (limit - 1))).prompt) == limit - 1
    assert preparer.prepare(raw("x" * (limit - 1))).max_tokens == 1


def test_a_model_that_names_no_length(source):
    preparer = Preparer(source)
    preparer.fit(None, None, VOCABULARY, finds_boundary=False)
    with pytest.raises(InvalidRequestError, match=r"assumed for a model that names none \(8192 tokens\)"):
        preparer.prepare(raw("x" * 8192))


def test_the_models_own_messages_come_before_the_first_turn(source):
    rows = ({"role": role, "content": text, "thinking": ""} for role, text in (("user", "Hi"), ("assistant", "Yo")))
    preparer = Preparer(replace(source, system="Model.", messages=tuple(rows)))
    preparer.fit(1000, None, VOCABULARY, finds_boundary=False)
    plain = Preparer(source)
    plain.fit(1000, None, VOCABULARY, finds_boundary=False)
    own = (Message("user", "Hi"), Message("assistant", "Yo"))
    asked = Message("user", "Well?")
    for begun, whole in (
        ((asked,), (Message("system", "Model."), *own, asked)),
        ((SYSTEM, asked), (SYSTEM, *own, asked)),
        ((Message("system", ""), asked), (*own, asked)),
    ):
        assert preparer.prepare(chat(begun)).prompt == plain.prepare(chat(whole)).prompt
        assert preparer.count(CountRequest("c", begun)).tokens == plain.count(CountRequest("c", whole)).tokens
    continued = preparer.prepare(chat((asked,), context=(1, 2)))
    assert continued.prompt == plain.prepare(chat((asked,), context=(1, 2))).prompt


@pytest.mark.parametrize("overflow", list(Overflow))
def test_a_prompt_that_fits_is_not_changed(fitted, overflow):
    preparer = fitted(400)
    messages = (SYSTEM, *talk(5))
    prepared = preparer.prepare(chat(messages, overflow))
    assert prepared.prompt == preparer.prepare(chat(messages)).prompt
    assert (prepared.dropped_messages, prepared.dropped_tokens) == (0, 0)
    prompt = preparer.prepare(raw("word " * 20, overflow))
    assert (len(prompt.prompt), prompt.dropped_tokens) == (100, 0)


def decode(preparer, tokens):
    """Return the text of tokens, without the characters of the mark and the ends of messages."""
    return preparer.tokenizer.decode(list(tokens))


@shortening
def test_the_oldest_turns_are_left_out(fitted, overflow):
    preparer = fitted(200)
    messages = (SYSTEM, *talk(9))
    prepared = preparer.prepare(chat(messages, overflow))
    text = decode(preparer, prepared.prompt)
    assert text.startswith("[system]Be kind.[user]")
    assert text.endswith("[user]" + messages[-1].content + "[assistant]")
    assert prepared.dropped_messages > 0
    assert prepared.dropped_messages % 2 == 0
    assert messages[prepared.dropped_messages + 1].content in text
    assert messages[prepared.dropped_messages].content not in text
    whole = fitted(1000).prepare(chat(messages))
    assert prepared.dropped_tokens == len(whole.prompt) - len(prepared.prompt)


@examples(150)
@given(
    count=st.integers(1, 12),
    length=st.integers(3, 150),
    system=st.booleans(),
    context=st.integers(60, 500),
    asked=st.none() | st.integers(1, 600),
    overflow=st.sampled_from(SHORTENING),
)
def test_every_prompt_fits_and_leaves_room_for_an_answer(fitted, count, length, system, context, asked, overflow):
    preparer = fitted(context)
    messages = ((SYSTEM,) if system else ()) + talk(2 * count - 1, length)
    prepared = preparer.prepare(chat(messages, overflow, num_predict=asked, sampling=SamplingOptions()))
    room = context - len(prepared.prompt)
    assert room >= min(asked or context, context // 4)
    if overflow is Overflow.TRUNCATE:
        assert prepared.max_tokens == min(asked or context, room)
    else:
        assert prepared.max_tokens == (asked or context)
    text = decode(preparer, prepared.prompt)
    assert not system or text.startswith("[system]Be kind.")
    last = messages[-1].content
    # Either the whole prompt, or its beginning and its end.
    assert last in text or (f"[user]{last[:2]}" in text and text.endswith(f"{last[-2:]}[assistant]"))
    assert list(prepared.boundaries) == sorted({*prepared.boundaries})
    assert all(0 < place <= len(prepared.prompt) for place in prepared.boundaries)
    assert preparer.prepare(chat(messages, overflow, num_predict=asked, sampling=SamplingOptions())).prompt == (
        prepared.prompt
    )


@shortening
def test_successive_turns_begin_alike_until_a_quarter_of_the_context_is_full(fitted, overflow):
    preparer = fitted(400)
    messages, before, changes, shortened = (SYSTEM,), (), 0, 0
    for message in talk(121, 16):
        messages = (*messages, message)
        if message.role == "user":
            prepared = preparer.prepare(chat(messages, overflow))
            if prepared.dropped_messages:
                shortened += 1
                # The earlier prompt is a prefix, up to its generation prompt.
                changes += prepared.prompt[: len(before) - 1] != before[:-1]
            before = prepared.prompt
    # A turn takes 49 tokens and a quarter of the context 100.
    assert shortened > 50
    assert changes <= shortened / 2 + 1


@shortening
def test_a_question_that_is_too_long_is_cut_in_its_middle(fitted, overflow):
    preparer = fitted(200)
    question = Message("user", "begin" + "x" * 500 + "end?")
    prepared = preparer.prepare(chat((SYSTEM, *talk(4), question), overflow))
    text = decode(preparer, prepared.prompt)
    assert text.startswith("[system]Be kind.[user]beginxx")
    assert text.endswith("xxend?[assistant]")
    assert MARK.strip("\n")[0] in text
    assert prepared.dropped_messages == 4
    assert prepared.dropped_tokens > 300


@shortening
def test_a_raw_prompt_is_cut_in_its_middle(fitted, overflow):
    preparer = fitted(100)
    prepared = preparer.prepare(raw("b" * 100 + "m" * 100 + "e" * 100, overflow))
    assert decode(preparer, prepared.prompt) == "b" * 38 + "e" * 37
    assert (prepared.dropped_messages, prepared.dropped_tokens) == (0, 225)
    assert len(preparer.prepare(raw("b" * 300, overflow, num_predict=5, sampling=SamplingOptions())).prompt) == 95


@shortening
def test_a_system_prompt_that_is_too_long_is_refused(fitted, overflow):
    preparer = fitted(100)
    with pytest.raises(InvalidRequestError, match=r"The system prompt .* there is room for 75"):
        preparer.prepare(chat((Message("system", "s" * 100), *talk(3)), overflow))


def test_boundaries_in_a_prompt(fitted):
    preparer = fitted(500)
    messages = (SYSTEM, *talk(5))
    prepared = preparer.prepare(chat(messages))
    ends, text = [], ""
    for message in messages:
        text += f"[{message.role}]{message.content}/"
        ends.append(len(text))
    # After the system prompt, before and after the last answer, and after the question.
    assert prepared.boundaries == (ends[0], ends[3], ends[4], ends[5])
    assert prepared.boundaries[-1] == ends[5]
    assert prepared.keep == ends[0]
    assert decode(preparer, prepared.opening) == "[assistant]"


def test_options_precede_those_of_the_model_which_precede_the_defaults(tmp_path):
    folder = write_model(tmp_path, "plain")
    source = open_model(record_of(folder))
    object.__setattr__(source, "params", {"temperature": 0.1, "top_k": 7, "stop": ["END"]})
    preparer = Preparer(source)
    preparer.fit(1000, None, VOCABULARY, finds_boundary=False)
    own = preparer.prepare(chat(talk(1)))
    assert (own.sampling, own.stop) == (SamplingOptions(temperature=0.1, top_k=7), ("END",))
    asked = preparer.prepare(chat(talk(1), options={"temperature": 0.9, "num_predict": 3}))
    assert (asked.sampling, asked.stop) == (SamplingOptions(temperature=0.9, top_k=7), ("END",))
    assert asked.max_tokens == 3
    with pytest.raises(InvalidRequestError, match="temperature must be a number"):
        preparer.prepare(chat(talk(1), options={"temperature": "hot"}))


def test_options_of_the_model_without_effect_are_reported_and_left_out(tmp_path):
    source = open_model(record_of(write_model(tmp_path, "plain")))
    object.__setattr__(source, "params", {"mirostat": 1, "top_k": "many", "num_gqa": 8, "num_ctx": 100})
    preparer = Preparer(source)
    preparer.fit(1000, None, VOCABULARY, finds_boundary=False)
    assert preparer.context_length == 100
    assert preparer.prepare(chat(talk(1))).sampling == SamplingOptions(mirostat=1)
    assert preparer.usual == {"mirostat": 1, "num_ctx": 100}
    assert preparer.options_note == (
        "Option top_k must be a whole number, not 'many', and was ignored. "
        "Option num_gqa has no effect here and was ignored."
    )


@pytest.mark.parametrize("overflow", Overflow)
def test_an_answer_at_the_end_is_continued(fitted, overflow):
    preparer = fitted()
    messages = (SYSTEM, *talk(3))
    asked = preparer.prepare(chat(messages, overflow))
    continued = preparer.prepare(chat((*messages, Message("assistant", "Half of an answ")), overflow))
    assert decode(preparer, continued.prompt) == decode(preparer, asked.prompt) + "Half of an answ"
    assert continued.prompt[: len(asked.prompt)] == asked.prompt
    assert (continued.boundaries, continued.keep, continued.opening) == (asked.boundaries, asked.keep, asked.opening)


def test_boundaries_are_found_only_where_needed(fitted):
    preparer = fitted(500, finds_boundary=False)
    prepared = preparer.prepare(chat((SYSTEM, *talk(5))))
    assert (prepared.boundaries, prepared.keep, prepared.opening) == ((), 0, ())
    prepared = preparer.prepare(chat((SYSTEM, *talk(5)), Overflow.SHIFT))
    assert (prepared.keep, decode(preparer, prepared.opening)) == (len("[system]Be kind./"), "[assistant]")
    prepared = preparer.prepare(raw("no messages", Overflow.SHIFT))
    assert (prepared.boundaries, prepared.keep, prepared.opening) == ((), 0, ())


def test_a_raw_prompt_keeps_the_beginning_of_text_token(tmp_path):
    folder = write_model(tmp_path / "plain", "plain")
    config = folder / "tokenizer_config.json"
    config.write_text(config.read_text().replace('"add_bos_token": false', '"add_bos_token": true'))
    preparer = Preparer(open_model(record_of(folder)))
    preparer.fit(100, None, VOCABULARY, finds_boundary=True)
    prepared = preparer.prepare(raw("x" * 200, Overflow.SHIFT))
    assert prepared.keep == 1
    assert prepared.prompt[0] == preparer.tokenizer.bos_id


def test_a_full_context_is_shifted_to_a_conversation_again(fitted):
    preparer = fitted(200)
    prepared = preparer.prepare(chat((SYSTEM, *talk(5)), Overflow.SHIFT))
    answer = preparer.tokenizer.encode("a" * (200 - len(prepared.prompt)))
    left = shift_context((*prepared.prompt, *answer), prepared.keep, 150, prepared.opening)
    assert len(left) < 150
    assert len(answer) > 80
    assert decode(preparer, left) == "[system]Be kind.[assistant]" + "a" * len(answer)


def test_the_whole_prompt_is_counted_even_if_it_is_too_long(fitted):
    preparer = fitted(maximum=100_000)
    messages = (SYSTEM, *talk(9, 100))
    whole = len(preparer.prepare(chat(messages)).prompt)
    last = len(preparer.prepare(chat((SYSTEM, messages[-1]))).prompt)
    preparer = fitted(400)
    counted = preparer.count(CountRequest("c", messages, ("word " * 4, "")))
    assert (counted.request_id, counted.tokens, counted.last, counted.texts) == ("c", whole, last, (20, 0))
    assert whole > 400
    # The prompt without its oldest turns is no longer than the reported room.
    assert len(preparer.prepare(chat(messages, Overflow.TRUNCATE)).prompt) <= counted.room == 300
    with pytest.raises(InvalidRequestError, match="nothing to count"):
        preparer.count(CountRequest("c", ()))


@pytest.mark.parametrize("ending", ["<think>\n", "[THINK]", "<think>\n\n</think>\n\n", ""])
def test_a_thought_that_the_template_opens(tmp_path, ending):
    folder = write_model(tmp_path / "thinking", "plain")
    (folder / "chat_template.jinja").write_text(
        "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"
        + "{% if add_generation_prompt %}assistant: "
        + ending.replace("\n", "{{ '\\n' }}")
        + "{% endif %}"
    )
    preparer = Preparer(open_model(record_of(folder)))
    preparer.fit(1000, None, VOCABULARY, finds_boundary=True)
    opens = ending.strip() if "/" not in ending else ""
    asked = (Message("user", "Why?"),)
    opened = preparer.prepare(chat(asked)).opened
    assert (opened.opens if opened else "") == opens
    continued = preparer.prepare(chat((*asked, Message("assistant", "Because"))))
    assert continued.opened is None
    assert continued.begun
    # A thought that the template opens is closed where the begun answer has none.
    closed = {"<think>": "<think>\n\n</think>\n\n", "[THINK]": "[THINK][/THINK]"}.get(opens, ending)
    assert continued.prompt == tuple(preparer.tokenizer.encode(f"user: Why?\nassistant: {closed}Because"))


LEGACY = "{{ if .System }}{{ .System }}/{{ end }}U:{{ .Prompt }}/A:{{ .Response }}/"
NEWER = (
    "{{ range $i, $_ := .Messages }}[{{ .Role }}]{{ .Content }}"
    "{{ if and (eq (len (slice $.Messages $i)) 1) (ne .Role `assistant`) }}[assistant]{{ end }}{{ end }}"
)


@pytest.mark.parametrize("overflow", [Overflow.ERROR, *SHORTENING])
@pytest.mark.parametrize(
    ("template", "prompt"),
    [
        (LEGACY, "Be kind./U:one/A:two/U:three/A:"),
        (NEWER, "[system]Be kind.[user]one[assistant]two[user]three[assistant]"),
    ],
)
def test_prompts_by_a_go_template(source, template, prompt, overflow):
    preparer = Preparer(replace(source, user_template=template))
    preparer.fit(1000, None, VOCABULARY, finds_boundary=True)
    talk = (SYSTEM, Message("user", "one"), Message("assistant", "two"), Message("user", "three"))
    prepared = preparer.prepare(chat(talk, overflow))
    assert preparer.tokenizer.decode(prepared.prompt) == prompt
    assert prepared.stop == ()
    begun = preparer.prepare(chat((*talk, Message("assistant", "fo")), overflow))
    assert preparer.tokenizer.decode(begun.prompt) == f"{prompt}fo"
    assert prompt.index("three") < prepared.boundaries[-1] <= len(prompt)
    assert prompt[: prepared.keep].startswith(prompt[: prompt.index(".") + 1])
    long = (SYSTEM, *(Message(("user", "assistant")[turn % 2], "x" * 40) for turn in range(81)))
    if overflow is not Overflow.ERROR:
        shortened = preparer.prepare(chat(long, overflow))
        assert shortened.dropped_messages > 0
        assert preparer.tokenizer.decode(shortened.prompt).startswith(prompt[: prompt.index(".") + 1])


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"sampling": SamplingOptions(temperature=math.nan)}, "Option temperature must be from 0 to 100, not nan."),
        ({"sampling": SamplingOptions(top_p=1.5)}, "Option top_p must be from 0 to 1, not 1.5."),
        (
            {"sampling": SamplingOptions(seed=2**64)},
            f"Option seed must be from {-(2**63)} to {2**64 - 1}, not {2**64}.",
        ),
        ({"options": {"seed": 2**64}}, f"Option seed must be from {-(2**63)} to {2**64 - 1}, not {2**64}."),
        ({"options": {"temprature": 1}}, "Option temprature is not known; did you mean temperature?"),
        (
            {"options": {"logit_bias": {str(VOCABULARY): 1}}},
            f"Option logit_bias names token {VOCABULARY}, and this model's are 0 to {VOCABULARY - 1}.",
        ),
        ({"stop": ("a",) * 65}, "Option stop takes at most 64 texts of at most 1000 characters each."),
        ({"logprobs": 21}, "logprobs must be from 0 to 20, not 21."),
        ({"logprobs": -1}, "logprobs must be from 0 to 20, not -1."),
        ({"num_predict": 2**31}, f"Option num_predict must be from {-(2**31)} to {2**31 - 1}, not {2**31}."),
    ],
)
def test_values_out_of_range_are_refused_from_every_source(tmp_path, asked, sentence):
    preparer = Preparer(open_model(record_of(write_model(tmp_path, "plain"))))
    preparer.fit(1000, None, VOCABULARY, finds_boundary=False)
    with pytest.raises(InvalidRequestError) as caught:
        preparer.prepare(chat(talk(1), **asked))
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("context", "asked", "expected"),
    [
        # Of 100 tokens, the prompt has 10.
        (100, {}, 90),
        (100, {"num_predict": 5}, 5),
        (100, {"num_predict": -1}, 90),
        (100, {"overflow": Overflow.SHIFT}, 100),
        (100, {"num_predict": 500, "overflow": Overflow.SHIFT}, 500),
        (500_000, {}, DEFAULT_MAX_TOKENS),
        (500_000, {"overflow": Overflow.SHIFT}, DEFAULT_MAX_TOKENS),
        (500_000, {"options": {"num_predict": -1}}, 499_990),
        (500_000, {"num_predict": 400_000}, 400_000),
        (500_000, {"num_predict": -1, "overflow": Overflow.SHIFT}, 500_000),
    ],
)
def test_an_answer_has_a_maximum_length(fitted, context, asked, expected):
    overflow = asked.pop("overflow", Overflow.ERROR)
    prepared = fitted(context, maximum=context).prepare(raw("x" * 10, overflow, **asked))
    assert prepared.max_tokens == expected


def test_breakers_of_dry_are_tokens_that_contain_them_and_special_tokens(fitted):
    preparer = fitted(100)
    chosen = SamplingOptions(dry_multiplier=1.0, dry_sequence_breakers=("/", "]"))
    found = preparer.prepare(raw("x", Overflow.ERROR, sampling=chosen)).breakers
    spelled = {token: preparer.tokenizer.token_bytes(token) for token in range(preparer.tokenizer.vocab_size)}
    special = {token for token, text in preparer.tokenizer.vocabulary().items() if text in ("<s>", "</s>")}
    assert found == {token for token, data in spelled.items() if b"/" in data or b"]" in data} | special
    assert preparer.prepare(raw("x", Overflow.ERROR, sampling=SamplingOptions())).breakers == frozenset()
