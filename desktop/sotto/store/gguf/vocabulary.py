"""The `tokenizer.json` and its small companions that a GGUF file's vocabulary stands for.

Models that write have one of two kinds. A byte-level one (`gpt2`) has its merges and the name of the way in which texts
are cut before; a SentencePiece one (`llama`) has a score for each token, and of two neighbours those are merged first
whose whole has the higher score. Both are BPE; the merges of the second are every way to make a token of two others, by
the scores. The kinds that encoders have beside these are in `pieces`.
"""

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sotto.errors import BrokenModelError
from sotto.store.gguf.encoders import ENCODERS
from sotto.store.gguf.metadata_values import Values
from sotto.store.gguf.pieces import framing, unigram_tokenizer, word_piece_tokenizer, word_pieces
from sotto.store.gguf.pre_tokenizers import CUTTINGS, Cutting
from sotto.store.printable import printable, printable_path

_UNKNOWN, _CONTROL, _USER_DEFINED, _NORMAL = 2, 3, 4, 1
_SPACE = "\u2581"
_NAMED = {"bos": "bos_token", "eos": "eos_token", "unknown": "unk_token", "padding": "pad_token"}
# Those that encoders have around a text; the key was misspelt at first, and stayed so.
_AROUND = {"cls": "[CLS]", "seperator": "[SEP]"}
# What stands around a gap that is to be filled, by the names of newer and of older files.
_AROUND_GAPS = ("fim_pre", "fim_suf", "fim_mid", "fim_pad", "fim_rep", "fim_sep", "prefix", "suffix", "middle")
# SentencePiece's own, where the file does not say.
_USUAL = {"bos": 1, "eos": 2, "unknown": 0}
# The ways of cutting of architectures whose files, where Ollama made them, do not say it or say nothing of worth.
_USUAL_CUTTING = {"gptoss": "gpt-4o", "mistral3": "tekken"}
# Tokens that end a turn or a text, in files that do not say which one does.
_ENDS = frozenset(
    """
    <|eot_id|> <|eom_id|> <|im_end|> <end_of_turn> <|endoftext|> <|end_of_text|> <EOT> [EOT] <|end|> <|return|> <|call|>
    <｜end▁of▁sentence｜>
    """.split()
)
# Where an answer has several channels, `<|end|>` only ends one of them.
_CHANNEL, _CHANNEL_END = "<|channel|>", "<|end|>"
# A merge is looked for at each place in a token: the most there are in any vocabulary, several times over.
_LONGEST_MERGED = 256
_MOST_TEMPLATES = 16
_MOST_PLACES = 1 << 23


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What a vocabulary stands for.

    Attributes:
        tokenizer: The text of `tokenizer.json`.
        files: `tokenizer_config.json` and `generation_config.json`.
    """

    tokenizer: str
    files: Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class _Read:
    """What was read of a vocabulary.

    Attributes:
        tokenizer: As `tokenizer.json` has it, as yet without added tokens and those around a text.
        tokens: How each is written there.
        ids: Special tokens by what they are for.
        before: The token in front of a text, or None.
        behind: The one behind it where a vector is made.
    """

    tokenizer: dict[str, Any]
    tokens: Sequence[str]
    ids: Mapping[str, int]
    before: int | None
    behind: int | None


def vocabulary_of(values: Values) -> Vocabulary:
    """Return what a file's vocabulary stands for.

    Raises:
        BrokenModelError: It is of a kind that is not known, or makes no sense.
    """
    read = _KINDS.get(values.text("tokenizer.ggml.model"))
    if read is None:
        raise values.wrong("tokenizer.ggml.model", f"{', '.join(_KINDS)}, the kinds of vocabularies that can be read")
    tokens = _tokens(values)
    kinds = _parallel(values, "tokenizer.ggml.token_type", int) or [_NORMAL] * len(tokens)
    found = read(values, tokens, kinds)
    tokenizer, texts, ids = found.tokenizer, found.tokens, found.ids
    if found.behind is not None:
        tokenizer["post_processor"] = framing(texts, found.before, found.behind)
    tokenizer["added_tokens"] = _all_added(texts, kinds, ids)
    config: dict[str, Any] = {
        name: texts[ids[key]] if key in ids else None for key, name in _NAMED.items()
    } | {"add_bos_token": found.before is not None}  # fmt: skip
    if templates := _templates(values):
        config["chat_template"] = templates
    ends = sorted(set(_ends(values, tokens, kinds, ids)))
    return Vocabulary(
        json.dumps({"version": "1.0", **tokenizer}, ensure_ascii=False),
        {"tokenizer_config.json": config, "generation_config.json": {"eos_token_id": ends}},
    )


def added_tokens_of(values: Values) -> Vocabulary:
    """Return of a file's vocabulary the added tokens and the chat templates alone, of a model that writes.

    Raises:
        BrokenModelError: They make no sense.
    """
    tokens = _tokens(values)
    kinds = _parallel(values, "tokenizer.ggml.token_type", int) or [_NORMAL] * len(tokens)
    ids = _ids(values, len(tokens), _USUAL if values.text("tokenizer.ggml.model") == "llama" else None)
    templates = _templates(values)
    return Vocabulary(
        json.dumps({"added_tokens": _all_added(tokens, kinds, ids)}, ensure_ascii=False),
        {"tokenizer_config.json": {"chat_template": templates} if templates else {}},
    )


def _all_added(texts: Sequence[str], kinds: Sequence[int], ids: Mapping[str, int]) -> list[dict[str, Any]]:
    """Return the tokens that are found in a text as they are."""
    named = set(ids.values())
    return [
        _added(token, texts[token], special=kinds[token] != _USER_DEFINED)
        for token in range(len(texts))
        if kinds[token] in (_CONTROL, _USER_DEFINED, _UNKNOWN) or token in named
    ]


def _templates(values: Values) -> str | dict[str, str]:
    """Return the chat template, or several of them by their names."""
    default = values.text("tokenizer.chat_template")
    names = values.items("tokenizer.chat_templates", str, "a list of names")
    if len(names) > _MOST_TEMPLATES:
        raise values.wrong("tokenizer.chat_templates", f"a list of at most {_MOST_TEMPLATES}")
    # Files list names in whatever order.
    named = {name: values.text(f"tokenizer.chat_template.{name}") for name in sorted(names)}
    texts = {name: text for name, text in ({"default": default} | named).items() if text}
    return texts if named else default


def _tokens(values: Values) -> list[str]:
    """Return the texts of all tokens."""
    key = "tokenizer.ggml.tokens"
    tokens = [text or f"[EMPTY_{index}]" for index, text in enumerate(values.items(key, str, "a list of texts"))]
    if not tokens:
        raise values.wrong(key, "a list of texts")
    if len(set(tokens)) != len(tokens):
        seen: set[str] = set()
        twice = next(text for text in tokens if text in seen or seen.add(text))  # type: ignore[func-returns-value]
        raise BrokenModelError(
            f"{printable_path(values.file.path)}: {key} has '{printable(twice, 40)}' twice; each token should be "
            "there once."
        )
    # Some files have tokens at the end that stand for pictures, and have no embedding.
    return tokens[: values.width("token_embd.weight", 0)]


def _parallel(values: Values, key: str, kind: type) -> Sequence[Any]:
    """Return a list that should have one value for each token; an empty one where there is none."""
    count = len(values.items("tokenizer.ggml.tokens", str, "a list of texts"))
    found = values.items(key, kind, f"a list of {count} numbers")
    if found and len(found) != count:
        raise values.wrong(key, f"a list of {count}, one for each token")
    return found


def _ids(values: Values, count: int, usual: Mapping[str, int] | None = None) -> dict[str, int]:
    """Return the special tokens that the file names, by what they are for."""
    ids = {}
    for name in (*_NAMED, *_AROUND, *_AROUND_GAPS, "eot", "eom"):
        key = f"tokenizer.ggml.{name}_token_id"
        default = (usual or {}).get(name, -1)
        if values.has(key) or 0 <= default < count:
            token = values.whole(key, default, 0)
            # Some files name a token that was never made; it can neither be read nor written.
            if token < count:
                ids[name] = token
    return ids


def _ends(values: Values, tokens: Sequence[str], kinds: Sequence[int], ids: Mapping[str, int]) -> Iterator[int]:
    """Yield the tokens that end an answer."""
    yield from (ids[name] for name in ("eos", "eot", "eom") if name in ids)
    more = values.items("tokenizer.ggml.eos_token_ids", int, "a list of tokens")
    yield from (token for token in more if isinstance(token, int) and 0 <= token < len(tokens))
    channels = _CHANNEL in tokens
    for token, text in enumerate(tokens):
        if text in _ENDS and kinds[token] == _CONTROL and not (channels and text == _CHANNEL_END):
            yield token


def _cutting(values: Values) -> Cutting:
    name = values.text("tokenizer.ggml.pre", "default")
    if name == "default":
        name = _USUAL_CUTTING.get(values.architecture, name)
    if name not in CUTTINGS:
        raise BrokenModelError(
            f"{printable_path(values.file.path)}: its texts are cut in the way '{printable(name, 40)}' "
            "(tokenizer.ggml.pre), which is none that Sotto knows."
        )
    return CUTTINGS[name]


def _framed(
    values: Values, tokenizer: dict[str, Any], tokens: Sequence[str], ids: Mapping[str, int], *, add_bos: bool
) -> _Read:
    """Return a vocabulary with what the file wants around texts; encoders have both, where nothing is said."""
    encoder = values.architecture in ENCODERS
    before = values.truth("tokenizer.ggml.add_bos_token", add_bos or encoder)
    behind = values.truth("tokenizer.ggml.add_eos_token", encoder)
    return _Read(tokenizer, tokens, ids, ids.get("bos") if before else None, ids.get("eos") if behind else None)


def _byte_level(values: Values, tokens: Sequence[str], _kinds: Sequence[int]) -> _Read:
    cutting = _cutting(values)
    merges = []
    for merge in values.items("tokenizer.ggml.merges", str, "a list of texts"):
        # A token may be a space itself, or begin with one.
        left, _, right = merge[1:].partition(" ")
        merges.append([merge[:1] + left, right])
    split = [
        {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
        for pattern in cutting.patterns
    ]
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    tokenizer = {
        "normalizer": {"type": "NFC"} if cutting.composed else None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [*split, level]},
        "decoder": level,
        "model": _model(tokens, merges) | {"ignore_merges": cutting.whole_words},
    }
    return _framed(values, tokenizer, tokens, _ids(values, len(tokens)), add_bos=cutting.add_bos)


def _scores(values: Values, tokens: Sequence[str]) -> Sequence[float]:
    scores = _parallel(values, "tokenizer.ggml.scores", float)
    if not scores or not all(map(math.isfinite, scores)):
        raise values.wrong("tokenizer.ggml.scores", f"a list of {len(tokens)} numbers, one for each token")
    return scores


def _sentencepiece(values: Values, tokens: Sequence[str], kinds: Sequence[int]) -> _Read:
    scores = _scores(values, tokens)
    prefix = values.truth("tokenizer.ggml.add_space_prefix", default=True)
    spaces: list[dict[str, Any]] = [{"type": "Replace", "pattern": {"String": " "}, "content": _SPACE}]
    decoders: list[dict[str, Any]] = [
        {"type": "Replace", "pattern": {"String": _SPACE}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"}
    ]  # fmt: skip
    if prefix:
        spaces.insert(0, {"type": "Prepend", "prepend": _SPACE})
        decoders.append({"type": "Strip", "content": " ", "start": 1, "stop": 0})
    ids = _ids(values, len(tokens), _USUAL)
    unknown = tokens[ids.get("unknown", 0)]
    if sum(map(len, tokens)) > _MOST_PLACES:
        raise BrokenModelError(
            f"{printable_path(values.file.path)}: its tokens are longer than those of any vocabulary."
        )
    merges = _merges(tokens, kinds, scores)
    tokenizer = {
        "normalizer": {"type": "Sequence", "normalizers": spaces},
        "decoder": {"type": "Sequence", "decoders": decoders},
        "model": _model(tokens, merges) | {"unk_token": unknown, "fuse_unk": True, "byte_fallback": True},
    }
    return _framed(values, tokenizer, tokens, ids, add_bos=True)


def _word_pieces(values: Values, tokens: Sequence[str], kinds: Sequence[int]) -> _Read:
    pieces = word_pieces(tokens, kinds)
    usual = {name: pieces.index(text) for name, text in _AROUND.items() | {("unknown", "[UNK]")} if text in pieces}
    ids = _ids(values, len(pieces), usual)
    tokenizer = word_piece_tokenizer(pieces, pieces[_unknown(values, ids)])
    return _Read(tokenizer, pieces, ids, ids.get("cls", ids.get("bos")), ids.get("seperator", ids.get("eos")))


def _unigram(values: Values, tokens: Sequence[str], kinds: Sequence[int]) -> _Read:
    ids = _ids(values, len(tokens))
    tokenizer = unigram_tokenizer(values, tokens, kinds, _scores(values, tokens), _unknown(values, ids))
    return _framed(values, tokenizer, tokens, ids, add_bos=False)


def _unknown(values: Values, ids: Mapping[str, int]) -> int:
    if "unknown" not in ids:
        raise values.wrong("tokenizer.ggml.unknown_token_id", "the token for what is not in the vocabulary")
    return ids["unknown"]


def _merges(tokens: Sequence[str], kinds: Sequence[int], scores: Sequence[float]) -> list[list[str]]:
    """Return every way to make a token of two others, those of the highest score first, then the first token's."""
    ids = {text: token for token, text in enumerate(tokens) if kinds[token] in (_NORMAL, _USER_DEFINED)}
    found = []
    for text, token in ids.items():
        if len(text) <= _LONGEST_MERGED:
            for place in range(1, len(text)):
                left, right = ids.get(text[:place]), ids.get(text[place:])
                if left is not None and right is not None:
                    found.append((-scores[token], token, left, right))
    return [[tokens[left], tokens[right]] for _, _, left, right in sorted(found)]


def _model(tokens: Sequence[str], merges: list[list[str]]) -> dict[str, Any]:
    return {"type": "BPE", "vocab": {text: token for token, text in enumerate(tokens)}, "merges": merges}


_KINDS: Mapping[str, Callable[[Values, Sequence[str], Sequence[int]], _Read]] = {
    "bert": _word_pieces,
    "gpt2": _byte_level,
    "llama": _sentencepiece,
    "t5": _unigram,
}


def _added(token: int, text: str, *, special: bool) -> dict[str, Any]:
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    return {"id": token, "content": text, "special": special, **flags}
