"""Which tokens may follow in an answer that must be something: a grammar on a model's own vocabulary.

A guide follows one answer token by token. What may come next is a mask with a bit for each token, which llguidance
computes on the processor, while the device computes the scores that it is laid over (`sotto.engine.token_masks`).
Tokens count by their bytes alone, so text may be cut into them in any way, within a character too. A token that ends
answers may follow only where the answer is complete.
"""

from collections.abc import Sequence
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING

from sotto.engine.grammars import (
    NO_TOKEN,
    Rules,
    check_cost,
    first_line,
    limits,
    llguidance_source,
    refused,
    rules_of,
    with_room,
)
from sotto.engine.tokenizer import Tokenizer
from sotto.engine.types import Grammar
from sotto.errors import EngineError, InvalidRequestError, UnsupportedModelError

if TYPE_CHECKING:
    from llguidance import LLMatcher, LLTokenizer

# Compiled grammars that are kept for the next request; each takes up to some megabytes.
_KEPT = 8


class Guide:
    """Follows one answer. After an error it is of no use any more."""

    def __init__(self, matcher: "LLMatcher", name: str, rows: int) -> None:
        """Start where `matcher` is.

        Args:
            matcher: Belongs to this guide from now on.
            name: What the grammar is called, for messages.
            rows: How many tokens the model has scores for; the matcher knows one more, which ends answers as well.
        """
        self._matcher = matcher
        self._name = name
        self._rows = rows

    def fork(self) -> "Guide":
        """Return a guide at the same place that goes its own way."""
        return Guide(self._matcher.deep_copy(), self._name, self._rows)

    @property
    def complete(self) -> bool:
        """Whether the answer is what it must be, and nothing more may follow."""
        return self._matcher.is_stopped()

    def take(self, token: int) -> None:
        """Go on behind a token.

        Raises:
            EngineError: It may not follow here, or the grammar became too complex.
        """
        if not self._matcher.consume_token(token):
            raise self._failed(first_line(self._matcher.get_error()))

    def mask(self) -> bytes:
        """Return which tokens may follow: bit i of the bytes, from the lowest of the first one, stands for token i.

        Raises:
            EngineError: No token may, or the grammar became too complex.
        """
        mask = self._matcher.compute_bitmask()
        if self._matcher.is_error():
            raise self._failed(first_line(self._matcher.get_error()))
        if not int.from_bytes(mask, "little") & ((1 << self._rows) - 1):
            raise self._failed(NO_TOKEN)
        return mask

    def followed(self, drafts: Sequence[int]) -> int:
        """Return how many of some tokens may follow one after the other."""
        return self._matcher.validate_tokens(list(drafts))

    def masks(self, drafts: Sequence[int]) -> list[bytes]:
        """Return which tokens may follow here and behind each of n drafts, n + 1 masks.

        Args:
            drafts: Tokens that may all follow one after the other; none of them is taken.

        Raises:
            EngineError: As `mask`.
        """
        masks = [self.mask()]
        for draft in drafts:
            self.take(draft)
            # Behind what makes the answer complete nothing is drawn, or not kept.
            masks.append(masks[-1] if self.complete else self.mask())
        self._matcher.rollback(len(drafts))
        return masks

    def _failed(self, reason: str) -> EngineError:
        return EngineError(f"{self._name} could not be followed to its end: {reason}.")


class Vocabulary:
    """A model's tokens, as grammars need them. May be used on any thread."""

    def __init__(self, tokenizer: Tokenizer, rows: int) -> None:
        """Start without anything read: most models are never asked for a grammar.

        Args:
            tokenizer: The model's.
            rows: How many tokens the model has scores for.
        """
        self._tokenizer = tokenizer
        self._rows = rows
        self._lock = Lock()
        self._table: LLTokenizer | None = None
        self._compiled = lru_cache(_KEPT)(self._compile)

    def guide(self, grammar: Grammar | Rules, begun: str = "", head: str = "") -> Guide:
        """Return a guide for an answer.

        Args:
            grammar: What it must be.
            head: Rules of what may stand in front of it, which refer to it as `@answer`; not where some of it is there.
            begun: What there is of it already.

        Raises:
            InvalidRequestError: The grammar cannot be honoured, or what there is does not begin as it asks.
            UnsupportedModelError: The model's vocabulary does not say what each token is.
        """
        guide = Guide(self._compiled(grammar, head).deep_copy(), grammar.name, self._rows)
        if begun:
            tokens = self.spelling(begun)
            fitting = guide.followed(tokens)
            if fitting < len(tokens):
                raise InvalidRequestError(
                    f"The answer that is to be gone on with is not what {grammar.name} asks for, from token {fitting}."
                )
            for token in tokens:
                guide.take(token)
            if guide.complete:
                raise InvalidRequestError(
                    f"The answer that is to be gone on with is all that {grammar.name} asks for; nothing may follow."
                )
        return guide

    def allows(self, grammar: Grammar | Rules, beginning: str) -> bool:
        """Tell whether an answer may begin with a text.

        Raises:
            InvalidRequestError: The grammar cannot be honoured.
        """
        tokens = self.spelling(beginning)
        return self._compiled(grammar, "").deep_copy().validate_tokens(tokens) == len(tokens)

    def spelling(self, text: str) -> list[int]:
        """Return tokens that spell a text, the longest ones first."""
        return list(self._read().greedy_tokenize(text))

    def _compile(self, grammar: Grammar | Rules, head: str) -> "LLMatcher":
        rules = rules_of(grammar) if isinstance(grammar, Grammar) else grammar
        check_cost(rules)
        source, table = llguidance_source(rules, head), self._read()

        def compiled() -> "LLMatcher":
            from llguidance import LLMatcher

            matcher = LLMatcher(table, source, log_level=0, limits=limits())
            if not matcher.is_error():
                # What turns out to be impossible from the start is said now.
                matcher.compute_bitmask()
            return matcher

        matcher = with_room(rules, compiled)
        if matcher.is_error():
            raise refused(rules, matcher.get_error())
        return matcher

    def _read(self) -> "LLTokenizer":
        with self._lock:
            if self._table is None:
                self._table = _table(self._tokenizer, self._rows)
            return self._table


class _Tokens:
    """What llguidance asks of a tokenizer."""

    def __init__(self, tokenizer: Tokenizer, tokens: list[bytes], ends: Sequence[int]) -> None:
        self._tokenizer = tokenizer
        self.eos_token_id = ends[0]
        self.bos_token_id = None
        # Tokens without bytes are not text, nor are those that end answers, however they are spelled.
        special = {token for token, spelled in enumerate(tokens) if not spelled}.union(ends)
        self.special_token_ids = sorted(special)
        # Those that are spelled alike may all follow where one of them may.
        self.tokens = [b"%d" % token if token in special else spelled for token, spelled in enumerate(tokens)]

    def __call__(self, text: str) -> list[int]:
        """Cut a text into tokens; only asked for what must follow in any case."""
        return self._tokenizer.encode(text, add_bos=False)


def _table(tokenizer: Tokenizer, rows: int) -> "LLTokenizer":
    """Return llguidance's own table of a vocabulary, which takes up to a second to make."""
    from llguidance import LLTokenizer, TokenizerWrapper

    spelled = tokenizer.spellings(rows)
    if spelled is None:
        raise UnsupportedModelError(
            "tokenizer.json makes text of several tokens at once, so no format can be guaranteed with this model; "
            "leave the format out."
        )
    # A model may have no token that ends an answer; llguidance must have one, which then is behind all others.
    ends = sorted(token for token in tokenizer.eos_ids if token < rows) or [rows]
    return LLTokenizer(TokenizerWrapper(_Tokens(tokenizer, [*spelled, b""], ends)), eos_token=ends)
