"""From a model of the store to one that proposes tokens for another."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import mlx.core as mx

from sotto.engine.caches import make_caches
from sotto.engine.cpu_linear import adapt_to_cpu
from sotto.engine.device import device
from sotto.engine.draft import DraftModel
from sotto.engine.loader import LoadedModel
from sotto.engine.prefix_cache import PrefixCache
from sotto.engine.tokenizer import Tokenizer
from sotto.engine.types import LoadProgress
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
        BrokenModelError: A file of the draft's tokenizer is damaged.
    """
    name, asked = source.record.name, draft.record.name
    if draft.record.digest == source.record.digest:
        raise InvalidRequestError(f"{asked} cannot be its own draft model: choose a smaller one of the same family.")
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


def made_draft(source: ModelSource, loaded: LoadedModel, width: int, budget: int, kv_bits: int | None) -> DraftModel:
    """Make a loaded model ready to propose.

    Args:
        source: What it was loaded from.
        loaded: The model.
        width: How many tokens the model that answers has scores for.
        budget: Bytes that its caches may take.
        kv_bits: Hold keys and values in so many bits; None as they come.

    Raises:
        UnsupportedModelError: It cannot be computed.
    """
    if device() == "cpu":
        adapt_to_cpu(loaded.model)
    make = partial(make_caches, loaded.model, kv_bits)
    try:
        logits = loaded.model(mx.array([[0]]), cache=make())
    except Exception as error:
        raise UnsupportedModelError(
            f"The definition of {source.record.architecture} models fails on {source.record.name}: "
            f"{' '.join(str(error).split())}."
        ) from error
    if device() != "cpu":
        mx.eval(logits)
    maximum = source.record.context_length or loaded.config.get("max_position_embeddings")
    return DraftModel(
        source.record.name,
        loaded.model,
        PrefixCache(make, budget),
        rows=logits.shape[-1],
        width=width,
        context=maximum or float("inf"),
        weight_bytes=loaded.weight_bytes,
    )
