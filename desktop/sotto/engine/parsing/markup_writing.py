"""The reverse of parsing: the beginning of an answer in a model's own markup, for the model to continue."""

from collections.abc import Sequence

from sotto.engine.contract.answer_parts import Kind, Piece, markup
from sotto.engine.parsing.families import Family, Thoughts


def write_markup(parts: Sequence[Piece], family: Family, prompt: str) -> tuple[str, Thoughts | None]:
    """Return the text to append to a prompt, and the thought inside which it ends; None outside of thoughts.

    Args:
        parts: The answer so far, merged; at least one part.
        family: How the model marks the parts of its answers.
        prompt: The prompt that asks for the answer, which may open a thought.
    """
    opened = family.opened_by(prompt)
    own = opened or next(iter(family.thoughts), None)
    texts: list[str] = []
    if parts[0].kind is not Kind.THOUGHT:
        at_once = [family.messages.final] if family.messages is not None else []
        texts += [opened.end] if opened is not None else at_once if not prompt.endswith(tuple(at_once)) else []
    for number, part in enumerate(parts):
        if part.kind is not Kind.THOUGHT or own is None:
            texts.append(markup([part], begun=number > 0))
            continue
        if number or opened is None:
            texts.append(own.begin)
        texts.append(part.text + (own.end if part.ends else ""))
    unfinished = parts[-1].kind is Kind.THOUGHT and not parts[-1].ends
    return "".join(texts), own if unfinished else None
