"""One-line descriptions of a model's state."""

from sotto.ui.state import wording
from sotto.ui.state.model_state import ModelState, Phase


def state_line(state: ModelState) -> str:
    """Return the line under a model's name."""
    if state.phase is Phase.ABSENT:
        return "Choose one above or in the list, or drop one here"
    if state.phase is Phase.FOUND:
        return "Loads when you write"
    if state.phase is Phase.UNLOADING:
        return "Ejecting…"
    if state.phase is Phase.FAILED:
        return "Could not be loaded"
    if state.phase is Phase.LOADING:
        return f"Loading · {line}" if (line := loading_line(state)) else ""
    assert state.info is not None
    device = {"cpu": "CPU", "metal": "Metal", "cuda": "CUDA"}.get(state.info.device, state.info.device)
    context = f"{wording.count(state.info.context_length)} tokens of context"
    activity = "Answering" if state.phase is Phase.GENERATING else "Ready"
    # The most important note comes first, because the line is elided; its tool tip shows all of it. What is said of a
    # doubtful template in a notice and on the card is not repeated here.
    info = state.info
    vectors = "" if info.writes else "makes embeddings"
    template = "" if info.doubts_template else info.template_note
    notes = (vectors, info.context_note, template, info.kv_note, info.options_note)
    details = (note.removesuffix(".") for note in notes)
    return " · ".join((f"{activity} · {context} · {device}", *filter(None, details)))


def loading_line(state: ModelState) -> str:
    """Return the progress of a load in words; empty as long as the load may take only a moment."""
    progress, pace = state.progress, state.pace
    if not pace.shown:
        return ""
    if progress is None or (progress.phase == "weights" and progress.total <= 0):
        parts = ["Loading…"]
    elif progress.phase == "weights":
        parts = [f"{wording.size(progress.done)} of {wording.size(progress.total)}"]
        parts += [f"{wording.size(round(pace.speed))}/s"] if pace.speed else []
        if pace.seconds_left is not None and not pace.seconds_silent:
            parts.append(f"{wording.duration(pace.seconds_left)} left")
    else:
        parts = [{"tokenizer": "Reading the tokenizer", "warm-up": "Warming up"}.get(progress.phase, "Loading…")]
    if pace.seconds_silent:
        parts.append(f"no progress for {wording.duration(pace.seconds_silent)}")
    return " · ".join(parts)
