"""Prompts with images as definitions take them, built by hand."""

from collections.abc import Iterator, Sequence

import mlx.core as mx

from sotto.engine.architectures.image_view import View
from sotto.engine.architectures.towers.tower import Features
from sotto.engine.vision.image_reader import ImageLayout

Seen = tuple[Features, ImageLayout]


def show(
    ids: Sequence[int], slot: int, images: Sequence[Seen], *, multi_axis: bool = False, both_ways: bool = False
) -> tuple[mx.array, View]:
    """Return the tokens [1, L] of a prompt, and the view of its images.

    Args:
        ids: The tokens, with `slot` for each row of features, in the order of the images.
        slot: The token in whose places rows of features stand.
        images: What the tower has seen in each image, and how it stands in the prompt.
        multi_axis: Whether positions have three axes.
        both_ways: Whether the tokens of an image attend to each other in both directions.
    """
    tokens = mx.array(list(ids))
    shows = tokens == slot
    places = [place for place, token in enumerate(ids) if token == slot]
    if not places:
        return tokens[None], View(mx.zeros((1, len(ids), 1)), shows[None])
    assert len(places) == sum(features.rows.shape[0] for features, _ in images)
    view = View(
        _placed(places, [features.rows for features, _ in images], len(ids)),
        shows[None],
        deep=tuple(
            _placed(places, rows, len(ids)) for rows in zip(*(features.deep for features, _ in images), strict=True)
        ),
        positions=mx.array(_positions(ids, slot, [layout for _, layout in images])) if multi_axis else None,
        together=tuple(_spans(places, [layout for _, layout in images])) if both_ways else (),
    )
    return mx.where(shows, 0, tokens)[None], view


def cut(view: View, start: int, end: int) -> View:
    """Return the view of a chunk: the tokens from `start` to `end`."""
    return View(
        view.features[:, start:end],
        view.shows[:, start:end],
        deep=tuple(rows[:, start:end] for rows in view.deep),
        positions=None if view.positions is None else view.positions[:, start:end],
        together=tuple(
            (first - start, last - start) for first, last in view.together if start <= first and last <= end
        ),
    )


def _placed(places: list[int], rows: Sequence[mx.array], length: int) -> mx.array:
    joined = mx.concatenate(list(rows))
    placed = mx.zeros((length, joined.shape[1]), joined.dtype)
    placed[mx.array(places)] = joined
    return placed[None]


def _positions(ids: Sequence[int], slot: int, layouts: list[ImageLayout]) -> list[list[int]]:
    """Return the positions on three axes: an image stands at its rows and columns, and text goes on after both."""
    found: list[list[int]] = [[], [], []]
    waiting, place, at = list(layouts), 0, 0
    while place < len(ids):
        if ids[place] != slot:
            step = [(at, at, at)]
            at += 1
        else:
            rows, columns = waiting.pop(0).grid
            step = [(at, at + row, at + column) for row in range(rows) for column in range(columns)]
            at += max(rows, columns)
        for axis, values in zip(found, zip(*step, strict=True), strict=True):
            axis += values
        place += len(step)
    return found


def _spans(places: list[int], layouts: list[ImageLayout]) -> Iterator[tuple[int, int]]:
    at = 0
    for layout in layouts:
        own = places[at : at + layout.rows]
        at += layout.rows
        yield own[0], own[-1] + 1
