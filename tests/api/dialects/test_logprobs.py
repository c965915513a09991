"""Log-probabilities and finish reasons in each dialect."""

import json

import pytest

from sotto.api.asking import reason_of
from sotto.api.dialects.anthropic import _reason as anthropic_reason
from sotto.api.logprob_fields import CompletionLogprobs, chat_logprobs_field, ollama_logprobs_field
from sotto.engine.contract.events import DoneReason, Finished
from sotto.engine.contract.logprob_values import LogprobEntry, TokenLogprob
from sotto.engine.contract.requests import GenerateRequest


@pytest.mark.parametrize(
    ("reason", "ollama_and_openai", "anthropic"),
    [
        (DoneReason.STOP, "stop", "end_turn"),
        (DoneReason.LENGTH, "length", "max_tokens"),
        (DoneReason.LOOP, "length", "max_tokens"),
    ],
)
def test_finish_reasons_of_each_dialect(reason, ollama_and_openai, anthropic):
    end = Finished("r", "", (), reason, 1, 0, 1, 1, 1)
    assert reason_of(end) == ollama_and_openai
    assert anthropic_reason(end, GenerateRequest("r")) == {"stop_reason": anthropic, "stop_sequence": None}


def entries(*tokens):
    likely = [TokenLogprob(index, data, -1.0 - index) for index, data in enumerate(tokens)]
    return [LogprobEntry(token, (token,)) for token in likely]


def test_parts_of_a_character_are_shown_as_bytes():
    # é in two tokens, followed by an x.
    tokens = entries(b"\xc3", b"\xa9", b"x")
    in_completion = CompletionLogprobs()
    first, rest = in_completion(tokens[:1]), in_completion(tokens[1:])
    assert first["tokens"] + rest["tokens"] == ["bytes:\\xc3", "bytes:\\xa9", "x"]
    assert first["text_offset"] + rest["text_offset"] == [0, 0, 1]
    assert rest["top_logprobs"] == [{"bytes:\\xa9": -2.0}, {"x": -3.0}]
    assert [row["bytes"] for row in chat_logprobs_field(tokens)["content"]] == [[0xC3], [0xA9], [0x78]]
    assert json.loads(json.dumps(ollama_logprobs_field(tokens)))[2]["token"] == "x"
