"""What slows models down: slow disks that they lie on, and types of weights that are held in more bits."""

import os
import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from sotto.engine.advice.machine import Machine
from sotto.engine.gguf import repack
from sotto.store.gguf.block_types import BY_NAME
from sotto.store.records import Format, ModelRecord

_NETWORKS = frozenset("9p afs ceph cifs fuse.glusterfs fuse.rclone fuse.sshfs glusterfs ncpfs nfs nfs4 smb3".split())
# A type is held in more bits if these are so many more, beyond the scales and biases of each group.
_MORE_BITS = 1.0
# MLX's types that CPUs hold in 8 bits. Those of 2 and 3 bits are held in 4, which are what the advice recommends.
_IN_EIGHT_BITS = re.compile(r"int[56]|[56]-bit g\d+")


def model_advice(
    machine: Machine, records: Iterable[ModelRecord], *, on_cpu: bool, kept: Collection[str] = ()
) -> Iterator[str]:
    """Yield what slows these models down, and how that is mended.

    Args:
        machine: The machine.
        records: The models.
        on_cpu: Whether they are computed on the CPU.
        kept: The modes of types that keep their bits.
    """
    present = [record for record in records if record.present and not record.builtin]
    for what, step in _disks(machine, present):
        yield f"{what}, so they load slowly: {step}."
    kinds = sorted({record.quantization for record in present if _grows(record, on_cpu=on_cpu, kept=kept)})
    if kinds:
        yield (
            f"Models in {', '.join(kinds)} are held in more bits than their files have, and each token reads them all: "
            "the same models in 4 bits (int4, Q4_K_M or Q4_0) are faster."
        )


def _grows(record: ModelRecord, *, on_cpu: bool, kept: Collection[str]) -> bool:
    """Return whether most weights of a model are held in more bits than its file has."""
    if record.format is Format.SAFETENSORS:
        return on_cpu and _IN_EIGHT_BITS.fullmatch(record.quantization) is not None
    kind = next((name for name in _names(record.quantization) if name in BY_NAME), None)
    if kind is None:
        return False
    layout = repack.layout_of(kind, on_cpu=on_cpu, kept=kept)
    stored = 8 * BY_NAME[kind].nbytes / BY_NAME[kind].size
    return layout is not None and layout.bits >= stored + _MORE_BITS


def _names(quantization: str) -> Iterator[str]:
    """Yield the types that a file's name for its types may stand for: `Q5_K_M` for Q5_K."""
    name = quantization.upper()
    while name:
        yield name
        name = name.rpartition("_")[0]


def _disks(machine: Machine, records: Iterable[ModelRecord]) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with the disks of these models, and the step that mends it, each once."""
    slow: dict[str, tuple[str, str]] = {}
    mounts = dict(_mounts(machine))
    for record in records:
        try:
            number = record.path.stat().st_dev
        except OSError:
            # It was removed since it was listed.
            continue
        name = f"{os.major(number)}:{os.minor(number)}"
        kind, source = mounts.get(name, ("", ""))
        if kind in _NETWORKS:
            slow[kind] = (f"Some models lie on another machine ({kind})", "copy them to a disk of this one")
        elif not machine.is_virtual and _spins(machine, name, source):
            slow["disk"] = ("Some models lie on a spinning disk", "move them to a solid-state disk")
    yield from slow.values()


def _mounts(machine: Machine) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the number of each mounted device, with the kind of file system and its source."""
    for line in machine.text("proc/self/mountinfo").splitlines():
        before, _, after = line.partition(" - ")
        fields, kind = before.split(), after.split()
        if len(fields) > 2 and len(kind) > 1:
            yield fields[2], (kind[0], kind[1])


def _spins(machine: Machine, number: str, source: str) -> bool:
    """Return whether a disk spins; virtual disks say so as well, whatever they lie on."""
    # Some file systems have numbers of their own, and a partition tells by the disk that it is a part of.
    places = [f"sys/dev/block/{number}", f"sys/class/block/{Path(source).name}"] if source else []
    return any(
        machine.text(f"{place}/{queue}/rotational") == "1" for place in places for queue in ("queue", "../queue")
    )
