"""Giving a model its vision tower, if its files hold one, and what reads images for it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import mlx.core as mx
from mlx import nn
from mlx.utils import tree_flatten

from sotto.engine.architectures.towers.tower import Tower
from sotto.engine.architectures.towers.tower_choice import make_tower
from sotto.engine.config.architecture_table import architecture
from sotto.engine.config.load_errors import reason_of
from sotto.engine.config.tower_names import changes_tower
from sotto.engine.vision.image_reader import ImageReader
from sotto.engine.vision.preprocessor_files import preprocessor_of
from sotto.engine.vision.reader_choice import make_reader
from sotto.engine.weights import weights
from sotto.errors import SottoError, UnsupportedModelError
from sotto.store.printable import printable_path
from sotto.store.records import Format, ModelSource, TensorFile


@dataclass(frozen=True, slots=True)
class Sight:
    """What a model sees with.

    Attributes:
        tower: Its vision tower, without its weights; None if it does not see.
        reader: What reads images for it; None if it does not see.
        files: The files with the tensors of the tower.
        note: Why it does not see although its files hold a tower, in a sentence; empty otherwise.
    """

    tower: Tower | None = None
    reader: ImageReader | None = None
    files: tuple[TensorFile, ...] = ()
    note: str = ""


def sight_of(source: ModelSource) -> Sight:
    """Return what a model sees with; nothing of it is read.

    A model whose tower cannot be computed is one that does not see.

    Raises:
        BrokenModelError: Two tensors have the same name.
        UnsupportedModelError: A tensor has a type that cannot be read.
    """
    if not architecture(source.config).sees or not (files := weights.of_tower(source)):
        return Sight()
    changing = next((each for each in source.adapters if changes_tower(each, source.config)), None)
    if changing is not None:
        return Sight(
            note=f"Images are not shown to it: its adapter {printable_path(changing.path)} also changes its tower for "
            "images, which is not supported."
        )
    try:
        tower, reader = make_tower(source.config), make_reader(source.config, preprocessor_of(source.json_files))
    except UnsupportedModelError as error:
        return Sight(note=error.message)
    except SottoError:
        raise
    except Exception as error:
        # As with definitions of models, a missing or meaningless value may show only in the first error that it causes.
        return Sight(note=f"Its config.json does not describe a vision tower that can be built: {reason_of(error)}.")
    if isinstance(tower, nn.Module) and all(file.format is Format.GGUF for file in files) and not _fits(tower, files):
        return Sight(note="The tensors of its vision tower in the GGUF file are not those that such towers have.")
    return Sight(tower, reader, files)


def _fits(tower: Any, files: Iterable[TensorFile]) -> bool:
    """Return whether files hold just what a tower needs.

    Converters have more than one form for towers; a model whose tower has an unknown one still answers to text.
    """
    # Nothing of these arrays is computed but their shapes.
    arrays = {name: mx.zeros(info.shape) for file in files for name, info in file.tensors.items()}
    try:
        found = {name: array.shape for name, array in tower.sanitize(arrays).items()}
    except ValueError:
        # MLX says so of arrays that cannot be reshaped as the tower expects.
        return False
    wanted: dict[str, mx.array] = dict(tree_flatten(tower.parameters()))
    return found == {name: array.shape for name, array in wanted.items()}
