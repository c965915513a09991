"""Values that the widgets display: the state of a model, the settings of chats, and problems."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from sotto.engine.contract.events import LoadProgress, ModelInfo
from sotto.engine.contract.requests import SamplingOptions
from sotto.runner.residents import Resident, Stage
from sotto.store.records import ModelRecord
from sotto.ui.state.load_pace import LoadPace
from sotto.ui.state.seeing_models import sees
from sotto.ui.toolkit.translation import QT_TR_NOOP, tr

_NO_PACE = LoadPace()


class Phase(StrEnum):
    """The phases in the life of a model."""

    ABSENT = "absent"
    FOUND = "found"
    LOADING = "loading"
    READY = "ready"
    GENERATING = "generating"
    UNLOADING = "unloading"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ModelState:
    """The state of a model, from which the list, the header and the composer are drawn.

    Attributes:
        phase: The phase in which it is.
        record: The model; None only while no model is in use.
        progress: The latest progress, while loading.
        info: The loaded model, while ready or generating.
        reason: Why it failed, in one sentence.
        pace: How fast it is loading, while loading.
        actual: Bytes that it took up once it was loaded; 0 if not known yet.
    """

    phase: Phase = Phase.ABSENT
    record: ModelRecord | None = None
    progress: LoadProgress | None = None
    info: ModelInfo | None = None
    reason: str = ""
    pace: LoadPace = _NO_PACE
    actual: int = 0

    @classmethod
    def of_resident(cls, record: ModelRecord, resident: Resident | None) -> "ModelState":
        """Return the state of a model that is not the one in use; `resident` is None if it is not in memory."""
        if resident is None:
            return cls(Phase.FOUND, record)
        if resident.stage is Stage.READY:
            return cls(Phase.GENERATING if resident.visits else Phase.READY, record, info=resident.info)
        return cls(Phase.LOADING if resident.stage is Stage.LOADING else Phase.UNLOADING, record)

    @property
    def loaded(self) -> bool:
        """Whether the model is in memory and can answer."""
        return self.phase in (Phase.READY, Phase.GENERATING)

    @property
    def sees(self) -> bool:
        """Whether the model can be shown images, as far as is known before it is loaded."""
        if self.info is not None:
            return self.info.sees
        return self.record is not None and sees(self.record)

    @property
    def busy(self) -> bool:
        """Whether there is something that the Stop button can stop."""
        return self.phase in (Phase.LOADING, Phase.GENERATING)

    @property
    def fraction(self) -> float | None:
        """How much of the model is loaded, from 0 to 1; None if not known yet."""
        if self.progress is None or self.progress.total <= 0:
            return None
        return min(1.0, self.progress.done / self.progress.total)

    @property
    def chat_refusal(self) -> str:
        """Why the loaded model cannot chat, in a sentence; empty if it can or none is loaded."""
        if self.info is None or self.info.writes:
            return ""
        return tr("This model makes embeddings and cannot chat: use it with sotto embed, or through the API.")

    def for_chat(self, *, answering: bool) -> "ModelState":
        """Return the state as one chat shows it: `ready` while the model only answers in other chats."""
        return self if answering or self.phase is not Phase.GENERATING else replace(self, phase=Phase.READY)


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """How answers are generated in chats that do not choose otherwise; fields as in `GenerateRequest`.

    Attributes:
        sampling: Sampling options that override all choices; None to follow the choices.
        num_predict: Maximum number of tokens to generate.
        ignore_eos: Whether to go on past the end-of-sequence token.
        num_ctx: Context length in tokens with which the next model is loaded.
        system: The system prompt.
        options: The answer options, under Ollama's names; `think` under the engine's.
    """

    sampling: SamplingOptions | None = None
    num_predict: int | None = None
    ignore_eos: bool = False
    num_ctx: int | None = None
    system: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)

    def system_for(self, own: str) -> str:
        """Return the system prompt of a chat whose own is `own`; a blank one counts as none."""
        return own if own.strip() else self.system

    def options_for(self, own: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answer options of a chat whose own options are `own`."""
        return {**self.options, **own}


class Remedy(StrEnum):
    """What a problem offers to do about it; the value is the label of the button, marked for translation."""

    NONE = ""
    RETRY = QT_TR_NOOP("Try again")
    CHOOSE_MODEL = QT_TR_NOOP("Choose a model")


@dataclass(frozen=True, slots=True)
class Problem:
    """A failure that is shown to the user where it happened.

    Attributes:
        title: What failed, in a few words.
        message: Why, in one sentence.
        details: Details for a bug report; may be empty.
        remedy: What the user can do about it with one click.
    """

    title: str
    message: str
    details: str = ""
    remedy: Remedy = Remedy.NONE
