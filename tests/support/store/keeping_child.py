"""Changes Sotto's own store at random, in a separate process or in one that is killed.

`python keeping_child.py churn DATA SEED COUNT REGISTRY` makes COUNT changes to the store below DATA, beside others that
do the same. `python keeping_child.py kills DATA SEED COUNT` lets a process make changes and kills it after a random
time, COUNT times, and checks the store each time; nobody else may use it meanwhile. Both adopt the models of the store
`theirs` beside DATA. Nothing is too young to be pruned, so that only locks keep what is in use.
"""

import os
import random
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

from sotto.errors import StoreError
from sotto.store import removal
from sotto.store.copying import copy, rename
from sotto.store.discovery import discover
from sotto.store.opening import open_model
from sotto.store.records import ModelRecord, Source
from sotto.store.roots import Root
from sotto.store.sources.model_names import parse_name
from sotto.store.upkeep import pruning
from sotto.store.upkeep.adopting import adopt
from sotto.store.upkeep.pruning import prune
from sotto.store.verify import verify

NAMES = ("a", "b", "c", "d", "e")
# In seconds; most changes are over after a hundredth of that.
_LONGEST = 0.03


class Keeper:
    """Somebody who changes the store."""

    def __init__(self, data: Path, seed: int, registry: str = "") -> None:
        removal.data_dir = lambda: data
        pruning.GRACE_SECONDS = 0
        self.root = removal.own_store()
        roots = (Root(Source.OLLAMA, data.parent / "theirs", True), Root(Source.FOLDER, data.parent / "folders", True))
        self.theirs = discover(roots).records
        self._registry = registry
        self.random = random.Random(seed)

    def own(self) -> tuple[ModelRecord, ...]:
        """Return the models of the store."""
        return discover([Root(Source.SOTTO, self.root, False)]).records

    def change(self) -> None:
        """Make a random change; it may be refused, as others may have made another one meanwhile."""
        changes = [self.adopt, self.adopt, self.copy, self.rename, self.delete, self.restore, self.erase, self.prune]
        if self._registry:
            changes += [self.pull, self.pull]
        with suppress(StoreError):
            self.random.choice(changes)()

    def adopt(self) -> None:
        record = self.random.choice(self.theirs)
        adopt(record, record.places[0], self._name(), lambda done, total: None, lambda: False, replacing=self._toss())

    def copy(self) -> None:
        if (record := self._one()) is not None:
            copy(self.random.choice(record.places), self._name(), replacing=self._toss())

    def rename(self) -> None:
        if (record := self._one()) is not None:
            rename(self.random.choice(record.places), self._name())

    def delete(self) -> None:
        if (record := self._one()) is not None:
            removal.remove(record, self.random.choice((None, record.path)))

    def restore(self) -> None:
        for removed in removal.trash()[:1]:
            removal.restore(removed)

    def erase(self) -> None:
        for removed in removal.trash()[-1:]:
            removal.erase(removed)

    def prune(self) -> None:
        prune(self.root)

    def pull(self) -> None:
        from pulling import pull

        pull(self.root, f"{self._registry}/library/{self.random.choice(('m', 'n'))}")

    def check(self) -> None:
        """Check that every model is complete, and that pruning leaves what they need and nothing else."""
        for turn in ("before", "after"):
            listing = discover([Root(Source.SOTTO, self.root, False)])
            assert listing.problems == (), (turn, listing.problems)
            for record in listing.records:
                open_model(record)
                report = verify(record, lambda done, total: None, lambda: False)
                assert report.problems == (), (turn, report.problems)
            if turn == "before":
                prune(self.root)
        named = removal.used_digests(self.root)
        blobs = {path.name.removeprefix("sha256-") for path in self.root.glob("blobs/*")}
        assert blobs >= {
            digest for path in removal.manifest_files(self.root) for digest in removal.read_manifest(path).blobs
        }
        assert blobs <= named, blobs - named
        assert list(self.root.glob("working/*")) == []
        assert not [path for path in self.root.glob("manifests/**/*") if path.is_dir() and not list(path.iterdir())]

    def _one(self) -> ModelRecord | None:
        own = self.own()
        return self.random.choice(own) if own else None

    def _name(self):
        return parse_name(self.random.choice(NAMES))

    def _toss(self) -> bool:
        return self.random.random() < 0.5


def churn(keeper: Keeper, count: int) -> None:
    """Make changes beside others."""
    for _ in range(count):
        keeper.change()


def kills(keeper: Keeper, count: int) -> None:
    """Kill a process that makes changes, again and again."""
    for _ in range(count):
        wait = keeper.random.uniform(0, _LONGEST)
        seed = keeper.random.random()
        if (child := os.fork()) == 0:
            keeper.random.seed(seed)
            while True:
                keeper.change()
        time.sleep(wait)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        keeper.check()


def main(mode: str, data: str, seed: str, count: str, registry: str = "") -> None:
    """Run one of the two modes."""
    keeper = Keeper(Path(data), int(seed), registry)
    churn(keeper, int(count)) if mode == "churn" else kills(keeper, int(count))


if __name__ == "__main__":
    main(*sys.argv[1:])
