"""Trains the built-in model: `python packaging/builtin_model/train.py --minutes 40 --out build/builtin_model`.

Loss is taken on answers only. A second head, dropped afterwards, must name the topic from the state that starts the
answer: it makes the network settle what was asked before it writes the first word. Weight matrices are trained with
Muon, the rest with AdamW.
"""

import argparse
import json
import math
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import torch
from conversations import ANOTHER_MODEL, Corpus, Turn
from network import CONFIG, Network
from safetensors.torch import load_file, save_file
from tokenizer import BEGIN, END, MODEL, USER, save_tokenizer, train_tokenizer
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional

Row = tuple[list[int], list[int], list[tuple[int, int]]]
SEED = 20261120
TOKENS_PER_STEP = 3000
TOPIC_WEIGHT = 0.5
# Most rows hold one question and just the opening of its answer: telling questions apart takes many of them, while the
# rest of an answer follows from its opening and is learnt from few.
OPENINGS, OPENING = 0.82, 5
MUON_RATE, ADAM_RATE = 0.01, 0.002


class Encoder:
    """Turns conversations into token ids, with words of questions now and then cut in two.

    The cuts have the effect of BPE dropout, drawn from our own seed: the network learns many spellings of one word.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._id = {text: tokenizer.token_to_id(text) for text in (BEGIN, USER, MODEL, END)}
        self._cache: dict[str, list[int]] = {}

    def _encode(self, text: str) -> list[int]:
        if text not in self._cache:
            if len(self._cache) > 200_000:
                self._cache.clear()
            self._cache[text] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return self._cache[text]

    def _question(self, text: str, random: Random) -> list[int]:
        rate = random.choice((0.0, 0.0, 0.05, 0.15))
        if not rate:
            return self._tokenizer.encode(text, add_special_tokens=False).ids
        ids: list[int] = []
        for number, word in enumerate(text.split(" ")):
            piece = word if number == 0 else " " + word
            if len(word) > 3 and random.random() < rate:
                at = random.randrange(2, len(piece))
                ids += self._encode(piece[:at]) + self._encode(piece[at:])
            else:
                ids += self._encode(piece)
        return ids

    def row(self, turns: list[Turn], random: Random, longest: int | None = None) -> Row:
        """Give ids, targets (-100 where nothing is learnt) and (position, topic) of each answer's start.

        Answers are cut to `longest` tokens; only the last turn's may be, as nothing can follow a cut one.
        """
        ids, targets, starts = [self._id[BEGIN]], [-100], []
        for turn in turns:
            question = [self._id[USER], *self._question(turn.question, random), self._id[END], self._id[MODEL]]
            answer = [*self._encode(turn.answer), self._id[END]][:longest]
            ids += question + answer
            if turn.topic == ANOTHER_MODEL:
                targets += [-100] * (len(question) + len(answer))
                continue
            targets += [-100] * len(question) + answer
            starts.append((len(ids) - len(answer) - 1, turn.topic))
        return ids[:-1], targets[1:], starts


def _rounded(length: int) -> int:
    step = 16 if length <= 128 else 64
    return -(-length // step) * step


def batches(corpus: Corpus, encoder: Encoder, random: Random) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Yield batches of about TOKENS_PER_STEP tokens, rows of like length together.

    Lengths are rounded up so that few shapes occur: the kernels for each new shape are made when it is first met.
    """
    while True:
        groups: dict[int, list[Row]] = {}
        full: list[tuple[int, list[Row]]] = []
        for _ in range(6000):
            if random.random() < OPENINGS:
                row = encoder.row([corpus.single(random)], random, OPENING)
            else:
                row = encoder.row(corpus.conversation(random), random)
            if not row[2]:
                continue
            length = _rounded(len(row[0]))
            group = groups.setdefault(length, [])
            group.append(row)
            if len(group) >= max(1, TOKENS_PER_STEP // length):
                full.append((length, groups.pop(length)))
        random.shuffle(full)
        for length, group in full:
            ids = torch.zeros(len(group), length, dtype=torch.long)
            targets = torch.full((len(group), length), -100)
            starts = []
            for number, (row_ids, row_targets, row_starts) in enumerate(group):
                ids[number, : len(row_ids)] = torch.tensor(row_ids)
                targets[number, : len(row_targets)] = torch.tensor(row_targets)
                starts += [(number, position, topic) for position, topic in row_starts]
            yield ids, targets, torch.tensor(starts)


def losses(network: Network, head: nn.Linear, batch: tuple[Tensor, Tensor, Tensor]) -> tuple[Tensor, Tensor, Tensor]:
    """Give the losses on answers and on topics, and the share of topics named rightly."""
    ids, targets, starts = batch
    hidden = network.hidden(ids)
    # A few positions too many, so that the number of them is round.
    learnt = (targets != -100).flatten().nonzero()[:, 0]
    learnt = functional.pad(learnt, (0, -len(learnt) % 256))
    logits = network.logits(hidden.flatten(0, 1)[learnt]).float()
    answer = functional.cross_entropy(logits, targets.flatten()[learnt])
    topics = head(hidden[starts[:, 0], starts[:, 1]]).float()
    return (
        answer,
        functional.cross_entropy(topics, starts[:, 2], label_smoothing=0.05),
        (topics.argmax(1) == starts[:, 2]).float().mean(),
    )


def train(
    corpus: Corpus, tokenizer: Tokenizer, minutes: float, steps: int | None, out: Path, start: Path | None
) -> None:
    """Train for `steps`, or for as many as fit into the minutes; the rate falls linearly to nothing."""
    torch.manual_seed(SEED)
    network = Network(tokenizer.get_vocab_size())
    if start:
        weights = load_file(start / "model.safetensors")
        network.load_state_dict({name.removeprefix("model."): tensor for name, tensor in weights.items()})
    head = nn.Linear(CONFIG["hidden_size"], len(corpus.topics))
    matrices = [p for name, p in network.named_parameters() if p.ndim == 2 and "embed" not in name]
    others = [p for name, p in network.named_parameters() if p.ndim != 2 or "embed" in name] + list(head.parameters())
    muon = torch.optim.Muon(matrices, lr=MUON_RATE, weight_decay=0.02, momentum=0.95)
    adam = torch.optim.AdamW(others, lr=ADAM_RATE, betas=(0.9, 0.98), weight_decay=0.01)
    print(f"{sum(p.numel() for p in network.parameters()):,} parameters, {len(corpus.topics)} topics", flush=True)
    data = batches(corpus, Encoder(tokenizer), Random(SEED + 1))
    started, shown, step, tokens = time.monotonic(), [0.0, 0.0, 0.0], 0, 0
    while True:
        done = step / steps if steps else (time.monotonic() - started) / (minutes * 60)
        if done >= 1:
            break
        scale = min(1.0, (step + 1) / 30) * min(1.0, (1 - done) / 0.85 + 0.01)
        for optimizer, rate in ((muon, MUON_RATE), (adam, ADAM_RATE)):
            optimizer.param_groups[0]["lr"] = rate * scale
        batch = next(data)
        with torch.autocast("cpu", torch.bfloat16):
            answer, topic, right = losses(network, head, batch)
        (answer + TOPIC_WEIGHT * topic).backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        muon.step()
        adam.step()
        muon.zero_grad()
        adam.zero_grad()
        step, tokens = step + 1, tokens + batch[0].numel()
        shown = [old + float(new.detach()) for old, new in zip(shown, (answer, topic, right), strict=True)]
        if step % 100 == 0:
            answer_loss, topic_loss, share = (value / 100 for value in shown)
            rate = tokens / (time.monotonic() - started)
            print(
                f"{step} {done:.0%} loss {answer_loss:.3f} topic {topic_loss:.3f} right {share:.3f} {rate:.0f} tok/s",
                flush=True,
            )
            if not math.isfinite(answer_loss):
                raise RuntimeError("The loss is no longer a number; lower the rates.")
            shown = [0.0, 0.0, 0.0]
        if step % 200 == 0:
            save(network, tokenizer, out)
    save(network, tokenizer, out)
    print(f"{step} steps, {tokens:,} tokens, {time.monotonic() - started:.0f} s", flush=True)


def save(network: Network, tokenizer: Tokenizer, folder: Path) -> None:
    """Write a folder as Hugging Face tools know it."""
    folder.mkdir(parents=True, exist_ok=True)
    save_tokenizer(tokenizer, folder)
    ids = {"bos_token_id": tokenizer.token_to_id(BEGIN), "eos_token_id": tokenizer.token_to_id(END)}
    config = CONFIG | ids | {"vocab_size": tokenizer.get_vocab_size()}
    (folder / "config.json").write_text(json.dumps(config, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    generation = ids | {"do_sample": False, "pad_token_id": ids["eos_token_id"]}
    (folder / "generation_config.json").write_text(
        json.dumps(generation, indent=2, sort_keys=True) + "\n", encoding="utf-8"
    )
    tensors = {f"model.{name}": tensor.detach().contiguous() for name, tensor in network.state_dict().items()}
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})


def main() -> None:
    """Train and save."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=40.0)
    parser.add_argument(
        "--steps", type=int, help="train for exactly so many steps instead: the same seed and steps give the same data"
    )
    parser.add_argument("--start", type=Path, help="go on from this trained folder, with its tokenizer")
    parser.add_argument("--out", type=Path, default=Path("build/builtin_model"))
    arguments = parser.parse_args()
    corpus = Corpus()
    if arguments.start:
        tokenizer = Tokenizer.from_file(str(arguments.start / "tokenizer.json"))
    else:
        tokenizer = train_tokenizer(corpus, SEED)
    train(corpus, tokenizer, arguments.minutes, arguments.steps, arguments.out, arguments.start)


if __name__ == "__main__":
    main()
