"""The sources of models, and which of them a name is of."""

from sotto.store.pull.hugging_face.hub_source import HuggingFace
from sotto.store.pull.model_source import ModelSource
from sotto.store.pull.registry import Registry
from sotto.store.pull.terms import Terms
from sotto.store.sources.hugging_face_names import HUGGING_FACE
from sotto.store.sources.model_names import ModelName


def open_source(name: ModelName, terms: Terms) -> ModelSource:
    """Return the source of a model.

    Raises:
        DownloadError: The host is not a valid address, or the settings of the environment are invalid.
    """
    if name.host == HUGGING_FACE:
        return HuggingFace(name, terms)
    return Registry(name, terms.patience, insecure=terms.insecure)
