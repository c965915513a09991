"""Turn tokens into text one at a time, exact to the byte.

In most vocabularies each token stands for fixed bytes, whatever its neighbours are. Those bytes go through an
incremental UTF-8 decoder: an incomplete character is held until its other bytes come, and bytes that can never form a
character become U+FFFD, as in `bytes.decode("utf-8", "replace")`. The decoder in `tokenizer.json` shows which of three
kinds a vocabulary is:

- byte level (GPT-2 and its successors): every character of a token stands for one byte;
- SentencePiece: `▁` stands for a space and `<0xNN>` for a byte. Its decoder drops the first space of a text; what is
  decoded here continues a prompt, so the space is kept;
- anything else, such as WordPiece, where a token's text depends on its neighbours: the decoder is run over the last few
  tokens, and the new text is what was not there before.
"""

import codecs
import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import tokenizers

from sotto.engine.tokens.library_faults import library_sentence

_BYTE_TOKEN = re.compile(r"<0x([0-9A-Fa-f]{2})>")
# A character has at most four bytes. After so many tokens, an incomplete one will never be completed.
_MAX_HELD_TOKENS = 8


class Detokenizer(Protocol):
    """Turns the tokens of one answer into text."""

    def add(self, token_id: int) -> str:
        """Take the next token and return the text that it completes, often empty."""

    def finish(self) -> str:
        """Return the text that is still held; an incomplete character becomes U+FFFD."""


class Spelling:
    """The bytes of each token, looked up when they are first needed."""

    def __init__(self, tokenizer: tokenizers.Tokenizer, spell: Callable[[str, bool], bytes]) -> None:
        """Read tokens from `tokenizer`.

        Args:
            tokenizer: Where token texts come from.
            spell: Returns a token's bytes, given its text and whether it is an added token.
        """
        self._tokenizer = tokenizer
        self._spell = spell
        self._added = tokenizer.get_added_tokens_decoder()
        self._bytes: dict[int, bytes] = {}

    def __getitem__(self, token_id: int) -> bytes:
        """Return a token's bytes: none for special tokens, which are not shown, and for unused ids."""
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
    """Decodes the bytes of tokens."""

    def __init__(self, spelled: Spelling) -> None:
        """Start at a character boundary."""
        self._spelled = spelled
        self._utf8 = codecs.getincrementaldecoder("utf-8")("replace")

    def add(self, token_id: int) -> str:
        """Take the next token and return the text that it completes, often empty."""
        return self._utf8.decode(self._spelled[token_id])

    def finish(self) -> str:
        """Return U+FFFD if an incomplete character is still held, and nothing otherwise."""
        return self._utf8.decode(b"", final=True)


class WindowDetokenizer:
    """Decodes the last few tokens again with each new one; those whose text was already returned are the context."""

    def __init__(self, tokenizer: tokenizers.Tokenizer) -> None:
        """Start an answer."""
        self._tokenizer = tokenizer
        self._context: list[int] = []
        self._fresh: list[int] = []

    def add(self, token_id: int) -> str:
        """Take the next token and return the text that it completes, often empty."""
        self._fresh.append(token_id)
        text = self._new_text()
        if not text or (text.endswith("\ufffd") and len(self._fresh) < _MAX_HELD_TOKENS):
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
    """Shows the special tokens that mean something to the parser of an answer; others stay hidden."""

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
    """Return what turns a token into bytes under `decoder`, or None where that depends on other tokens."""
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
        # Added tokens as well: vocabularies of this kind list runs of `▁` among them.
        for old, new in replacements:
            token = token.replace(old, new)
        match = _BYTE_TOKEN.fullmatch(token) if has_bytes else None
        return bytes([int(match[1], 16)]) if match else token.encode()

    return spell


def _spell_byte_level(token: str, added: bool) -> bytes:
    """Return the bytes of a token in a byte-level vocabulary.

    An added token is matched in a text literally, so it stands for itself: `é` for that letter, not for the byte E9.
    But if its characters, read as bytes, form valid UTF-8, it was probably written in bytes and is read that way.
    """
    try:
        spelled = bytes(_BYTE_OF[character] for character in token)
        if added:
            spelled.decode()
    except (KeyError, UnicodeDecodeError):
        return token.encode()
    return spelled


def _bytes_of_characters() -> dict[str, int]:
    """Return GPT-2's alphabet: printable Latin-1 stands for its own bytes, 256 and up for the others in order."""
    printable = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(256 + index): byte for index, byte in enumerate(others)}


_BYTE_OF = _bytes_of_characters()
