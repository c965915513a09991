"""Giving a model its vision tower, if its files hold one, and what reads images for it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sotto.engine.architectures.towers.tower import Tower
from sotto.engine.architectures.towers.tower_choice import make_tower
from sotto.engine.config.architecture_table import architecture
from sotto.engine.config.load_errors import reason_of
from sotto.engine.config.tower_names import changes_tower
from sotto.engine.vision.image_reader import ImageReader
from sotto.engine.vision.preprocessor_files import preprocessor_of
from sotto.engine.vision.reader_choice import make_reader
from sotto.engine.weights import parameters, weights
from sotto.errors import BrokenModelError, SottoError, UnsupportedModelError
from sotto.store.printable import printable_path
from sotto.store.records import ModelSource, TensorFile


@dataclass(frozen=True, slots=True)
class LoadableTower:
    """The vision tower that a model is loaded with.

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


def loadable_tower(source: ModelSource) -> LoadableTower:
    """Return the tower that a model is loaded with; nothing of it is read.

    A model whose tower cannot be computed is one that does not see, but answers to text.

    Raises:
        BrokenModelError: Two tensors have the same name.
        UnsupportedModelError: A tensor has a type that cannot be read.
    """
    if not architecture(source.config).sees or not (files := weights.of_tower(source)):
        return LoadableTower()
    changing = next((each for each in source.adapters if changes_tower(each, source.config)), None)
    if changing is not None:
        return LoadableTower(
            note=f"Images are not shown to it: its adapter {printable_path(changing.path)} also changes its tower for "
            "images, which is not supported."
        )
    try:
        tower, reader = make_tower(source.config), make_reader(source.config, preprocessor_of(source.json_files))
    except UnsupportedModelError as error:
        return LoadableTower(note=error.message)
    except SottoError:
        raise
    except Exception as error:
        # As with definitions of models, a missing or meaningless value may show only in the first error that it causes.
        return LoadableTower(
            note=f"Its config.json does not describe a vision tower that can be built: {reason_of(error)}."
        )
    if tower is None or reader is None:
        return LoadableTower()
    if reason := _misfit(files, source):
        return LoadableTower(note=f"Images are not shown to it: {reason}")
    return LoadableTower(tower, reader, files)


def _misfit(files: Sequence[TensorFile], source: ModelSource) -> str:
    """Return why the tensors in files are not those that a model's tower needs; empty if they are."""
    # Not the tower that is going to be loaded, as it is changed.
    tower = make_tower(source.config)
    try:
        held = parameters.Holding(None, matrices=False)
        parameters.arrange(tower, files, weights.shapes_of(files), held, source.config, kernels=False)
    except (BrokenModelError, UnsupportedModelError) as error:
        return re.sub("^The ", "the ", error.message)
    return ""
