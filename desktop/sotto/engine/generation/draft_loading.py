"""Checking and assembling a draft model."""

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

# The draft model's prefix cache may take this fraction of the bytes for prefixes: one in so many.
BUDGET_SHARE = 8


def check_draft(source: ModelSource, tokenizer: Tokenizer, draft: ModelSource) -> None:
    """Check that a draft model can run and that its tokens mean the same.

    Vocabularies may differ in length: tokens that only one of them has are never proposed.

    Args:
        source: The model that answers.
        tokenizer: Its tokenizer.
        draft: The draft model.

    Raises:
        InvalidRequestError: Both are the same model, or a token stands for different texts.
        UnsupportedModelError: The draft model cannot run here.
        BrokenModelError: A file of its tokenizer is damaged.
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
    """Return a callback that reports the progress of one model as part of the progress of several.

    Args:
        progress: Receives the progress of all of them.
        before: Bytes of weights that are already loaded.
        after: Bytes that will be loaded later.
    """
    return lambda part: progress(replace(part, done=before + part.done, total=before + part.total + after))


def build_draft_model(first: FirstForward, width: int, budget: int, context: int, chunk: int) -> DraftModel:
    """Assemble a draft model from a loaded model.

    Args:
        first: The loaded model.
        width: Width of the main model's logits.
        budget: Bytes of its prefix cache.
        context: Context length of the main model, in tokens.
        chunk: Maximum tokens of a prefill chunk.
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
