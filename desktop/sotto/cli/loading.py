"""What a person at a terminal is told while a model is loaded, and of it then."""

import sys

from sotto.engine.contract.events import LoadProgress, ModelInfo

_PROGRESS_FROM_BYTES = 64 << 20


def show_progress(progress: LoadProgress) -> None:
    """Show how far a load is, where that takes a while and somebody looks."""
    if sys.stderr.isatty() and progress.total >= _PROGRESS_FROM_BYTES:
        share = progress.done / progress.total
        sys.stderr.write(f"\rloading {progress.phase}: {share:4.0%} of {progress.total / 1e9:.1f} GB")
        sys.stderr.flush()


def clear_progress() -> None:
    """Remove what was shown."""
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


def show_notes(info: ModelInfo, *, raw: bool = False) -> None:
    """Say what there is to know about a loaded model.

    Args:
        info: The model.
        raw: Whether prompts go in as they are, so that it does not matter what would make them.
    """
    for note in filter(None, (info.kv_note, info.context_note, "" if raw else info.template_note)):
        print(f"sotto: {note.removesuffix('.')}.", file=sys.stderr)
