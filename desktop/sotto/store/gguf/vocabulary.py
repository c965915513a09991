"""Converting a GGUF file's vocabulary to `tokenizer.json`, `tokenizer_config.json` and `generation_config.json`.

Generative models have one of three kinds, all of them BPE. A byte-level vocabulary (`gpt2`) comes with its merges and
the name of a pre-tokenizer. A SentencePiece vocabulary (`llama`) comes with a score for each token: of all neighbours,
those whose merged token has the highest score are merged first. Its merges are thus all ways to compose a token of two
others, ordered by score. Gemma 4's (`gemma4`) is like it, but lists its merges. Encoders have further kinds, which are
in `pieces`.
"""

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sotto.errors import BrokenModelError
from sotto.store.gguf.encoders import ENCODERS
from sotto.store.gguf.metadata_values import Values
from sotto.store.gguf.pieces import post_processor, unigram_tokenizer, word_piece_tokenizer, word_pieces
from sotto.store.gguf.pre_tokenizers import PRE_TOKENIZERS, PreTokenizer
from sotto.store.printable import printable, printable_path

_UNKNOWN, _CONTROL, _USER_DEFINED, _NORMAL = 2, 3, 4, 1
_SPACE = "\u2581"
_NAMED = {"bos": "bos_token", "eos": "eos_token", "unknown": "unk_token", "padding": "pad_token"}
# The tokens around the texts of encoders; `seperator` is how the format spells the key.
_ENCODER_TOKENS = {"cls": "[CLS]", "seperator": "[SEP]"}
# The tokens for filling in the middle, by their names in newer and in older files.
_INFILL_NAMES = ("fim_pre", "fim_suf", "fim_mid", "fim_pad", "fim_rep", "fim_sep", "prefix", "suffix", "middle")
# SentencePiece's defaults, for files that do not name these tokens.
_SENTENCEPIECE_IDS = {"bos": 1, "eos": 2, "unknown": 0}
# For architectures whose files by Ollama's converter name no pre-tokenizer, or only `default`.
_DEFAULT_PRE_TOKENIZERS = {"gptoss": "gpt-4o", "mistral3": "tekken"}
# Tokens that end a turn or a text, for files that do not list them all.
_ENDS = frozenset(
    """
    <|eot_id|> <|eom_id|> <|im_end|> <end_of_turn> <|endoftext|> <|end_of_text|> <EOT> [EOT] <|end|> <|return|> <|call|>
    <｜end▁of▁sentence｜> <turn|>
    """.split()
)
# In models with channels, `<|end|>` ends a channel and not the answer.
_CHANNEL, _CHANNEL_END = "<|channel|>", "<|end|>"
# Merges are searched for at each position in a token; both limits are several times what any vocabulary needs.
_MAX_MERGED = 256
_MAX_TEMPLATES = 16
_MAX_POSITIONS = 1 << 23


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """A vocabulary in the form of JSON files.

    Attributes:
        tokenizer: The text of `tokenizer.json`.
        files: `tokenizer_config.json` and `generation_config.json`.
    """

    tokenizer: str
    files: Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class _Parsed:
    """A vocabulary of any kind.

    Attributes:
        tokenizer: The contents of `tokenizer.json`, without added tokens and post-processor.
        tokens: The spelling of each token there.
        ids: Special tokens by their names in the file's keys.
        before: Id of the token before a text; None for none.
        after: Id of the token after a text to embed; None for none.
    """

    tokenizer: dict[str, Any]
    tokens: Sequence[str]
    ids: Mapping[str, int]
    before: int | None
    after: int | None


def vocabulary_of(values: Values) -> Vocabulary:
    """Return the vocabulary of a file in the form of JSON files.

    Raises:
        BrokenModelError: It is of an unknown kind or invalid.
    """
    parse = _KINDS.get(values.string("tokenizer.ggml.model"))
    if parse is None:
        raise values.error("tokenizer.ggml.model", f"{', '.join(_KINDS)}, the kinds of vocabularies that can be read")
    tokens = _tokens(values)
    kinds = _parallel(values, "tokenizer.ggml.token_type", int) or [_NORMAL] * len(tokens)
    parsed = parse(values, tokens, kinds)
    tokenizer, texts, ids = parsed.tokenizer, parsed.tokens, parsed.ids
    if parsed.after is not None:
        tokenizer["post_processor"] = post_processor(texts, parsed.before, parsed.after)
    tokenizer["added_tokens"] = _all_added(texts, kinds, ids)
    config: dict[str, Any] = {
        name: texts[ids[key]] if key in ids else None for key, name in _NAMED.items()
    } | {"add_bos_token": parsed.before is not None}  # fmt: skip
    if templates := _templates(values):
        config["chat_template"] = templates
    ends = sorted(set(_ends(values, tokens, kinds, ids)))
    return Vocabulary(
        json.dumps({"version": "1.0", **tokenizer}, ensure_ascii=False),
        {"tokenizer_config.json": config, "generation_config.json": {"eos_token_id": ends}},
    )


def added_tokens_of(values: Values) -> Vocabulary:
    """Return only the added tokens and chat templates of a generative model's vocabulary.

    Raises:
        BrokenModelError: They are invalid.
    """
    tokens = _tokens(values)
    kinds = _parallel(values, "tokenizer.ggml.token_type", int) or [_NORMAL] * len(tokens)
    ids = _ids(values, len(tokens), _SENTENCEPIECE_IDS if values.string("tokenizer.ggml.model") == "llama" else None)
    templates = _templates(values)
    return Vocabulary(
        json.dumps({"added_tokens": _all_added(tokens, kinds, ids)}, ensure_ascii=False),
        {"tokenizer_config.json": {"chat_template": templates} if templates else {}},
    )


def _all_added(texts: Sequence[str], kinds: Sequence[int], ids: Mapping[str, int]) -> list[dict[str, Any]]:
    """Return the `added_tokens`: those that are matched in a text before it is split."""
    special_ids = set(ids.values())
    return [
        _added(token, texts[token], special=kinds[token] != _USER_DEFINED)
        for token in range(len(texts))
        if kinds[token] in (_CONTROL, _USER_DEFINED, _UNKNOWN) or token in special_ids
    ]


def _templates(values: Values) -> str | dict[str, str]:
    """Return the only chat template, or all of them by name if there are named ones."""
    default = values.string("tokenizer.chat_template")
    names = values.array("tokenizer.chat_templates", str, "a list of names")
    if len(names) > _MAX_TEMPLATES:
        raise values.error("tokenizer.chat_templates", f"a list of at most {_MAX_TEMPLATES}")
    # Sorted, as files list the names in any order.
    named = {name: values.string(f"tokenizer.chat_template.{name}") for name in sorted(names)}
    texts = {name: text for name, text in ({"default": default} | named).items() if text}
    return texts if named else default


def _tokens(values: Values) -> list[str]:
    """Return the spelling of each token."""
    key = "tokenizer.ggml.tokens"
    tokens = [text or f"[EMPTY_{index}]" for index, text in enumerate(values.array(key, str, "a list of texts"))]
    if not tokens:
        raise values.error(key, "a list of texts")
    if len(set(tokens)) != len(tokens):
        seen: set[str] = set()
        twice = next(text for text in tokens if text in seen or seen.add(text))  # type: ignore[func-returns-value]
        raise BrokenModelError(
            f"{printable_path(values.file.path)}: {key} has '{printable(twice, 40)}' twice; each token should be "
            "there once."
        )
    # Some files end with tokens for images that have no embedding.
    return tokens[: values.dimension("token_embd.weight", 0)]


def _parallel(values: Values, key: str, kind: type) -> Sequence[Any]:
    """Return a list with one value for each token; empty if there is none."""
    count = len(values.array("tokenizer.ggml.tokens", str, "a list of texts"))
    items = values.array(key, kind, f"a list of {count} numbers")
    if items and len(items) != count:
        raise values.error(key, f"a list of {count}, one for each token")
    return items


def _ids(values: Values, count: int, defaults: Mapping[str, int] | None = None) -> dict[str, int]:
    """Return the special tokens by name: those of the file, else those of `defaults`."""
    ids = {}
    for name in (*_NAMED, *_ENCODER_TOKENS, *_INFILL_NAMES, "eot", "eom"):
        key = f"tokenizer.ggml.{name}_token_id"
        default = (defaults or {}).get(name, -1)
        if values.has(key) or 0 <= default < count:
            token = values.integer(key, default, 0)
            # Some files name a token beyond the vocabulary, which can never occur.
            if token < count:
                ids[name] = token
    return ids


def _ends(values: Values, tokens: Sequence[str], kinds: Sequence[int], ids: Mapping[str, int]) -> Iterator[int]:
    """Yield the tokens that end an answer."""
    yield from (ids[name] for name in ("eos", "eot", "eom") if name in ids)
    more = values.array("tokenizer.ggml.eos_token_ids", int, "a list of tokens")
    yield from (token for token in more if isinstance(token, int) and 0 <= token < len(tokens))
    channels = _CHANNEL in tokens
    for token, text in enumerate(tokens):
        if text in _ENDS and kinds[token] == _CONTROL and not (channels and text == _CHANNEL_END):
            yield token


def _pre_tokenizer(values: Values) -> PreTokenizer:
    name = values.string("tokenizer.ggml.pre", "default")
    if name == "default":
        name = _DEFAULT_PRE_TOKENIZERS.get(values.architecture, name)
    if name not in PRE_TOKENIZERS:
        raise BrokenModelError(
            f"{printable_path(values.file.path)}: its pre-tokenizer is '{printable(name, 40)}' "
            "(tokenizer.ggml.pre), which Sotto does not know."
        )
    return PRE_TOKENIZERS[name]


def _with_bos_and_eos(
    values: Values, tokenizer: dict[str, Any], tokens: Sequence[str], ids: Mapping[str, int], *, add_bos: bool
) -> _Parsed:
    """Return a vocabulary with the tokens that the file wants around texts; by default encoders have both."""
    encoder = values.architecture in ENCODERS
    before = values.boolean("tokenizer.ggml.add_bos_token", add_bos or encoder)
    after = values.boolean("tokenizer.ggml.add_eos_token", encoder)
    return _Parsed(tokenizer, tokens, ids, ids.get("bos") if before else None, ids.get("eos") if after else None)


def _byte_level(values: Values, tokens: Sequence[str], _kinds: Sequence[int]) -> _Parsed:
    pre_tokenizer, merges = _pre_tokenizer(values), _listed_merges(values)
    split = [
        {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
        for pattern in pre_tokenizer.patterns
    ]
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    tokenizer = {
        "normalizer": {"type": "NFC"} if pre_tokenizer.nfc else None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [*split, level]},
        "decoder": level,
        "model": _model(tokens, merges) | {"ignore_merges": pre_tokenizer.ignore_merges},
    }
    return _with_bos_and_eos(values, tokenizer, tokens, _ids(values, len(tokens)), add_bos=pre_tokenizer.add_bos)


def _listed_merges(values: Values) -> list[list[str]]:
    merges = []
    for merge in values.array("tokenizer.ggml.merges", str, "a list of texts"):
        # From the second character on, as the left token may be or begin with a space.
        left, _, right = merge[1:].partition(" ")
        merges.append([merge[:1] + left, right])
    return merges


def _scores(values: Values, tokens: Sequence[str]) -> Sequence[float]:
    scores = _parallel(values, "tokenizer.ggml.scores", float)
    if not scores or not all(map(math.isfinite, scores)):
        raise values.error("tokenizer.ggml.scores", f"a list of {len(tokens)} numbers, one for each token")
    return scores


def _sentencepiece(values: Values, tokens: Sequence[str], kinds: Sequence[int]) -> _Parsed:
    scores = _scores(values, tokens)
    if sum(map(len, tokens)) > _MAX_POSITIONS:
        raise BrokenModelError(
            f"{printable_path(values.file.path)}: its tokens are longer than those of any vocabulary."
        )
    return _with_marked_spaces(values, tokens, _merges(tokens, kinds, scores), prefix=True)


def _gemma4(values: Values, tokens: Sequence[str], _kinds: Sequence[int]) -> _Parsed:
    """Return a vocabulary like SentencePiece's, except that its merges are listed."""
    return _with_marked_spaces(values, tokens, _listed_merges(values), prefix=False)


def _with_marked_spaces(values: Values, tokens: Sequence[str], merges: list[list[str]], *, prefix: bool) -> _Parsed:
    """Return a vocabulary with a mark for spaces; `prefix` tells whether texts begin with one if the file does not."""
    prefix = values.boolean("tokenizer.ggml.add_space_prefix", default=prefix)
    spaces: list[dict[str, Any]] = [{"type": "Replace", "pattern": {"String": " "}, "content": _SPACE}]
    decoders: list[dict[str, Any]] = [
        {"type": "Replace", "pattern": {"String": _SPACE}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"}
    ]  # fmt: skip
    if prefix:
        spaces.insert(0, {"type": "Prepend", "prepend": _SPACE})
        decoders.append({"type": "Strip", "content": " ", "start": 1, "stop": 0})
    ids = _ids(values, len(tokens), _SENTENCEPIECE_IDS)
    unknown = tokens[ids.get("unknown", 0)]
    tokenizer = {
        "normalizer": {"type": "Sequence", "normalizers": spaces},
        "decoder": {"type": "Sequence", "decoders": decoders},
        "model": _model(tokens, merges) | {"unk_token": unknown, "fuse_unk": True, "byte_fallback": True},
    }
    return _with_bos_and_eos(values, tokenizer, tokens, ids, add_bos=True)


def _word_pieces(values: Values, tokens: Sequence[str], kinds: Sequence[int]) -> _Parsed:
    pieces = word_pieces(tokens, kinds)
    defaults = {
        name: pieces.index(text) for name, text in _ENCODER_TOKENS.items() | {("unknown", "[UNK]")} if text in pieces
    }
    ids = _ids(values, len(pieces), defaults)
    tokenizer = word_piece_tokenizer(pieces, pieces[_unknown(values, ids)])
    return _Parsed(tokenizer, pieces, ids, ids.get("cls", ids.get("bos")), ids.get("seperator", ids.get("eos")))


def _unigram(values: Values, tokens: Sequence[str], kinds: Sequence[int]) -> _Parsed:
    ids = _ids(values, len(tokens))
    tokenizer = unigram_tokenizer(values, tokens, kinds, _scores(values, tokens), _unknown(values, ids))
    return _with_bos_and_eos(values, tokenizer, tokens, ids, add_bos=False)


def _unknown(values: Values, ids: Mapping[str, int]) -> int:
    if "unknown" not in ids:
        raise values.error("tokenizer.ggml.unknown_token_id", "the token for what is not in the vocabulary")
    return ids["unknown"]


def _merges(tokens: Sequence[str], kinds: Sequence[int], scores: Sequence[float]) -> list[list[str]]:
    """Return every way to compose a token of two others, by falling score of the result, then by its id."""
    ids = {text: token for token, text in enumerate(tokens) if kinds[token] in (_NORMAL, _USER_DEFINED)}
    merges = []
    for text, token in ids.items():
        if len(text) <= _MAX_MERGED:
            for position in range(1, len(text)):
                left, right = ids.get(text[:position]), ids.get(text[position:])
                if left is not None and right is not None:
                    merges.append((-scores[token], token, left, right))
    return [[tokens[left], tokens[right]] for _, _, left, right in sorted(merges)]


def _model(tokens: Sequence[str], merges: list[list[str]]) -> dict[str, Any]:
    return {"type": "BPE", "vocab": {text: token for token, text in enumerate(tokens)}, "merges": merges}


_KINDS: Mapping[str, Callable[[Values, Sequence[str], Sequence[int]], _Parsed]] = {
    "bert": _word_pieces,
    "gemma4": _gemma4,
    "gpt2": _byte_level,
    "llama": _sentencepiece,
    "t5": _unigram,
}


def _added(token: int, text: str, *, special: bool) -> dict[str, Any]:
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    return {"id": token, "content": text, "special": special, **flags}
