"""What is under way for a conversation."""

from enum import StrEnum


class Phase(StrEnum):
    """What is under way for a conversation."""

    IDLE = "idle"
    SAVING = "saving"
    WAITING_FOR_MODEL = "waiting_for_model"
    PREFILLING = "prefilling"
    ANSWERING = "answering"
    SUMMARIZING = "summarizing"
