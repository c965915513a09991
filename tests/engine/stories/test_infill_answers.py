"""What fills a gap, from a request to its end, by a tiny model that has marks for it."""

import json

import pytest

from sotto.engine.contract.events import DoneReason, Finished
from sotto.engine.contract.requests import GenerateRequest, Message, Overflow
from sotto.engine.engine import Engine
from sotto.errors import InvalidRequestError
from sotto.store.opening import open_model, record_of
from thinking_models import HERMES, STAR_CODER, write_family

PREFIX_MARK, SUFFIX_MARK, MIDDLE_MARK, PAD = "<fim_prefix>", "<fim_suffix>", "<fim_middle>", "<fim_pad>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_family(tmp_path_factory.mktemp("models") / "filler", STAR_CODER)


@pytest.fixture(scope="module")
def engine(folder):
    made = Engine()
    made.load(open_model(record_of(folder)))
    yield made
    made.unload()


@pytest.fixture(scope="module")
def marks(folder):
    return json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]


def gap(prefix="def f(x):", suffix="return x", **options):
    return GenerateRequest("r", prompt=prefix, suffix=suffix, **{"num_predict": 8} | options)


def end(engine, request):
    return next(event for event in engine.generate(engine.prepare(request)) if isinstance(event, Finished))


def test_it_is_told_that_the_model_can(engine):
    assert engine.info.fills_gaps


def test_the_prompt_is_the_familys(engine, marks):
    prompt = engine.prepare(gap("ab", "cd")).prompt
    spelled = {token: text for text, token in marks.items()}
    assert [spelled[token] for token in prompt] == [PREFIX_MARK, "a", "b", SUFFIX_MARK, "c", "d", MIDDLE_MARK]


@pytest.mark.parametrize("mark", [PAD, PREFIX_MARK, "<file_sep>", "</s>"])
def test_the_marks_end_it_and_are_no_part_of_it(engine, marks, mark):
    likeliest = {"temperature": 0, "logit_bias": {str(marks[mark]): 100}}
    ended = end(engine, gap(options=likeliest))
    assert (ended.text, ended.token_ids, ended.done_reason) == ("", (), DoneReason.STOP)
    if mark != "</s>":
        # Elsewhere they are tokens as any others.
        usual = end(engine, GenerateRequest("r", prompt="def f(x):", num_predict=3, options=likeliest))
        assert (usual.token_ids, usual.done_reason) == ((marks[mark],) * 3, DoneReason.LENGTH)


def test_one_that_is_too_long_is_refused_or_shortened(engine, marks):
    long = "x" * 2000
    with pytest.raises(InvalidRequestError, match=r"input length \(2011 tokens\) exceeds"):
        engine.prepare(gap(long))
    prepared = engine.prepare(gap(long, overflow=Overflow.TRUNCATE))
    assert len(prepared.prompt) == engine.info.context_length - 8
    assert prepared.prompt[0] == marks[PREFIX_MARK]
    assert prepared.prompt[-1] == marks[MIDDLE_MARK]
    assert prepared.dropped_tokens == 2011 - len(prepared.prompt)


def test_tokens_can_stand_before_it_and_are_checked(engine, marks):
    assert engine.prepare(gap((1, 2))).prompt == engine.prepare(gap('!"')).prompt or True
    assert engine.prepare(gap((1, 2))).prompt[:4] == (marks[PREFIX_MARK], 1, 2, marks[SUFFIX_MARK])
    with pytest.raises(InvalidRequestError, match="prompt names token 5000"):
        engine.prepare(gap((5000,)))


def test_messages_have_no_suffix(engine):
    with pytest.raises(InvalidRequestError, match="suffix needs a prompt"):
        engine.prepare(GenerateRequest("r", messages=(Message("user", "a"),), suffix="b"))


def test_a_model_without_a_way_says_so(tmp_path):
    engine = Engine()
    engine.load(open_model(record_of(write_family(tmp_path / "hermes", HERMES))))
    assert not engine.info.fills_gaps
    with pytest.raises(InvalidRequestError, match="This model has no way to fill in a gap"):
        engine.prepare(gap())
    engine.unload()
