"""Making a model from another, for the command line, the API and the window: its base is found here, or pulled."""

import os
import threading
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from queue import Empty, SimpleQueue

from sotto.engine.config.supported_models import refusal
from sotto.engine.contract.options import request_options
from sotto.engine.prompt.templates import ChatTemplate
from sotto.errors import CancelledError, DownloadError, StoreError, UnsupportedModelError
from sotto.runner.catalogue import catalogue
from sotto.store.creating.model_base import Base, base_of, has_to_be_imported, license_texts
from sotto.store.creating.modelfile import MODELFILE_LIMIT, Modelfile, decode_modelfile
from sotto.store.creating.new_model import Report, Step, make
from sotto.store.files import absolute, read_all
from sotto.store.importing.import_plan import ImportProgress
from sotto.store.opening import PATH_PREFIXES, find_by_name, open_texts, record_of
from sotto.store.printable import printable, printable_path, with_path
from sotto.store.pull.progress import PullProgress, PullState
from sotto.store.pull.queue import PullQueue
from sotto.store.records import ModelRecord, ModelSource
from sotto.store.removal import own_store
from sotto.store.sources.manifest import Manifest
from sotto.store.sources.model_names import ModelName, parse_name

_POLL_SECONDS = 0.1


def create_model(
    name: str,
    model: Modelfile,
    report: Report,
    *,
    found: ModelRecord | None = None,
    base: Base | None = None,
    quantize: str = "",
    insecure: bool = False,
) -> Manifest:
    """Make a model in Sotto's own store, in place of any that has the name there.

    Args:
        name: Its name.
        model: What it is made of; paths are absolute, or relative to the current folder.
        report: Called with every step; may raise CancelledError.
        found: The model that it is made from, if the caller has found it already.
        base: What that consists of, if the caller knows it.
        quantize: The recipe to quantize the weights of a folder or a GGUF file by; empty to keep them.
        insecure: Whether what it is made from may be downloaded over HTTP without TLS.

    Raises:
        SottoError: The name, an option or the template is invalid; or what the model is made from is not there, cannot
            run or cannot be read.
    """
    target = parse_name(name)
    check_template(model)
    report(Step("reading model metadata"))
    if base is None:
        found = found or find_base(model.base) or _pull(model.base, report, insecure=insecure)
        if not found.runnable:
            raise UnsupportedModelError(with_path(found.path, found.reason))
        if quantize or has_to_be_imported(found):
            found = _import(found, target, quantize, report)
        base = base_of(found, lambda done, total: report(Step("reading model file", "", done, total)))
    return make(target, base, model, report)


def check_options(model: Modelfile) -> None:
    """Check the options of a description.

    Raises:
        InvalidRequestError: One is unknown, or its value is not one that it can have.
    """
    request_options({}, {name: value for name, value in model.params.items() if value is not None})


def check_template(model: Modelfile) -> None:
    """Check the template of a description.

    Raises:
        BrokenModelError: It is not valid, or has no place for messages.
    """
    if model.template:
        ChatTemplate.custom(model.template)


def find_base(text: str) -> ModelRecord | None:
    """Return the model that FROM names, by its whole name or by its path; None if there is no such model here.

    Raises:
        BrokenModelError: There is no complete model at the path.
    """
    if text.startswith(PATH_PREFIXES) or text in (".", ".."):
        return record_of(absolute(os.path.expanduser(text)), refusal)  # noqa: PTH111
    if found := find_by_name(text, catalogue().records):
        return found
    return record_of(absolute(text), refusal) if os.path.lexists(text) else None


def read_modelfile(path: Path) -> Modelfile:
    """Return what a Modelfile describes; paths in it that are relative start at its folder.

    Raises:
        StoreError: It cannot be read, or is no Modelfile.
    """
    return modelfile_in(read_all(path, MODELFILE_LIMIT, "a Modelfile"), printable_path(path), absolute(path).parent)


def modelfile_in(data: bytes, where: str, folder: Path) -> Modelfile:
    """Return what the bytes of a Modelfile describe, with its options checked.

    Args:
        data: Its bytes.
        where: What to call it in error messages.
        folder: Where relative paths in it start.

    Raises:
        SottoError: It is no Modelfile, or an option is wrong.
    """
    model = decode_modelfile(data, where)
    check_options(model)
    return at_folder(model, folder)


def at_folder(model: Modelfile, folder: Path) -> Modelfile:
    """Return a description with the paths in it relative to a folder."""

    def placed(text: str) -> str:
        return str(absolute(folder / os.path.expanduser(text)))  # noqa: PTH111

    is_path = model.base.startswith(PATH_PREFIXES) or os.path.lexists(folder / model.base)
    base = placed(model.base) if is_path and not _is_name(model.base) else model.base
    return replace(model, base=base, adapters=tuple(map(placed, model.adapters)))


def modelfile_of(record: ModelRecord, source: ModelSource | None = None) -> Modelfile:
    """Return a description that makes the same model as a record's, from itself.

    Args:
        record: The model.
        source: Its small files, where they have been read already.

    Raises:
        SottoError: Its files cannot be read.
    """
    source = source or open_texts(record)
    return Modelfile(
        base=record.name,
        system=source.system or None,
        template=source.chosen_template or source.go_template or None,
        params={key: list(value) if isinstance(value, tuple) else value for key, value in source.params.items()},
        messages=tuple((row["role"], row["content"]) for row in source.messages),
        licenses=license_texts(record),
    )


def _import(record: ModelRecord, target: ModelName, quantize: str, report: Report) -> ModelRecord:
    """Import the weights of a folder or a GGUF file under the new model's name, and return what that is then.

    An import that was interrupted goes on where it stopped.

    Raises:
        SottoError: They cannot be imported, or not in this way.
    """
    # Not needed by most models, and slow to import.
    from sotto.engine.quantizing.importer import plan_import, run_import

    stopped = threading.Event()

    def progress(state: ImportProgress) -> None:
        # It is called on threads where nothing may be raised.
        try:
            report(Step("importing model", "", state.done, state.total))
        except CancelledError:
            stopped.set()

    plan = plan_import(record.path, quantize)
    run_import(plan, target.short, progress, stopped.is_set, replace=True)
    return record_of(own_store().joinpath("manifests", *target.parts), refusal)


def _is_name(text: str) -> bool:
    return not text.startswith(PATH_PREFIXES) and find_by_name(text, catalogue().records) is not None


def _pull(text: str, report: Report, *, insecure: bool) -> ModelRecord:
    """Download the model that FROM names, and return it.

    Raises:
        DownloadError: It cannot be downloaded.
    """
    news: SimpleQueue[PullProgress] = SimpleQueue()
    queue = PullQueue(own_store(), news.put, judge=refusal, insecure=insecure)
    try:
        queue.add(text)
        progress = PullProgress(text, PullState.WAITING)
        while progress.state is not PullState.DONE:
            # Reported again and again, so that it can be stopped while nothing comes.
            report(Step(f"pulling {progress.name}", "", progress.done, progress.total or 0))
            with suppress(Empty):
                progress = news.get(timeout=_POLL_SECONDS)
            if progress.state is PullState.FAILED:
                raise DownloadError(progress.note)
    finally:
        queue.close()
    found = find_by_name(progress.name, catalogue().records)
    if found is None:
        raise StoreError(f"{printable(progress.name)} was downloaded and is gone again; try again.")
    return found
