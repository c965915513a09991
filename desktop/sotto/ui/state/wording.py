"""Numbers and names in the words of the window."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sotto.chats.records import Attachment, State, Turn
from sotto.engine.contract.answer_parts import ToolCall
from sotto.engine.contract.events import CUT_SHORT, DoneReason, Finished, ModelInfo, PrefillProgress
from sotto.store.records import Format, ModelRecord, Source
from sotto.ui.state.memory_estimate import Fit, Memory, Projection
from sotto.ui.state.model_state import ModelState, Phase, Problem

SOURCE_NAMES = {
    Source.BUILTIN: "Built in",
    Source.SOTTO: "Sotto",
    Source.OLLAMA: "Ollama",
    Source.HUGGINGFACE: "Hugging Face",
    Source.LMSTUDIO: "LM Studio",
    Source.FOLDER: "Folder",
}

_LONGEST_TOOL = 60
_SHORTEST_THOUGHT = 2
_QUANTIZATIONS = {"int4": "4-bit", "int8": "8-bit", "int2": "2-bit", "int3": "3-bit", "int5": "5-bit", "int6": "6-bit"}

# By an icon and one of the theme's tokens; and what a screen reader says.
FIT_SIGNS = {
    Fit.FITS: ("fits", "good"),
    Fit.TIGHT: ("tight", "warn"),
    Fit.NO: ("unfit", "alert"),
    Fit.UNKNOWN: ("unknown", "muted"),
}
FIT_SPOKEN = {
    Fit.FITS: "fits into memory",
    Fit.TIGHT: "a tight fit",
    Fit.NO: "does not fit into memory",
    Fit.UNKNOWN: "not known whether it fits",
}


def size(nbytes: int) -> str:
    """Return bytes as people read them: `310 MB`, `4.7 GB`."""
    amount, units = float(nbytes), ("B", "KB", "MB", "GB", "TB")
    unit = 0
    while amount >= 999.5 and unit < len(units) - 1:
        amount, unit = amount / 1000, unit + 1
    digits = 1 if (amount < 99.95 and unit > 2) or (amount < 9.95 and unit == 2) else 0
    return f"{amount:.{digits}f} {units[unit]}"


def count(number: int) -> str:
    """Return a number with its thousands parted: `2,000`."""
    return f"{number:,}"


def parameters(number: int | None) -> str:
    """Return a number of weights as model names have it: `4.6M`, `7B`; empty when unknown."""
    if not number:
        return ""
    for limit, letter in ((1e9, "B"), (1e6, "M"), (1e3, "K")):
        if number >= limit:
            return f"{number / limit:.1f}".removesuffix(".0") + letter
    return str(number)


def model_name(name: str) -> str:
    """Return a model's name without what goes without saying."""
    return name.removesuffix(":latest")


def short_name(name: str) -> str:
    """Return a model's name without whose it is, for where room is short."""
    return model_name(name).rpartition("/")[2]


def quantization(record: ModelRecord) -> str:
    """Return in how many bits the weights are kept, in few letters; empty when unknown."""
    return _QUANTIZATIONS.get(record.quantization.lower(), record.quantization)


def model_details(record: ModelRecord) -> str:
    """Return what tells models of one name apart: parameters, quantization, size."""
    kind = "GGUF" if record.format is Format.GGUF else ""
    use = "vectors" if makes_vectors(record) else ""
    parts = (parameters(record.parameters), quantization(record), kind, use, size(record.size) if record.size else "")
    return " · ".join(part for part in parts if part)


def source_names(record: ModelRecord) -> list[str]:
    """Return in whose stores a model is, each once."""
    sources = (record.source, *(place.source for place in record.also))
    return list(dict.fromkeys(SOURCE_NAMES[source] for source in sources))


def model_facts(record: ModelRecord) -> str:
    """Return what is known of a model, in one line."""
    made_for = f"made for {count(record.context_length)} tokens" if record.context_length else ""
    kind = {Format.GGUF: "GGUF", Format.SAFETENSORS: "safetensors"}.get(record.format) if record.format else ""
    number = parameters(record.parameters)
    parts = (
        f"{size(record.size)} on disk" if record.size else "",
        f"{number} parameters" if number else "",
        quantization(record),
        kind,
        record.architecture,
        made_for,
    )
    return " · ".join(part for part in parts if part)


def abilities(record: ModelRecord) -> str:
    """Return what a model's files say that it can do; empty when they say nothing."""
    known = {
        "completion": "text",
        "vision": "pictures",
        "tools": "tools",
        "thinking": "thinking",
        "embedding": "vectors of texts",
    }
    names = [known.get(one, one) for one in record.capabilities]
    by = ", by sotto embed or through the API, and not for chats" if makes_vectors(record) else ""
    return f"Made for {listed(names)}{by}" if names else ""


def makes_vectors(record: ModelRecord) -> bool:
    """Tell whether a model's files say that it is there for vectors of texts alone."""
    return "embedding" in record.capabilities and "completion" not in record.capabilities


def unable(state: ModelState) -> str:
    """Return why the model in use answers nobody, in a sentence; empty where it does or none is loaded."""
    if state.info is None or state.info.writes:
        return ""
    return "This model makes vectors of texts and cannot chat: use it by sotto embed, or through the API."


CUT_CALL = "Began to call a tool"


def thought_line(seconds: int) -> str:
    """Return that a model thought, and for how long if that is worth a number: `Thought for 2 min 5 s`."""
    if seconds < _SHORTEST_THOUGHT:
        return "Thought"
    time = f"{seconds} s" if seconds < 60 else f"{seconds // 60} min {seconds % 60} s"
    return f"Thought for {time}"


def thought_seconds(turn: Turn) -> list[int]:
    """Return how long each thought of an answer took, as far as that was kept."""
    kept = turn.figures.get("thoughts")
    return [one if isinstance(one, int) else 0 for one in kept] if isinstance(kept, list) else []


def wanted_tool(call: ToolCall) -> str:
    """Return which tool a model wants to use, whatever it calls it."""
    return f"Wants to use {' '.join(call.name.split())[:_LONGEST_TOOL]}"


def home_path(path: Path) -> str:
    """Return a path as people read it, with `~` for their own folder."""
    home = Path.home()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)


def projection_line(projection: Projection, memory: Memory) -> str:
    """Return how a model would lie in memory, in a sentence or two."""
    plan = projection.plan
    if projection.fit is Fit.UNKNOWN or plan is None:
        return projection.reason
    if projection.fit is Fit.NO:
        return plan.sentence
    total = size(memory.sample.total) if memory.sample else ""
    return f"Loading it brings memory to {round(100 * (projection.share or 0))} % of {total}."


def prediction_line(predicted: int, actual: int) -> str:
    """Return what a loaded model was to hold and holds; empty when one of them is not known."""
    return f"Predicted {size(predicted)}, holds {size(actual)}" if predicted and actual else ""


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
    context = f"{count(state.info.context_length)} tokens of context"
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
        parts = [f"{size(progress.done)} of {size(progress.total)}"]
        parts += [f"{size(round(pace.speed))}/s"] if pace.speed else []
        parts += [f"{duration(pace.left)} left"] if pace.left is not None and not pace.silence else []
    else:
        parts = [{"tokenizer": "Reading the tokenizer", "warm-up": "Warming up"}.get(progress.phase, "Loading…")]
    if pace.silence:
        parts.append(f"no news for {duration(pace.silence)}")
    return " · ".join(parts)


def duration(seconds: float) -> str:
    """Return how long something takes: `5 s`, `2 min`, `1 h 5 min`."""
    whole = max(1, round(seconds))
    if whole < 60:
        return f"{whole} s"
    minutes = round(whole / 60)
    if minutes < 60:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min" if minutes % 60 else f"{minutes // 60} h"


def prefill_line(progress: PrefillProgress, why: str = "") -> str:
    """Return how much of a prompt has been read, and why it is read anew where it is."""
    cached = f" ({count(progress.cached)} cached)" if progress.cached else ""
    anew = f" · read anew, because {why}" if why else ""
    return f"Reading prompt {count(progress.done)} / {count(progress.total)}{cached}{anew}"


def pace_line(tokens: int, rate: float) -> str:
    """Return how far an answer has come, and about how fast."""
    return f"Answering · {count(tokens)} tokens · ~{_rate(rate)}"


# Which part of a document the model is given, by what it is called here.
PARTS = {
    "whole": "The whole document",
    "beginning": "Only the beginning, as much as fits",
    "end": "Only the end, as much as fits",
}


def attachment_line(attachment: Attachment) -> str:
    """Return how large an attachment is, and what it costs: `12 KB · 3,400 tokens`."""
    length = len(attachment.text)
    part = "" if attachment.whole else f"{100 * (attachment.ends - attachment.begins) / length:.0f} % "
    if not attachment.whole:
        part += (
            "from the beginning" if attachment.begins == 0 else "at the end" if attachment.ends == length else "of it"
        )
    tokens = f"{count(attachment.tokens)} tokens" if attachment.tokens else ""
    return " · ".join(filter(None, (size(attachment.size), part, tokens)))


def summarized(summary: str, draft: str) -> str:
    """Return a draft that begins with a summary of another conversation."""
    return f"What we talked about before:\n\n{summary}\n\n{draft}".rstrip() + ("" if draft.strip() else "\n\n")


def context_line(used: int, limit: int) -> str:
    """Return how full a context is, in a sentence."""
    share = f"{100 * used / limit:.0f} %" if limit else "all"
    return f"Context: {count(used)} of {count(limit)} tokens, {share}."


def doubtful_template(info: ModelInfo) -> Problem:
    """Return why answers of a model that was loaded may be no good."""
    title = "No question reaches this model" if info.has_chat_template else "This model has no chat template"
    return Problem(title, info.template_note)


def other_context(asked: int, info: ModelInfo) -> Problem:
    """Return that a model was loaded with another context than was asked for."""
    why = f"{count(asked)} tokens were asked for, and the engine has loaded {count(info.context_length)}."
    return Problem("The context is not as long as asked for", f"{why} {info.context_note}".strip())


def context_warning(used: int, limit: int, room: int, *, over: bool, shortened: bool) -> tuple[str, str]:
    """Return that a context has hardly room, or none: in a few words, and in a sentence."""
    if over and shortened:
        why = f"Even without the oldest turns it takes {count(used)} tokens, and there is room for {count(room)}."
        return "This does not fit", why
    if over:
        why = f"With everything before it this takes {count(used)} tokens, and the model has room for {count(limit)}."
        return "This does not fit", why
    return "The context is nearly full", f"{count(limit - used)} of {count(limit)} tokens are left for the answer."


def speed(tokens: int, nanoseconds: int) -> str:
    """Return tokens per second; a dash when too little was measured."""
    return "— tok/s" if tokens < 2 or nanoseconds <= 0 else _rate(tokens * 1e9 / nanoseconds)


def _rate(rate: float) -> str:
    return f"{rate:.1f} tok/s" if rate < 100 else f"{count(round(rate))} tok/s"


def seconds(nanoseconds: int) -> str:
    """Return a time as people read it: `35 ms`, `0.4 s`, `2 min 5 s`."""
    amount = nanoseconds / 1e9
    if amount < 0.0995:
        return f"{1000 * amount:.0f} ms"
    if amount < 99.95:
        return f"{amount:.1f} s"
    return f"{count(round(amount) // 60)} min {round(amount) % 60} s"


def figures_of(end: Finished, why: str = "") -> dict[str, Any]:
    """Return what is kept of the end of an answer, for `figures_line`.

    Args:
        end: The end.
        why: Why its prompt was read anew; empty where it was not.
    """
    return {
        "tokens": len(end.token_ids),
        "nanoseconds": end.eval_duration,
        "prompt": end.prompt_tokens,
        "cached": end.cached_tokens,
        "first": end.total_duration - end.eval_duration,
        "dropped": end.dropped_tokens,
        "reason": end.done_reason.value,
        **({"anew": why} if why else {}),
    }


def figures_line(figures: Mapping[str, Any]) -> str:
    """Return the figures under a finished answer; what was never measured, or cannot be read any more, is left out."""
    tokens, nanoseconds, prompt, cached, first, dropped = (
        value if isinstance(value := figures.get(name), int) else 0
        for name in ("tokens", "nanoseconds", "prompt", "cached", "first", "dropped")
    )
    reason, anew = figures.get("reason"), figures.get("anew")
    if reason == DoneReason.CANCELLED and not tokens:
        return "Stopped before the answer began"
    if not prompt:
        return ""
    why = {
        DoneReason.STOP.value: "finished",
        DoneReason.LENGTH.value: "reached the length limit",
        DoneReason.LOOP.value: "ended because it repeated itself",
        DoneReason.CANCELLED.value: "stopped",
    }
    parts = (
        f"{count(tokens)} token" + ("" if tokens == 1 else "s"),
        # Where the context was begun anew on the way, its reading is part of the time.
        ("~" if dropped and tokens > 1 else "") + speed(tokens, nanoseconds),
        f"first after {seconds(first)}" if first > 0 and tokens else "",
        f"prompt {count(prompt)} ({count(cached)} cached)",
        f"read anew, because {anew}" if isinstance(anew, str) else "",
        f"{count(dropped)} older tokens left out" if dropped else "",
        why.get(reason, "") if isinstance(reason, str) else "",
    )
    return " · ".join(part for part in parts if part)


def is_cut_short(turn: Turn) -> bool:
    """Tell whether there is something of an answer, and more could come."""
    if not turn.text:
        return False
    return turn.state in (State.STOPPED, State.INTERRUPTED, State.FAILED) or (
        turn.state is State.COMPLETE and turn.figures.get("reason") in CUT_SHORT
    )


def turn_line(turn: Turn) -> str:
    """Return the line under an answer that is complete, or will never be."""
    if turn.state is State.INTERRUPTED:
        return "Interrupted: Sotto ended while this was being written"
    if turn.state is State.FAILED:
        return "Broke off"
    if not turn.text:
        return figures_line(turn.figures) or "Stopped before the answer began"
    # What was left while it came was never measured to its end.
    return figures_line(turn.figures) or ("— tok/s · stopped" if turn.state is State.STOPPED else "")


def ago(seconds: float) -> str:
    """Return how long something is ago: `just now`, `5 min ago`, `yesterday`, `12 days ago`."""
    minutes, hours, days = seconds / 60, seconds / 3600, seconds / 86400
    if minutes < 1:
        return "just now"
    if hours < 1:
        return f"{int(minutes)} min ago"
    if days < 1:
        return "1 hour ago" if hours < 2 else f"{int(hours)} hours ago"
    return "yesterday" if days < 2 else f"{count(int(days))} days ago"


def counted(chats: Sequence[int]) -> str:
    """Return how many chats these are."""
    return "1 chat was" if len(chats) == 1 else f"{count(len(chats))} chats were"


def models_counted(number: int) -> str:
    """Return how many models these are: `No models`, `1 model`, `7 models`."""
    return "1 model" if number == 1 else f"{count(number) if number else 'No'} models"


def file_name(title: str) -> str:
    """Return what a file with a chat of this title is called, without an ending: no part of it leads anywhere else."""
    kept = "".join(letter if letter.isalnum() or letter in " -_,'" else " " for letter in title)
    return " ".join(kept.split())[:60].strip() or "chat"


def shortened(name: str, most: int = 32) -> str:
    """Return a name without its middle where it is long."""
    return name if len(name) <= most else f"{name[: most // 2]}…{name[-(most // 2) + 1 :]}"


def listed(names: Sequence[str]) -> str:
    """Return names as a sentence has them: `a`, `a and b`, `a, b and c`."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"
