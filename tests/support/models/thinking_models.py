"""Tiny models with random weights whose templates claim that they can think and call tools."""

import json

from tiny_random import write_model
from vocabularies import added

# Characters whose ids are reused for the special tokens of a family.
_SPARE = "~^@$%&*;+!"
_HEAD = (
    "{% for tool in tools or [] %}{{ tool.function.name }} {% endfor %}"
    "{% for message in messages %}[{{ message.role }}]{{ message.content }}</s>{% endfor %}"
)
HERMES, LLAMA, MISTRAL, MISTRAL_LIST, HARMONY, GLM, DEEPSEEK, GEMMA, QWEN_CODER, STAR_CODER = (
    "hermes", "llama", "mistral", "mistral with a list", "harmony", "glm", "deepseek", "gemma", "qwen-coder",
    "star-coder",
)  # fmt: skip
# The text in the template by which the notation is recognized, the prompt for an answer, and the special tokens.
FAMILIES = {
    HERMES: ("<tool_call><think>", "[assistant]", ["<think>", "</think>"]),
    LLAMA: ('"parameters": dictionary of argument name', "[assistant]", []),
    MISTRAL: ("[TOOL_CALLS][ARGS][THINK]", "[/INST]", ["[TOOL_CALLS]", "[ARGS]", "[THINK]", "[/THINK]"]),
    MISTRAL_LIST: ("[TOOL_CALLS]", "[/INST]", ["[TOOL_CALLS]"]),
    HARMONY: (
        "<|channel|><|message|>", "<|start|>assistant",
        ["<|start|>", "<|channel|>", "<|message|>", "<|constrain|>", "<|end|>", "<|call|>"],
    ),
    GLM: ("<tool_call><arg_key>", "<|assistant|><think>\n", []),
    DEEPSEEK: (
        "<｜tool▁calls▁begin｜>", "<Assistant><think>\n",
        ["<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>", "<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>",
         "<｜tool▁sep｜>", "</think>"],
    ),
    GEMMA: ("<|tool_call><|channel>thought", "<|turn>model\n", ["<|tool_call>", "<tool_call|>", '<|"|>']),
    QWEN_CODER: ("<tool_call><function=<parameter=", "[assistant]", []),
}  # fmt: skip


# Models that can do neither, but support fill-in-the-middle.
FILLERS = {STAR_CODER: ("", "[assistant]", ["<fim_prefix>", "<fim_suffix>", "<fim_middle>", "<fim_pad>", "<file_sep>"])}


def write_family(folder, name):
    """Write a model of a family in `FAMILIES` or `FILLERS`, and return its folder."""
    sign, opening, special = (FAMILIES | FILLERS)[name]
    prompt = "{% if add_generation_prompt %}" + opening + "{% endif %}"
    write_model(folder, "plain", f"{{# {sign} #}}{_HEAD}{prompt}", max_position_embeddings=1024)
    path = folder / "tokenizer.json"
    written = json.loads(path.read_text(encoding="utf-8"))
    vocabulary = written["model"]["vocab"]
    vocabulary["\u010a"] = vocabulary.pop(_SPARE[0])
    for spare, mark in zip(_SPARE[1:], special, strict=False):
        vocabulary[mark] = vocabulary.pop(spare)
        written["added_tokens"].append(added(vocabulary[mark], mark))
    path.write_text(json.dumps(written), encoding="utf-8")
    return folder
