"""Where a prompt lets a model think first, and what makes it answer at once."""

import pytest

from sotto.engine.thought_tags import THOUGHT_TAGS, opened_by, without_thought

CLOSED = ("</think>", "</thinking>", "</thought>", "</reasoning>", "[/THINK]")


@pytest.mark.parametrize(("tag", "closed"), list(zip(THOUGHT_TAGS, CLOSED, strict=True)))
@pytest.mark.parametrize("behind", ["", "\n", "\n\n"])
def test_a_thought_that_is_open_is_closed(tag, closed, behind):
    prompt = f"<|im_start|>assistant\n{tag}{behind}"
    assert opened_by(prompt) == tag
    whole = prompt + without_thought(prompt)
    assert whole == f"{prompt}\n{closed}\n\n"
    assert (opened_by(whole), without_thought(whole)) == ("", "")


def test_where_there_are_channels_the_last_is_chosen():
    prompt = "<|start|>user<|message|>Hello<|end|><|start|>assistant"
    assert prompt + without_thought(prompt) == f"{prompt}<|channel|>final<|message|>"


@pytest.mark.parametrize("prompt", ["", "Once", "<think>\nWell.\n</think>\n\n", "<|im_start|>assistant\n"])
def test_nothing_is_added_where_nothing_is_open(prompt):
    assert (opened_by(prompt), without_thought(prompt)) == ("", "")
