"""Running prompts through a prefix cache as the engine does."""

import mlx.core as mx


def feed(model, sequence, ids, size=7):
    """Feed token ids in chunks, and return the logits of the last one."""
    logits = None
    for start in range(0, len(ids), size):
        chunk = list(ids[start : start + size])
        logits = model(mx.array([chunk]), cache=sequence.caches)[:, -1, :]
        mx.eval(logits)
        sequence.evaluate()
        sequence.tokens.extend(chunk)
    return logits


def prefill(model, prefix, prompt, boundaries=()):
    """Feed a prompt, stopping where the cache is kept; return the sequence, its last logits and the cached tokens."""
    sequence = prefix.begin(prompt)
    cached = len(sequence.tokens)
    for stop in prefix.stops(sequence, len(prompt), boundaries):
        feed(model, sequence, prompt[len(sequence.tokens) : stop])
        prefix.keep(sequence)
    feed(model, sequence, prompt[len(sequence.tokens) : -1])
    return sequence, feed(model, sequence, prompt[-1:]), cached


def answer(model, prefix, prompt, boundaries=(), generated=()):
    """Prefill a prompt, feed `generated` and end; return the logits after the prompt and the cached tokens."""
    sequence, logits, cached = prefill(model, prefix, prompt, boundaries)
    feed(model, sequence, list(generated), size=1)
    prefix.end(sequence)
    return logits, cached
