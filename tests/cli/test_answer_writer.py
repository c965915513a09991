"""Which parts of an answer are printed to stdout and stderr."""

import json

from sotto.cli.answer_writer import AnswerWriter
from sotto.engine.contract.answer_parts import CutCall, Kind, Piece, ToolCall

CALL = ToolCall("find", {"what": "é"}, "id")


def test_text_and_calls_go_to_stdout_and_thoughts_to_stderr(capsys):
    writer = AnswerWriter()
    writer.write((Piece(Kind.THOUGHT, begins=True), Piece(Kind.THOUGHT, "Hm\x1b[2J"), Piece(Kind.THOUGHT, ends=True)))
    writer.write((Piece(Kind.TEXT, "I look."), Piece(Kind.TOOL, begins=True)))
    writer.write((Piece(Kind.TOOL, ends=True, call=CALL), Piece(Kind.TOOL, begins=True, ends=True, call=CALL)))
    writer.end()
    out, err = capsys.readouterr()
    assert err == "(thinking)\nHm[2J\n\n"
    text, *calls = out.splitlines()
    assert text == "I look."
    assert [json.loads(line) for line in calls] == [{"name": "find", "arguments": {"what": "é"}, "id": "id"}] * 2


def test_a_false_call_is_text(capsys):
    writer = AnswerWriter()
    writer.write((Piece(Kind.TOOL, begins=True), Piece(Kind.TOOL, ends=True), Piece(Kind.TEXT, "<tool_call>")))
    writer.end()
    assert capsys.readouterr().out == "<tool_call>\n"


def test_a_truncated_call_is_reported_and_is_not_text(capsys):
    writer = AnswerWriter()
    writer.write((Piece(Kind.TEXT, "I look."), Piece(Kind.TOOL, begins=True), Piece(Kind.TOOL, ends=True)))
    writer.write((Piece(Kind.TEXT, "<tool_call>", cut=CutCall("find\x1b[2J")),))
    writer.end()
    out, err = capsys.readouterr()
    assert out == "I look.\n"
    assert err == "The call of find[2J was cut off where the answer ended, and is not complete.\n"


def test_an_empty_answer_is_an_empty_line(capsys):
    AnswerWriter().end()
    assert capsys.readouterr().out == "\n"
