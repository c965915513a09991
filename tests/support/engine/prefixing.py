"""Running prompts through a prefix cache in the way of the engine."""

import mlx.core as mx


def feed(model, sequence, ids, size=7):
    """Feed ids in chunks, then return the logits of the last one."""
    logits = None
    for start in range(0, len(ids), size):
        chunk = list(ids[start : start + size])
        logits = model(mx.array([chunk]), cache=sequence.caches)[:, -1, :]
        mx.eval(logits)
        sequence.evaluate()
        sequence.tokens.extend(chunk)
    return logits


def prefill(model, prefix, prompt, boundaries=()):
    """Feed a prompt with its stops; return the sequence, its last logits and the number of cached tokens."""
    sequence = prefix.begin(prompt)
    cached = len(sequence.tokens)
    for stop in prefix.stops(sequence, len(prompt), boundaries):
        feed(model, sequence, prompt[len(sequence.tokens) : stop])
        prefix.keep(sequence)
    feed(model, sequence, prompt[len(sequence.tokens) : -1])
    return sequence, feed(model, sequence, prompt[-1:]), cached


def answer(model, prefix, prompt, boundaries=(), generated=()):
    """Prefill, feed `generated` and end; return the logits after the prompt and the number of cached tokens."""
    sequence, logits, cached = prefill(model, prefix, prompt, boundaries)
    feed(model, sequence, list(generated), size=1)
    prefix.end(sequence)
    return logits, cached
