"""What is fuzzed: where inputs come from, what they go through, and what may become of one."""

import importlib
import re
from collections.abc import Callable
from pathlib import Path
from random import Random

from sotto.errors import SottoError

NAMES = tuple("gguf safetensors manifest config tokenizer jinja gotemplate chats pdf schema api".split())
"""Every target that is run where none is named."""

_LONGEST_SENTENCE = 4000
# What shows our insides to people.
_INSIDES = re.compile(r"Traceback|\[Errno|<class|object at 0x")
_OUT_OF_MEMORY = "Memory ran out"
Mark = Callable[[str], None]


class Target:
    """One kind of input.

    Attributes:
        stages: How far an input can get, in order; `run` marks each that it reached.
        known: What is not a sentence of ours, but said as clients of Ollama know it.
        first_share: At least so many of a hundred inputs pass the first stage; a fuzz below that is too shallow.
        last_share: At least so many of a hundred reach the last one.
        refusals: What may be raised: errors with a sentence for people.
        cpu_seconds: One input that takes longer is a finding. Of all threads, as the machine may be busy.
        wall_seconds: One input that takes longer hangs, and its worker is ended.
        memory: Bytes that one input may take beside what there was; more is a finding.
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
        """Make what inputs are made of, once in each worker; `folder` is its own."""

    def make(self, random: Random) -> bytes:
        """Return an input, which depends on `random` alone."""
        raise NotImplementedError

    def run(self, data: bytes, mark: Mark) -> None:
        """Take an input as far as it goes, and mark each stage that it reached.

        Raises:
            SottoError: It was refused, in a sentence.
        """
        raise NotImplementedError

    def names(self, message: str) -> bool:
        """Return whether a sentence names what it is about."""
        return True

    def fault_of(self, message: str) -> str:
        """Return what is wrong with a sentence, or an empty text."""
        if not message.isprintable() or not message.strip():
            return "is not a printable line"
        if self.known.fullmatch(message):
            return ""
        # What is cut off ends with three points and one more.
        if not message.endswith((".", "?")) or (message.endswith("..") and not message.endswith("....")):
            return "does not end as a sentence"
        if len(message) > _LONGEST_SENTENCE:
            return f"has {len(message)} characters"
        if found := _INSIDES.search(message):
            return f"shows our insides ({found[0]})"
        if message.startswith(_OUT_OF_MEMORY):
            return "says that memory ran out"
        return "" if self.names(message) else "does not name what it is about"


def target_of(name: str) -> Target:
    """Return the target of a name, which is a module of `fuzzing.targets`."""
    made: Target = importlib.import_module(f"fuzzing.targets.{name}").TARGET
    return made
