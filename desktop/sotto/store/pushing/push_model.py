"""Uploading one model: the blobs that the registry lacks, several at a time, and then the manifest."""

import ipaddress
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from sotto.errors import CancelledError, InvalidRequestError, StoreError
from sotto.store.creating.new_model import Report, Step
from sotto.store.files import is_folder, read_all
from sotto.store.gguf.header import is_gguf
from sotto.store.locating import store_of
from sotto.store.printable import format_size, printable
from sotto.store.pull.terms import Patience
from sotto.store.pushing.registry_writer import RegistryWriter, part_size
from sotto.store.records import Place
from sotto.store.sources.manifest import MANIFEST_LIMIT, Layer, parse_manifest
from sotto.store.sources.model_names import ModelName, parse_name
from sotto.store.sources.ollama_layout import OllamaStore

_CONNECTIONS = 4


def check_pushable(place: Place) -> None:
    """Raise StoreError if a model has no manifest, and so cannot be uploaded."""
    if is_folder(place.path) or is_gguf(place.path):
        raise StoreError(
            f"{printable(place.name)} is not in a store with manifests; `sotto create` makes a model of it that can be "
            "uploaded."
        )


def push(
    place: Place,
    report: Report,
    *,
    insecure: bool = False,
    patience: Patience | None = None,
    parts: Callable[[int], int] = part_size,
) -> None:
    """Upload a model to the registry that its name begins with.

    Blobs that are there already are not sent again, so that an upload that was interrupted goes on with the rest.

    Args:
        place: Where the model is.
        report: Called with every step, on several threads but never on two at once; may raise CancelledError.
        insecure: Whether to connect over HTTP without TLS, to this machine alone.
        patience: Timeouts and numbers of tries; None for the defaults.
        parts: Returns the size of a blob's parts.

    Raises:
        InvalidRequestError: `insecure` with a registry on another machine.
        StoreError: The model has no manifest, is damaged, or the registry cannot be reached or refuses it.
    """
    name = parse_name(place.name)
    if insecure and not _is_on_this_machine(name):
        raise InvalidRequestError(
            f"insecure is for a registry on this machine, and {printable(name.host)} is another; leave it out."
        )
    check_pushable(place)
    report(Step("retrieving manifest"))
    store = store_of(place.path)
    data = read_all(place.path, MANIFEST_LIMIT, "a manifest")
    manifest = parse_manifest(data, place.path)
    store.require_blobs(manifest)
    telling, failed = threading.Lock(), threading.Event()

    def tell(step: Step) -> None:
        with telling:
            if failed.is_set():
                raise CancelledError("Another part of the upload failed.")
            report(step)

    with RegistryWriter(
        name,
        patience or Patience(),
        insecure=insecure,
        part_size=parts,
        waiting=lambda why: tell(Step(f"trying again: {why}")),
    ) as writer:
        _send_blobs(writer, store, list(manifest.blobs.values()), tell, failed.set)
        report(Step("pushing manifest"))
        writer.send_manifest(data)


def _send_blobs(
    writer: RegistryWriter, store: OllamaStore, layers: list[Layer], tell: Report, end_others: Callable[[], None]
) -> None:
    def send(layer: Layer) -> None:
        done = 0

        def sent(count: int) -> None:
            nonlocal done
            done += count
            tell(Step(f"pushing {layer.digest[:12]}", layer.digest, done, layer.size))

        try:
            writer.send_blob(layer, store.blob(layer), sent)
        except BaseException:
            end_others()
            raise

    with ThreadPoolExecutor(_CONNECTIONS, thread_name_prefix="upload") as pool:
        there = list(pool.map(writer.has_blob, layers))
        missing = [layer for layer, known in zip(layers, there, strict=True) if not known]
        size = format_size(sum(layer.size for layer in missing))
        tell(Step(f"uploading {size} in {len(missing)} of {len(layers)} files to {writer.host}"))
        results = [pool.submit(partial(send, layer)) for layer in missing]
    errors = [error for result in results if (error := result.exception()) is not None]
    if errors:
        # Those that were ended because another failed only say so.
        raise next((error for error in errors if not isinstance(error, CancelledError)), errors[0])


def _is_on_this_machine(name: ModelName) -> bool:
    host = name.host.rpartition(":")[0] or name.host
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
