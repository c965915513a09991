"""Faults of every kind, planted so that the tests of the tool see it find them; not among the targets that are run."""

import ctypes
import time
from pathlib import Path
from random import Random

from fuzzing.target import Mark, Target
from sotto.errors import SottoError

FAULTS = ("nothing", "refusal", "insides", "exception", "crash", "hang", "slow", "memory", "ask for memory")
# A hang takes long.
_WEIGHTS = (2, 2, 2, 2, 2, 0.7, 2, 2, 2)
_MUCH = 600 << 20


class Planted(Target):
    """An input is the name of what goes wrong."""

    stages = ("begun", "done")
    first_share, last_share = 100, 5
    cpu_seconds, wall_seconds, memory = 0.5, 5.0, 300 << 20

    def prepare(self, folder: Path) -> None:
        """Nothing is needed."""

    def make(self, random: Random) -> bytes:
        """Return one of the faults."""
        return random.choices(FAULTS, _WEIGHTS)[0].encode()

    def run(self, data: bytes, mark: Mark) -> None:
        """Do what goes wrong."""
        mark("begun")
        match data.decode():
            case "refusal":
                raise SottoError("The file is refused, as it should be.")
            case "insides":
                raise SottoError("<class 'int'> is not text.")
            case "exception":
                _ = [][1]
            case "crash":
                ctypes.string_at(0)
            case "hang":
                time.sleep(600)
            case "slow":
                end = time.process_time() + 2 * self.cpu_seconds
                while time.process_time() < end:
                    pass
            case "memory":
                bytearray(b"x") * _MUCH
            case "ask for memory":
                bytearray(1 << 40)
        mark("done")


TARGET = Planted()
