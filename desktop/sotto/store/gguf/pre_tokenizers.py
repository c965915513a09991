"""The pre-tokenizers of byte-level vocabularies, by their names in GGUF files.

A pre-tokenizer splits a text before merges apply, by one or more regular expressions, each of which isolates its
matches within the parts that those before it left. The names are those of https://github.com/ggml-org/llama.cpp
(src/llama-vocab.cpp), the expressions those of the models' own tokenizer.json.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PreTokenizer:
    """A way to split texts before merges apply.

    Attributes:
        patterns: Regular expressions, applied one after the other.
        ignore_merges: Whether a piece that is a token is used whole, without applying merges.
        add_bos: Whether texts begin with BOS if the file does not say.
        nfc: Whether texts are normalized to composed form (NFC) first.
    """

    patterns: tuple[str, ...]
    ignore_merges: bool = False
    add_bos: bool = False
    nfc: bool = False


_CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_SPACES = r"\s+(?!\S)|\s+"
_LINES = r"\s*[\r\n]+"
_GPT2 = rf"'s|'t|'re|'ve|'m|'ll|'d| ?\p{{L}}+| ?\p{{N}}+| ?[^\s\p{{L}}\p{{N}}]+|{_SPACES}"


def _gpt4(digits: str, letter: str = r"\p{L}", lines: str = r"[\r\n]*") -> str:
    """Return the expression of GPT-4.

    Args:
        digits: The quantifier of digits in one piece.
        letter: What counts as a letter.
        lines: The ends of lines that may follow signs.
    """
    letters = rf"[^\r\n\p{{L}}\p{{N}}]?[{letter}]+"
    return rf"{_CONTRACTIONS}|{letters}|\p{{N}}{digits}| ?[^\s{letter}\p{{N}}]+{lines}|{_LINES}|{_SPACES}"


def _gpt4o(digits: str, contractions: str) -> str:
    """Return the expression of GPT-4o, which separates upper and lower case."""
    upper, lower = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
    before = r"[^\r\n\p{L}\p{N}]?"
    words = rf"{before}{upper}*{lower}+{contractions}|{before}{upper}+{lower}*{contractions}"
    return rf"{words}|\p{{N}}{digits}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_LINES}|{_SPACES}"


# Letters that NFC would replace by others are written as escapes.
_CASED = (
    "A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅὐ-ὗὙὛὝὟ-\u1f7dᾀ-ᾴᾶ-ᾼ\u1fbeῂ-ῄῆ-ῌῐ-\u1fd3"
    "ῖ-\u1fdbῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤ\u2126ℨ\u212a-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃"
)
_HAN = "[一-龥ࠀ-一가-퟿]+"
_DIGIT = r"\p{N}"

_LLAMA3 = PreTokenizer((_gpt4("{1,3}"),), ignore_merges=True, add_bos=True)
_PLAIN = PreTokenizer((_GPT2,))
_DIGITS_APART = PreTokenizer((_DIGIT, _GPT2))
_THREE_DIGITS = PreTokenizer((_gpt4("{1,3}"),))
_QWEN = PreTokenizer((_gpt4(""),))
_QWEN35 = PreTokenizer((_gpt4("", letter=r"\p{L}\p{M}"),), nfc=True)
_OPEN_AI = PreTokenizer((_gpt4o("{1,3}", _CONTRACTIONS + "?"),))
_DEEPSEEK3 = PreTokenizer(
    (
        r"\p{N}{1,3}",
        "[一-龥぀-ゟ゠-ヿ]+",
        r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|"
        rf"{_LINES}|{_SPACES}",
    )
)

PRE_TOKENIZERS: Mapping[str, PreTokenizer] = {
    # Files written before pre-tokenizers had names.
    "default": PreTokenizer((r"[\p{P}\$\+<=>\^~\|]+", _GPT2, r"\p{N}+", "[0-9][0-9][0-9]")),
    **dict.fromkeys(("llama3", "llama-v3", "llama-bpe", "falcon3", "falcon-h1", "pixtral", "lfm2"), _LLAMA3),
    "jina-v5-nano": _LLAMA3,
    **dict.fromkeys(("dbrx", "smaug-bpe", "glm4", "glm5", "chatglm-bpe"), _THREE_DIGITS),
    **dict.fromkeys(
        (
            "gpt-2",
            "roberta-bpe",
            "jina-v1-en",
            "jina-v2-code",
            "jina-v2-de",
            "jina-v2-es",
            "modern-bert",
            "phi-2",
            "olmo",
            "mpt",
            "jais",
            "mellum",
            "exaone4",
            "trillion",
            "gigachat",
        ),
        _PLAIN,
    ),
    **dict.fromkeys(
        ("starcoder", "refact", "command-r", "smollm", "codeshell", "exaone", "minerva-7b", "mellum2"), _DIGITS_APART
    ),
    **dict.fromkeys(("stablelm2", "hunyuan", "megrez", "deepseek-r1-qwen", "grok-2", "solar-open"), _QWEN),
    "qwen35": _QWEN35,
    "qwen2": PreTokenizer(_QWEN.patterns, nfc=True),
    **dict.fromkeys(("gpt-4o", "llama4", "kanana2", "minimax-m2"), _OPEN_AI),
    "seed-coder": PreTokenizer((_gpt4("{1}", lines=""),)),
    "tekken": PreTokenizer((_gpt4o("", ""),), ignore_merges=True, add_bos=True),
    "deepseek-llm": PreTokenizer(
        (r"[\r\n]", rf"\s?[{_CASED}]+", r"\s?[!-/:-~！-／：-～‘-‟　-。]+", r"\s+$", _HAN, _DIGIT)
    ),
    "deepseek-coder": PreTokenizer((r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", _HAN, _DIGIT)),
    **dict.fromkeys(("deepseek-v3", "hunyuan-dense", "joyai-llm"), _DEEPSEEK3),
}
