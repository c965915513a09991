"""The versions that belong into a bug report, in English."""

import platform
from importlib.metadata import version

from PySide6.QtCore import qVersion

from sotto import __version__
from sotto.ui.state.model_state import ModelState


def versions(state: ModelState) -> str:
    """Return the versions of what matters to a bug report, and the model in use."""
    lines = [
        f"Sotto {__version__}",
        f"{platform.system()} {platform.release()} {platform.machine()}",
        f"Python {platform.python_version()}, Qt {qVersion()}",
        *(f"{name} {version(name)}" for name in ("mlx", "PySide6-Essentials", "tokenizers", "safetensors")),
    ]
    if state.record is not None:
        device = f" on {state.info.device}" if state.info is not None else ""
        lines.append(f"Model {state.record.name} ({state.record.architecture}, {state.record.quantization}){device}")
    return "\n".join(lines)
