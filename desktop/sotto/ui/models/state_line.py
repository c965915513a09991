"""One-line descriptions of a model's state."""

from sotto.ui.state import wording
from sotto.ui.state.model_state import ModelState, Phase
from sotto.ui.state.names import join_facts
from sotto.ui.toolkit.translation import QT_TR_NOOP, tr

_LOADING = QT_TR_NOOP("Loading…")


def state_line(state: ModelState) -> str:
    """Return the line under a model's name."""
    if state.phase is Phase.ABSENT:
        return tr("Choose one above or in the list, or drop one here")
    if state.phase is Phase.FOUND:
        return tr("Loads when needed")
    if state.phase is Phase.UNLOADING:
        return tr("Ejecting…")
    if state.phase is Phase.FAILED:
        return tr("Could not be loaded")
    if state.phase is Phase.LOADING:
        line = loading_line(state)
        return join_facts((tr("Loading"), line)) if line and not line.startswith(tr(_LOADING)) else line
    assert state.info is not None
    device = {"cpu": "CPU", "metal": "Metal", "cuda": "CUDA"}.get(state.info.device, state.info.device)
    context = tr("1 token of context|{count} tokens of context", "", state.info.context_length)
    context = context.format(count=wording.count(state.info.context_length))
    activity = tr("Answering") if state.phase is Phase.GENERATING else tr("Ready")
    # The most important note comes first, because the line is elided; its tool tip shows all of it. What is said of a
    # doubtful template in a notice and on the card is not repeated here.
    info = state.info
    vectors = "" if info.writes else tr("makes embeddings")
    template = "" if info.doubts_template else info.template_note
    ahead = tr("predicts tokens ahead") if info.predicts else ""
    notes = (vectors, ahead, info.context_note, template, info.kv_note, info.vision_note, info.options_note)
    details = (note.removesuffix(".") for note in notes)
    return join_facts((activity, context, device, *details))


def loading_line(state: ModelState) -> str:
    """Return the progress of a load in words; empty as long as the load may take only a moment."""
    progress, pace = state.progress, state.pace
    if not pace.shown:
        return ""
    if progress is None or (progress.phase == "weights" and progress.total <= 0):
        parts = [tr(_LOADING)]
    elif progress.phase == "weights":
        done, total = wording.size(progress.done), wording.size(progress.total)
        parts = [tr("{done} of {total}").format(done=done, total=total)]
        parts += [f"{wording.size(round(pace.speed))}/s"] if pace.speed else []
        if pace.seconds_left is not None and not pace.seconds_silent:
            parts.append(tr("{time} left").format(time=wording.duration(pace.seconds_left)))
    else:
        steps = {"tokenizer": tr("Reading the tokenizer"), "warm-up": tr("Warming up")}
        parts = [steps.get(progress.phase) or tr(_LOADING)]
    if pace.seconds_silent:
        parts.append(tr("no progress for {time}").format(time=wording.duration(pace.seconds_silent)))
    return join_facts(parts)
