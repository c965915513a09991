"""Mutations of JSON values that leave most of a value unchanged and its structure intact."""

import copy
import json
import math
from collections.abc import Sequence
from random import Random
from typing import Any

INTEGERS = (
    -1, 0, 1, 2, 3, 7, 64, 255, 256, 65_535, 65_536, 2**31 - 1, 2**31, 2**32, 2**53 + 1, 2**63 - 1, 2**63, 2**64,
    10**30, -(2**31), -(2**63),
)  # fmt: skip
FLOATS = (0.0, -0.0, -1.0, 0.5, 1e-300, 1e-6, 1e6, 1e38, 1e300, math.inf, -math.inf, math.nan)
TEXTS = (
    "", " ", "\x00", "a\x00b", "\n", "\u2028", "\u202e", "é", "e\u0301", "\U0001f642", "\ud800", "\ufeff", "\ufffd",
    "'", '"', "\\", "{{", "{%", "}}", "%s", "{0}", "null", "true", "0", "-1", "1e999", "../../etc/passwd", "/dev/zero",
    "C:\\x", "default", "model", "a" * 300, "é" * 5000, "x" * 100_000, "<s>", "</s>", "<|im_start|>", "[UNK]",
    "\u2581", "Ġ", "##a",
)  # fmt: skip
_STOP = 0.3


def text_of(value: Any) -> bytes:
    """Return a value as JSON, with escapes if it contains lone surrogates."""
    try:
        return json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return json.dumps(value).encode()


def mutated(value: Any, random: Random, most: int = 4, keep: Sequence[str] = ()) -> Any:
    """Return a copy with a few mutations, usually one.

    In most copies every change preserves the type, so that the copy passes checks of types alone.

    Args:
        value: The value, which is not changed.
        random: The source of randomness.
        most: The maximum number of mutations.
        keep: Top-level keys that stay unchanged with their values.
    """
    changed, tame = copy.deepcopy(value), random.random() < 0.7
    for _ in range(times(random, most)):
        changed = _once(changed, random, keep, tame=tame)
    return changed


def times(random: Random, most: int = 4) -> int:
    """Return a number of mutations: one in half of all cases, and each further one with half the probability."""
    count = 1
    while count < most and random.random() < 0.5:
        count += 1
    return count


def near(value: Any, random: Random, *, tame: bool = False) -> Any:
    """Return another value of the same type, or sometimes of any type unless `tame` is set."""
    if not tame and random.random() < 0.12:
        return anything(random)
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return random.choice((value + 1, value - 1, value * 2, value // 2, -value, random.choice(INTEGERS)))
    if isinstance(value, float):
        return random.choice((value * 2, value / 2, -value, value + 1e-3,
        float(int(value)) if abs(value) < 1e9 else 0.0,
                              random.choice(FLOATS)))  # fmt: skip
    if isinstance(value, str):
        return near_text(value, random)
    return value if tame else anything(random)


def near_text(value: str, random: Random) -> str:
    """Return another text."""
    place = random.randint(0, len(value))
    other = random.choice(TEXTS)
    return random.choice(
        (other, value[:place] + other + value[place:], value[:place], value[place:] + value[:place], value.swapcase(),
        value * 2)
    )  # fmt: skip


def anything(random: Random) -> Any:
    """Return a value of any type."""
    kind = random.randrange(9)
    if kind == 0:
        return None
    if kind == 1:
        return random.random() < 0.5
    if kind == 2:
        return random.choice(INTEGERS)
    if kind == 3:
        return random.choice(FLOATS)
    if kind in (4, 5):
        return random.choice(TEXTS)
    if kind == 6:
        return [anything(random) for _ in range(random.randrange(3))]
    if kind == 7:
        return {random.choice(TEXTS): anything(random) for _ in range(random.randrange(3))}
    return _nested(random)


def _nested(random: Random) -> Any:
    """Return nested lists and objects, with few or many levels."""
    value: Any = 1
    for _ in range(random.choice((3, 20, 100))):
        value = [value] if random.random() < 0.5 else {"a": value}
    return value


def _once(value: Any, random: Random, keep: Sequence[str], *, tame: bool) -> Any:
    """Return the value with one mutation, made in place if possible."""
    if not isinstance(value, dict | list) or not value:
        return near(value, random, tame=tame)
    holder, key = value, _key(value, random, keep)
    # Most parts are deep inside, so choose the place level by level, which gives every part of the value a chance.
    while isinstance(inner := holder[key], dict | list) and inner and random.random() > _STOP:
        holder, key = inner, _key(inner, random)
    if tame:
        _change_tamely(holder, key, random)
    else:
        _change(value, holder, key, random)
    return value


def _key(holder: Any, random: Random, keep: Sequence[str] = ()) -> Any:
    if isinstance(holder, list):
        return random.randrange(len(holder))
    return random.choice([key for key in holder if key not in keep] or list(holder))


def _change_tamely(holder: Any, key: Any, random: Random) -> None:
    """Change a value without changing its type, resize it or delete it."""
    inner = holder[key]
    if isinstance(inner, dict | list):
        _resize(inner, random)
    elif random.random() < 0.15:
        del holder[key]
    else:
        holder[key] = near(inner, random, tame=True)


def _change(whole: Any, holder: Any, key: Any, random: Random) -> None:
    """Change, delete, replace, insert or rename an entry."""
    kind = random.random()
    if kind < 0.5:
        inner = holder[key]
        if isinstance(inner, dict | list) and random.random() < 0.5:
            _resize(inner, random)
        else:
            holder[key] = near(inner, random)
    elif kind < 0.65:
        del holder[key]
    elif kind < 0.8:
        holder[key] = copy.deepcopy(_anywhere(whole, random))
    elif isinstance(holder, list):
        holder.insert(key, copy.deepcopy(random.choice(holder)) if random.random() < 0.7 else anything(random))
    elif random.random() < 0.5:
        holder[random.choice(TEXTS)] = holder.pop(key)
    else:
        holder[random.choice((str(key).upper(), f"{key}_", *TEXTS))] = anything(random)


def _resize(inner: Any, random: Random) -> None:
    """Shorten, extend or reorder a list or an object."""
    if isinstance(inner, list):
        kind = random.randrange(4)
        if kind == 0:
            inner.clear()
        elif kind == 1:
            inner.extend(copy.deepcopy(inner[:1000]))
        elif kind == 2:
            random.shuffle(inner)
        else:
            del inner[random.randint(0, len(inner)) :]
    elif random.random() < 0.5 and inner:
        keys = list(inner)
        inner[random.choice(keys)] = inner[random.choice(keys)]
    else:
        inner.clear()


def _anywhere(value: Any, random: Random) -> Any:
    """Return a random part of a value."""
    while isinstance(value, dict | list) and value and random.random() > _STOP:
        value = value[_key(value, random)]
    return value if len(repr(value)[:20_000]) < 20_000 else None
