"""The imports that an earlier run left unfinished."""

import contextlib
import json
import os
from dataclasses import dataclass
from pathlib import Path

from sotto.errors import InvalidNameError
from sotto.store.files import read_all
from sotto.store.importing.import_staging import ImportStaging
from sotto.store.pull.staging import IMPORT_SOURCE
from sotto.store.removal import STAGING
from sotto.store.sources.model_names import ModelName, name_of_parts

# Far more than the names of the tensors of the largest model.
_LIMIT = 32 << 20


@dataclass(frozen=True, slots=True)
class UnfinishedImport:
    """An import that can be resumed.

    Attributes:
        name: The name of the new model.
        source: The folder or file that is imported.
        quantization: The recipe; empty to keep what is there.
        adapter: The folder or file of the adapter that is fused into the weights.
        done: Bytes of the new model that are finished.
    """

    name: ModelName
    source: Path
    quantization: str
    adapter: Path | None
    done: int


def unfinished_imports(root: Path) -> tuple[UnfinishedImport, ...]:
    """Return the imports into the store in `root` that can be resumed, by name."""
    found = []
    for folder, _, names in os.walk(root / STAGING):
        if IMPORT_SOURCE in names:
            with contextlib.suppress(InvalidNameError):
                name = name_of_parts(Path(folder).parts[-4:])
                note = json.loads(read_all(Path(folder, IMPORT_SOURCE), _LIMIT, "a note of an import"))
                done = ImportStaging(root, name).done_bytes()
                adapter = Path(note["adapter"]) if note["adapter"] else None
                found.append(UnfinishedImport(name, Path(note["source"]), note["quantization"], adapter, done))
    return tuple(sorted(found, key=lambda unfinished: unfinished.name.short))
