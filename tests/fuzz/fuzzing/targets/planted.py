"""Planted faults of every kind, for the tests of the tool; this target does not run by default."""

import ctypes
import time
from pathlib import Path
from random import Random

from fuzzing.target import Mark, Target
from sotto.errors import SottoError

FAULTS = ("nothing", "refusal", "insides", "exception", "crash", "hang", "slow", "memory", "ask for memory")
# A hang takes long, so it is less likely.
_WEIGHTS = (2, 2, 2, 2, 2, 0.7, 2, 2, 2)
_TOO_MANY_BYTES = 600 << 20


class Planted(Target):
    """Inputs that name the fault to trigger."""

    stages = ("begun", "done")
    first_share, last_share = 100, 5
    cpu_seconds, wall_seconds, memory = 0.5, 5.0, 300 << 20

    def prepare(self, folder: Path) -> None:
        """Do nothing, because no material is needed."""

    def make(self, random: Random) -> bytes:
        """Return one of the faults."""
        return random.choices(FAULTS, _WEIGHTS)[0].encode()

    def run(self, data: bytes, mark: Mark) -> None:
        """Trigger the fault."""
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
                bytearray(b"x") * _TOO_MANY_BYTES
            case "ask for memory":
                bytearray(1 << 40)
        mark("done")


TARGET = Planted()
