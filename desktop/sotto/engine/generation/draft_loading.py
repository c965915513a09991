"""From a model of the store to one that proposes tokens for another."""

import math
from collections.abc import Callable
from dataclasses import replace

from sotto.engine.config.supported_models import refusal
from sotto.engine.contract.events import LoadProgress
from sotto.engine.generation.draft_model import DraftModel, short_chunks
from sotto.engine.generation.first_forward import FirstForward
from sotto.engine.generation.tape import with_tapes
from sotto.engine.memory.draft_needs import LARGEST_CHUNK
from sotto.engine.tokens.tokenizer import Tokenizer
from sotto.errors import InvalidRequestError, UnsupportedModelError
from sotto.store.records import ModelSource

# Of the bytes for computed prefixes: what those of the draft model may take.
BUDGET_SHARE = 8


def check_draft(source: ModelSource, tokenizer: Tokenizer, draft: ModelSource) -> None:
    """Refuse a draft model whose proposals would mean something else.

    Vocabularies may differ in length: what only one of them has is never proposed.

    Args:
        source: The model that answers.
        tokenizer: Its tokenizer.
        draft: The model that is to propose.

    Raises:
        InvalidRequestError: The two are the same model, or a token that both have is not the same text in both.
        UnsupportedModelError: The draft is none that can run here.
        BrokenModelError: A file of the draft's tokenizer is damaged.
    """
    name, asked = source.record.name, draft.record.name
    if draft.record.digest == source.record.digest:
        raise InvalidRequestError(f"{asked} cannot be its own draft model: choose a smaller one of the same family.")
    if reason := refusal(draft.config):
        raise UnsupportedModelError(f"{asked} cannot propose tokens: {reason}")
    own, other = tokenizer.vocabulary(), Tokenizer.from_source(draft).vocabulary()
    differing = [token for token in own.keys() & other.keys() if own[token] != other[token]]
    if differing:
        token = min(differing)
        raise InvalidRequestError(
            f"{asked} cannot be the draft model of {name}: {len(differing)} tokens differ, for example {token}, which "
            f"is {other[token]!r} in {asked} and {own[token]!r} in {name}; choose one with the same vocabulary."
        )


def part_of(
    progress: Callable[[LoadProgress], None], before: int = 0, after: int = 0
) -> Callable[[LoadProgress], None]:
    """Return what tells the progress of one model as part of that of several.

    Args:
        progress: Told of all of them.
        before: Bytes of weights that are loaded already.
        after: Bytes that will be loaded later.
    """
    return lambda part: progress(replace(part, done=before + part.done, total=before + part.total + after))


def build_draft_model(first: FirstForward, width: int, budget: int, context: int, chunk: int) -> DraftModel:
    """Make a loaded model ready to propose.

    Args:
        first: The model, which can be computed.
        width: How many tokens the model that answers has scores for.
        budget: Bytes that its caches may take.
        context: Most tokens that the model that answers takes.
        chunk: Most prompt tokens to feed at a time.
    """
    longest = first.longest or math.inf
    return DraftModel(
        first.source.record.name,
        first.loaded.model,
        first.prefix(budget, int(min(context, longest))),
        steps=with_tapes(first.loaded.model, first.loaded.config, first.sequence.caches),
        rows=first.rows,
        width=width,
        context=longest,
        weight_bytes=first.loaded.weight_bytes,
        chunk=short_chunks(min(chunk, LARGEST_CHUNK)),
    )
