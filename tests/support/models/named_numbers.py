"""Numbers that follow from the name of a tensor, as packaging/references/make_vision_gguf.py gives them to models."""

import numpy as np


def named_numbers(name, shape):
    """Return the numbers of a tensor, which F16 holds exactly."""
    first = sum((place + 1) * ord(letter) for place, letter in enumerate(name))
    count = int(np.prod(shape, dtype=np.int64))
    return (((first + np.arange(count) * 7919) % 1024).astype(np.float32) / 1024 - 0.5).reshape(shape)
