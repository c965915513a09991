"""Comparing decode steps from a tape with those of the model definition."""

from functools import cache

import mlx.core as mx
import numpy as np

from checkpoints import load_folder
from generating import PROMPT, drain, finished, reference, scheduler, task
from native_kernels import bits
from places import REFERENCES
from sotto.engine.architectures.cache_types import ArraysCache
from sotto.engine.architectures.prediction import PredictionCache
from sotto.engine.caches.batch import batch_caches
from sotto.engine.caches.caches import leaves, make_caches
from sotto.engine.generation.tape import TapedModel, with_tapes
from sotto.engine.kernels.cpu_linear import adapt_to_cpu

# Of the prompts of three sequences.
LENGTHS = (5, 23, 11)
# Definitions that leave the products of routers to BLAS, which computes several rows otherwise than each alone.
ROUTED = {"glm4-moe-mtp", "llama4_text", "nemotron-h-moe"}


def tolerance_of(name, lengths):
    """Return the tolerance with which a step for several sequences is compared; 0 for the same bits."""
    return 1e-5 if name in ROUTED and len(lengths) > 1 else 0.0


@cache
def loaded(case):
    """Return a reference model, adapted to the CPU, and its config."""
    found = load_folder(REFERENCES / case)
    adapt_to_cpu(found.model)
    return found.model, found.config


def fed(model, vocabulary, *lengths, kv_bits=None):
    """Return the caches of one sequence for each length, with that many tokens."""
    sequences = []
    for length in lengths:
        caches = make_caches(model, kv_bits)
        model(mx.array([[(7 * index + length) % vocabulary for index in range(length)]]), cache=caches)
        mx.eval([layer.state for layer in caches])
        sequences.append(caches)
    return sequences


def together(sequences):
    """Return the caches of a step for these sequences."""
    return sequences[0] if len(sequences) == 1 else batch_caches(sequences)


def held(caches):
    """Return the keys, values and recurrent states of caches."""
    return [
        part
        for layer in leaves(caches)
        for part in (layer.cache if isinstance(layer, ArraysCache) else layer.keys_and_values())
    ]


def contents(caches):
    """Return the keys, values and recurrent states of caches as bytes."""
    return [bits(part) for part in held(caches)]


def share_that_differs(found, wanted, tolerance):
    """Return the share of numbers that differ by more than `tolerance` times the largest one."""
    limit = tolerance * mx.abs(wanted).max().item()
    return float((~(np.abs(np.array(found) - np.array(wanted)) <= limit)).mean())


def compare(model, config, vocabulary, lengths, steps=20, kv_bits=None, tolerance=0.0, rounded=0.0):
    """Compare the results of steps with and without a tape, and the contents of the caches.

    Without a tolerance they must have the same bits; else it is relative to the largest number. In caches of fewer
    bits, one number in a hundred may have been rounded to a neighbouring one: then `rounded` is the tolerance.
    """

    def check(found, wanted, limit=tolerance, outside=0.0):
        assert found.shape == wanted.shape
        if limit:
            assert share_that_differs(found, wanted, limit) <= outside
        else:
            assert bits(found) == bits(wanted)

    def pairs():
        return (
            pair
            for both in zip(taped, plain, strict=True)
            for pair in zip(*(held(caches) for caches in both), strict=True)
        )

    adapt_to_cpu(model)
    plain, taped = (fed(model, vocabulary, *lengths, kv_bits=kv_bits) for _ in range(2))
    with_tape = with_tapes(model, config, plain[0])
    assert isinstance(with_tape, TapedModel)
    assert with_tape.tape(len(lengths), taped[0]) is not None
    for step in range(steps):
        tokens = mx.array([[(5 * step + row) % vocabulary] for row in range(len(lengths))])
        wanted = model(tokens, cache=together(plain))
        found = with_tape(tokens, cache=together(taped))
        if rounded and any(share_that_differs(*pair, tolerance) for pair in pairs()):
            check(found, wanted, rounded)
        else:
            check(found, wanted)
    for part, wanted in pairs():
        check(part, wanted, outside=0.01 if rounded else 0.0)
        if rounded:
            # The step between neighbouring codes, for a range of twice the largest number, or float16's.
            check(part, wanted, max(2 / (2**kv_bits - 1), 2**-11))
    for taped_caches, plain_caches in zip(taped, plain, strict=True):
        offsets = [
            [layer.offset for layer in leaves(caches) if not isinstance(layer, ArraysCache)]
            for caches in (taped_caches, plain_caches)
        ]
        assert offsets[0] == offsets[1]
        for found, wanted in zip(taped_caches, plain_caches, strict=True):
            if isinstance(wanted, PredictionCache):
                check(found.recent, wanted.recent)


def check_joining(kind, prefix, model):
    """Check the answers of requests that join while others are being answered."""
    running = scheduler(kind, prefix, model=model, batches=True)
    events = []
    for number in range(3):
        running.add(task(PROMPT[: 20 + 7 * number], 25, request_id=str(number)))
        for _ in range(5):
            events += running.step()
    events += drain(running)
    for number in range(3):
        assert finished(events, str(number)).token_ids == reference(kind, PROMPT[: 20 + 7 * number], 25)
