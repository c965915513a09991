"""Turn tokens into text one at a time, exact to the byte.

Most vocabularies spell each token as bytes of its own, whatever stands beside it. Those bytes go through an incremental
UTF-8 decoder: an incomplete character is held until the rest of it comes, and what can never become a character passes
as U+FFFD, as in `bytes.decode("utf-8", "replace")`. Three kinds are told apart by the decoder in `tokenizer.json`:

- byte level (GPT-2 and its heirs): every character of a token stands for one byte;
- SentencePiece: `▁` stands for a space and `<0xNN>` for a byte. Its decoder drops the first space of a whole text; what
  is decoded here goes on from a prompt, so it is kept;
- anything else, WordPiece for example, where a token's text depends on its neighbours: the decoder is run over the last
  few tokens, and the text is what they have more than before.
"""

import codecs
import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import tokenizers

from sotto.engine.tokens.library_faults import library_sentence

_BYTE_TOKEN = re.compile(r"<0x([0-9A-Fa-f]{2})>")
# A character has at most four bytes. Tokens that still leave half of one behind after so many never make it whole.
_MOST_HELD = 8


class Detokenizer(Protocol):
    """Turns the tokens of one answer into text."""

    def add(self, token_id: int) -> str:
        """Take the next token and return the text that it completes, often empty."""

    def finish(self) -> str:
        """Return what is still held; half a character becomes U+FFFD."""


class Spelling:
    """The bytes of every token, looked up when they are first needed."""

    def __init__(self, tokenizer: tokenizers.Tokenizer, spell: Callable[[str, bool], bytes]) -> None:
        """Read tokens from `tokenizer`.

        Args:
            tokenizer: Where token texts come from.
            spell: Takes a token and whether it is an added one to its bytes.
        """
        self._tokenizer = tokenizer
        self._spell = spell
        self._added = tokenizer.get_added_tokens_decoder()
        self._bytes: dict[int, bytes] = {}

    def __getitem__(self, token_id: int) -> bytes:
        """Return a token's bytes: none for special tokens, which are not shown, and for ids without a token."""
        spelled = self._bytes.get(token_id)
        if spelled is None:
            spelled = self._bytes[token_id] = self._look_up(token_id)
        return spelled

    def _look_up(self, token_id: int) -> bytes:
        added = self._added.get(token_id)
        token = added.content if added else self._tokenizer.id_to_token(token_id)
        if token is None or (added and added.special):
            return b""
        return self._spell(token, added is not None)


def spelling(tokenizer: tokenizers.Tokenizer) -> Spelling | None:
    """Return the bytes of each token, or None where a token's text depends on its neighbours."""
    if tokenizer.decoder is None:
        return None
    spell = _speller(json.loads(tokenizer.decoder.__getstate__()))
    return Spelling(tokenizer, spell) if spell else None


class ByteDetokenizer:
    """Decodes the bytes that tokens spell."""

    def __init__(self, spelled: Spelling) -> None:
        """Start at a character boundary."""
        self._spelled = spelled
        self._utf8 = codecs.getincrementaldecoder("utf-8")("replace")

    def add(self, token_id: int) -> str:
        """Take the next token and return the text that it completes, often empty."""
        return self._utf8.decode(self._spelled[token_id])

    def finish(self) -> str:
        """Return U+FFFD where half a character is still held."""
        return self._utf8.decode(b"", final=True)


class WindowDetokenizer:
    """Decodes the last few tokens again with each new one; the text that went out before is the context."""

    def __init__(self, tokenizer: tokenizers.Tokenizer) -> None:
        """Start an answer."""
        self._tokenizer = tokenizer
        self._context: list[int] = []
        self._fresh: list[int] = []

    def add(self, token_id: int) -> str:
        """Take the next token and return the text that it completes, often empty."""
        self._fresh.append(token_id)
        text = self._new_text()
        if not text or (text.endswith("\ufffd") and len(self._fresh) < _MOST_HELD):
            return ""
        self._context, self._fresh = self._fresh, []
        return text

    def finish(self) -> str:
        """Return what is still held."""
        text = self._new_text()
        self._context, self._fresh = self._fresh, []
        return text

    def _new_text(self) -> str:
        with library_sentence("its decoder fails on these tokens"):
            before = self._tokenizer.decode(self._context)
            return str(self._tokenizer.decode(self._context + self._fresh))[len(before) :]


class MarkDetokenizer:
    """Shows special tokens that mean something to the reader of an answer; others stay hidden."""

    def __init__(self, plain: Detokenizer, marks: Mapping[int, str]) -> None:
        """Start an answer.

        Args:
            plain: Turns all other tokens into text.
            marks: Texts of the tokens to show, by id.
        """
        self._plain = plain
        self._marks = marks

    def add(self, token_id: int) -> str:
        """Take the next token and return the text that it completes, often empty."""
        mark = self._marks.get(token_id)
        return self._plain.add(token_id) if mark is None else self._plain.finish() + mark

    def finish(self) -> str:
        """Return what is still held."""
        return self._plain.finish()


def _speller(decoder: dict[str, Any]) -> Callable[[str, bool], bytes] | None:
    """Return what spells a token in bytes under `decoder`, or None where that depends on other tokens."""
    steps = decoder["decoders"] if decoder["type"] == "Sequence" else [decoder]
    if [step["type"] for step in steps] == ["ByteLevel"]:
        return _spell_byte_level
    replacements: list[tuple[str, str]] = []
    has_bytes = fused = False
    for step in steps:
        kind = step["type"]
        if kind == "Strip" and step["stop"] == 0 and (fused or step["start"] == 0):
            continue
        if fused:
            return None
        if kind == "Replace" and "String" in step["pattern"]:
            replacements.append((step["pattern"]["String"], step["content"]))
        elif kind == "Metaspace":
            replacements.append((step["replacement"], " "))
        elif kind == "ByteFallback":
            has_bytes = True
        elif kind == "Fuse":
            fused = True
        else:
            return None

    def spell(token: str, _: bool) -> bytes:
        # Added tokens too: vocabularies of this kind list runs of `▁` among them.
        for old, new in replacements:
            token = token.replace(old, new)
        match = _BYTE_TOKEN.fullmatch(token) if has_bytes else None
        return bytes([int(match[1], 16)]) if match else token.encode()

    return spell


def _spell_byte_level(token: str, added: bool) -> bytes:
    """Spell a token of a byte-level vocabulary.

    An added token is found in a text as it is written, so it stands for itself: `é` for that letter, not for the byte
    E9. Where its characters do spell text in bytes it may have been written so, and is read so.
    """
    try:
        spelled = bytes(_BYTE_OF[character] for character in token)
        if added:
            spelled.decode()
    except (KeyError, UnicodeDecodeError):
        return token.encode()
    return spelled


def _bytes_of_characters() -> dict[str, int]:
    """Return GPT-2's alphabet: printable Latin-1 stands for its own byte, 256 and up for the others in order."""
    printable = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(256 + index): byte for index, byte in enumerate(others)}


_BYTE_OF = _bytes_of_characters()
