"""GGUF files: headers that load, with changed values, tensor tables and vocabularies."""

import copy
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from random import Random

import gguf

from fuzzing import values
from fuzzing.gguf_form import ARRAY, SCALARS, SIZES, TEXT, Form, Pair, parsed, written
from fuzzing.models import STAGES, Models, names_model
from fuzzing.target import Mark, Target
from fuzzing.templates import GO, JINJA
from gguf_encoders import write_encoder
from gguf_writing import write_folder
from places import TESTS
from sotto.store.gguf.file import read_gguf_file
from sotto.store.gguf.gguf_config import config_of
from sotto.store.gguf.metadata_values import Values

_ENGINE = TESTS / "engine"
_DECODERS = tuple(
    """
    deepseek-v3 gemma2 gemma3 glm4 gpt-oss granite llama llama-llama3 llama-yarn mixtral olmo2 phi3-longrope qwen2
    qwen3-moe smollm3
    """.split()
)
_ENCODERS = ("bert", "nomic-bert")
_ARCHITECTURES = ("llama", "qwen2", "gemma2", "phi3", "bert", "mamba", "clip", "gpt-oss", "mistral3", "")
_PRE = ("default", "llama-bpe", "qwen2", "gpt-2", "tekken", "gpt-4o", "nothing", "")
_TYPES = (gguf.GGMLQuantizationType.F32, gguf.GGMLQuantizationType.Q8_0, gguf.GGMLQuantizationType.Q4_0)


class Gguf(Target):
    """GGUF files, up to the first token of an answer."""

    stages = ("header read", "config made", *STAGES)
    first_share, last_share = 60, 10

    def prepare(self, folder: Path) -> None:
        """Write the seeds."""
        self._path = folder / "model.gguf"
        self._models = Models()
        self._seeds: list[Form] = []
        for number, name in enumerate(_DECODERS):
            vocabulary = (byte_level, _sentence_pieces)[number % 2]
            kind = _TYPES[number % len(_TYPES)]
            write_folder(self._path, _ENGINE / "references" / name, kind, vocabulary=vocabulary, change=_templates)
            self._seeds.append(parsed(self._path.read_bytes()))
        for name in _ENCODERS:
            write_encoder(self._path, _ENGINE / "embeddings" / name)
            self._seeds.append(parsed(self._path.read_bytes()))

    def make(self, random: Random) -> bytes:
        """Change a header and write it again; sometimes change any bytes of the file instead."""
        form = copy.deepcopy(random.choice(self._seeds))
        whole = random.random() < 0.92
        for _ in range(values.times(random) if whole else 0):
            mutate(form, random)
        if random.random() < 0.8:
            form.lay_out()
        content = written(form)
        return content if whole else damaged(content, random)

    def run(self, data: bytes, mark: Mark) -> None:
        """Read the file, load the model and ask it."""
        self._path.write_bytes(data)
        file = read_gguf_file(self._path)
        mark("header read")
        config_of(Values(file))
        mark("config made")
        self._models.process(self._path, mark)

    def names(self, message: str) -> bool:
        """Return whether the message names the file."""
        return names_model(message, self._path)


def byte_level(writer: gguf.GGUFWriter, count: int) -> None:
    """Write a vocabulary of letters and their merges."""
    letters = [chr(code) for code in range(33, 127)][: count - 8]
    made = [f"{first}{second}" for first, second in pairwise(letters)][: count - len(letters) - 4]
    tokens = ["<u>", "<s>", "</s>", "Ġ", *letters, *made]
    tokens += [f"<{number}>" for number in range(count - len(tokens))]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types([2, 3, 3, *[1] * (count - 4), 4])
    writer.add_token_merges([f"{text[0]} {text[1]}" for text in made])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)


def _sentence_pieces(writer: gguf.GGUFWriter, count: int) -> None:
    """Write a vocabulary with scores, and with byte tokens as far as they fit."""
    letters = ["\u2581", *map(chr, range(97, 123)), "\u2581a", "on", "\u2581on", "ce"]
    tokens = ["<unk>", "<s>", "</s>", *letters]
    tokens += [f"<0x{byte:02X}>" for byte in range(256)][: count - len(tokens)]
    tokens += [f"<{number}>" for number in range(count - len(tokens))]
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores([-float(number) for number in range(count)])
    writer.add_token_types(
        [2, 3, 3, *[1] * len(letters), *[6 if t.startswith("<0x") else 1 for t in tokens[3 + len(letters) :]]]
    )
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_add_bos_token(True)


def _templates(writer: gguf.GGUFWriter) -> None:
    writer.add_chat_template(JINJA[0])


def mutate(form: Form, random: Random) -> None:
    """Change a file in place, in one of many ways."""
    random.choices(_MUTATIONS, _WEIGHTS)[0](form, random)


def _value(form: Form, random: Random) -> None:
    """Change the value of a key, usually preserving its type."""
    pair = random.choice(form.pairs)
    if pair.kind == ARRAY:
        _array(pair, random)
    elif pair.key == "general.architecture" and random.random() < 0.7:
        pair.value = random.choice(_ARCHITECTURES)
    elif pair.key == "tokenizer.ggml.pre":
        pair.value = random.choice(_PRE)
    elif pair.key == "tokenizer.chat_template":
        pair.value = random.choice((*JINJA, *GO, values.near_text(pair.value, random)))
    else:
        pair.value = values.near(pair.value, random)


def _array(pair: Pair, random: Random) -> None:
    """Change elements of an array, its length or its order."""
    items = pair.value
    kind = random.randrange(7)
    if kind == 0:
        del items[random.randint(0, len(items)) :]
    elif kind == 1:
        items.append(random.choice(items) if items else 0)
    elif kind == 2:
        random.shuffle(items)
    elif items:
        for _ in range(random.choice((1, 1, 3, len(items)))):
            place = random.randrange(len(items))
            other = random.choice(items) if random.random() < 0.3 else values.near(items[place], random)
            items[place] = other


def _type(form: Form, random: Random) -> None:
    """Change the type of a key, and convert its value as far as possible."""
    pair = random.choice(form.pairs)
    if pair.kind == ARRAY:
        pair.inner = random.choice((*SCALARS, TEXT, TEXT, ARRAY, 13))
    elif random.random() < 0.3:
        pair.kind, pair.inner, pair.value = ARRAY, pair.kind, [pair.value] * random.choice((0, 1, 2, 3))
    else:
        pair.kind = random.choice((*SCALARS, TEXT, TEXT, 13))


def _keys(form: Form, random: Random) -> None:
    """Remove, duplicate, swap, rename or add a key."""
    pair = random.choice(form.pairs)
    kind = random.randrange(5)
    if kind == 0:
        form.pairs.remove(pair)
    elif kind == 1:
        form.pairs.append(copy.deepcopy(pair))
    elif kind == 2:
        other = random.choice(form.pairs)
        pair.key, other.key = other.key, pair.key
    elif kind == 3:
        pair.key = random.choice((pair.key.upper(), pair.key + "_", values.near_text(pair.key, random)))
    else:
        form.pairs.append(_extra(form, random))


def _extra(form: Form, random: Random) -> Pair:
    """Return a pair that affects how a model is read."""
    architecture = form.pair("general.architecture")
    begins = architecture.value if architecture and isinstance(architecture.value, str) else "llama"
    key, kind, value = random.choice(
        (
            ("general.alignment", 4, random.choice((0, 1, 8, 16, 64, 4096, 1 << 21, 33))),
            ("general.type", TEXT, random.choice(("model", "adapter", "mmproj", ""))),
            ("split.count", 2, random.choice((0, 1, 2, 65535))),
            (f"{begins}.rope.scaling.type", TEXT, random.choice(("yarn", "linear", "longrope", "none", "", "x"))),
            (f"{begins}.rope.scaling.factor", 6, random.choice(values.FLOATS)),
            (f"{begins}.rope.scaling.original_context_length", 4, random.choice(values.INTEGERS)),
            (f"{begins}.attention.sliding_window", 4, random.choice(values.INTEGERS)),
            (f"{begins}.expert_count", 4, random.choice(values.INTEGERS)),
            (f"{begins}.pooling_type", 4, random.choice((0, 1, 2, 3, 4, 99))),
            ("tokenizer.ggml.add_bos_token", 7, random.random() < 0.5),
            ("tokenizer.ggml.eot_token_id", 4, random.choice(values.INTEGERS)),
            ("tokenizer.chat_template", TEXT, random.choice((*JINJA, *GO))),
        )
    )
    return Pair(key, kind, value)


def _table(form: Form, random: Random) -> None:
    """Change, remove or add an entry of the tensor table."""
    tensor = random.choice(form.tensors)
    other = random.choice(form.tensors)
    kind = random.randrange(9)
    if kind == 0 and tensor.dims:
        tensor.dims[random.randrange(len(tensor.dims))] = _size(tensor.dims, random)
    elif kind == 1:
        tensor.dims.reverse()
    elif kind == 2:
        random.choice((tensor.dims.append, lambda size: tensor.dims.insert(0, size)))(random.choice((0, 1, 2, 64)))
    elif kind == 3:
        tensor.kind = random.choice((*SIZES, 4, 5, 31, 99, 1 << 31))
    elif kind == 4:
        tensor.offset = random.choice((other.offset, tensor.offset + 1, tensor.offset + 32, *values.INTEGERS))
    elif kind == 5:
        tensor.name, other.name = other.name, tensor.name
    elif kind == 6:
        form.tensors.remove(tensor)
    elif kind == 7:
        tensor.name = random.choice((other.name, tensor.name.replace("0", "1"), values.near_text(tensor.name, random)))
    else:
        form.tensors.append(copy.deepcopy(tensor))
        form.tensors[-1].name = random.choice(("output.weight", "rope_freqs.weight", "blk.9.attn_q.weight", "x"))


def _size(dims: list[int], random: Random) -> int:
    size = random.choice(dims)
    return random.choice((size * 2, size // 2, size + 1, size + 32, 0, 1, random.choice(values.INTEGERS)))


def _vocabulary(form: Form, random: Random) -> None:
    """Change tokens, scores, types or merges, and sometimes their number."""
    pairs = [pair for pair in form.pairs if pair.key.startswith("tokenizer.")]
    pair = random.choice(pairs) if pairs else random.choice(form.pairs)
    if pair.kind == ARRAY:
        _array(pair, random)
    else:
        pair.value = values.near(pair.value, random)


def _sizes(form: Form, random: Random) -> None:
    """Change one of the numbers that define the size of a model."""
    pairs = [pair for pair in form.pairs if pair.kind in SCALARS and not pair.key.startswith("tokenizer.")]
    if pairs:
        pair = random.choice(pairs)
        pair.value = values.near(pair.value, random)


def damaged(content: bytes, random: Random) -> bytes:
    """Change bytes, and sometimes truncate the file."""
    changed = bytearray(content)
    for _ in range(values.times(random)):
        changed[random.randrange(len(changed))] = random.randrange(256)
    return bytes(changed[: random.randrange(len(changed))]) if random.random() < 0.2 else bytes(changed)


def _numbers(form: Form, random: Random) -> None:
    """Change weights to zeros, infinities or bytes that are invalid in blocks."""
    changed = bytearray(form.data)
    for _ in range(values.times(random)):
        place, byte = random.randrange(len(changed) or 1), random.choice((0, 0x7F, 0x80, 0xFF))
        end = min(len(changed), place + random.choice((1, 4, 64, 10_000)))
        changed[place:end] = bytes([byte]) * (end - place)
    form.data = bytes(changed)


_MUTATIONS: tuple[Callable[[Form, Random], None], ...] = (_value, _type, _keys, _table, _vocabulary, _sizes, _numbers)
_WEIGHTS = (3, 1, 2, 3, 3, 3, 1)
TARGET = Gguf()
