"""How a model stands, in a line."""

from sotto.ui.state import wording
from sotto.ui.state.model_state import ModelState, Phase


def state_line(state: ModelState) -> str:
    """Return the line under a model's name."""
    if state.phase is Phase.ABSENT:
        return "Double-click a model in the list, or drop one here"
    if state.phase is Phase.FOUND:
        return "Not loaded"
    if state.phase is Phase.UNLOADING:
        return "Ejecting…"
    if state.phase is Phase.FAILED:
        return "Could not be loaded"
    if state.phase is Phase.LOADING:
        return f"Loading · {line}" if (line := loading_line(state)) else ""
    assert state.info is not None
    device = {"cpu": "CPU", "metal": "Metal", "cuda": "CUDA"}.get(state.info.device, state.info.device)
    context = f"{wording.count(state.info.context_length)} tokens of context"
    doing = "Answering" if state.phase is Phase.GENERATING else "Ready"
    # Why there is less context, what makes the prompts, what is held in few bits, which options are not followed: the
    # line is cut off where it is too long, its tip is not.
    info = state.info
    vectors = "" if info.writes else "makes vectors of texts"
    told = (vectors, info.context_note, info.template_note, info.kv_note, info.options_note)
    notes = (note.removesuffix(".") for note in told)
    return " · ".join((f"{doing} · {context} · {device}", *filter(None, notes)))


def loading_line(state: ModelState) -> str:
    """Return how far a load is, in words; nothing while it may be over in a moment."""
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
        parts.append(f"no news for {wording.duration(pace.seconds_silent)}")
    return " · ".join(parts)
