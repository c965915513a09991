"""Converts reference models to GGUF for the tests, by llama.cpp's own converter: `make_gguf.py SOURCE [NAME ...]`.

SOURCE is a checkout of https://github.com/ggml-org/llama.cpp. Start Python with `-O`, as a converter asserts that
models have the sizes of those that it knows. Some cases of `make_references.py` and `make_embeddings.py` are
written to tests/engine/converted, with a vocabulary without merges, as the models have no tokenizer. Needs the extra
`reference`. The same versions produce the same files.
"""

import json
import logging
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import torch

ENGINE = Path(__file__).resolve().parents[2] / "tests" / "engine"
# Those whose converted files the tests read; the older families are written by tests/support/models/gguf_writing.py.
CASES = (
    "ernie4-5", "ernie4-5-moe", "exaone4", "gemma", "gemma3n", "gemma4-moe", "gemma4-shared", "glm4-moe-mtp",
    "granite-hybrid-dense", "granite-hybrid-moe", "hunyuan-dense", "hunyuan-moe", "lfm2", "lfm2-moe", "minimax-m2",
    "ministral3", "nemotron-h-moe", "olmo3", "qwen3-5-moe-mtp", "qwen3-5-mtp", "qwen3-next-mtp", "seed-oss",
)  # fmt: skip
ENCODERS = ("modernbert",)


def plain_vocabulary(model: Any) -> None:
    """Write a vocabulary of tokens without merges, in place of that of a tokenizer."""
    writer, count = model.gguf_writer, model.hparams["vocab_size"]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list([f"<{index}>" for index in range(count)])
    writer.add_token_types([1] * count)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)


def convert(folder: Path) -> None:
    """Write the model in a folder as GGUF."""
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary) / folder.name
        shutil.copytree(folder, copy)
        count = _vocabulary_size(folder)
        # Some converters look for the size of the vocabulary here.
        tokenizer = {"added_tokens": [], "model": {"vocab": {f"<{index}>": index for index in range(count)}}}
        (copy / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")
        _convert(copy, ENGINE / "converted" / f"{folder.name}.gguf")


def _vocabulary_size(folder: Path) -> int:
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    size: int = config.get("text_config", config)["vocab_size"]
    return size


def _convert(folder: Path, target: Path) -> None:
    """Write the model in a folder as GGUF, with the modules of llama.cpp, which can be imported by now."""
    import conversion
    import gguf

    config = conversion.ModelBase.load_hparams(folder, False)
    kind = conversion.get_model_class(conversion.get_model_architecture(config, conversion.ModelType.TEXT))
    with torch.inference_mode():
        model = kind(folder, gguf.LlamaFileType.ALL_F32, target, eager=True, model_name=folder.name)
        # Some converters hand everything to another one.
        writing = getattr(model, "impl", model)
        writing.set_vocab = lambda: plain_vocabulary(writing)
        model.write()
    print(f"{folder.name}: {gguf.MODEL_ARCH_NAMES[model.model_arch]}")


def main() -> None:
    """Convert the cases named on the command line, or all."""
    logging.disable(logging.WARNING)
    source, *names = sys.argv[1:]
    sys.path[:0] = [source, f"{source}/gguf-py"]
    for name in names or (*CASES, *ENCODERS):
        convert(ENGINE / ("embeddings" if name in ENCODERS else "references") / name)


if __name__ == "__main__":
    main()
