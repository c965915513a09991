"""Models on their way from their files to the first token of an answer, by the program's own path."""

from pathlib import Path

from fuzzing.outcomes import place_told
from fuzzing.target import Mark
from sotto.engine.config.supported_models import is_encoder
from sotto.engine.contract.events import Failed, TextChunk
from sotto.engine.contract.requests import EmbedRequest, GenerateRequest, Message, SamplingOptions
from sotto.engine.engine import Engine
from sotto.engine.kernels import device
from sotto.errors import SottoError
from sotto.store.opening import open_model, record_of

STAGES = ("found", "opened", "planned", "loaded", "prepared", "answered")
_GREEDY = SamplingOptions(temperature=0)
_CHAT = (Message("system", "Be brief."), Message("user", "Once upon"))


# What is said of a model that is loaded names the part of it that fails; which model that is, a person knows by then.
_PARTS = ("tokenizer.json", "chat template", "An input is empty")


def names_model(message: str, path: Path) -> bool:
    """Return whether a sentence names a model by its path, or the part of it that fails once it is loaded."""
    return str(path) in message or any(part in message for part in _PARTS)


class BugError(Exception):
    """The engine itself says that it made a mistake.

    Attributes:
        where: The place in its code.
    """

    def __init__(self, event: Failed) -> None:
        """Take what it says."""
        super().__init__(event.message)
        self.where = place_told(event.details)
        self.add_note(event.details)


class Models:
    """An engine that takes one model after the other."""

    def __init__(self) -> None:
        """Start without a model."""
        device.prepare()
        self._engine = Engine()

    def through(self, path: Path, mark: Mark) -> None:
        """Take a model as far as it goes.

        Raises:
            SottoError: It was refused.
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
            self._embed(mark) if is_encoder(source.config) else self._answer(mark)
        finally:
            self._engine.unload()

    def _answer(self, mark: Mark) -> None:
        for number, asked in enumerate(({"messages": _CHAT}, {"prompt": "Once upon a time, é 12"})):
            prepared = self._engine.prepare(
                GenerateRequest(id=str(number), num_predict=2, sampling=_GREEDY, **asked)  # type: ignore[arg-type]
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
    """Raise what an event says that failed."""
    if isinstance(event, Failed):
        raise BugError(event) if event.bug else SottoError(event.message)
