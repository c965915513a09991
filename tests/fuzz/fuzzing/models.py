"""Taking models from their files to the first token of an answer, with the program's own code."""

from pathlib import Path

from fuzzing.outcomes import place_in_traceback
from fuzzing.target import Mark
from sotto.engine.config.supported_models import is_encoder
from sotto.engine.contract.events import Failed, TextChunk
from sotto.engine.contract.message_content import ImagePart, TextPart
from sotto.engine.contract.requests import EmbedRequest, GenerateRequest, Message, SamplingOptions
from sotto.engine.engine import Engine
from sotto.engine.kernels import device
from sotto.errors import SottoError
from sotto.store.opening import open_model, record_of

STAGES = ("found", "opened", "planned", "loaded", "prepared", "answered")
_GREEDY = SamplingOptions(temperature=0)
_CHAT = (Message("system", "Be brief."), Message("user", "Once upon"))
_REQUESTS = ({"messages": _CHAT}, {"prompt": "Once upon a time, é 12"})

# Messages about a loaded model name the part that fails, but not the model, which the person knows by then.
_PARTS = ("tokenizer.json", "chat template", "An input is empty")


def names_model(message: str, path: Path) -> bool:
    """Return whether a message names a model by its path, or the part of a loaded model that fails."""
    return str(path) in message or any(part in message for part in _PARTS)


class BugError(Exception):
    """The engine reported an internal error.

    Attributes:
        where: The place in the engine's code.
    """

    def __init__(self, event: Failed) -> None:
        """Create the error from the engine's event."""
        super().__init__(event.message)
        self.where = place_in_traceback(event.details)
        self.add_note(event.details)


class Models:
    """An engine that loads one model after another."""

    def __init__(self) -> None:
        """Create the engine without a model."""
        device.prepare()
        self._engine = Engine()

    def process(self, path: Path, mark: Mark, image: bytes = b"") -> None:
        """Process a model as far as possible.

        Args:
            path: The model.
            mark: Marks the stages that it reaches.
            image: An image for models that see, as a file; empty for none.

        Raises:
            SottoError: The model was refused.
        """
        record = record_of(path)
        mark("found")
        source = open_model(record)
        mark("opened")
        if not self._engine.measure(source).needs.unknown:
            mark("planned")
        try:
            self._engine.load(source)
            mark("loaded")
            self._embed(mark) if is_encoder(source.config) else self._answer(mark, image)
        finally:
            self._engine.unload()

    def _answer(self, mark: Mark, image: bytes) -> None:
        info = self._engine.info
        if image and info is not None and info.sees:
            mark("sees")
        elif image and info is not None and info.vision_note:
            raise SottoError(info.vision_note)
        shown = {"messages": (Message("user", (ImagePart(image), TextPart("once upon"))),)}
        for number, fields in enumerate((shown,) if image else _REQUESTS):
            prepared = self._engine.prepare(
                GenerateRequest(id=str(number), num_predict=2, sampling=_GREEDY, **fields)  # type: ignore[arg-type]
            )
            mark("prepared")
            for event in self._engine.generate(prepared):
                _check(event)
                if isinstance(event, TextChunk):
                    mark("answered")

    def _embed(self, mark: Mark) -> None:
        prepared = self._engine.prepare_texts(EmbedRequest("e", ("Once upon a time, é 12", "")))
        mark("prepared")
        vectors = self._engine.embed(prepared)
        _check(vectors)
        mark("answered")


def _check(event: object) -> None:
    """Raise an error if an event reports a failure."""
    if isinstance(event, Failed):
        raise BugError(event) if event.bug else SottoError(event.message)
