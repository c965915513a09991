"""Values that the window's parts are drawn from."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from sotto.engine.contract.events import LoadProgress, ModelInfo
from sotto.engine.contract.requests import SamplingOptions
from sotto.runner.residents import Resident, Stage
from sotto.store.records import ModelRecord
from sotto.ui.state.load_pace import Pace

_UNSEEN = Pace()


class Phase(StrEnum):
    """Where a model stands."""

    ABSENT = "absent"
    FOUND = "found"
    LOADING = "loading"
    READY = "ready"
    GENERATING = "generating"
    UNLOADING = "unloading"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ModelState:
    """The state of the model that the window is about; list, header and composer are all drawn from it.

    Attributes:
        phase: Where it stands.
        record: The model; None only while there is none.
        progress: The newest news of a load, while loading.
        info: The loaded model, while ready or generating.
        reason: Why it failed, in one sentence.
        pace: How fast the load is, while loading.
        actual: Bytes that it did hold when it had been loaded; 0 when that is not known yet.
    """

    phase: Phase = Phase.ABSENT
    record: ModelRecord | None = None
    progress: LoadProgress | None = None
    info: ModelInfo | None = None
    reason: str = ""
    pace: Pace = _UNSEEN
    actual: int = 0

    @classmethod
    def beside(cls, record: ModelRecord, resident: Resident | None) -> "ModelState":
        """Return the state of a model that the window is not about, as it lies in memory or does not."""
        if resident is None:
            return cls(Phase.FOUND, record)
        if resident.stage is Stage.READY:
            return cls(Phase.GENERATING if resident.visits else Phase.READY, record, info=resident.info)
        return cls(Phase.LOADING if resident.stage is Stage.LOADING else Phase.UNLOADING, record)

    @property
    def loaded(self) -> bool:
        """Whether the model is in memory and answers."""
        return self.phase in (Phase.READY, Phase.GENERATING)

    @property
    def busy(self) -> bool:
        """Whether there is something that Stop stops."""
        return self.phase in (Phase.LOADING, Phase.GENERATING)

    @property
    def fraction(self) -> float | None:
        """How far a load is, from 0 to 1; None when that is not known yet."""
        if self.progress is None or self.progress.total <= 0:
            return None
        return min(1.0, self.progress.done / self.progress.total)

    @property
    def chat_refusal(self) -> str:
        """Why the loaded model cannot chat, in a sentence; empty where it can or none is loaded."""
        if self.info is None or self.info.writes:
            return ""
        return "This model makes vectors of texts and cannot chat: use it by sotto embed, or through the API."

    def seen(self, *, answering: bool) -> "ModelState":
        """Return the state as a conversation sees it that is being answered or not: it stops no other's answer."""
        return self if answering or self.phase is not Phase.GENERATING else replace(self, phase=Phase.READY)


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """How answers are generated where a chat chooses nothing; each field as in `GenerateRequest`.

    Attributes:
        sampling: How tokens are drawn, whatever anybody chose; None as they did.
        num_predict: Most tokens to generate.
        ignore_eos: Whether to go on past the end.
        num_ctx: Tokens of context that the next model is loaded with.
        system: What the model is told first.
        options: How models answer, by Ollama's names, `think` as the engine has it.
    """

    sampling: SamplingOptions | None = None
    num_predict: int | None = None
    ignore_eos: bool = False
    num_ctx: int | None = None
    system: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)

    def system_for(self, own: str) -> str:
        """Return what the model is told first in a chat with this system prompt of its own."""
        return own if own.strip() else self.system

    def options_for(self, own: Mapping[str, Any]) -> dict[str, Any]:
        """Return how models answer in a chat with these options of its own."""
        return {**self.options, **own}


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that did not work, shown where it happened.

    Attributes:
        title: What did not work, in a few words.
        message: Why, in one sentence.
        details: More for a bug report; may be empty.
        retry: Whether trying the same again makes sense.
    """

    title: str
    message: str
    details: str = ""
    retry: bool = False
