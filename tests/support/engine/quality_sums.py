"""The figures of a comparison of two models by sums written out by hand, as llama.cpp's tool writes them."""

import math

import numpy as np


def sums(original, other, targets):
    """Return the figures by running sums in 64 bits, row by row, following `kl_divergence` of llama.cpp."""
    nll, nll2, base, base2, both, kld, kld2, same = [0.0] * 8
    values, count = [], len(targets)
    for p_logits, q_logits, token in zip(original.astype(np.float64), other.astype(np.float64), targets, strict=True):
        p_log = p_logits - np.log(np.sum(np.exp(p_logits)))
        q_log = q_logits - np.log(np.sum(np.exp(q_logits)))
        a, b = -q_log[token], -p_log[token]
        nll, nll2, base, base2, both = nll + a, nll2 + a * a, base + b, base2 + b * b, both + a * b
        value = float(np.sum(np.exp(p_log) * (p_log - q_log)))
        kld, kld2, same = kld + value, kld2 + value * value, same + (p_log.argmax() == q_log.argmax())
        values.append(value)

    def mean_and_error(total, squares):
        mean = total / count
        return mean, math.sqrt((squares / count - mean * mean) / (count - 1))

    (log_q, error_q), (log_p, error_p) = mean_and_error(nll, nll2), mean_and_error(base, base2)
    covariance = (both / count - log_q * log_p) / (count - 1)
    ratio, share = math.exp(log_q - log_p), same / count
    return {
        "tokens": count,
        "original_perplexity": {"value": math.exp(log_p), "error": math.exp(log_p) * error_p},
        "perplexity": {"value": math.exp(log_q), "error": math.exp(log_q) * error_q},
        "ratio": {"value": ratio, "error": ratio * math.sqrt(error_q**2 + error_p**2 - 2 * covariance)},
        "divergence": dict(zip(("value", "error"), mean_and_error(kld, kld2), strict=True)),
        "median_divergence": float(np.median(values)),
        "high_divergence": float(np.percentile(values, 99)),
        "same_token": {"value": share, "error": math.sqrt(share * (1 - share) / (count - 1))},
    }


def flat(figures, prefix=""):
    for name, value in figures.items():
        if isinstance(value, dict):
            yield from flat(value, f"{name}.")
        else:
            yield prefix + name, value
