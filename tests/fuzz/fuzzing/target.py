"""The base class of targets: how inputs are made and run, and which outcomes are allowed."""

import importlib
import re
from collections.abc import Callable
from pathlib import Path
from random import Random

from sotto.errors import SottoError

NAMES = tuple(
    "gguf safetensors manifest config towers tokenizer jinja gotemplate chats imports pdf images schema api".split()
)
"""The targets that run by default."""

_MAX_CHARACTERS = 4000
# Internals that messages must not show to people.
_INTERNALS = re.compile(r"Traceback|\[Errno|<class|object at 0x")
_OUT_OF_MEMORY = "Memory ran out"
Mark = Callable[[str], None]


class Target:
    """One kind of input.

    Attributes:
        stages: The stages that an input can reach, in order; `run` marks each one that it reaches.
        known: Messages that are not sentences of ours, but have the wording that clients of Ollama expect.
        first_share: The percentage of inputs that must reach the first stage; a run with less is too shallow.
        last_share: The percentage of inputs that must reach the last stage.
        refusals: The errors that `run` may raise, which have a message for people.
        cpu_seconds: The limit of processor time for one input, over all threads, because the machine may be busy;
            more is a finding.
        wall_seconds: The time after which an input counts as hanging and its worker is killed.
        memory: The number of additional bytes that one input may take; more is a finding.
    """

    stages: tuple[str, ...] = ()
    known = re.compile(r"empty prompt|(?:the )?input length .*exceeds .*")
    first_share = 60
    last_share = 5
    refusals: tuple[type[BaseException], ...] = (SottoError,)
    cpu_seconds = 10.0
    wall_seconds = 90.0
    memory = 1 << 30

    def prepare(self, folder: Path) -> None:
        """Prepare the material for inputs, once in each worker; `folder` is the worker's own."""

    def make(self, random: Random) -> bytes:
        """Return an input that depends only on `random`."""
        raise NotImplementedError

    def run(self, data: bytes, mark: Mark) -> None:
        """Process an input as far as possible, and mark each stage that it reaches.

        Raises:
            SottoError: The input was refused with a message.
        """
        raise NotImplementedError

    def names(self, message: str) -> bool:
        """Return whether a message names what it is about."""
        return True

    def fault_of(self, message: str) -> str:
        """Return what is wrong with a message, or an empty text."""
        if not message.isprintable() or not message.strip():
            return "is not a printable line"
        if self.known.fullmatch(message):
            return ""
        # Truncated text ends with an ellipsis and a full stop.
        if not message.endswith((".", "?")) or (message.endswith("..") and not message.endswith("....")):
            return "does not end as a sentence"
        if len(message) > _MAX_CHARACTERS:
            return f"has {len(message)} characters"
        if found := _INTERNALS.search(message):
            return f"shows internals ({found[0]})"
        if message.startswith(_OUT_OF_MEMORY):
            return "says that memory ran out"
        return "" if self.names(message) else "does not name what it is about"


def target_of(name: str) -> Target:
    """Return the target of the module with this name in `fuzzing.targets`."""
    target: Target = importlib.import_module(f"fuzzing.targets.{name}").TARGET
    return target
