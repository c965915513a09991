"""The options of the commands that have many."""

import argparse
from pathlib import Path


def port_number(text: str) -> int:
    """Return the number of a port; refuse a text that is none."""
    if not text.isascii() or not text.isdigit() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port; it should be a number from 0 to 65535")
    return int(text)


def add_import_options(added: argparse.ArgumentParser) -> None:
    """Add the arguments of `sotto import`."""
    from sotto.store.importing.quant_types import QUANT_TYPES
    from sotto.store.importing.recipes import MIXED

    added.add_argument(
        "path", metavar="PATH", type=Path, help="a folder with config.json and safetensors files, or a GGUF file"
    )
    added.add_argument("name", metavar="NAME", help="the name of the new model: [namespace/]model[:tag]")
    added.add_argument(
        "--quantize",
        metavar="RECIPE",
        default="",
        help=f"quantize the weights: one of {', '.join(QUANT_TYPES)}, or {', '.join(MIXED)} with more bits for "
        "sensitive tensors; exceptions may follow, such as int4,lm_head=int8,layers.0.=source",
    )
    added.add_argument(
        "--adapter",
        metavar="DIR",
        type=Path,
        help="fuse a LoRA adapter of mlx-lm or PEFT into the weights, from its folder, or as a GGUF file",
    )
    added.add_argument("--measure", action="store_true", help="then measure what the quantization costs")
    added.add_argument("--replace", action="store_true", help="replace a model of that name")
    added.add_argument("--plan", action="store_true", help="only show what it would result in")
    added.add_argument("--discard", action="store_true", help="delete what an interrupted import to NAME has left")
    added.add_argument("--json", action="store_true", help="print JSON")


def add_run_options(run: argparse.ArgumentParser) -> None:
    """Add the arguments of `sotto run`."""
    run.add_argument("prompt", metavar="PROMPT", nargs="?", help="what to ask")
    run.add_argument(
        "--image",
        action="append",
        metavar="FILE",
        help="show the model an image with the prompt, or with the first question of a chat; can be repeated; in a "
        "chat, paths of images in a question show these, too",
    )
    run.add_argument("--raw", action="store_true", help="send the prompt as it is, without the chat template")
    run.add_argument("--system", metavar="S", help="the system prompt")
    run.add_argument(
        "--template",
        metavar="FILE",
        help="use the chat template in this file (Jinja or Go) instead of the model's own",
    )
    run.add_argument(
        "--temperature", type=float, metavar="T", help="how varied answers are; 0 always takes the most likely token"
    )
    run.add_argument("--top-k", type=int, metavar="K", help="sample from the K most likely tokens")
    run.add_argument(
        "--top-p", type=float, metavar="P", help="sample from the most likely tokens with a total probability of P"
    )
    run.add_argument(
        "--min-p", type=float, metavar="P", help="drop tokens less likely than P times the most likely one"
    )
    run.add_argument("--seed", type=int, metavar="N", help="the random seed; the same seed gives the same answer")
    run.add_argument("--num-predict", type=int, metavar="N", help="generate at most N tokens")
    run.add_argument("--num-ctx", type=int, metavar="N", help="the context length in tokens")
    run.add_argument(
        "--overflow",
        choices=("error", "truncate", "shift"),
        help="when the context is full: fail (default for a single prompt), drop the oldest turns, or drop them during "
        "an answer, too (default in a chat)",
    )
    run.add_argument(
        "--think",
        action=argparse.BooleanOptionalAction,
        help="turn thinking on or off; thoughts go to stderr",
    )
    run.add_argument(
        "--think-level",
        choices=("low", "medium", "high", "max"),
        help="how much to think, if the model supports levels",
    )
    run.add_argument("--think-budget", type=int, metavar="N", help="think for at most N tokens")
    run.add_argument(
        "--tools",
        metavar="FILE",
        help="functions that the model may call, as a JSON list in OpenAI's format; calls are printed as lines of JSON",
    )
    run.add_argument(
        "--tool-choice",
        metavar="required|NAME",
        help="require one call of any tool, or of the tool with this name",
    )
    run.add_argument("--stop", action="append", metavar="S", help="end the answer before this text; can be repeated")
    run.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="any other option by its name in the API, for example dry_multiplier=0.8; can be repeated",
    )
    run.add_argument(
        "--logprobs",
        type=int,
        metavar="N",
        help="with --json, add the log-probability of each token and of the N most likely alternatives, from 0 to 20",
    )
    run.add_argument(
        "--format",
        metavar="json|FILE",
        help="the format of the answer: json for any JSON object, or a file with a JSON schema (.json), a regular "
        "expression (.regex) or a Lark grammar (.lark)",
    )
    run.add_argument(
        "--json",
        action="store_true",
        help="print JSON with the text, thoughts, calls, token IDs, counts and durations",
    )
