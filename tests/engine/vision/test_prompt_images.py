from hypothesis import given
from hypothesis import strategies as st

from sotto.engine.vision.image_reader import ImageLayout, ReadImage
from sotto.engine.vision.prompt_images import (
    FIRST_IMAGE_TOKEN,
    PromptImage,
    place_images,
    positions_of,
    text_tokens,
    without_torn_images,
)


def image(key, rows=2, columns=3):
    return PromptImage.of(ReadImage(ImageLayout("", rows * columns, (rows, columns), ()), (), key))


# Texts, and images with a key and a grid.
pieces = st.lists(
    st.one_of(
        st.lists(st.integers(0, 999), min_size=1, max_size=5),
        st.builds(image, st.sampled_from(["a", "b", "c"]), st.just(2), st.integers(2, 4)),
    ),
    max_size=8,
)


def joined(parts):
    return [token for part in parts for token in (part.tokens if isinstance(part, PromptImage) else part)]


def test_tokens_of_images_differ_by_image_and_place():
    first, second = image("a", 16, 16), image("b", 16, 16)
    assert len(set(first.tokens) | set(second.tokens)) == 512
    assert all(FIRST_IMAGE_TOKEN <= token < 1 << 32 for token in first.tokens)
    assert image("a", 16, 16) == first


@given(pieces)
def test_images_are_found_at_their_places(parts):
    tokens = joined(parts)
    images = [part for part in parts if isinstance(part, PromptImage)]
    placed = place_images(tokens, images)
    assert [each.image for each in placed] == [each.image for each in images]
    for each, found in zip(images, placed, strict=True):
        assert tuple(tokens[place] for place in found.places) == each.tokens
    assert text_tokens(tokens) == joined(part for part in parts if not isinstance(part, PromptImage))


@given(pieces, st.data())
def test_images_cut_in_two_are_left_out_as_a_whole(parts, data):
    # Two halves of the same image could make a whole one again.
    parts = [
        image(str(number), *part.image.layout.grid) if isinstance(part, PromptImage) else part
        for number, part in enumerate(parts)
    ]
    tokens = joined(parts)
    images = [part for part in parts if isinstance(part, PromptImage)]
    first = data.draw(st.integers(0, len(tokens)))
    last = data.draw(st.integers(first, len(tokens)))
    kept = without_torn_images([*tokens[:first], *tokens[last:]], images)
    ends, place = [], 0
    for part in parts:
        length = len(part.tokens) if isinstance(part, PromptImage) else len(part)
        ends.append((part, place, place + length))
        place += length
    expected = []
    for part, start, end in ends:
        if isinstance(part, PromptImage):
            expected += part.tokens if first == last or end <= first or start >= last else ()
        else:
            expected += [token for at, token in enumerate(part, start) if not first <= at < last]
    assert list(kept) == expected
    assert sum(len(each.places) for each in place_images(kept, images)) == len(kept) - len(text_tokens(kept))


def test_text_goes_on_after_the_longer_side_of_an_image():
    # From a rendering of `get_rope_index` of transformers' Qwen2.5-VL: two tokens, an image of 2 by 3, two tokens.
    each = image("a", 2, 3)
    tokens = [1, 2, *each.tokens, 3, 4]
    positions = positions_of(len(tokens), place_images(tokens, [each]))
    assert positions.axes == (
        (0, 1, 2, 2, 2, 2, 2, 2, 5, 6),
        (0, 1, 2, 2, 2, 3, 3, 3, 5, 6),
        (0, 1, 2, 3, 4, 2, 3, 4, 5, 6),
    )
    assert positions.after == 7


@given(pieces)
def test_text_without_images_counts_tokens(parts):
    tokens = text_tokens(joined(parts))
    positions = positions_of(len(tokens), [])
    assert positions.axes == (tuple(range(len(tokens))),) * 3
    assert positions.after == len(tokens)
