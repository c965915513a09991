"""Requests recorded with Ollama, sent to Sotto: the answers are the same, except where a reason is listed below.

The tests compare the status, the media type, the fields of every object with their types, the texts of errors and,
with greedy decoding, the generated text.
"""

import json
import shutil

import pytest

from material import ROOT
from sotto.store.removal import own_store

_RECORDED = ROOT / "ollama-api" / "recorded.json"
ANSWERS = json.loads(_RECORDED.read_text()) if _RECORDED.exists() else {}

ORIGIN = "Web pages are refused, whatever their origin: no page that a person opens may use their models."
MODEL = "The model is not part of the test material."
THINKS = "If a model cannot think, a request for thinking is ignored in every dialect, with a warning."
STRICT = "A mistake in a request is a client error."

# The status in Sotto by the name of the recorded request, and why it differs.
STATUS = {
    **dict.fromkeys("gen-think chat-think v1-chat-think".split(), (200, THINKS)),
    "v1-emb-tokens": (200, "OpenAI's clients send tokens."),
    "embed-completionmodel": (200, "Generative models can make embeddings, too."),
    "blob-post-again": (201, "The file was not sent before."),
    "create-badblob": (400, STRICT),
    "create-quant-bad": (400, STRICT),
    "push-missing": (404, "A model that is not here is not found, as everywhere."),
    **dict.fromkeys("delete-name".split(), (404, "Models that earlier requests made do not exist here.")),
    "v1-resp-noinput": (400, "There is nothing to answer."),
    **dict.fromkeys("show-child chat-child".split(), (404, MODEL)),
    **dict.fromkeys("cors-file cors-vscode".split(), (403, ORIGIN)),
    "trailing-slash": (307, "The redirect preserves the method."),
    "double-slash": (404, "Unknown paths are not guessed at."),
    "gen-null": (400, STRICT),
    "gen-format-bad": (400, "A mistake of the client is not a server error."),
    "gen-debug": (501, "This is not implemented yet."),
    "gen-opt-wrongtype": (400, STRICT),
    "gen-opt-stop-str": (200, "A single stop text is accepted like a list of one."),
    "chat-norole": (400, "Every message needs a role."),
    "chat-image": (400, STRICT),
    "v1-comp-list": (200, "Several prompts are answered."),
}

# Errors with a different text.
GO = "It names the field in the terms of its dialect, not a type in Ollama's source code."
TEXTS = {
    **dict.fromkeys(
        """show-wrongtype gen-array gen-prompt-int chat-contentlist v1-chat-badjson v1-chat-nobody
        anth-badjson""".split(),
        GO,
    ),
    "create-badtemplate": "It says what is wrong in the words of its own interpreter.",
    "embed-notrunc": "It also states the actual and the maximum length.",
    **dict.fromkeys("gen-images-bad gen-longprompt-notrunc".split(), "Ollama passes on the text of llama.cpp."),
    "gen-mlx-long": "Ollama's tokenizer makes one more token here than its GGUF implementation and SentencePiece do.",
    **dict.fromkeys("v1-chat-tools v1-comp-suffix".split(), "The model is named as in the request."),
}

# Fields that only Sotto's answer has (+), or only Ollama's (-).
FIELDS = {
    "+prompt_eval_cached_count": "The number of cached prompt tokens is reported.",
    "+usage.prompt_tokens_details": "The number of cached prompt tokens is reported, in OpenAI's field.",
    "+usage.cache_read_input_tokens": "The number of cached prompt tokens is reported, in Anthropic's field.",
    "+message.usage.cache_read_input_tokens": "As above.",
    "+sotto": "Sotto's own version is reported beside the Ollama version that it follows.",
    "+stop_sequence": "Anthropic's own answers have it.",
    "+message.stop_sequence": "Anthropic's own answers have it.",
    "+message.stop_reason": "Anthropic's own answers have it.",
    "+delta.stop_sequence": "Anthropic's own answers have it.",
    "-requires": "No version of Ollama is required.",
    "-tensors": "They are listed only on request, as in Ollama; here all-minilm is a safetensors model.",
}

# Event types with a different name.
EVENTS = {"response.completed": ("response.incomplete", "A truncated response is incomplete, as in OpenAI's API.")}

# Requests that make Sotto connect to other machines.
OUTSIDE = {"create-frommissing"}

_USED = set()


@pytest.fixture(scope="module", autouse=True)
def made():
    """Delete what the requests made."""
    yield
    shutil.rmtree(own_store(), ignore_errors=True)


def sent(recorded):
    """Return a recorded request as it is sent here."""
    request = recorded["request"]
    body = request.get("body")
    content = json.dumps(body).encode() if isinstance(body, dict) else body.encode() if body is not None else None
    return {"method": request["method"], "url": request["path"], "headers": request["headers"], "content": content}


def values(text, kind):
    """Return the objects of an answer."""
    if kind == "ndjson":
        return [json.loads(row) for row in text.splitlines()]
    if kind == "sse":
        rows = [row.removeprefix("data: ") for row in text.splitlines() if row.startswith("data: ")]
        return [json.loads(row) if row.startswith("{") else row for row in rows]
    return [json.loads(text)] if kind == "json" else [text]


def differences(theirs, ours, path=""):
    """Yield the differences in type and structure between two values."""
    if isinstance(theirs, dict) and isinstance(ours, dict) and not path.endswith(("model_info", "details")):
        for name in theirs.keys() | ours.keys():
            inner = f"{path}.{name}" if path else name
            if name not in ours or name not in theirs:
                yield f"{'+' if name in ours else '-'}{inner}"
            else:
                yield from differences(theirs[name], ours[name], inner)
    elif isinstance(theirs, list) and isinstance(ours, list):
        for their_item, our_item in zip(theirs[:1], ours[:1], strict=False):
            yield from differences(their_item, our_item, path)
    elif type(theirs) is not type(ours) and not (path.endswith("stop_reason") or None in (theirs, ours)):
        yield f"{path}: {type(ours).__name__} for {type(theirs).__name__}"


def event_of_theirs(text):
    """Return Ollama's name for the type of an event here."""
    for theirs, (ours, _) in EVENTS.items():
        text = text.replace(ours, theirs)
    return text


def alike(theirs, ours):
    """Return the pairs of objects to compare: those of the same type, or else the first and the last ones."""
    if isinstance(theirs[0], dict) and len(theirs) > 1 and "type" in theirs[0]:
        mine = {event_of_theirs(row["type"]): row for row in ours}
        return [(row, mine[row["type"]]) for row in theirs]
    return [(theirs[0], ours[0]), (theirs[-1], ours[-1])]


def error_text(value):
    """Return the text of an error in any dialect; None if it is not an error."""
    error = value.get("error") if isinstance(value, dict) else None
    return error["message"] if isinstance(error, dict) else error


@pytest.mark.skipif(not ANSWERS, reason=f"needs {_RECORDED}, which is not on this machine")
@pytest.mark.parametrize(
    "name", [name for name, answer in ANSWERS.items() if "status" in answer and name not in OUTSIDE]
)
def test_the_answer_is_ollamas(served, name):
    recorded = ANSWERS[name]
    answer = served.http.request(**sent(recorded))
    status, _ = STATUS.get(name, (recorded["status"], ""))
    assert answer.status_code == status, answer.text
    if name in STATUS:
        assert status != recorded["status"], "this difference no longer exists"
        if status == 501:
            assert request_is_head(recorded) or error_text(answer.json()).endswith(".")
        return
    kind = next(kind for kind in ("json", "ndjson", "sse", "text") if kind in recorded)
    media_type = answer.headers.get("content-type", "").partition(";")[0]
    assert media_type == recorded["headers"].get("content-type", media_type).partition(";")[0]
    theirs = values(recorded[kind], kind) if kind in ("sse", "text") else recorded[kind]
    theirs = [theirs] if kind == "json" else theirs
    ours = values(answer.text, kind)
    if (text := error_text(theirs[0])) is not None:
        mine = error_text(ours[0])
        assert (mine != text) == (name in TEXTS), mine
        _USED.add(name)
    for their_row, our_row in alike(theirs, ours):
        found = set(differences(their_row, our_row))
        assert found <= FIELDS.keys(), found
        _USED.update(found)
    if kind == "sse":
        names = [event_of_theirs(row) for row in answer.text.splitlines() if row.startswith("event: ")]
        assert list(dict.fromkeys(names)) == list(
            dict.fromkeys(row for row in recorded["sse"].splitlines() if row.startswith("event: "))
        )


def request_is_head(recorded):
    return recorded["request"]["method"] == "HEAD"


@pytest.mark.parametrize(
    "name", ["gen", "gen-stream", "gen-mlx-stream", "gen-keepalive-str", "gen-format-empty", "gen-opt-intfloat"]
)
def test_greedy_answers_are_ollamas(served, name):
    if not ANSWERS:
        pytest.skip(f"needs {_RECORDED}, which is not on this machine")
    rows = ANSWERS[name].get("ndjson") or [ANSWERS[name]["json"]]
    answer = values(served.http.request(**sent(ANSWERS[name])).text, "ndjson")
    assert "".join(row["response"] for row in answer) == "".join(row["response"] for row in rows)
    assert answer[-1]["done_reason"] == rows[-1]["done_reason"]
    assert answer[-1]["eval_count"] == rows[-1]["eval_count"]


def test_stop_sequences_end_the_answer(served):
    if not ANSWERS:
        pytest.skip(f"needs {_RECORDED}, which is not on this machine")
    answer = served.http.request(**sent(ANSWERS["gen-opt-stop"])).json()
    assert answer["response"] == ANSWERS["gen-opt-stop"]["json"]["response"]
    assert answer["done_reason"] == "stop"


@pytest.mark.skipif(not ANSWERS, reason=f"needs {_RECORDED}, which is not on this machine")
def test_every_listed_difference_occurs(request):
    known = {name for name, answer in ANSWERS.items() if "status" in answer and name not in OUTSIDE}
    assert (STATUS.keys() | TEXTS.keys()) <= known
    ran = sum(item.originalname == "test_the_answer_is_ollamas" for item in request.session.items)
    if ran == len(known):  # otherwise not everything was compared
        assert (FIELDS.keys() | TEXTS.keys()) <= _USED, (FIELDS.keys() | TEXTS.keys()) - _USED
