"""Thoughts and calls of tools in an answer, told apart however the answer is cut."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sotto.ui.answer_parts import Kind, Splitter

TEXT, THOUGHT, TOOL = Kind.TEXT, Kind.THOUGHT, Kind.TOOL


def parts_of(chunks, opened=""):
    """Return kind, text and whether it is complete for every part, as a window would show them."""
    splitter = Splitter(opened)
    pieces = [piece for chunk in chunks for piece in splitter.feed(chunk)] + splitter.finish()
    parts = [[THOUGHT if opened else TEXT, "", False]]
    for piece in pieces:
        if piece.begins or (parts[-1][2] and not piece.turned):
            parts.append([piece.kind, "", False])
        assert piece.turned or piece.kind is parts[-1][0]
        parts[-1][1] += piece.text
        if piece.turned:
            parts[-1][0] = piece.kind
        parts[-1][2] = parts[-1][2] or piece.ends
    return [tuple(part) for part in parts if part[1].strip() or part[0] is not TEXT]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Hello", [(TEXT, "Hello", False)]),
        ("<think>\nHm.\n</think>\n\nYes.", [(THOUGHT, "\nHm.\n", True), (TEXT, "\n\nYes.", False)]),
        ("  <thinking>a</thinking>b", [(THOUGHT, "a", True), (TEXT, "b", False)]),
        ("[THINK]a[/THINK]b", [(THOUGHT, "a", True), (TEXT, "b", False)]),
        ("<reasoning>a < b</reason", [(THOUGHT, "a < b</reason", False)]),
        ("<think>a", [(THOUGHT, "a", False)]),
        ("Use <think> tags", [(TEXT, "Use <think> tags", False)]),
        ("Code:\n```\n<think>\n</think>\n```\nend", [(TEXT, "Code:\n```\n<think>\n</think>\n```\nend", False)]),
        ("Opened before.\n</think>\n\nYes", [(THOUGHT, "Opened before.\n", True), (TEXT, "\n\nYes", False)]),
        ("Opened before.</think>\nYes", [(THOUGHT, "Opened before.", True), (TEXT, "\nYes", False)]),
        ("Opened before.</think>", [(THOUGHT, "Opened before.", True)]),
        ("The tag `</think>` ends it", [(TEXT, "The tag `</think>` ends it", False)]),
        (
            'Let me see.\n<tool_call>\n{"a": 1}\n</tool_call>\n<tool_call>{}</tool_call>',
            [(TEXT, "Let me see.\n", False), (TOOL, '\n{"a": 1}\n', True), (TOOL, "{}", True)],
        ),
        ("<think>a</think><tool_call>{}", [(THOUGHT, "a", True), (TOOL, "{}", False)]),
        ("<think>a</think>\nb\n<think>c</think>d", [
            (THOUGHT, "a", True), (TEXT, "\nb\n", False), (THOUGHT, "c", True), (TEXT, "d", False)
        ]),
        ("<think>one</think>two </think>\n", [(THOUGHT, "one", True), (TEXT, "two </think>\n", False)]),
        ("a <b> c\n<thin", [(TEXT, "a <b> c\n<thin", False)]),
    ],
)  # fmt: skip
def test_parts_whatever_the_cut(text, parts):
    assert parts_of([text]) == parts
    assert parts_of(list(text)) == parts
    for at in range(len(text)):
        assert parts_of([text[:at], text[at:]]) == parts


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Hm.\n</think>\nYes", [(THOUGHT, "Hm.\n", True), (TEXT, "\nYes", False)]),
        ("a `</think>` b", [(THOUGHT, "a `", True), (TEXT, "` b", False)]),
        ("<think>\nHm.</think>Yes", [(THOUGHT, "\nHm.", True), (TEXT, "Yes", False)]),
        ("Hm. <th", [(THOUGHT, "Hm. <th", False)]),
    ],
)
def test_a_thought_that_the_prompt_opened(text, parts):
    for at in range(len(text)):
        assert parts_of([text[:at], text[at:]], "<think>") == parts
    assert parts_of(list(text), "<think>") == parts


PIECES = ["<think>", "</think>", "[THINK]", "[/THINK]", "<tool_call>", "</tool_call>", "</reasoning>", "```", "~~~~",
          "\n", " ", "word", "<", "[", "/", "`", "{}", "<thi", "nk>", "py\n"]  # fmt: skip


@settings(deadline=None, max_examples=400)
@given(
    st.lists(st.sampled_from(PIECES), max_size=14), st.lists(st.integers(1, 9), min_size=1, max_size=6), st.booleans()
)
def test_any_cut_gives_the_same_parts_and_nothing_is_lost(pieces, sizes, opened):
    text, chunks, at, turn = "".join(pieces), [], 0, 0
    while at < len(text):
        chunks.append(text[at : at + sizes[turn % len(sizes)]])
        at, turn = at + len(chunks[-1]), turn + 1
    tag = "<think>" if opened else ""
    whole = parts_of([text], tag)
    assert parts_of(chunks, tag) == whole
    left = "".join(part[1] for part in whole)
    for tags in ("<think>", "</think>", "[THINK]", "[/THINK]", "<tool_call>", "</tool_call>", "</reasoning>"):
        text = text.replace(tags, "")
    shown = left
    for tags in ("<think>", "</think>", "[THINK]", "[/THINK]", "<tool_call>", "</tool_call>", "</reasoning>"):
        shown = shown.replace(tags, "")
    assert "".join(shown.split()) == "".join(text.split())
