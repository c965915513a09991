"""Random requests get an answer, or an error that says what is wrong with the request."""

import json

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from thoroughness import examples

MESSAGE_FIELDS = """role content images tool_calls thinking tool_name tool_call_id type text image_url file source
    file_data""".split()
FIELDS = {
    "/api/generate": """prompt suffix system template context stream raw format keep_alive images options think truncate
        shift logprobs top_logprobs""".split(),
    "/api/chat": "messages stream format keep_alive tools options think truncate shift logprobs top_logprobs".split(),
    "/api/show": "name verbose system options".split(),
    "/v1/chat/completions": """messages stream stream_options temperature top_p frequency_penalty presence_penalty seed
        stop response_format tools tool_choice functions reasoning reasoning_effort logprobs top_logprobs logit_bias n
        keep_alive""".split(),
    "/v1/responses": """input instructions stream text tools tool_choice reasoning include top_logprobs truncation
        metadata store temperature top_p keep_alive background previous_response_id prompt conversation""".split(),
    "/v1/completions": "prompt suffix stream stream_options temperature seed stop logprobs echo best_of n".split(),
    "/v1/messages": """messages system stream temperature top_p top_k stop_sequences tools tool_choice thinking
        keep_alive""".split(),
}
LIMITS = {
    "/api/generate": {"options": {"num_predict": 2}},
    "/api/chat": {"options": {"num_predict": 2}},
    "/v1/chat/completions": {"max_tokens": 2},
    "/v1/completions": {"max_tokens": 2},
    "/v1/responses": {"max_output_tokens": 2},
    "/v1/messages": {"max_tokens": 2},
}

numbers = st.one_of(st.integers(-(2**70), 2**70), st.floats(), st.integers(-2, 20))
words = st.one_of(
    st.text(max_size=8),
    st.sampled_from(
        [
            "user",
            "assistant",
            "text",
            "system",
            "json",
            "5m",
            "-1",
            "high",
            "tool",
            "function",
            "name",
            "image",
            "image_url",
            "input_image",
        ]
    ),
)
plain = st.one_of(st.none(), st.booleans(), numbers, words)
anything = st.recursive(
    plain, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3), max_leaves=6
)
messages = st.lists(
    st.one_of(
        anything,
        st.dictionaries(st.sampled_from(MESSAGE_FIELDS), anything, max_size=4),
        st.fixed_dictionaries({"role": st.sampled_from(["user", "assistant", "system"]), "content": anything}),
    ),
    max_size=3,
)


def body_of(path):
    fields = {name: messages if name == "messages" else anything for name in FIELDS[path]}
    return st.fixed_dictionaries({"model": st.sampled_from(["sotto", "sotto", "sotto", "nope"])}, optional=fields)


@pytest.mark.parametrize("path", FIELDS)
@examples(60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_no_input_causes_an_internal_error(served, path, data):
    body = data.draw(body_of(path))
    # Long answers and other context lengths would take time without testing more.
    body |= {name: limit for name, limit in LIMITS.get(path, {}).items() if not isinstance(body.get(name), str | list)}
    answer = served.http.post(path, content=json.dumps(body).encode(errors="surrogatepass"))
    assert answer.status_code in (200, 400, 404, 501), answer.text
    if answer.status_code != 200:
        error = answer.json()["error"]
        message = error if isinstance(error, str) else error["message"]
        assert message
        assert "Traceback" not in message
