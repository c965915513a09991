"""Trains the model that sees drawings: `python packaging/vision_model/train.py --minutes 30 --out build/vision_model`.

The loss covers answers only. Three more heads, discarded after training, name kind, colour and count from the mean of
the features, so that the tower learns to see before the language model has learnt to speak. Matrices are trained with
Muon, the rest with AdamW. Writes a folder as transformers saves it, in bfloat16.
"""

import argparse
import copy
import json
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import numpy as np
import torch
import transformers
from drawings import COLOURS, KINDS, NUMBERS, SIDE, Drawing, all_drawings
from questions import (
    BEGIN,
    CHAT_TEMPLATE,
    END,
    IMAGE,
    MODEL,
    NOTHING_SEEN,
    USER,
    WITHOUT,
    answer,
    asked,
    train_tokenizer,
)
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional

SEED = 20261124
BATCH = 64
PATCH = 12
ROWS = (SIDE // PATCH) ** 2
# This share of conversations is about nothing that could be seen.
WITHOUT_SHARE = 0.05
NAMING_WEIGHT = 0.5
MUON_RATE, ADAM_RATE = 0.01, 0.002
MEAN, STD = (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)
_LAYERS = {"num_attention_heads": 2, "hidden_size": 128}


def network(tokenizer: Tokenizer) -> transformers.LlavaForConditionalGeneration:
    """Return the network with random weights."""
    begin, end, image = (tokenizer.token_to_id(text) for text in (BEGIN, END, IMAGE))
    # The features are those of the last layer but one, as in LLaVA 1.5.
    vision = transformers.CLIPVisionConfig(
        **{**_LAYERS, "num_attention_heads": 4},
        intermediate_size=512,
        num_hidden_layers=5,
        image_size=SIDE,
        patch_size=PATCH,
    )
    text = transformers.LlamaConfig(
        **_LAYERS,
        intermediate_size=320,
        num_hidden_layers=3,
        num_key_value_heads=2,
        vocab_size=tokenizer.get_vocab_size(),
        max_position_embeddings=2048,
        tie_word_embeddings=True,
        bos_token_id=begin,
        eos_token_id=end,
        pad_token_id=end,
    )
    config = transformers.LlavaConfig(
        vision_config=vision,
        text_config=text,
        image_seq_length=ROWS,
        image_token_id=image,
        tie_word_embeddings=True,
        pad_token_id=end,
    )
    # The plain form of attention is faster for rows as short as these.
    return transformers.AutoModelForImageTextToText.from_config(config, attn_implementation="eager")


class Encoder:
    """Writes conversations as tokens with targets: -100 where there is no loss."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._id = {text: tokenizer.token_to_id(text) for text in (BEGIN, USER, MODEL, END, IMAGE)}

    def row(self, turns: list[tuple[str, str]], *, sees: bool) -> tuple[list[int], list[int]]:
        """Return the tokens of questions and answers, with an image in the first question if `sees`."""
        ids, targets = [self._id[BEGIN]], [-100]
        for number, (question, reply) in enumerate(turns):
            image = [self._id[IMAGE]] * (ROWS if sees and number == 0 else 0)
            before = [self._id[USER], *image, *self._ids(question), self._id[END], self._id[MODEL]]
            after = [*self._ids(reply), self._id[END]]
            ids += before + after
            targets += [-100] * len(before) + after
        return ids, targets

    def _ids(self, text: str) -> list[int]:
        found: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return found


def batches(encoder: Encoder, random: Random) -> Iterator[tuple[Tensor, Tensor, Tensor, Tensor]]:
    """Yield tokens, targets, pixels, and kind, colour and count of drawings."""
    drawings = all_drawings(held_out=False)
    colours = list(COLOURS)
    while True:
        rows, pixels, names = [], [], []
        for _ in range(BATCH):
            if random.random() < WITHOUT_SHARE:
                rows.append(encoder.row([(random.choice(WITHOUT), NOTHING_SEEN)], sees=False))
                continue
            drawing: Drawing = random.choice(drawings)
            pixels.append(np.asarray(drawing.picture(random)))
            names.append((KINDS.index(drawing.kind), colours.index(drawing.colour), drawing.count - 1))
            rows.append(encoder.row([(text, answer(text, drawing)) for text in asked(random)], sees=True))
        # Few shapes, as kernels are prepared for each new one.
        length = -(-max(len(ids) for ids, _ in rows) // 16) * 16
        ids, targets = torch.zeros(BATCH, length, dtype=torch.long), torch.full((BATCH, length), -100)
        for number, (row, wanted) in enumerate(rows):
            ids[number, : len(row)], targets[number, : len(row)] = torch.tensor(row), torch.tensor(wanted)
        scaled = (torch.from_numpy(np.stack(pixels)).float() / 255 - torch.tensor(MEAN)) / torch.tensor(STD)
        yield ids, targets, scaled.permute(0, 3, 1, 2), torch.tensor(names)


def losses(
    model: transformers.LlavaForConditionalGeneration,
    heads: nn.ModuleList,
    batch: tuple[Tensor, Tensor, Tensor, Tensor],
) -> tuple[Tensor, Tensor, float]:
    """Return the losses of answers and of names, and the share of drawings whose three names are right."""
    ids, targets, pixels, names = batch
    features = model.model.get_image_features(pixel_values=pixels).pooler_output
    features = torch.stack(list(features))
    embeddings = model.get_input_embeddings()(ids)
    is_image = (ids == model.config.image_token_id)[..., None].expand_as(embeddings)
    embeddings = embeddings.masked_scatter(is_image, features.to(embeddings.dtype))
    # Rows are padded on the right, where nothing looks back from: no mask but the causal one is needed.
    hidden = model.model.language_model(inputs_embeds=embeddings).last_hidden_state
    places = (targets[:, 1:] != -100).flatten().nonzero()[:, 0]
    logits = model.lm_head(hidden[:, :-1].flatten(0, 1)[places]).float()
    spoken = functional.cross_entropy(logits, targets[:, 1:].flatten()[places])
    guesses = [head(features.mean(1)).float() for head in heads]
    named = sum(functional.cross_entropy(guess, names[:, which]) for which, guess in enumerate(guesses))
    right = torch.stack([guess.argmax(1) == names[:, which] for which, guess in enumerate(guesses)]).all(0)
    return spoken, torch.as_tensor(named), right.float().mean().item()


def train(minutes: float, out: Path) -> None:
    """Train the network, with learning rates that fall linearly to zero, and save it."""
    torch.manual_seed(SEED)
    tokenizer = train_tokenizer()
    model = network(tokenizer)
    heads = nn.ModuleList(nn.Linear(_LAYERS["hidden_size"], len(names)) for names in (KINDS, COLOURS, NUMBERS))
    weights = [*model.named_parameters(), *heads.named_parameters()]
    matrices = [p for name, p in weights if p.ndim == 2 and "embed" not in name and not name[0].isdigit()]
    others = [p for name, p in weights if p.ndim != 2 or "embed" in name or name[0].isdigit()]
    muon = torch.optim.Muon(matrices, lr=MUON_RATE, weight_decay=0.02, momentum=0.95)
    adam = torch.optim.AdamW(others, lr=ADAM_RATE, betas=(0.9, 0.98), weight_decay=0.01)
    print(f"{sum(p.numel() for p in model.parameters()):,} parameters", flush=True)
    data, started, sums, step = batches(Encoder(tokenizer), Random(SEED)), time.monotonic(), [0.0, 0.0, 0.0], 0
    while (done := (time.monotonic() - started) / (minutes * 60)) < 1:
        scale = min(1.0, (step + 1) / 50) * min(1.0, (1 - done) / 0.8 + 0.01)
        for optimizer, rate in ((muon, MUON_RATE), (adam, ADAM_RATE)):
            optimizer.param_groups[0]["lr"] = rate * scale
        batch = next(data)
        with torch.autocast("cpu", torch.bfloat16):
            spoken, named, right = losses(model, heads, batch)
        (spoken + NAMING_WEIGHT * named).backward()
        nn.utils.clip_grad_norm_([*model.parameters(), *heads.parameters()], 1.0)
        for optimizer in (muon, adam):
            optimizer.step()
            optimizer.zero_grad()
        step += 1
        sums = [total + value for total, value in zip(sums, (spoken.item(), named.item(), right), strict=True)]
        if step % 100 == 0:
            figures = " ".join(f"{total / 100:.3f}" for total in sums)
            print(f"{step} steps, {time.monotonic() - started:.0f} s: {figures}", flush=True)
            sums = [0.0, 0.0, 0.0]
            if step % 1000 == 0:
                save(model, tokenizer, out)
    save(model, tokenizer, out)


def save(model: transformers.LlavaForConditionalGeneration, tokenizer: Tokenizer, out: Path) -> None:
    """Write the folder of a model: weights in bfloat16, configs, tokenizer and chat template."""
    out.mkdir(parents=True, exist_ok=True)
    copy.deepcopy(model).bfloat16().save_pretrained(out)
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token=BEGIN, eos_token=END, pad_token=END, model_max_length=2048
    )
    images = transformers.CLIPImageProcessorPil(size={"shortest_edge": SIDE}, crop_size={"height": SIDE, "width": SIDE})
    processor = transformers.LlavaProcessor(
        images, fast, PATCH, "default", CHAT_TEMPLATE, image_token=IMAGE, num_additional_image_tokens=1
    )
    processor.save_pretrained(out)
    # What other programs, and older versions of transformers, read.
    settings = json.loads(images.to_json_string()) | {"image_processor_type": "CLIPImageProcessor"}
    (out / "preprocessor_config.json").write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")
    for path in out.iterdir():
        path.chmod(0o644)


def main() -> None:
    """Train and save."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--out", type=Path, default=Path("build/vision_model"))
    parsed = parser.parse_args()
    train(parsed.minutes, parsed.out)


if __name__ == "__main__":
    main()
