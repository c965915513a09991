"""Models on a graphics processor, compared with themselves on the CPU in float32: logits, answers, caches, memory."""

import functools
import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import mlx.core as mx
from bench_models import BenchmarkModel, Models
from graphics.gpu_operations import Check, error, on_cpu
from hosting import GREEDY, Host, unseen

from sotto.engine.caches.caches import make_caches
from sotto.engine.contract.engine_settings import EngineSettings
from sotto.engine.contract.events import Failed, Finished
from sotto.engine.contract.requests import GenerateRequest
from sotto.engine.footprint.model_needs import limits_here, needs_of
from sotto.engine.generation.chunk_sizing import ChunkSize, ChunkSizing
from sotto.engine.generation.first_forward import first_forward
from sotto.engine.kernels import device, native
from sotto.engine.memory.memory_plan import Limits, plan
from sotto.engine.weights.loader import load
from sotto.runner.catalogue import find
from sotto.store.opening import open_model, record_of
from sotto.store.records import ModelRecord

REFERENCES = Path(__file__).resolve().parents[2] / "engine" / "references"
# The largest relative error of the logits of a tiny model, at half of the tokens; at all but a tenth it may be so many
# times as large, as rounding may exchange experts that are nearly as good as others. MLX on a CPU, told to compute in
# bfloat16, is off by 0.005 to 0.016 at half of them, and by up to 0.038 at all but a tenth.
_LOGITS = {mx.float32: 5e-3, mx.bfloat16: 3e-2}
_UNLUCKY = 5
# How much less likely than the best a chosen token may be, as a share of the range of the logits.
_NEAR = 0.02
_PLAN_ERROR, _LEFT_BYTES = 0.15, 4 << 20
# The share of the weights that must be free again on a card.
_GIVEN = 0.8
_TOKENIZER = {"version": "1.0", "model": {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"}}
_NO_LIMIT = Limits(None, None, "")
_PROMPTS = ("Once upon a time there was a little", "The sun", "a b c d a b c d a b c d a b c")
_ANSWER = 32


@dataclass(frozen=True)
class Truth:
    """A model on the CPU, in float32 and without our kernels."""

    model: Callable[..., mx.array]

    @classmethod
    def of(cls, record: ModelRecord) -> "Truth":
        with on_cpu():
            loaded = load(open_model(record), limits=_NO_LIMIT, progress=lambda _: None, cancelled=lambda: False)
        return cls(loaded.model)

    def logits(self, tokens: list[int]) -> mx.array:
        """Return the logits [T, V] after each of the tokens."""
        with on_cpu():
            logits = self.model(mx.array([tokens]))[0].astype(mx.float32)
            mx.eval(logits)
        return logits

    def doubts(self, prompt: list[int], answer: list[int]) -> str:
        """Return the first token of an answer that was not nearly the best, as a sentence; empty if there is none."""
        rows = self.logits([*prompt, *answer])[len(prompt) - 1 : -1]
        with on_cpu():
            best, least = rows.max(axis=-1), rows.min(axis=-1)
            chosen = mx.take_along_axis(rows, mx.array(answer)[:, None], axis=-1)[:, 0]
            behind = ((best - chosen) / mx.maximum(best - least, 1e-6)).tolist()
        wrong = next((index for index, share in enumerate(behind) if share > _NEAR), None)
        return (
            ""
            if wrong is None
            else f"token {wrong + 1} of the answer is {behind[wrong]:.0%} of the logits behind the best"
        )


def families(folder: Path, *, quick: bool) -> Iterator[Check]:
    """Yield a check of each tiny model of the tests, in float32 and bfloat16."""
    cases = sorted(path for path in REFERENCES.iterdir() if path.is_dir())
    for path in cases[::12] if quick else cases:
        yield f"logits of {path.name} in float32", functools.partial(_as_in_transformers, path, folder)
        yield f"logits of {path.name} in bfloat16", functools.partial(_as_on_cpu, path, folder)


def _as_in_transformers(path: Path, folder: Path) -> str:
    wanted = mx.load(str(path / "expected.safetensors"))
    found = _in_pieces(_loaded(_copy(path, folder, mx.float32)), wanted["ids"].tolist())
    return _judged(found, wanted["whole"], mx.float32)


def _as_on_cpu(path: Path, folder: Path) -> str:
    """Compare a copy of the model in bfloat16, computed as it is, with the same weights in float32."""
    record = _copy(path, folder, mx.bfloat16)
    ids = mx.load(str(path / "expected.safetensors"))["ids"].tolist()
    found = _in_pieces(_loaded(record), ids)
    if device.compute_dtype() is None and found.dtype != mx.bfloat16:
        return "the activations were widened on the way, which takes twice the time and memory"
    return _judged(found, Truth.of(record).logits(ids), mx.bfloat16)


def _copy(path: Path, folder: Path, dtype: mx.Dtype) -> ModelRecord:
    """Write a copy of a model, in another type and with a tokenizer, and return its record."""
    copied = folder / f"{path.name}-{str(dtype).rpartition('.')[2]}"
    shutil.copytree(path, copied, ignore=shutil.ignore_patterns("*.safetensors"))
    weights = mx.load(str(path / "model.safetensors"))
    floats = {name: array.astype(dtype) if array.dtype == mx.float32 else array for name, array in weights.items()}
    mx.save_safetensors(str(copied / "model.safetensors"), floats, metadata={"format": "pt"})
    (copied / "tokenizer.json").write_text(json.dumps(_TOKENIZER), encoding="utf-8")
    return record_of(copied)


def _loaded(record: ModelRecord) -> Callable[..., mx.array]:
    source = open_model(record)
    loaded = load(source, limits=limits_here(), progress=lambda _: None, cancelled=lambda: False)
    first_forward(source, loaded, EngineSettings())
    return loaded.model


def _in_pieces(model: Callable[..., mx.array], ids: list[int]) -> mx.array:
    """Return all logits [T, V] of a prompt that is fed in two chunks and then token by token."""
    caches, rows, done = make_caches(model), [], 0
    for planned in (cache for cache in caches if hasattr(cache, "planned")):
        planned.planned = len(ids)
    while done < len(ids):
        size = 13 if done < 26 else 1
        rows.append(model(mx.array([ids[done : done + size]]), cache=caches)[0])
        mx.eval(rows[-1], [cache.state for cache in caches])
        done += size
    return mx.concatenate(rows)


def _judged(found: mx.array, wanted: mx.array, dtype: mx.Dtype) -> str:
    mx.eval(found, wanted)
    with on_cpu():
        errors = sorted(error(mine, other) for mine, other in zip(found, wanted, strict=True))
    usual, large = errors[len(errors) // 2], errors[len(errors) * 9 // 10]
    if usual <= _LOGITS[dtype] and large <= _UNLUCKY * _LOGITS[dtype]:
        return ""
    return f"half of the tokens are off by {usual:.2g} of the logits or more, and a tenth by {large:.2g} or more"


def answers(folder: Path, *, quick: bool) -> Iterator[Check]:
    """Yield checks of whole answers of the built-in model: alone, together, from caches, with few bits, with drafts."""
    built_in = find("sotto")
    truth = functools.cache(lambda: Truth.of(built_in))
    tokens = _ANSWER // 4 if quick else _ANSWER
    yield "an answer", lambda: _doubts(truth(), built_in, tokens)
    yield "an answer from the cache in memory", lambda: _doubts(truth(), built_in, tokens, again=True)
    for bits in (16, 8, 4):
        settings = EngineSettings(kv_bits=bits)
        yield f"an answer with keys and values in {bits} bits", functools.partial(_few_bits, built_in, settings, tokens)
    yield "an answer from the cache on the disk", lambda: _from_disk(truth(), built_in, folder / "cache", tokens)
    yield "four answers at once", lambda: _together(truth(), built_in, tokens)
    yield "an answer with drafts", lambda: _doubts(truth(), built_in, 2 * tokens, speculates=True)


def _doubts(truth: Truth, record: ModelRecord, tokens: int, *, again: bool = False, speculates: bool = False) -> str:
    with Host(record, speculates=speculates) as host:
        for number, prompt in enumerate(_PROMPTS):
            for turn in range(2 if again else 1):
                asked, finished = _answer(host, prompt, tokens)
                if turn and not finished.cached_tokens:
                    return "nothing of the prompt was cached"
                if wrong := truth.doubts(asked, list(finished.token_ids)):
                    return f"prompt {number + 1}: {wrong}"
    return ""


def _answer(host: Host, prompt: str, tokens: int) -> tuple[list[int], Finished]:
    """Return the tokens of a prompt, and the end of its answer."""
    request = GenerateRequest(id=prompt, prompt=prompt, sampling=GREEDY, num_predict=tokens)
    prepared = host.engine.prepare(request)
    for event in host.engine.generate(prepared):
        if isinstance(event, Failed):
            raise RuntimeError(event.message)
        if isinstance(event, Finished):
            return list(prepared.prompt), event
    raise RuntimeError("The answer did not end.")


def _few_bits(record: ModelRecord, settings: EngineSettings, tokens: int) -> str:
    """Compare with the same bits on the CPU, as few bits change the answers of so small a model."""
    found = []
    for compute in (False, True):
        if compute:
            with on_cpu():
                found.append(_all_answers(record, settings, tokens))
        else:
            found.append(_all_answers(record, settings, tokens))
    same = sum(mine == other for mine, other in zip(*map(_joined, found), strict=True))
    count = len(_joined(found[0]))
    # Once two tokens differ, so do all that follow.
    return "" if same >= count // 3 else f"only {same} of {count} tokens are those of the CPU"


def _joined(answers_found: list[tuple[int, ...]]) -> list[int]:
    return [token for answer in answers_found for token in answer]


def _all_answers(record: ModelRecord, settings: EngineSettings, tokens: int) -> list[tuple[int, ...]]:
    with Host(record, settings) as host:
        return [_answer(host, prompt, tokens)[1].token_ids for prompt in _PROMPTS]


def _from_disk(truth: Truth, record: ModelRecord, folder: Path, tokens: int) -> str:
    settings = EngineSettings(disk_root=folder, disk_budget=1 << 30)
    prompt = _PROMPTS[0] * 12
    for turn in range(2):
        # A new host has an empty cache in memory.
        with Host(record, settings) as host:
            asked, finished = _answer(host, prompt, tokens)
        if turn and not finished.cached_tokens:
            return "nothing of the prompt came from the disk"
        if wrong := truth.doubts(asked, list(finished.token_ids)):
            return wrong
    return ""


def _together(truth: Truth, record: ModelRecord, tokens: int) -> str:
    prompts = {f"{number} {_PROMPTS[number % len(_PROMPTS)]}": None for number in range(4)}
    with Host(record) as host:
        asked = {}
        for prompt in prompts:
            request = GenerateRequest(id=prompt, prompt=prompt, sampling=GREEDY, num_predict=tokens)
            prepared = host.engine.prepare(request)
            asked[prompt] = list(prepared.prompt)
            host.engine.start(prepared)
        ended = [event for *_, events in host.steps() for event in events if isinstance(event, Finished)]
    if len(ended) < len(prompts):
        return f"{len(prompts) - len(ended)} of {len(prompts)} did not end"
    return next((wrong for each in ended if (wrong := truth.doubts(asked[each.request_id], list(each.token_ids)))), "")


def drafts(models: Models) -> Iterator[Check]:
    """Yield a check of answers with a draft model."""
    large, small = models.pair()
    truth = functools.cache(lambda: Truth.of(record_of(large.folder)))
    yield "an answer with a draft model", lambda: _drafted(truth(), large, small)


def _drafted(truth: Truth, large: BenchmarkModel, small: BenchmarkModel) -> str:
    with Host(large.folder, draft=small.folder, speculates=True) as host:
        asked, finished = _answer(host, _PROMPTS[0], _ANSWER)
    if not finished.drafted_tokens:
        return "nothing was drafted"
    return truth.doubts(asked, list(finished.token_ids))


def memory(model: BenchmarkModel, context: int) -> Iterator[Check]:
    """Yield checks of the memory that a model takes while its context is filled, and of what is left afterwards."""
    yield f"memory of {model.name} with {context} tokens", lambda: _planned(model, context)
    yield f"memory after {model.name}", lambda: _left(model)


def _planned(model: BenchmarkModel, context: int) -> str:
    source = open_model(record_of(model.folder))
    planned = plan(needs_of(source, limits_here(), native.kernels()), limits_here(), context)
    if planned.needed is None:
        return f"the plan is unknown: {planned.sentence}"
    mx.clear_cache()
    before = mx.get_active_memory()
    with Host(model.folder, num_ctx=context) as host:
        host.scheduler._sizing = ChunkSizing(ChunkSize(largest=planned.chunk))
        host.start("m", unseen(context - 8), 7)
        for _ in host.steps():
            pass
        taken = mx.get_peak_memory() - before
    off = abs(planned.needed / taken - 1)
    figures = f"{planned.needed / 1e6:.0f} MB planned, {taken / 1e6:.0f} MB taken"
    return "" if off <= _PLAN_ERROR else f"{figures}, {off:.0%} off"


def _left(model: BenchmarkModel) -> str:
    before = mx.get_active_memory()
    with Host(model.folder) as host:
        host.decode(8)
        weights, held = host.info.weight_bytes, _free_on_card()
    kept, pool = mx.get_active_memory() - before, mx.get_cache_memory()
    if max(kept, pool) > _LEFT_BYTES:
        return f"{kept / 1e6:.0f} MB are still held, and {pool / 1e6:.0f} MB pooled"
    given = _free_on_card() - held
    return f"the card got back {given / 1e6:.0f} of {weights / 1e6:.0f} MB" if held and given < _GIVEN * weights else ""


def _free_on_card() -> int:
    """Return the free bytes of a graphics card; 0 where memory is shared with the processor."""
    return int(mx.device_info().get("free_memory", 0))
