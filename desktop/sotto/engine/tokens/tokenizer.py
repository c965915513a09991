"""Text to tokens, and which tokens begin and end a text.

BOS. `add_bos_token` in `tokenizer_config.json` decides where it is present. Where it is not, the tokenizer's own
post-processor decides, as in transformers: Llama 3 folders say it only there. All that the post-processor puts in front
is taken, because some models (GLM) begin with more than one token; nothing is ever put after a prompt. A text that
already begins with these tokens, because its template wrote them, does not get them twice. Texts to be embedded get all
that the post-processor adds.

EOS. All files that name an end-of-sequence token count, and any of their tokens ends an answer. `config.json` is
sometimes left over from another model, so once a more trusted file has named EOS, the less trusted ones are believed
only where they name an added token. Marks that end a turn in the chat template end an answer as well: some models name
only the end of a document as EOS, and would go on to write the user's next turn.
"""

from collections.abc import Collection, Sequence
from functools import cached_property
from itertools import takewhile

from sotto.engine.config.load_errors import name_file_in_errors
from sotto.engine.config.text_files import JsonFiles, chat_templates, named_tokens, token_ids
from sotto.engine.tokens.detokenizer import ByteDetokenizer, Detokenizer, MarkDetokenizer, WindowDetokenizer, spelling
from sotto.engine.tokens.encode_bounds import bound_encoder
from sotto.engine.tokens.library_faults import library_sentence
from sotto.engine.tokens.mark_escaping import TypedMarks
from sotto.engine.tokens.tokenizer_building import build_tokenizer
from sotto.engine.tokens.tokenizer_trial import admit
from sotto.errors import BrokenModelError, InvalidRequestError
from sotto.store.records import ModelSource

_TURN_ENDS = (
    "<|im_end|>",
    "<|eot_id|>",
    "<end_of_turn>",
    "<turn|>",
    "<|end|>",
    "<|eot|>",
    "<|end_of_turn|>",
    "<|END_OF_TURN_TOKEN|>",
    "<|endofturn|>",
    # After a tool call.
    "<|call|>",
    "<|calls|>",
    "<|observation|>",
    "<|tool_response>",
)
# Where an answer is a list of messages, `<|end|>` only ends one of them: gpt-oss, Solar Open.
_MESSAGES = ("<|channel|>", "<|begin|>assistant<|think|>")
# Part of no word, so no token holds it and letters after it. CodeLlama's own code tokenizes a suffix this way, too.
_LEAD = "☺"
# No vocabulary comes near it, and the libraries store token ids in 32 bits.
_MAX_TOKENS = 1 << 32


class Tokenizer:
    """A model's vocabulary and the rules by which text is cut into its tokens.

    Attributes:
        vocab_size: The number of tokens, added ones included.
        special_tokens: Texts of special tokens by name: `bos_token`, `eos_token`, ...
        bos_id: The token that begins a text, or None.
        eos_ids: Tokens that end an answer.
        add_bos: Whether tokens are put in front of a prompt.
    """

    def __init__(self, tokenizer_json: str, files: JsonFiles | None = None, template: str = "") -> None:
        """Read a tokenizer.

        Args:
            tokenizer_json: The text of `tokenizer.json`.
            files: The model's other JSON files by name.
            template: The model's chat templates.

        Raises:
            BrokenModelError: `tokenizer.json` is damaged, or another file says something impossible about tokens.
        """
        files = files or {}
        cost = admit(tokenizer_json)
        with library_sentence("it cannot be read"):
            self._tokenizer = build_tokenizer(tokenizer_json)
            # Some files ask for each text to be truncated or padded; neither is meant for prompts. Dropout of merges is
            # for training.
            self._tokenizer.no_truncation()
            self._tokenizer.no_padding()
            if getattr(self._tokenizer.model, "dropout", None):
                self._tokenizer.model.dropout = None
            self._added = self._tokenizer.get_added_tokens_decoder()
            self._spelling = spelling(self._tokenizer)
            written, self._suffix = self._written_frame()
            self._typed = TypedMarks(self._tokenizer, self._added, bound_encoder(self._cut, cost))
        self.vocab_size: int = self._tokenizer.get_vocab_size()
        self.special_tokens = named_tokens(files)
        self.bos_id = self._find_bos(files)
        self.eos_ids = self._find_eos(files) | self._turn_ends(template)
        self._prefix = self._find_prefix(files, written)

    @classmethod
    def from_source(cls, source: ModelSource) -> "Tokenizer":
        """Read the tokenizer of a model.

        Raises:
            BrokenModelError: One of its files is damaged.
        """
        with name_file_in_errors(source):
            return cls(source.tokenizer_json, source.json_files, "\n".join(chat_templates(source).values()))

    @property
    def add_bos(self) -> bool:
        """Whether tokens are put in front of a prompt."""
        return bool(self._prefix)

    def vocabulary(self) -> dict[int, str]:
        """Return the text of each token by its id, added tokens included."""
        return {token: text for text, token in sorted(self._tokenizer.get_vocab(with_added_tokens=True).items())}

    def encode(self, text: str, add_bos: bool | None = None) -> list[int]:
        """Return the tokens of a text. Other threads can run meanwhile, however long it is.

        Args:
            text: Names of special tokens in it become those tokens, unless they are escaped.
            add_bos: Whether to put BOS in front if the text does not begin with it; None to follow the model's files.

        Raises:
            InvalidRequestError: The text holds half of a surrogate pair, which is not a character, or would take too
                long.
            BrokenModelError: `tokenizer.json` fails on this text.
        """
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise InvalidRequestError(
                f"The text holds half of a character at position {error.start}: give whole characters."
            ) from error
        with library_sentence("it fails on this text"):
            ids = self._typed.encode(text)
        if add_bos is None:
            return self.add_prefix(ids)
        return _behind(self._prefix or self._bos, ids) if add_bos else ids

    def encode_continuation(self, text: str) -> list[int]:
        """Return the tokens of a text that continues another, so that no space is put in front of it.

        Raises:
            InvalidRequestError: The text holds half of a surrogate pair, which is not a character.
            BrokenModelError: `tokenizer.json` fails on this text.
        """
        if not self._gets_space:
            return self.encode(text, add_bos=False)
        return self.encode(_LEAD + text, add_bos=False)[len(self.encode(_LEAD, add_bos=False)) :]

    def add_prefix(self, ids: list[int]) -> list[int]:
        """Return the tokens of a prompt: with those that begin one in front, unless they are there."""
        return _behind(self._prefix, ids)

    def strip_prefix(self, ids: Sequence[int]) -> Sequence[int]:
        """Return the tokens of a prompt without those that begin a text, so that they can continue others."""
        first = self._prefix or self._bos
        return ids[len(first) :] if tuple(ids[: len(first)]) == first else ids

    def escape_marks(self, text: str) -> str:
        """Return a text for a template with names of special tokens in it escaped, so that they stay text."""
        return self._typed.escape(text)

    def escapes(self, mark: str) -> bool:
        """Return whether `escape_marks` escapes a text because it is the name of a special token."""
        return mark in self._typed

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of tokens that continue a prompt: a leading space is kept, special tokens are not shown.

        Raises:
            InvalidRequestError: One of them cannot be a token.
        """
        wrong = next((token_id for token_id in ids if not 0 <= token_id < _MAX_TOKENS), None)
        if wrong is not None:
            raise InvalidRequestError(f"{wrong} is not a token: tokens are whole numbers from 0 up.")
        detokenizer = self.detokenizer()
        return "".join(map(detokenizer.add, ids)) + detokenizer.finish()

    def token_bytes(self, token: int) -> bytes:
        """Return the bytes of a single token: the name of a special one, nothing for an unused id."""
        added = self._added.get(token)
        if added is not None and added.special:
            return str(added.content).encode()
        if self._spelling:
            return self._spelling[token]
        with library_sentence("it fails on a token by itself"):
            return str(self._tokenizer.decode([token])).encode()

    def tokens_containing(self, texts: Sequence[str]) -> frozenset[int]:
        """Return the tokens that contain one of `texts`, and all special ones; the first call takes long.

        A text that is spread over several tokens is not found.
        """
        wanted = [text.encode() for text in texts]
        special = {token for token, added in self._added.items() if added.special}
        spelled = ((token, self.token_bytes(token)) for token in range(self.vocab_size))
        return frozenset(special | {token for token, data in spelled if any(text in data for text in wanted)})

    def vocabulary_bytes(self, count: int) -> list[bytes] | None:
        """Return the bytes of the first `count` ids: empty for tokens that are not shown and for unused ids.

        None if a token's text depends on its neighbours.
        """
        return None if self._spelling is None else [self._spelling[token] for token in range(count)]

    @cached_property
    def added(self) -> dict[str, int]:
        """The ids of the added tokens, which are matched in a text literally, by their texts."""
        return {token.content: token_id for token_id, token in self._added.items()}

    @property
    def special(self) -> dict[str, int]:
        """The ids of the special tokens by their texts; to a model, no other tokens mean the same as one of these."""
        return {token.content: token_id for token_id, token in self._added.items() if token.special}

    def detokenizer(self, marks: Collection[str] = ()) -> Detokenizer:
        """Return what turns one answer's tokens into text; of special tokens only `marks` are shown."""
        plain = ByteDetokenizer(self._spelling) if self._spelling else WindowDetokenizer(self._tokenizer)
        added = self._added.items()
        shown = {token_id: token.content for token_id, token in added if token.special and token.content in marks}
        return MarkDetokenizer(plain, shown) if shown else plain

    def encode_with_frame(self, text: str, most: int) -> tuple[list[int], int]:
        """Return the tokens of a text with all that the post-processor puts around it, truncated to a limit.

        Args:
            text: The whole text.
            most: The most tokens to return, those around the text included.

        Returns:
            The tokens, and how many there would be without the limit.

        Raises:
            InvalidRequestError: The text is not valid Unicode, or would take too long.
            BrokenModelError: `tokenizer.json` fails on this text.
        """
        ids = [*self._prefix, *self.encode(text, add_bos=False)]
        room = max(0, most - len(self._suffix))
        return [*ids[:room], *self._suffix], len(ids) + len(self._suffix)

    @cached_property
    def _gets_space(self) -> bool:
        """Whether a space is put in front of each text, as with SentencePiece."""
        return self.token_bytes(self.encode("a", add_bos=False)[0]).startswith(b" ")

    def _cut(self, text: str) -> list[int]:
        # Only the methods for batches release the interpreter's lock while they work.
        ids: list[int] = self._tokenizer.encode_batch_fast([text], add_special_tokens=False)[0].ids
        return ids

    @property
    def _bos(self) -> tuple[int, ...]:
        return () if self.bos_id is None else (self.bos_id,)

    def _written_frame(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the tokens that the post-processor puts before a text, and those that it puts after it."""
        encoded = self._tokenizer.encode_batch(["a"], add_special_tokens=True)[0]
        marked = list(zip(encoded.ids, encoded.special_tokens_mask, strict=True))
        before = tuple(token for token, _ in takewhile(lambda pair: pair[1], marked))
        behind = tuple(token for token, _ in takewhile(lambda pair: pair[1], reversed(marked[len(before) :])))
        return before, behind[::-1]

    def _find_bos(self, files: JsonFiles) -> int | None:
        text = self.special_tokens.get("bos_token")
        if text is not None:
            found: int | None = self._tokenizer.token_to_id(text)
            return found
        if "bos_token" in files.get("tokenizer_config.json", {}):
            return None
        return next((ids[0] for ids in token_ids(files, "bos_token_id") if ids), None)

    def _find_prefix(self, files: JsonFiles, written: tuple[int, ...]) -> tuple[int, ...]:
        declared = files.get("tokenizer_config.json", {}).get("add_bos_token")
        if declared is None:
            return written
        if not isinstance(declared, bool):
            raise BrokenModelError("tokenizer_config.json: add_bos_token is neither true nor false.")
        return (written or self._bos) if declared else ()

    def _find_eos(self, files: JsonFiles) -> frozenset[int]:
        found: set[int] = set()
        named = self._tokenizer.token_to_id(self.special_tokens.get("eos_token", ""))
        for ids in (*token_ids(files, "eos_token_id"), () if named is None else (named,)):
            trusted = not found
            found |= {token for token in ids if trusted or token in self._added}
        return frozenset(found)

    def _turn_ends(self, template: str) -> frozenset[int]:
        listed = any(mark in template for mark in _MESSAGES)
        marks = [mark for mark in _TURN_ENDS if mark in template and not (mark == "<|end|>" and listed)]
        return frozenset(token for token, added in self._added.items() if added.special and added.content in marks)


def _behind(prefix: tuple[int, ...], ids: list[int]) -> list[int]:
    return ids if tuple(ids[: len(prefix)]) == prefix else [*prefix, *ids]
