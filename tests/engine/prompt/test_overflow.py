"""Conversations that are too long, with one token for each character."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sotto.engine.contract.answer_parts import ToolCall
from sotto.engine.contract.requests import Message
from sotto.engine.prompt.overflow import MARK, Parts, cut_middle, shift_context, shorten_conversation
from sotto.errors import InvalidRequestError
from thoroughness import examples


def rendered_size(messages):
    return sum(len(f"[{message.role}]{message.content}/") for message in messages) + len("[assistant]")


def shorten(messages, most, step=20):
    return shorten_conversation(messages, rendered_size, len, no_image, most, step)


def talk(*lengths, system=0):
    """Return a conversation of different messages with these lengths in characters."""
    messages = [Message("system", "S" * system)] if system else []
    for index, length in enumerate(lengths):
        content = f"{index}:".ljust(length, chr(97 + index % 26))
        messages.append(Message(("user", "assistant")[index % 2], content))
    return tuple(messages)


def no_image(part):
    raise AssertionError("there is none")


def test_a_conversation_is_split_into_turns():
    system, question, answer = Message("system", "s"), Message("user", "q"), Message("assistant", "a")
    parts = Parts.of([system, system, question, answer, question, question, answer, answer, system, question])
    assert parts.system == (system, system)
    assert parts.turns == ((question, answer), (question, question, answer, answer, system), (question,))
    assert parts.without(1) == (system, system, question, question, answer, answer, system, question)
    # System messages of dropped turns stay, before the rest.
    assert parts.without(2) == (system, system, system, question)
    assert Parts.of([answer, question]).turns == ((answer,), (question,))
    assert Parts.of([system]) == Parts((system,), ())


def test_calls_of_the_last_turn_go_with_their_results_and_its_question_stays():
    """An agent's conversation: one question and many rounds of calls."""

    def call(number):
        called = ToolCall("find", {"what": "x" * 20}, str(number))
        answer = Message("tool", f"{number}: found".ljust(30), tool_call_id=str(number))
        return Message("assistant", "", tool_calls=(called,)), answer

    def length(messages):
        return rendered_size(messages) + sum(len(made.as_json()) for message in messages for made in message.tool_calls)

    system, old, asked = Message("system", "s"), talk(10, 10), Message("user", "Do it.")
    rounds = [message for number in range(20) for message in call(number)]
    messages = (system, *old, asked, *rounds)
    for most in range(200, length(messages), 37):
        kept = shorten_conversation(messages, length, len, no_image, most, 20)
        assert length(kept) <= most
        assert kept[0] == system
        assert asked in kept
        rest = kept[kept.index(asked) + 1 :]
        assert rest == tuple(rounds[len(rounds) - len(rest) :])
        assert rest[0].role == "assistant"
        assert len(rest) % 2 == 0
        if len(rest) < len(rounds):
            assert kept[:2] == (system, asked)
    assert Parts.of(messages).without(20) == (system, asked, *rounds[-2:])
    assert len(Parts.of(messages).droppable) == 20
    # Messages are cut only where that is not enough.
    called, answer = call(20)
    kept = shorten_conversation((*messages, called, replace(answer, content="x" * 500)), length, len, no_image, 250, 20)
    assert kept[:3] == (system, asked, called)
    assert MARK in kept[3].content


def test_the_oldest_turns_go_first_and_whole():
    messages = talk(10, 10, 10, 10, 10, system=5)
    kept = shorten(messages, most=rendered_size(messages) - 1, step=1)
    assert kept == (messages[0], *messages[3:])


def test_more_is_dropped_than_necessary_so_that_the_next_turns_begin_alike():
    lengths, cuts = [10, 10], []
    for _ in range(30):
        lengths.append(10)
        messages = talk(*lengths, system=5)
        if rendered_size(messages) > 300:
            kept = shorten(messages, most=300, step=75)
            cuts.append(len(messages) - len(kept))
        lengths.append(10)
    assert cuts == sorted(cuts)
    # Each turn takes about 40 tokens, so a step of 75 lasts for about two of them.
    assert len(set(cuts)) <= len(cuts) / 1.7


conversations = st.builds(
    lambda lengths, system: talk(*lengths, system=system),
    st.lists(st.integers(2, 120), min_size=1, max_size=25),
    st.sampled_from([0, 1, 30]),
)


@examples(300)
@given(messages=conversations, most=st.integers(90, 400), step=st.integers(1, 100))
def test_what_is_left_fits_and_keeps_the_system_prompt_the_last_message_and_the_order(messages, most, step):
    if rendered_size(messages) <= most:
        return
    kept = shorten(messages, most, step)
    assert rendered_size(kept) <= most
    parts = Parts.of(messages)
    assert kept[: len(parts.system)] == parts.system
    rest = kept[len(parts.system) :]
    assert rest[0].role == messages[len(parts.system)].role == "user"
    last = parts.turns[-1]
    if len(rest) > len(last) or rest == last:
        assert rest == messages[len(messages) - len(rest) :]
    else:
        # Only the last turn is left, with its middle cut out.
        assert [message.role for message in rest] == [message.role for message in last]
        for short, whole in zip(rest, last, strict=True):
            head, mark, tail = short.content.partition(MARK)
            assert whole.content.startswith(head)
            assert whole.content.endswith(tail)
            assert mark or short == whole
        # Nearly all the room is used.
        assert rendered_size(kept) > most - 15 - most / 4 or rest[-1].content == MARK


@examples(100)
@given(
    lengths=st.lists(st.integers(2, 60), min_size=3, max_size=40),
    most=st.integers(200, 400),
    step=st.integers(20, 100),
    system=st.sampled_from([0, 20]),
)
def test_as_a_conversation_grows_nothing_that_was_dropped_comes_back(lengths, most, step, system):
    before = 0
    for count in range(1, len(lengths) + 1, 2):
        messages = talk(*lengths[:count], system=system)
        kept = shorten(messages, most, step) if rendered_size(messages) > most else messages
        dropped = len(messages) - len(kept)
        assert dropped >= before
        assert dropped % 2 == 0
        before = dropped


def test_the_middle_of_a_long_question_gives_way_to_a_mark():
    messages = (Message("system", "Be kind."), Message("user", "begin " + "x" * 500 + " end?"))
    kept = shorten(messages, most=150)
    assert kept[0] == messages[0]
    assert kept[1].content.startswith("begin xxx")
    assert kept[1].content.endswith("xxx end?")
    assert MARK in kept[1].content
    assert 120 < rendered_size(kept) <= 150


def test_the_longest_message_of_an_unfinished_turn_is_cut():
    messages = (Message("user", "u" * 500), Message("assistant", "As I said"))
    kept = shorten(messages, most=150)
    assert kept[1] == messages[1]
    assert MARK in kept[0].content


@pytest.mark.parametrize("messages", [talk(9, system=300), (Message("system", "s" * 300),)])
def test_a_system_prompt_that_does_not_fit_is_refused(messages):
    with pytest.raises(InvalidRequestError, match=r"system prompt .* 3\d\d tokens, and there is room for 100: shorten"):
        shorten(messages, most=100)


def test_a_template_may_add_much():
    messages = talk(*[10] * 21)

    def wordy(messages):
        return rendered_size(messages) + 200 * len(messages)

    kept = shorten_conversation(messages, wordy, len, no_image, 1500, 20)
    assert wordy(kept) <= 1500
    assert kept == messages[-len(kept) :]


@given(tokens=st.lists(st.integers(0, 9), min_size=4, max_size=60), most=st.integers(1, 60))
def test_a_raw_prompt_keeps_its_beginning_and_its_end(tokens, most):
    if len(tokens) <= most:
        return
    kept = cut_middle(tokens, most)
    assert len(kept) == most
    head = most - most // 2
    assert list(kept[:head]) == tokens[:head]
    assert list(kept[head:]) == (tokens[-(most // 2) :] if most > 1 else [])


def test_the_older_half_after_the_system_prompt_is_dropped():
    assert shift_context(range(100), keep=10, most=90) == (*range(10), *range(55, 100))
    assert shift_context(range(100), keep=0, most=20) == tuple(range(80, 100))


def test_an_answer_keeps_its_generation_prompt():
    question, opening, answer = range(10, 50), (7, 8), range(100, 200)
    tokens = (*range(5), *question, *opening, *answer)
    left = shift_context(tokens, keep=5, most=120, opening=opening)
    assert left == (*range(5), *opening, *range(129, 200))
    # The cut goes through the opening.
    tokens = (*range(5), *question, *opening, *answer[:41])
    assert shift_context(tokens, keep=5, most=120, opening=opening) == (*range(5), *opening, *answer[:41])
    # While the opening is there, nothing is added.
    short = (*range(5), *question, *opening, *answer[:10])
    assert shift_context(short, keep=5, most=60, opening=opening) == (*range(5), *range(36, 50), *opening, *answer[:10])


@examples(300)
@given(
    tokens=st.lists(st.integers(0, 3), min_size=2, max_size=80),
    keep=st.integers(0, 90),
    most=st.integers(2, 90),
    opening=st.lists(st.integers(0, 5), max_size=5),
)
def test_a_shift_always_makes_room(tokens, keep, most, opening):
    left = shift_context(tokens, keep, most, opening)
    assert 0 < len(left) <= most
    assert len(left) < len(tokens)
    head = min(keep, min(most, len(tokens) - 1) // 2)
    assert list(left[:head]) == tokens[:head]
    assert left[-1] == tokens[-1] or left[-1] in opening or len(left) <= len(opening) + head
