"""The plan for converting a GGUF file: names, types and shapes of the resulting tensors. Reads none of its data."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import mlx.core as mx

from sotto.engine.gguf import repack
from sotto.engine.gguf.blocks import GROUP_SIZE
from sotto.engine.gguf.gguf_names import LATENT_KEYS, LATENT_VALUES, UNROUNDED, Fold, Place, place_of
from sotto.engine.gguf.kept import BLOCK_SIZE, KEPT, UNIT
from sotto.engine.gguf.tower_recipes import TowerRecipe, tower_recipes
from sotto.errors import BrokenModelError
from sotto.store.printable import format_size, printable, printable_path
from sotto.store.records import TensorFile, TensorInfo

_DTYPE_NAMES = {mx.float32: "F32", mx.float16: "F16", mx.bfloat16: "BF16"}
_KEPT_NAMES = {mx.uint16: "U16", mx.int16: "I16", mx.int8: "I8"}
_HALF_TYPES = ("F16", "BF16")
_WORD_BITS = 32
# Definitions dequantize it, which is only done for the types of MLX.
_NEVER_KEPT = ".kv_b_proj.weight"


@dataclass(frozen=True, slots=True)
class Recipe:
    """How one matrix or vector of a model is made from a file.

    Attributes:
        place: Its name in the definition, and how it has to be changed.
        parts: The tensors of the file: one, or the two halves of a latent projection.
        layout: How it is quantized; None if it is not.
        dtype: Type of its elements or, if it is quantized, of its scales and biases.
    """

    place: Place
    parts: tuple[TensorInfo, ...]
    layout: repack.Layout | None
    dtype: mx.Dtype

    @property
    def name(self) -> str:
        """Its name in the definition."""
        return self.place.name

    @property
    def nbytes(self) -> int:
        """Size of its parts in the file, in bytes."""
        return sum(part.nbytes for part in self.parts)

    @property
    def shape(self) -> tuple[int, ...]:
        """Its shape, unpacked."""
        if len(self.parts) == 1:
            fold, shape = self.place.fold, self.parts[0].shape
            return shape if fold is None else fold.of(shape)
        (heads, rank, width), (_, depth, _) = (part.shape for part in self.parts)
        return heads * (width + depth), rank

    def outputs(self) -> Iterator[tuple[str, TensorInfo]]:
        """Yield the names, types and shapes of the resulting tensors."""
        name, shape, layout = self.place.name, self.shape, self.layout
        if layout is None:
            yield name, _info(_DTYPE_NAMES[self.dtype], shape, self.dtype.size)
            return
        *rows, columns = shape
        stem = name.removesuffix(".weight")
        yield f"{stem}.weight", _info("U32", (*rows, columns * layout.bits // _WORD_BITS), 4)
        if layout.is_kept:
            kept = KEPT[layout.mode]
            numbers = columns * kept.numbers // BLOCK_SIZE
            yield f"{stem}.scales", _info(_KEPT_NAMES[kept.dtype], (*rows, numbers), kept.dtype.size)
            return
        groups = (*rows, columns // GROUP_SIZE)
        if layout.mode == "affine":
            yield f"{stem}.scales", _info(_DTYPE_NAMES[self.dtype], groups, self.dtype.size)
            yield f"{stem}.biases", _info(_DTYPE_NAMES[self.dtype], groups, self.dtype.size)
        else:
            yield f"{stem}.scales", _info("U8", groups, 1)


@dataclass(frozen=True, slots=True)
class ConvertedFile(TensorFile):
    """A GGUF file, described by the tensors that result from its conversion.

    Attributes:
        recipes: How they are made, in the order of the file, and perhaps how others are.
    """

    recipes: tuple[Recipe | TowerRecipe, ...] = ()

    @property
    def needed(self) -> tuple[Recipe | TowerRecipe, ...]:
        """How its tensors are made, without what else the file holds."""
        return tuple(recipe for recipe in self.recipes if any(name in self.tensors for name, _ in recipe.outputs()))

    @property
    def read_bytes(self) -> int:
        """Bytes of tensor data to read."""
        return sum(recipe.nbytes for recipe in self.needed)


def convert(
    source: TensorFile, config: Mapping[str, Any], *, on_cpu: bool, kept: Collection[str] = ()
) -> ConvertedFile:
    """Return the description of a converted file.

    On a CPU, unquantized tensors keep their types, and scales have 16 bits, because activations are always float32.
    Elsewhere activations take the widest type that they meet, so all tensors get the same type.

    Args:
        source: A GGUF file.
        config: The model's config.
        on_cpu: Whether the model is computed on a CPU.
        kept: The modes of types that keep their bits.

    Raises:
        BrokenModelError: Two tensors have the same name in the definition, or two halves do not fit each other.
    """
    common = None if on_cpu else _activation_dtype(source)
    recipes: tuple[Recipe | TowerRecipe, ...] = (
        *_recipes(source, config, common, kept),
        *tower_recipes(source, config, on_cpu=on_cpu),
    )
    tensors: dict[str, TensorInfo] = {}
    for recipe in recipes:
        for name, info in recipe.outputs():
            if name in tensors:
                raise BrokenModelError(
                    f"{printable_path(source.path)}: two of its tensors are {printable(name)}; there should be one."
                )
            tensors[name] = info
    return ConvertedFile(
        source.path,
        source.digest,
        tensors,
        source.metadata,
        format=source.format,
        more_parts=source.more_parts,
        recipes=recipes,
    )


def describe_repacking(files: Iterable[TensorFile], *, widened: bool = False) -> str:
    """Return how the types of GGUF files are held: `Q4_K in 4 bits (2 GB), Q6_K rounded to 8 bits (1 GB)`.

    Unquantized types and those that keep their bits are not named; the text is empty if there are no others.

    Args:
        files: The files of a model; only those that are a `ConvertedFile` count.
        widened: Whether 16-bit scales are held in 32 bits.
    """
    sizes: Counter[str] = Counter()
    for file in files:
        for recipe in file.recipes if isinstance(file, ConvertedFile) else ():
            if (layout := recipe.layout) and not layout.is_kept:
                how = "in" if layout.exact else "rounded to"
                sizes[f"{recipe.parts[0].dtype} {how} {layout.bits} bits"] += sum(
                    info.nbytes * (2 if widened and info.dtype in _HALF_TYPES else 1) for _, info in recipe.outputs()
                )
    return ", ".join(f"{description} ({format_size(size)})" for description, size in sizes.most_common())


def _recipes(
    source: TensorFile, config: Mapping[str, Any], common: mx.Dtype | None, kept: Collection[str]
) -> Iterator[Recipe]:
    for name, info in source.tensors.items():
        if match := LATENT_KEYS.fullmatch(name):
            yield _latent(source, match[1], info, common)
        elif not name.endswith(LATENT_VALUES) and (place := place_of(name, config)) is not None:
            if place.order and not place.order.fits(info.shape[0]):
                heads = f"{place.order.groups} heads of two halves"
                parts = heads if place.order.separates_halves else f"the heads of {place.order.inner} keys"
                raise BrokenModelError(
                    f"{printable_path(source.path)}: {printable(name)} has {info.shape[0]} rows, which cannot be "
                    f"split into {parts}, as the file says."
                )
            own = () if place.name.endswith(_NEVER_KEPT) or info.shape[-1] % UNIT else kept
            layout = repack.layout_of(info.dtype, on_cpu=common is None, kept=own)
            if layout and (place.logarithm or place.fold in (Fold.CHANNELS, Fold.FLAT)):
                raise BrokenModelError(
                    f"{printable_path(source.path)}: {printable(name)} is {info.dtype}; it should be F32, as its "
                    "values are needed one by one."
                )
            stored = repack.PLAIN_DTYPES.get(info.dtype, mx.float16)
            unrounded = place.name.endswith(UNROUNDED)
            yield Recipe(place, (info,), layout, stored if common is None or unrounded else common)


def _latent(source: TensorFile, layer: str, keys: TensorInfo, common: mx.Dtype | None) -> Recipe:
    """Return how to join the two halves of the projection from latent keys and values, one of them transposed."""
    values = source.tensors.get(f"blk.{layer}{LATENT_VALUES}")
    fit = values is not None and len(keys.shape) == len(values.shape) == 3
    if values is None or not fit or keys.shape[0] != values.shape[0] or keys.shape[1] != values.shape[2]:
        raise BrokenModelError(
            f"{printable_path(source.path)}: blk.{layer}.attn_k_b.weight and attn_v_b.weight should both be there, "
            "for the same number of heads and with the same rank."
        )
    place = Place(f"model.layers.{layer}.self_attn.kv_b_proj.weight")
    return Recipe(place, (keys, values), None, common or mx.float32)


def _activation_dtype(source: TensorFile) -> mx.Dtype:
    """Return the type of most of the weights, by bytes; if that is quantized, bfloat16, which has float32's range."""
    sizes: Counter[str] = Counter()
    for tensor in source.tensors.values():
        sizes[tensor.dtype] += tensor.nbytes
    return repack.PLAIN_DTYPES.get(sizes.most_common(1)[0][0], mx.bfloat16) if sizes else mx.float32


def _info(dtype: str, shape: tuple[int, ...], size: int) -> TensorInfo:
    count = size
    for dimension in shape:
        count *= dimension
    return TensorInfo(dtype, shape, 0, count)
