"""Options of requests and models: defaults, precedence, and the messages for refused ones."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sotto.engine.contract.options import (
    _READERS,
    RequestOptions,
    known_options,
    misspelling_notes,
    options_by_name,
    request_options,
    split_params,
)
from sotto.engine.contract.requests import SamplingOptions
from sotto.errors import InvalidRequestError

MODEL = {
    "temperature": 0.6,
    "top_k": 20,
    "top_p": 0.95,
    "min_p": 0.05,
    "repeat_penalty": 1.1,
    "repeat_last_n": 128,
    "presence_penalty": 1.5,
    "frequency_penalty": 0.5,
    "typical_p": 0.9,
    "xtc_probability": 0.5,
    "xtc_threshold": 0.15,
    "dry_multiplier": 0.8,
    "dry_base": 2.0,
    "dry_allowed_length": 3,
    "dry_penalty_last_n": 512,
    "dry_sequence_breakers": ["\n", "User:"],
    "mirostat": 2,
    "mirostat_tau": 4.0,
    "mirostat_eta": 0.2,
    "logit_bias": {"5": -100, "17": 2.5},
    "loop_guard": False,
    "seed": 7,
    "num_predict": 100,
    "num_ctx": 4096,
    "stop": ["<|im_end|>", "User:"],
}


def test_defaults_are_those_of_the_types():
    assert request_options({}, {}) == RequestOptions()
    assert request_options({}, {}).sampling == SamplingOptions()


def test_every_option_is_read():
    options = request_options(MODEL, {})
    others = ("num_predict", "num_ctx", "stop", "loop_guard", "logit_bias", "dry_sequence_breakers")
    sampling = SamplingOptions(
        **{name: value for name, value in MODEL.items() if name not in others},
        logit_bias=((5, -100.0), (17, 2.5)),
        dry_sequence_breakers=("\n", "User:"),
    )
    assert options == RequestOptions(sampling, 100, 4096, ("<|im_end|>", "User:"), loop_guard=False)
    # Options that have been checked already pass unchanged.
    assert request_options({}, options_by_name(options.sampling)).sampling == options.sampling
    assert {*MODEL} == set(_READERS)


def test_requests_override_models_and_models_override_defaults():
    options = request_options({"temperature": 0.6, "top_k": 20}, {"temperature": 0})
    assert options.sampling == SamplingOptions(temperature=0, top_k=20)
    assert request_options({"stop": ["a"]}, {"stop": "b"}).stop == ("b",)
    assert request_options({"num_ctx": 4096}, {"num_ctx": None}).num_ctx == 4096


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("seed", -1, None),
        ("seed", 0, 0),
        ("seed", 2**64 - 1, 2**64 - 1),
        ("seed", 42.0, 42),
        ("top_k", 3.9, 3),
        ("top_k", 0, 0),
        ("top_k", -1, -1),
        ("repeat_last_n", -1, -1),
        ("temperature", 1, 1.0),
        ("top_p", 0, 0.0),
        ("min_p", 1, 1.0),
    ],
)
def test_boundary_values(name, value, expected):
    assert getattr(request_options({}, {name: value}).sampling, name) == expected


@pytest.mark.parametrize(("given", "expected"), [(-1, -1), (-2, -1), (0, -1), (1, 1), (5, 5), (None, None)])
def test_num_predict_below_1_means_no_limit(given, expected):
    assert request_options({}, {"num_predict": given}).num_predict == expected


@pytest.mark.parametrize(("given", "expected"), [(0, None), (-1, None), (1, 4), (2048, 2048)])
def test_a_context_has_at_least_four_tokens(given, expected):
    assert request_options({}, {"num_ctx": given}).num_ctx == expected


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("temperature", "hot", "Option temperature must be a number, not 'hot'."),
        ("temperature", True, "Option temperature must be a number, not True."),
        ("temperature", math.nan, "Option temperature must be from 0 to 100, not nan."),
        ("temperature", math.inf, "Option temperature must be from 0 to 100, not inf."),
        ("temperature", -0.1, "Option temperature must be from 0 to 100, not -0.1."),
        ("top_p", 1.1, "Option top_p must be from 0 to 1, not 1.1."),
        ("min_p", -1, "Option min_p must be from 0 to 1, not -1."),
        ("top_k", -2, "Option top_k must be from -1 to 2147483647, not -2."),
        ("top_k", "40", "Option top_k must be a whole number, not '40'."),
        ("top_k", math.nan, "Option top_k must be a whole number, not nan."),
        ("top_k", [40], "Option top_k must be a whole number, not [40]."),
        ("repeat_last_n", -2, "Option repeat_last_n must be from -1 to 2147483647, not -2."),
        ("repeat_penalty", -1, "Option repeat_penalty must be from 0 to 100, not -1."),
        ("presence_penalty", 1e9, "Option presence_penalty must be from -100 to 100, not 1000000000.0."),
        ("frequency_penalty", {}, "Option frequency_penalty must be a number, not {}."),
        ("seed", 2**64, f"Option seed must be from {-(2**63)} to {2**64 - 1}, not {2**64}."),
        ("seed", "x" * 100, f"Option seed must be a whole number, not {('x' * 100)!r:.60}...."),
        ("num_predict", 1e300, None),
        ("typical_p", 1.5, "Option typical_p must be from 0 to 1, not 1.5."),
        ("xtc_threshold", math.nan, "Option xtc_threshold must be from 0 to 1, not nan."),
        ("dry_base", 0.5, "Option dry_base must be from 1 to 100, not 0.5."),
        ("dry_allowed_length", 0, "Option dry_allowed_length must be from 1 to 2147483647, not 0."),
        ("dry_sequence_breakers", [1], "Option dry_sequence_breakers must be a string or a list of strings, not [1]."),
        ("mirostat", 3, "Option mirostat must be 0, which is off, 1 or 2, not 3."),
        ("mirostat", True, "Option mirostat must be 0, which is off, 1 or 2, not True."),
        ("loop_guard", 1, "Option loop_guard must be true or false, not 1."),
        ("logit_bias", [5], "Option logit_bias must be an object of numbers by token, not [5]."),
        ("logit_bias", {"x": 1}, "Option logit_bias must name tokens from 0 to 2147483647, not 'x'."),
        ("logit_bias", {"-1": 1}, "Option logit_bias must name tokens from 0 to 2147483647, not '-1'."),
        ("logit_bias", {"1": 101}, "Option logit_bias['1'] must be from -100 to 100, not 101."),
        ("logit_bias", {"1": math.nan}, "Option logit_bias['1'] must be from -100 to 100, not nan."),
        (
            "logit_bias",
            dict.fromkeys(map(str, range(1025)), 1),
            "Option logit_bias takes at most 1024 tokens, not 1025.",
        ),
        ("stop", 5, "Option stop must be a string or a list of strings, not 5."),
        ("stop", ["a", None], "Option stop must be a string or a list of strings, not ['a', None]."),
        ("stop", ["a"] * 65, "Option stop takes at most 64 texts of at most 1000 characters each."),
        ("stop", "a" * 1001, "Option stop takes at most 64 texts of at most 1000 characters each."),
    ],
)
def test_a_refusal_names_the_option_and_the_allowed_values(name, value, sentence):
    with pytest.raises(InvalidRequestError) as caught:
        request_options({}, {name: value})
    message = str(caught.value)
    assert message == sentence or (sentence is None and name in message)
    # The options of a model may be meant for another program, so they are ignored with a note.
    assert request_options({name: value}, {}) == RequestOptions(notes=(f"{message[:-1]}, and was ignored.",))


def test_a_wrong_value_that_is_overridden_is_ignored():
    assert request_options({"top_k": "many"}, {"top_k": 5}).sampling.top_k == 5


def test_unknown_options_are_refused_and_those_of_a_model_noted():
    with pytest.raises(InvalidRequestError, match=r"^Option top_q is not known; did you mean top_p\?$"):
        request_options({}, {"top_q": 0.5})
    with pytest.raises(
        InvalidRequestError, match=r"^Option warp is not known; there are dry_allowed_length, .*typical"
    ):
        request_options({}, {"warp": None})
    with pytest.raises(InvalidRequestError, match=r"^Option a\\u2028b is not known"):
        request_options({}, {"a\u2028b": 1})
    options = request_options({"warp": 9}, {"num_thread": 4, "top_k": 5})
    assert options.sampling == SamplingOptions(top_k=5)
    assert options.notes == (
        "Option warp is not known and was ignored.",
        "Option num_thread has no effect here and was ignored.",
    )


def test_unknown_options_of_a_client_are_left_out_and_named():
    known, notes = known_options({"top_k": "x", "num_gpu": 1, "warp": 1, "seeed": 2, "stop": None})
    assert known == {"top_k": "x", "num_gpu": 1, "stop": None}
    assert notes == ("warp is not known and was ignored.", "seeed is not known; did you mean seed?")
    assert known_options({}) == ({}, ())
    assert len(known_options({"x" * 10**6: 1})[1][0]) < 100


@given(st.data())
def test_a_name_with_one_wrong_letter_is_recognized(data):
    """Check names with one letter added, missing, wrong or swapped; with more faults they are not recognized."""
    right = data.draw(st.sampled_from(sorted(_READERS)))
    place = data.draw(st.integers(0, len(right)))
    letter = data.draw(st.sampled_from("abcdefghijklmnopqrstuvwxyz_"))
    begin, rest = right[:place], right[place:]
    for wrong in (
        begin + letter + rest,
        begin + rest[1:],
        begin + letter + rest[1:],
        begin + rest[1:2] + rest[:1] + rest[2:],
    ):
        if wrong not in _READERS:
            (note,) = misspelling_notes([wrong])
            named_as = note.removeprefix(f"{wrong} is not known; did you mean ").removesuffix("?")
            # Several short names may be equally close.
            assert named_as in _READERS
            assert named_as == right or abs(len(named_as) - len(wrong)) <= 1
        assert misspelling_notes([f"{wrong}{letter}q7"]) == ()


def test_names_with_more_wrong_letters_are_not_guessed():
    assert misspelling_notes(["user", "model", "messages", "temp", "mirostat_t", "max_tokens", "n", "", "seeeed"]) == ()
    assert misspelling_notes(["tmeperature", "emperature", "top__p", "temperatur", "sotp"]) == (
        "tmeperature is not known; did you mean temperature?",
        "emperature is not known; did you mean temperature?",
        "top__p is not known; did you mean top_p?",
        "temperatur is not known; did you mean temperature?",
        "sotp is not known; did you mean stop?",
    )


# All options that Ollama's `api.Options` has or had.
OLLAMA = """
draft_num_predict embedding_only f16_kv frequency_penalty logits_all low_vram main_gpu min_p mirostat mirostat_eta
mirostat_tau num_batch num_ctx num_gpu num_gqa num_keep num_predict num_thread numa penalize_newline presence_penalty
repeat_last_n repeat_penalty rope_frequency_base rope_frequency_scale seed stop temperature tfs_z top_k top_p typical_p
use_mlock use_mmap vocab_only
""".split()


def test_no_option_in_a_manifest_of_ollama_is_an_error():
    for value in (True, -3, 1, 0.5, "x", ["x"], {"x": 1}, math.nan, 2**80):
        options = request_options(dict.fromkeys([*OLLAMA, "from_tomorrow"], value), {})
        noted = {note.split()[1] for note in options.notes}
        assert noted >= {"num_gqa", "tfs_z", "penalize_newline", "low_vram", "f16_kv", "from_tomorrow"}
        assert not noted - {*OLLAMA, "from_tomorrow"}
    kept, notes = split_params({"mirostat": 1, "numa": False, "top_k": None, "temperature": -1, "min_p": 0.1})
    assert kept == {"mirostat": 1, "min_p": 0.1}
    assert notes == (
        "Option numa has no effect here and was ignored.",
        "Option temperature must be from 0 to 100, not -1, and was ignored.",
    )


def test_empty_stop_strings_are_left_out():
    assert request_options({}, {"stop": ["", "a"]}).stop == ("a",)
    assert request_options({}, {"stop": ""}).stop == ()


JSON = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.lists(st.text(max_size=3))


@given(options=st.dictionaries(st.sampled_from([*MODEL, "num_gpu", "odd"]), JSON | st.dictionaries(st.text(), JSON)))
def test_any_json_gives_options_or_a_sentence(options):
    try:
        read = request_options({}, options)
    except InvalidRequestError as error:
        assert str(error).startswith("Option ")  # noqa: PT017 - success is allowed as well
        return
    sampling = read.sampling
    assert 0 <= sampling.temperature <= 100
    assert 0 <= sampling.top_p <= 1
    assert sampling.seed is None or 0 <= sampling.seed < 2**64
