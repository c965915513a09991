"""The lines of text about an answer: while its prompt is read, while it streams, and once it is complete."""

from collections.abc import Mapping
from typing import Any

from sotto.chats.chat_records import State, Turn
from sotto.engine.contract.answer_parts import ToolCall
from sotto.engine.contract.events import CUT_SHORT, DoneReason, Finished, PrefillProgress
from sotto.ui.state import wording
from sotto.ui.state.names import join_facts
from sotto.ui.toolkit.translation import QT_TR_NOOP, tr

CUT_CALL = QT_TR_NOOP("Started to call a tool")
_MAX_TOOL_NAME = 60
_MIN_THOUGHT_SECONDS = 2
_ENDS = {
    DoneReason.STOP.value: QT_TR_NOOP("finished"),
    DoneReason.LENGTH.value: QT_TR_NOOP("reached the length limit"),
    DoneReason.LOOP.value: QT_TR_NOOP("stopped because it repeated itself"),
    DoneReason.CANCELLED.value: QT_TR_NOOP("stopped"),
}


def prefill_line(progress: PrefillProgress, why: str = "") -> str:
    """Return how much of a prompt has been read, and why it is read again; `why` is empty if it is not."""
    done, total = wording.count(progress.done), wording.count(progress.total)
    line = tr("Reading prompt {done} / {total}").format(done=done, total=total)
    return line + (_cached(progress.cached, why) if progress.cached or why else "")


def pace_line(tokens: int, rate: float) -> str:
    """Return the length of an answer so far, and about how fast it is generated."""
    return _joined(tr("Answering"), _tokens_line(tokens), f"~{wording.rate(rate)}")


def thought_line(seconds: int) -> str:
    """Return that a model thought, and for how long unless it was very short: `Thought for 2 min 5 s`."""
    if seconds < _MIN_THOUGHT_SECONDS:
        return tr("Thought")
    return tr("Thought for {duration}").format(duration=wording.exact_duration(seconds))


def thought_seconds(turn: Turn) -> list[int]:
    """Return the seconds that each thought of an answer took; 0 where that is not recorded."""
    seconds = turn.figures.get("thoughts")
    return [value if isinstance(value, int) else 0 for value in seconds] if isinstance(seconds, list) else []


def tool_call_line(call: ToolCall) -> str:
    """Return which tool a model wants to call, on one short line whatever the name contains."""
    return tr("Wants to use {tool}").format(tool=" ".join(call.name.split())[:_MAX_TOOL_NAME])


def is_cut_short(turn: Turn) -> bool:
    """Return whether an answer is incomplete and not empty, so that it can be continued."""
    if not turn.text:
        return False
    return turn.state in (State.STOPPED, State.INTERRUPTED, State.FAILED) or (
        turn.state is State.COMPLETE and turn.figures.get("reason") in CUT_SHORT
    )


def can_continue(turn: Turn) -> bool:
    """Return whether an answer can be continued: it was cut short, or the user has edited it."""
    return is_cut_short(turn) or (turn.is_edited and bool(turn.text))


def answer_line(turn: Turn) -> str:
    """Return the line under an answer that has ended."""
    if turn.is_edited:
        return tr("Edited")
    if turn.state is State.INTERRUPTED:
        return tr("Interrupted: Sotto closed unexpectedly")
    if turn.state is State.FAILED:
        return tr("Interrupted")
    if not turn.text:
        return figures_line(turn.figures) or tr("Stopped before the answer started")
    # An answer that was stopped when the app quit has no figures.
    return figures_line(turn.figures) or (tr("Stopped") if turn.state is State.STOPPED else "")


def short_answer_line(turn: Turn) -> str:
    """Return the speed of an answer, and how it ended unless it was finished; the rest is in `answer_line`."""
    figures = turn.figures
    if turn.state in (State.INTERRUPTED, State.FAILED) or not turn.text or not figures.get("prompt"):
        return answer_line(turn)
    line = _joined(_speed(figures), "" if figures.get("reason") == DoneReason.STOP else _end_line(figures))
    return line[:1].upper() + line[1:]


def answer_figures(end: Finished, why: str = "") -> dict[str, Any]:
    """Return the figures of an answer that are stored for `figures_line`.

    Args:
        end: The end of the answer.
        why: Why its prompt was read again, in English; empty if it was not.
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
    """Return the line of figures under a finished answer; values that are missing or invalid are left out."""
    tokens, prompt, cached, first, dropped = (
        max(0, value) if isinstance(value := figures.get(name), int) else 0
        for name in ("tokens", "prompt", "cached", "first", "dropped")
    )
    anew = why if isinstance(why := figures.get("anew"), str) else ""
    if figures.get("reason") == DoneReason.CANCELLED and not tokens:
        return tr("Stopped before the answer started")
    if not prompt:
        return ""
    left_out = tr("1 older token dropped|{count} older tokens dropped", "", dropped)
    return _joined(
        _tokens_line(tokens),
        _speed(figures),
        tr("first after {duration}").format(duration=wording.seconds(first)) if first > 0 and tokens else "",
        tr("prompt {tokens}").format(tokens=wording.count(prompt)) + _cached(cached, anew),
        left_out.format(count=wording.count(dropped)) if dropped else "",
        _end_line(figures),
    )


def _joined(*parts: str) -> str:
    """Return a line of those parts that are not empty."""
    return join_facts(parts)


def _tokens_line(tokens: int) -> str:
    return tr("1 token|{count} tokens", "", tokens).format(count=wording.count(tokens))


def _cached(tokens: int, why: str) -> str:
    """Return in brackets how many tokens of a prompt were cached, and why these were few.

    Args:
        tokens: The cached tokens.
        why: Why the prompt is read again, which `prefix_reuse` says in English; empty if it is not.
    """
    if not why:
        line = tr("{count} cached")
    else:
        line = tr("only {count} cached: {reason}") if tokens else tr("none cached: {reason}")
    cached = line.format(count=wording.count(tokens), reason=tr(why) if why else "")
    return f" ({cached})"


def _end_line(figures: Mapping[str, Any]) -> str:
    """Return how an answer ended; empty if that is unknown."""
    end = _ENDS.get(str(figures.get("reason")), "")
    return tr(end) if end else ""


def _speed(figures: Mapping[str, Any]) -> str:
    """Return the tokens per second; empty if they were not measured."""
    tokens, nanoseconds, dropped = (
        value if isinstance(value := figures.get(name), int) else 0 for name in ("tokens", "nanoseconds", "dropped")
    )
    speed = wording.speed(tokens, nanoseconds)
    # If older tokens were dropped during the answer, reading the context again is part of the measured time.
    return f"~{speed}" if dropped and speed else speed
