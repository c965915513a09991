"""Images in the prompts of real templates and tokenizers."""

import json
import shutil
from dataclasses import replace

import pytest

from shown_pictures import REFERENCES, engine_of, picture, request, user
from sotto.engine.contract.answer_parts import ToolCall
from sotto.engine.contract.message_content import ImagePart, TextPart
from sotto.engine.contract.requests import CountRequest, GenerateRequest, Message, Overflow
from sotto.engine.vision.prompt_images import is_image_token, place_images
from sotto.engine.vision.reader_choice import make_reader
from sotto.errors import InvalidRequestError
from sotto.images import image_decoding
from sotto.store.opening import open_model, record_of

# Of each kind of marks: those of turns, those that a template prints for another one, and those that look like HTML.
FAMILIES = ("qwen2-5-vl", "gemma3", "smolvlm", "mistral3")


@pytest.fixture(params=FAMILIES, scope="module")
def family(request):
    return request.param


@pytest.fixture(scope="module")
def engine(family):
    engine = engine_of(REFERENCES / family)
    yield engine
    engine.unload()


@pytest.fixture(scope="module")
def names(family):
    """What stands for images in this family's prompts."""
    source = open_model(record_of(REFERENCES / family))
    reader = make_reader(source.config, source.json_files.get("preprocessor_config.json", {}))
    return sorted({reader.mark, reader.slot})


def image_tokens(prepared):
    return [token for token in prepared.prompt if is_image_token(token)]


@pytest.mark.parametrize("role", ["system", "user", "assistant", "begun", "thought", "call"])
def test_the_name_of_a_mark_in_a_text_is_no_image(engine, names, role):
    question = user("a", 1, "b")
    for name in names:
        said = f"x {name} y"
        messages = {
            "system": [Message("system", said), question],
            "user": [user(said, 1, said)],
            "assistant": [question, Message("assistant", said), user("c")],
            "begun": [question, Message("assistant", said)],
            "thought": [question, Message("assistant", "a", thinking=said), user("c")],
            "call": [
                question,
                Message("assistant", "", tool_calls=(ToolCall("f", {"path": [said]}),)),
                Message("tool", said, tool_name="f"),
            ],
        }[role]
        prepared = engine.prepare(request(messages))
        assert tuple(image_tokens(prepared)) == prepared.images[0].tokens


def test_halves_of_a_mark_in_texts_side_by_side_are_escaped_as_a_whole(engine, names):
    for name in names:
        halves = (TextPart(name[:3]), TextPart(name[3:]))
        whole = engine.prepare(request([Message("user", (TextPart(name),))]))
        assert engine.prepare(request([Message("user", halves)])).prompt == whole.prompt
        shown = engine.prepare(request([Message("user", (*halves, ImagePart(picture(1)), *halves))]))
        assert tuple(image_tokens(shown)) == shown.images[0].tokens


def test_a_mark_that_files_do_not_declare_special_may_be_typed_as_well(tmp_path):
    folder = shutil.copytree(REFERENCES / "smolvlm", tmp_path / "smolvlm")
    tokenizer = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    for token in tokenizer["added_tokens"]:
        token["special"] = token["content"] != "<image>"
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    plain = engine_of(folder)
    prepared = plain.prepare(request([user("a <image> b", 1, "c")]))
    plain.unload()
    assert tuple(image_tokens(prepared)) == prepared.images[0].tokens


def test_an_image_may_be_all_of_a_question_and_stand_in_any_message(engine):
    for messages in ([user(1)], [user(1, 1)], [Message("system", user(2).content), user("a")]):
        prepared = engine.prepare(request(messages))
        assert len(image_tokens(prepared)) == sum(len(image.tokens) for image in prepared.images)


def test_an_answer_to_continue_has_no_images(engine):
    begun = Message("assistant", user("a", 2).content)
    with pytest.raises(InvalidRequestError, match="answer to continue, which has images: leave them out"):
        engine.prepare(request([user("a", 1), begun]))


def test_the_error_says_which_image_cannot_be_decoded(engine):
    broken, whole = ImagePart(picture(3)[:40]), ImagePart(picture(1))
    for messages in (
        [user("a", 1), Message("assistant", "b"), Message("user", (whole, broken))],
        [Message("user", (whole, TextPart("a"), whole)), Message("user", (broken,))],
    ):
        with pytest.raises(InvalidRequestError, match=r"^Image 3 of 3 cannot be read"):
            engine.prepare(request(messages))
    with pytest.raises(InvalidRequestError, match=r"^The image cannot be read"):
        engine.prepare(request([Message("user", (broken,))]))
    with pytest.raises(InvalidRequestError, match=r"^Image 1 of 2 cannot be read"):
        engine.count(CountRequest("c", (user("a"),), images=(broken, whole)))


def test_an_image_in_a_context_that_is_cut_is_left_out_as_a_whole(family):
    small = engine_of(REFERENCES / family, num_ctx=64)
    before = tuple(range(16, 26)) * 4
    asked = replace(request([user("a", 1, "b")], overflow=Overflow.SHIFT), context=before)
    prepared = small.prepare(asked)
    small.unload()
    found = place_images(prepared.prompt, prepared.images)
    assert prepared.dropped_tokens > 0
    assert len(image_tokens(prepared)) == sum(len(each.places) for each in found)
    assert all(len(each.places) == each.image.layout.rows for each in found)


def test_what_is_dropped_of_a_long_conversation_counts_its_images(engine):
    turn = [user("a", *range(1, 9), "b"), Message("assistant", "c")]
    prepared = engine.prepare(request([*(turn * 12), user("d")], overflow=Overflow.SHIFT))
    # By its texts alone, all turns together would be less than what is dropped at a time.
    assert len(prepared.images) >= 8


def test_images_that_leave_no_room_are_named_in_the_error(family):
    small = engine_of(REFERENCES / family, num_ctx=64)
    with pytest.raises(InvalidRequestError, match=r"the last images and what .* send fewer images, or give the model"):
        small.prepare(request([user("a", *range(1, 9))], overflow=Overflow.SHIFT))
    small.unload()


def test_each_image_of_a_long_conversation_is_decoded_once(engine, monkeypatch):
    decoded = []
    decode = image_decoding.decode_image
    monkeypatch.setattr(image_decoding, "decode_image", lambda data, *a: decoded.append(data) or decode(data, *a))
    data = [picture(1) + bytes([number]) for number in range(24)]
    messages = []
    for each in data:
        messages += [Message("user", (ImagePart(each), TextPart("a"))), Message("assistant", "b")]
    asked = GenerateRequest("r", messages=(*messages, user("c")), overflow=Overflow.SHIFT, num_predict=4)
    prepared = engine.prepare(asked)
    assert 0 < len(prepared.images) < len(data)
    # Once to know their sizes, and those that are left to be shown.
    assert len(decoded) <= len(data) + len(prepared.images)
    before = len(decoded)
    engine.prepare(asked)
    assert len(decoded) == before
