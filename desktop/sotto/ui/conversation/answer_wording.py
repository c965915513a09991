"""What is said of an answer: while its prompt is read, while it comes, and when it is there."""

from collections.abc import Mapping
from typing import Any

from sotto.chats.chat_records import State, Turn
from sotto.engine.contract.answer_parts import ToolCall
from sotto.engine.contract.events import CUT_SHORT, DoneReason, Finished, PrefillProgress
from sotto.ui.state import wording

CUT_CALL = "Began to call a tool"
_LONGEST_TOOL = 60
_SHORTEST_THOUGHT = 2


def prefill_line(progress: PrefillProgress, why: str = "") -> str:
    """Return how much of a prompt has been read, and why it is read anew where it is."""
    cached = f" ({wording.count(progress.cached)} cached)" if progress.cached else ""
    anew = f" · read anew, because {why}" if why else ""
    return f"Reading prompt {wording.count(progress.done)} / {wording.count(progress.total)}{cached}{anew}"


def pace_line(tokens: int, rate: float) -> str:
    """Return how far an answer has come, and about how fast."""
    return f"Answering · {wording.count(tokens)} tokens · ~{wording.rate(rate)}"


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


def is_cut_short(turn: Turn) -> bool:
    """Return whether there is something of an answer, and more could come."""
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
        f"{wording.count(tokens)} token" + ("" if tokens == 1 else "s"),
        # Where the context was begun anew on the way, its reading is part of the time.
        ("~" if dropped and tokens > 1 else "") + wording.speed(tokens, nanoseconds),
        f"first after {wording.seconds(first)}" if first > 0 and tokens else "",
        f"prompt {wording.count(prompt)} ({wording.count(cached)} cached)",
        f"read anew, because {anew}" if isinstance(anew, str) else "",
        f"{wording.count(dropped)} older tokens left out" if dropped else "",
        why.get(reason, "") if isinstance(reason, str) else "",
    )
    return " · ".join(part for part in parts if part)
