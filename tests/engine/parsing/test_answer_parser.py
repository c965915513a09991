"""Thoughts and tool calls in answers of every family, parsed the same for any split into chunks."""

import codecs
import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sotto.engine.contract.answer_parts import (
    CutCall,
    Kind,
    Piece,
    ToolCall,
    calls_of,
    cut_of,
    markup,
    merge_pieces,
    text_of,
    thought_of,
)
from sotto.engine.parsing.answer_parser import Parser, parse_answer
from sotto.engine.parsing.families import GLIMMER, HARMONY, PLAIN, SOLAR, STORED
from thoroughness import examples
from transcripts import FIND_JSON, TOOLS, TRANSCRIPTS


def summaries(pieces):
    """Return the parts as they are displayed: kind, text or call, and whether the part is complete."""
    return [
        (part.kind.value, part.call or part.text, part.ends or part.kind is Kind.TEXT) for part in merge_pieces(pieces)
    ]


def read(chunks, family=STORED, opened=None, tools=TOOLS, *, cut=False, **more):
    parser = Parser(family, tools, opened, fresh=str, **more)
    return [piece for chunk in chunks for piece in parser.feed(chunk)] + parser.finish(cut=cut)


def merge_neighbours(pieces):
    """Return pieces with neighbours of the same kind joined; the result must not depend on the chunks."""
    found = []
    for piece in pieces:
        last = found[-1] if found else None
        if last and last.kind is piece.kind and not (last.begins or last.ends or piece.begins or piece.ends):
            found[-1] = Piece(piece.kind, last.text + piece.text)
        else:
            found.append(piece)
    return found


def check_every_split(text, family, opened=None, tools=TOOLS, **more):
    """Check that the pieces are the same for a split at any byte, and at all; return the pieces."""
    whole = merge_neighbours(read([text], family, opened, tools, **more))
    data = text.encode()
    for at in range(len(data) + 1):
        decoder = codecs.getincrementaldecoder("utf-8")()
        chunks = [decoder.decode(data[:at]), decoder.decode(data[at:])]
        assert merge_neighbours(read(chunks, family, opened, tools, **more)) == whole, chunks
    assert merge_neighbours(read(list(text), family, opened, tools, **more)) == whole
    return whole


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", TRANSCRIPTS)
def test_transcripts_of_each_family_split_at_every_byte(name):
    family, text, (thought, answer, calls) = TRANSCRIPTS[name]
    pieces = check_every_split(text, family)
    assert thought_of(pieces) == thought
    assert text_of(pieces) == answer
    assert list(calls_of(pieces)) == calls
    # The answer survives being stored.
    assert parse_answer(markup(pieces)) == merge_pieces(pieces)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", TRANSCRIPTS)
def test_an_answer_that_is_cut_short_anywhere_loses_no_word(name):
    family, text, _ = TRANSCRIPTS[name]
    whole = list(calls_of(read([text], family)))
    for at in range(len(text)):
        pieces = read([text[:at]], family)
        assert list(calls_of(pieces)) == whole[: len(calls_of(pieces))]
        shown = text_of(pieces) + thought_of(pieces)
        for call in calls_of(pieces):
            shown += call.as_json() + call.id
        for word in ("Hm.", "I look.", '"x"', "find"):
            if word in text[:at]:
                assert word in shown.replace('\\"', '"'), (text[:at], pieces)


def is_json(text):
    try:
        json.loads(text, strict=False)
    except ValueError:
        return False
    return True


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", TRANSCRIPTS)
def test_a_call_that_is_cut_short_is_not_text(name):
    family, text, (_, answer, _) = TRANSCRIPTS[name]
    whole = list(calls_of(read([text], family)))
    named = 0
    for at in range(len(text)):
        pieces = read([text[:at]], family, cut=True)
        if at % 4 == 0:
            assert merge_neighbours(read(list(text[:at]), family, cut=True)) == merge_neighbours(pieces)
        calls, cut, shown = list(calls_of(pieces)), cut_of(pieces), text_of(pieces)
        assert calls == whole[: len(calls)]
        if name == "llama 3, bare":
            # JSON is a call only where it names a tool.
            assert shown.strip("; ") == ("" if cut or calls else text[:at].strip())
        else:
            assert not any(mark in shown for mark in family.marks), (text[:at], pieces)
            # At most a part of the mark may remain.
            rest = shown.lstrip("\n").removeprefix(answer).lstrip("\n")
            assert answer.startswith(shown.strip()) or any(mark.startswith(rest) for mark in marks_of(family)), text[
                :at
            ]
        if cut is not None:
            assert pieces[-1].cut == cut
            assert cut.name in ("", whole[len(calls)].name)
            assert cut.arguments.startswith("{")
            assert not is_json(cut.arguments)
            # The stored answer can be continued, and has the earlier calls once.
            kept = parse_answer(markup(merge_pieces(pieces)))
            assert [call.name for call in calls_of(kept)] == [call.name for call in calls]
            named += bool(cut.name)
    assert named > 0 or not whole


def marks_of(family):
    """Return all texts that begin something, whether special tokens or not."""
    if family.messages is not None:
        return (*family.messages.heads, *family.messages.bodies, *family.messages.ends)
    return (*family.marks, "</tool_call>")


@pytest.mark.parametrize(
    ("name", "written", "calls", "cut"),
    [
        ("hermes, qwen", '<tool_call>\n{"name": "find", "arguments": {"what": "a b', [], ("find", '{"what": "a b')),
        ("hermes, qwen", '<tool_call>\n{"arguments": {"name": "x"}, "na', [], ("", '{"name": "x"')),
        ("hermes, qwen", '<tool_call>\n{"function": {"name": "find", "argum', [], ("find", "{")),
        ("hermes, qwen", f"<tool_call>\n{FIND_JSON}\n</tool_c", ["find"], None),
        ("hermes, qwen", "<tool_call>\n", [], ("", "{")),
        ("mistral", f'[TOOL_CALLS][{FIND_JSON}, {{"name": "add", "arguments": {{"a": 1', ["find"], ("add", '{"a": 1')),
        ("mistral since version 11", '[TOOL_CALLS]add[ARGS]{"a": 1', [], ("add", '{"a": 1')),
        ("mistral since version 11", "[TOOL_CALLS]ad", [], ("", "{")),
        (
            "qwen3-coder",
            "<tool_call>\n<function=add>\n<parameter=a>\n1\n</parameter>\n<parameter=b>\n[tr",
            [],
            ("add", '{"a": 1'),
        ),
        ("gemma 4", "<|tool_call>call:add{a:1.5,b:[tr", [], ("add", '{"a": 1.5')),
        ("harmony", '<|channel|>commentary to=functions.add <|message|>{"a": 1', [], ("add", '{"a": 1')),
        ("harmony", "<|channel|>commentary to=functions.ad", [], ("", "{")),
        ("harmony", "<|channel|>fin", [], None),
    ],
)
def test_recovery_of_calls_that_were_cut_short(name, written, calls, cut):
    pieces = read([written], TRANSCRIPTS[name][0], cut=True)
    assert [call.name for call in calls_of(pieces)] == calls
    assert cut_of(pieces) == (CutCall(*cut) if cut else None)
    assert text_of(pieces) == ""


def test_cut_text_that_is_not_a_call_stays_text():
    for text in ('{"name": "other", "para', '{"city": "Os', "{"):
        assert text_of(read([text], TRANSCRIPTS["llama 3, bare"][0], cut=True)) == text
    # An answer that was not cut, or without available tools, stays text.
    begun = '<tool_call>\n{"name": "find"'
    assert text_of(read([begun])) == begun
    assert text_of(read([begun], tools={}, cut=True)) == begun
    # A call that is malformed, not cut.
    broken = "<tool_call>\n{]}\n</tool_call> and mo"
    assert text_of(read([broken], cut=True)) == broken


@examples(150)
@given(st.data())
def test_any_split_gives_the_same_pieces(data):
    name = data.draw(st.sampled_from(sorted(TRANSCRIPTS)))
    family, text, _ = TRANSCRIPTS[name]
    # Parts of a transcript in any order, to break it in every way.
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=5)))
    parts = [text[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    broken = "".join(data.draw(st.permutations(parts)))
    sizes = data.draw(st.lists(st.integers(1, 12), min_size=1, max_size=6))
    chunks, at, turn = [], 0, 0
    while at < len(broken):
        chunks.append(broken[at : at + sizes[turn % len(sizes)]])
        at, turn = at + len(chunks[-1]), turn + 1
    assert merge_neighbours(read(chunks, family)) == merge_neighbours(read([broken], family))


PIECES = ["<think>", "</think>", "[THINK]", "[/THINK]", "<tool_call>", "</tool_call>", "</reasoning>", "```", "~~~~",
          "\n", " ", "word", "<", "[", "/", "`", "{}", "<thi", "nk>", "py\n", '{"name": "a"}', "<|channel|>", "<|end|>",
          "final<|message|>", "analysis<|message|>", " to=functions.a", "<|start|>assistant"]  # fmt: skip


@examples(400)
@given(
    st.lists(st.sampled_from(PIECES), max_size=14),
    st.sampled_from([STORED, HARMONY, GLIMMER, SOLAR, TRANSCRIPTS["mistral"][0], TRANSCRIPTS["llama 3, bare"][0]]),
    st.booleans(),
)
def test_marks_in_any_order_give_the_same_pieces_for_any_split(parts, family, begun):
    text = "".join(parts)
    opened = family.thoughts[0] if begun else None
    assert merge_neighbours(read(parts, family, opened)) == merge_neighbours(read([text], family, opened))
    assert merge_neighbours(read(list(text), family, opened)) == merge_neighbours(read([text], family, opened))


@examples(200)
@given(st.text(alphabet="ab <>/[]{}`|\n_tThinkcaol:\"'=", max_size=60), st.sampled_from(sorted(TRANSCRIPTS)))
def test_text_without_marks_is_not_changed(text, name):
    family = TRANSCRIPTS[name][0]
    if any(mark in text for mark in (*family.marks, "</")):
        return
    assert text_of(read(list(text), family)) == text
    assert text_of(read([text], PLAIN)) == text


words = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="<[`~"), min_size=1).map(str.strip)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
some_parts = st.lists(
    st.one_of(
        words.filter(bool).map(lambda text: Piece(Kind.TEXT, text)),
        words.filter(bool).map(lambda text: Piece(Kind.THOUGHT, text, begins=True, ends=True)),
        st.builds(
            ToolCall,
            st.from_regex(r"[a-z_]{1,8}", fullmatch=True),
            st.dictionaries(st.text(max_size=5), values, max_size=3),
            st.from_regex(r"[a-z0-9]{0,9}", fullmatch=True),
        ).map(lambda call: Piece(Kind.TOOL, begins=True, ends=True, call=call)),
    ),
    max_size=5,
)


@examples(200)
@given(some_parts)
def test_stored_answers_are_parsed_again(parts):
    # Two texts in a row are joined.
    parts = [part for index, part in enumerate(parts) if not index or {part.kind, parts[index - 1].kind} != {Kind.TEXT}]
    kept = markup(parts)
    assert parse_answer(kept) == tuple(parts)
    assert merge_pieces(read(list(kept))) == tuple(parts)


TEXT, THOUGHT, TOOL = "text", "thought", "tool"


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Hello", [(TEXT, "Hello", True)]),
        ("Hello \n", [(TEXT, "Hello \n", True)]),
        ("<think>\nHm.\n</think>\n\nYes.", [(THOUGHT, "Hm.", True), (TEXT, "Yes.", True)]),
        ("  <thinking>a</thinking>b", [(THOUGHT, "a", True), (TEXT, "b", True)]),
        ("[THINK]a[/THINK]b", [(THOUGHT, "a", True), (TEXT, "b", True)]),
        ("<reasoning>a < b</reason", [(THOUGHT, "a < b</reason", False)]),
        ("<think>a", [(THOUGHT, "a", False)]),
        ("Use <think> tags", [(TEXT, "Use <think> tags", True)]),
        ("Use <tool_call> tags", [(TEXT, "Use <tool_call> tags", True)]),
        ("Code:\n```\n<think>\n</think>\n```\nend", [(TEXT, "Code:\n```\n<think>\n</think>\n```\nend", True)]),
        ("Opened before.\n</think>\n\nYes", [(THOUGHT, "Opened before.", True), (TEXT, "Yes", True)]),
        ("Opened before.</think>\nYes", [(THOUGHT, "Opened before.", True), (TEXT, "Yes", True)]),
        ("Opened before.</think>", [(THOUGHT, "Opened before.", True)]),
        ("The tag `</think>` ends it", [(TEXT, "The tag `</think>` ends it", True)]),
        (
            'Let me see.\n<tool_call>\n{"name": "a"}\n</tool_call>\n<tool_call>{"name": "b"}</tool_call>',
            [(TEXT, "Let me see.", True), (TOOL, ToolCall("a"), True), (TOOL, ToolCall("b"), True)],
        ),
        ('<think>a</think><tool_call>{"name"', [(THOUGHT, "a", True), (TEXT, '<tool_call>{"name"', True)]),
        ('```\n<tool_call>{"name": "a"}</tool_call>\n```', [
            (TEXT, '```\n<tool_call>{"name": "a"}</tool_call>\n```', True)
        ]),
        ("<tool_call>\n{'name': 'a'}\n</tool_call>", [(TEXT, "<tool_call>\n{'name': 'a'}\n</tool_call>", True)]),
        ("<tool_call>[]</tool_call>", [(TEXT, "<tool_call>[]</tool_call>", True)]),
        ('<tool_call>{"name": "a", "arguments": 3}</tool_call>', [
            (TEXT, '<tool_call>{"name": "a", "arguments": 3}</tool_call>', True)
        ]),
        ('<tool_call>{"name": "a", "arguments": "{\\"x\\": 1}"}</tool_call>', [(TOOL, ToolCall("a", {"x": 1}), True)]),
        ("<think>a</think>\nb\n<think>c</think>d", [
            (THOUGHT, "a", True), (TEXT, "b", True), (THOUGHT, "c", True), (TEXT, "d", True)
        ]),
        ("<think>one</think>two </think>\n", [(THOUGHT, "one", True), (TEXT, "two </think>\n", True)]),
        ("a <b> c\n<thin", [(TEXT, "a <b> c\n<thin", True)]),
    ],
)  # fmt: skip
def test_tags_in_text_for_any_split(text, parts):
    assert summaries(check_every_split(text, STORED)) == parts


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Hm.\n</think>\nYes", [(THOUGHT, "Hm.", True), (TEXT, "Yes", True)]),
        ("a `</think>` b", [(THOUGHT, "a `", True), (TEXT, "` b", True)]),
        ("<think>\nHm.</think>Yes", [(THOUGHT, "Hm.", True), (TEXT, "Yes", True)]),
        ("Hm. <th", [(THOUGHT, "Hm. <th", False)]),
    ],
)
def test_a_thought_that_the_prompt_opened(text, parts):
    opened = STORED.opened_by("<|im_start|>assistant\n<think>\n")
    assert summaries(check_every_split(text, STORED, opened)) == parts


def test_a_continued_answer_begins_no_part():
    thought = STORED.opened_by("<think>")
    assert read([" more.</think>Yes"], opened=thought, begun=True) == [
        Piece(Kind.THOUGHT, " more."),
        Piece(Kind.THOUGHT, ends=True),
        Piece(Kind.TEXT, "Yes"),
    ]
    assert merge_neighbours(read(["it.\n</think>\n"], begun=True)) == [Piece(Kind.TEXT, "it.\n</think>\n")]
    assert read([" more<|end|>"], HARMONY, begun=True) == [Piece(Kind.TEXT, " more")]
    analysis = HARMONY.thoughts[0]
    assert merge_pieces(
        read(["a<|end|><|start|>assistant<|channel|>final<|message|>b"], HARMONY, analysis, begun=True)
    ) == (
        Piece(Kind.THOUGHT, "a", ends=True),
        Piece(Kind.TEXT, "b"),
    )


@pytest.mark.parametrize(
    ("family", "begin", "ends"),
    [
        (STORED, "<think>Hm", "\n</think>\n\n"),
        (STORED, "[THINK]Hm", "[/THINK]"),
        (HARMONY, "<|channel|>analysis<|message|>Hm", "<|end|><|start|>assistant<|channel|>final<|message|>"),
        (GLIMMER, " to=self<|message|>Hm", "<|eom|><|start|>assistant to=user<|message|>"),
        (SOLAR, "<|think|>Hm", "<|end|><|begin|>assistant<|content|>"),
        (TRANSCRIPTS["gemma 4"][0], "<|channel>thought\nHm", "\n<channel|>\n\n"),
    ],
)
def test_a_thought_can_be_ended_for_the_model(family, begin, ends):
    parser = Parser(family)
    assert parser.thought_end == ""
    pieces = parser.feed(begin)
    assert parser.thought_end == ends
    pieces += parser.feed(ends)
    assert parser.thought_end == ""
    pieces += parser.feed("Yes") + parser.finish()
    assert summaries(pieces) == [(THOUGHT, "Hm", True), (TEXT, "Yes", True)]


@pytest.mark.parametrize(
    ("family", "prompt", "end"),
    [
        (STORED, "<|im_start|>assistant\n<think>\n", "\n</think>\n\n"),
        (STORED, "[/INST][THINK]", "[/THINK]"),
        (HARMONY, "<|start|>assistant", "<|channel|>final<|message|>"),
        (GLIMMER, "<|start|>assistant", " to=user<|message|>"),
        (SOLAR, "<|begin|>assistant", "<|content|>"),
        (STORED, "<|start|>assistant", ""),
        (STORED, "<think>\n\n</think>\n\n", ""),
        (HARMONY, "<|start|>assistant<|channel|>final<|message|>", ""),
    ],
)
def test_an_answer_can_begin_without_a_thought(family, prompt, end):
    assert family.skip_thought(prompt) == end
    assert family.skip_thought(prompt + end) == ""


def test_objects_are_calls_only_at_the_beginning_and_only_of_available_tools():
    llama = TRANSCRIPTS["llama 3, bare"][0]
    call = '{"name": "find", "parameters": {}}'
    assert calls_of(check_every_split(call, llama)) == (ToolCall("find"),)
    for text, tools in ((f"Like {call}", TOOLS), (call, {}), ('{"name": "other", "parameters": {}}', TOOLS)):
        assert summaries(check_every_split(text, llama, tools=tools)) == [(TEXT, text, True)]


def test_the_schema_decides_the_type_of_a_parameter_between_tags():
    glm = "<tool_call>find<arg_key>what</arg_key><arg_value>3</arg_value></tool_call>"
    assert calls_of(read([glm])) == (ToolCall("find", {"what": "3"}),)
    assert calls_of(read([glm], tools={})) == (ToolCall("find", {"what": 3}),)
    odd = {"find": {"properties": [1]}}
    assert calls_of(read([glm], tools=odd)) == (ToolCall("find", {"what": 3}),)


def test_the_beginning_of_a_call_is_known_while_it_streams():
    parser = Parser(STORED, fresh=lambda: "id")
    assert parser.feed("<tool_call>") == [Piece(Kind.TOOL, begins=True)]
    assert parser.feed('{"name": "a"') == []
    assert parser.feed("}</tool_call>") == [Piece(Kind.TOOL, ends=True, call=ToolCall("a", {}, "id"))]
    parser = Parser(STORED)
    assert parser.feed("<tool_call> `") == [
        Piece(Kind.TOOL, begins=True),
        Piece(Kind.TOOL, ends=True),
        Piece(Kind.TEXT, "<tool_call> `"),
    ]


def test_calls_get_ids_that_differ():
    pieces = merge_pieces(Parser(STORED).feed('<tool_call>{"name": "a"}</tool_call>' * 2))
    first, second = calls_of(pieces)
    assert first.id != second.id
    assert len(first.id) == 9
    assert first.id.isalnum()


def test_harmony_without_a_head_is_text():
    for text in ("Hello", "<|start|> and nothing", "<|channel|>" + "a" * 300 + "<|message|>b", " to=me, then"):
        assert text_of(check_every_split(text, HARMONY)) == text


def test_harmony_texts_of_several_messages_are_separated_by_an_empty_line():
    text = "<|channel|>commentary<|message|>One.<|end|><|start|>assistant<|channel|>final<|message|>Two."
    assert text_of(check_every_split(text, HARMONY)) == "One.\n\nTwo."


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>{"name": "a", "arguments": ' + "[" * 100_000,
        '<tool_call>{"name": "a", "arguments": {"x": ' + "[" * 5000 + "]" * 5000 + "}}</tool_call>",
        '<tool_call>{"name": "a", "arguments": {"x": ' + "1" * 5000 + "}}</tool_call>",
        '<tool_call>{"name": "a", "arguments": {"x": NaN}}</tool_call>',
        "<|tool_call>call:a{" + "x:{" * 5000,
        "<|tool_call>call:a{x:" + "[" * 5000 + "]" * 5000 + "}<tool_call|>",
        '<|tool_call>call:a{x:"\\ud800"}<tool_call|>',
        "<tool_call>" * 3000,
        "<" * 20_000,
    ],
)
def test_malicious_answers_are_text(text):
    family = TRANSCRIPTS["gemma 4"][0]
    started = time.thread_time()
    assert summaries(read([text[at : at + 7] for at in range(0, len(text), 7)], family)) == [(TEXT, text, True)]
    assert time.thread_time() - started < 10


@pytest.mark.parametrize(
    "part", ["<think>", "a <think> ", "<think>a</think>", '<tool_call>{\\"', '<tool_call>{"', "</think> a", "{}", "<"]
)
def test_long_malicious_answers_are_parsed_fast(part):
    started = time.thread_time()
    parse_answer(part * (400_000 // len(part)))
    assert time.thread_time() - started < 10


def test_a_long_call_costs_the_same_for_each_word():
    def seconds(length):
        parser = Parser(STORED)
        parser.feed('<tool_call>{"name": "write", "arguments": {"text": "')
        started = time.thread_time()
        for _ in range(length):
            parser.feed("some words {} ")
        return (time.thread_time() - started) / length

    seconds(500)
    early = min(seconds(500) for _ in range(3))
    assert seconds(8000) < 4 * early + 0.0001
