"""Which tokens may follow in a constrained answer: a grammar on a model's own vocabulary.

A guide follows one answer token by token. What may follow is a mask with one bit per token. llguidance computes it on
the CPU while the device computes the logits that it is applied to (`sotto.engine.grammar.token_masks`). Only the bytes
of tokens count, so text may be split into tokens in any way, even within a character. A token that ends answers may
follow only where the answer is complete. With a model that has no such token, the answer ends as soon as it is
complete. What no grammar can express is enforced here: that no JSON object has a key twice.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock

from sotto.engine.contract.requests import Grammar, GrammarKind
from sotto.engine.grammar.grammar_process import GrammarProcess
from sotto.engine.grammar.grammars import NO_TOKEN, Rules, first_line, llguidance_source, refusal_of, rules_of
from sotto.engine.grammar.json_places import InJson, Place
from sotto.engine.grammar.key_masks import KeyMasks
from sotto.engine.grammar.lead import Lead
from sotto.engine.grammar.matchers import Matcher, Table
from sotto.engine.tokens.tokenizer import Tokenizer
from sotto.errors import EngineError, InvalidRequestError, UnsupportedModelError

# Compiled grammars that are kept for later requests; each takes up to a few megabytes.
_MAX_COMPILED = 8


class Guide:
    """Follows one answer. After an error it cannot be used any more."""

    def __init__(self, matcher: Matcher, name: str, tokens: "Tokens", place: Place | None = None) -> None:
        """Start where `matcher` is.

        Args:
            matcher: Belongs to this guide from now on.
            name: The grammar's name in error messages.
            tokens: The model's vocabulary.
            place: Where in its JSON the answer is; None if it holds none.
        """
        self._matcher = matcher
        self._name = name
        self._tokens = tokens
        self._place = place

    def fork(self) -> "Guide":
        """Return an independent guide at the same place."""
        return Guide(self._matcher.deep_copy(), self._name, self._tokens, self._place)

    @property
    def complete(self) -> bool:
        """Whether the answer is complete and ends here: nothing may follow, or the model has no token to end it."""
        return self._matcher.is_stopped() or (not self._tokens.can_end and self._matcher.is_accepting())

    def take(self, token: int) -> None:
        """Consume a token.

        Raises:
            EngineError: It may not follow here, or the grammar became too complex.
        """
        if not self._matcher.consume_token(token):
            raise self._failed(first_line(self._matcher.get_error()))
        if self._place is not None:
            self._place = self._place.after(self._tokens.token_bytes(token))
            if self._place is None:
                raise self._failed("an object would have a key twice")

    def mask(self) -> bytes:
        """Return which tokens may follow: bit i, counted from the lowest bit of the first byte, stands for token i.

        Raises:
            EngineError: No token may, or the grammar became too complex.
        """
        mask = self._matcher.compute_bitmask()
        if self._matcher.is_error():
            raise self._failed(first_line(self._matcher.get_error()))
        if self._place is not None:
            mask = self._tokens.keys.without_repeats(mask, self._place)
        if not int.from_bytes(mask, "little") & ((1 << self._tokens.rows) - 1):
            raise self._failed(NO_TOKEN)
        return mask

    def followed(self, drafts: Sequence[int]) -> int:
        """Return how many drafted tokens may follow, one after the other."""
        fitting = self.fitting(drafts)
        if self._tokens.can_end:
            return fitting
        ahead = self.fork()
        for taken, token in enumerate(drafts[:fitting]):
            if taken and ahead.complete:
                return taken
            ahead.take(token)
        return fitting

    def fitting(self, tokens: Sequence[int]) -> int:
        """Return how many of the tokens may follow, even where the answer could end before them."""
        fitting, place = self._matcher.validate_tokens(list(tokens)), self._place
        for taken, token in enumerate(tokens[:fitting] if place is not None else ()):
            place = place.after(self._tokens.token_bytes(token)) if place is not None else None
            if place is None:
                return taken
        return fitting

    def masks(self, drafts: Sequence[int]) -> list[bytes]:
        """Return which tokens may follow here and after each of n drafts, as n + 1 masks.

        Args:
            drafts: Tokens that may all follow, one after the other; none of them is consumed.

        Raises:
            EngineError: As `mask`.
        """
        masks, place = [self.mask()], self._place
        for draft in drafts:
            self.take(draft)
            # After a complete answer nothing is sampled, or it is not kept.
            masks.append(masks[-1] if self.complete else self.mask())
        self._matcher.rollback(len(drafts))
        self._place = place
        return masks

    def _failed(self, reason: str) -> EngineError:
        return EngineError(f"{self._name} could not be followed to its end: {reason}.")


class Vocabulary:
    """A model's vocabulary for grammars. May be used on any thread."""

    def __init__(self, tokenizer: Tokenizer, rows: int) -> None:
        """Read nothing yet: most models are never asked for a grammar.

        Args:
            tokenizer: The model's tokenizer.
            rows: The number of the model's logits.
        """
        self._tokenizer = tokenizer
        self._rows = rows
        self._lock = Lock()
        self._table: Tokens | None = None
        self._compiled = lru_cache(_MAX_COMPILED)(self._compile)

    def guide(self, grammar: Grammar | Rules, begun: str = "", lead: Lead | None = None) -> Guide:
        """Return a guide for an answer.

        Args:
            grammar: What the answer must be.
            begun: The beginning of the answer, if there is one.
            lead: What may precede the answer; None if it is begun.

        Raises:
            InvalidRequestError: The grammar cannot be honoured, or the beginning does not follow it.
            UnsupportedModelError: The text of the model's tokens depends on their neighbours.
        """
        guide = self._beginning(grammar, lead)
        if begun:
            tokens = self.spelling(begun)
            fitting = guide.fitting(tokens)
            if fitting < len(tokens):
                raise InvalidRequestError(
                    f"The answer to continue is not what {grammar.name} asks for, from token {fitting}."
                )
            for token in tokens:
                guide.take(token)
            if guide.complete:
                raise InvalidRequestError(
                    f"The answer to continue is all that {grammar.name} asks for; nothing may follow."
                )
        return guide

    def allows(self, grammar: Grammar | Rules, beginning: str) -> bool:
        """Return whether an answer may begin with a text.

        Raises:
            InvalidRequestError: The grammar cannot be honoured.
        """
        tokens = self.spelling(beginning)
        return self._beginning(grammar, None).fitting(tokens) == len(tokens)

    def spelling(self, text: str) -> list[int]:
        """Return tokens that spell a text, the longest ones first."""
        return list(self._read().table.greedy_tokenize(text))

    def _beginning(self, grammar: Grammar | Rules, lead: Lead | None) -> Guide:
        matcher = self._compiled(grammar, lead).deep_copy()
        whole = InJson() if isinstance(grammar, Grammar) and grammar.kind is GrammarKind.JSON_SCHEMA else None
        place = grammar.place if isinstance(grammar, Rules) else whole
        if place is not None and lead is not None:
            place = lead.place(place)
        return Guide(matcher, grammar.name, self._read(), place)

    def _compile(self, grammar: Grammar | Rules, lead: Lead | None) -> Matcher:
        rules = rules_of(grammar) if isinstance(grammar, Grammar) else grammar
        head = lead.rules(self._tokenizer.special) if lead is not None else ""
        matcher = self._read().table.matcher(llguidance_source(rules, head))
        if matcher.is_error():
            raise refusal_of(rules, matcher.get_error())
        return matcher

    def _read(self) -> "Tokens":
        with self._lock:
            if self._table is None:
                self._table = _tokens(self._tokenizer, self._rows)
            return self._table


@dataclass(frozen=True, slots=True)
class Tokens:
    """What guides need of a vocabulary.

    Attributes:
        rows: The number of the model's logits; llguidance knows one token more, which also ends answers.
        can_end: Whether one of the model's tokens ends answers.
        keys: Which tokens end a key of JSON.
        token_bytes: Returns the bytes of a token, and the name of a special one.
        table: The vocabulary in the process that follows grammars.
    """

    rows: int
    can_end: bool
    keys: KeyMasks
    token_bytes: Callable[[int], bytes]
    table: Table


def _tokens(tokenizer: Tokenizer, rows: int) -> Tokens:
    # It starts while the vocabulary is read.
    process = GrammarProcess()
    spelled = tokenizer.vocabulary_bytes(rows)
    if spelled is None:
        raise UnsupportedModelError(
            "tokenizer.json makes text of several tokens at once, so no format can be guaranteed with this model; "
            "leave the format out."
        )
    # llguidance needs a token that ends answers; for a model without one, it is added after all others.
    ends = sorted(token for token in tokenizer.eos_ids if token < rows)
    texts = [*spelled, b""]
    # Tokens without bytes are not text, nor are those that end answers, whatever their bytes are.
    special = {token for token, spelling in enumerate(texts) if not spelling}.union(ends or [rows])
    # Tokens with the same bytes may all follow where one of them may, so special ones get names of their own.
    named = [b"%d" % token if token in special else spelling for token, spelling in enumerate(texts)]
    table = Table(named, sorted(special), ends or [rows], process)
    return Tokens(rows, bool(ends), KeyMasks(spelled), tokenizer.token_bytes, table)
