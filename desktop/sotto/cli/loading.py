"""Progress and notes in the terminal when a model is loaded."""

import sys

from sotto.engine.contract.events import LoadProgress, ModelInfo

_PROGRESS_FROM_BYTES = 64 << 20


def show_progress(progress: LoadProgress) -> None:
    """Show the progress of a load on a terminal, if the model is large."""
    if sys.stderr.isatty() and progress.total >= _PROGRESS_FROM_BYTES:
        share = progress.done / progress.total
        sys.stderr.write(f"\rloading {progress.phase}: {share:4.0%} of {progress.total / 1e9:.1f} GB")
        sys.stderr.flush()


def clear_progress() -> None:
    """Remove the progress from the terminal."""
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


def show_notes(info: ModelInfo, *, raw: bool = False) -> None:
    """Print the notes about a loaded model.

    Args:
        info: The model.
        raw: Whether prompts are fed as they are, so that notes about the template do not matter.
    """
    if info.adapter:
        print(f"sotto: With the adapter {info.adapter}.", file=sys.stderr)
    for note in filter(None, (info.kv_note, info.vision_note, info.context_note, "" if raw else info.template_note)):
        print(f"sotto: {note.removesuffix('.')}.", file=sys.stderr)
