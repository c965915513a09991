"""The reverse of reading: what there is of an answer, as the model itself would have begun it."""

from collections.abc import Sequence

from sotto.engine.contract.answer_parts import Kind, Piece, markup
from sotto.engine.parsing.families import Family, Thoughts


def written(parts: Sequence[Piece], family: Family, prompt: str) -> tuple[str, Thoughts | None]:
    """Return the text to put behind a prompt, and the thought that it ends inside of; None where it ends in none.

    Args:
        parts: The answer so far, merged; at least one part.
        family: How the model marks what it writes.
        prompt: What asks for the answer, which may open a thought.
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
