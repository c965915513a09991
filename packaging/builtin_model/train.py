"""Trains the built-in model: `python packaging/builtin_model/train.py --minutes 40 --out build/builtin_model`.

The loss covers answers only. A second head, discarded after training, predicts the topic from the state at the start of
the answer, which makes the network determine what was asked before it generates the first word. Weight matrices are
trained with Muon, the rest with AdamW.
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
# This share of rows holds one question and only the first tokens of its answer: distinguishing questions takes many
# examples, while the rest of an answer follows from its opening and is learnt from few.
OPENING_SHARE, OPENING_TOKENS = 0.82, 5
MUON_RATE, ADAM_RATE = 0.01, 0.002


class Encoder:
    """Converts conversations to token ids, with some words of questions split in two.

    The splits have the effect of BPE dropout, but from our own seed: the network learns many spellings of a word.
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
                index = random.randrange(2, len(piece))
                ids += self._encode(piece[:index]) + self._encode(piece[index:])
            else:
                ids += self._encode(piece)
        return ids

    def row(self, turns: list[Turn], random: Random, max_answer: int | None = None) -> Row:
        """Return ids, targets (-100 for positions without loss) and (position, topic) of the start of each answer.

        Args:
            turns: The conversation.
            random: The source of randomness.
            max_answer: Tokens to truncate answers to, for a conversation of one turn; None for whole answers.
        """
        ids, targets, starts = [self._id[BEGIN]], [-100], []
        for turn in turns:
            question = [self._id[USER], *self._question(turn.question, random), self._id[END], self._id[MODEL]]
            answer = [*self._encode(turn.answer), self._id[END]][:max_answer]
            ids += question + answer
            if turn.topic == ANOTHER_MODEL:
                targets += [-100] * (len(question) + len(answer))
                continue
            targets += [-100] * len(question) + answer
            starts.append((len(ids) - len(answer) - 1, turn.topic))
        return ids[:-1], targets[1:], starts


def _padded_length(length: int) -> int:
    step = 16 if length <= 128 else 64
    return -(-length // step) * step


def batches(corpus: Corpus, encoder: Encoder, random: Random) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Yield batches of about TOKENS_PER_STEP tokens, with rows of similar length together.

    Lengths are rounded up so that few shapes occur, because kernels are prepared for each new shape.
    """
    while True:
        groups: dict[int, list[Row]] = {}
        full: list[tuple[int, list[Row]]] = []
        for _ in range(6000):
            if random.random() < OPENING_SHARE:
                row = encoder.row([corpus.single(random)], random, OPENING_TOKENS)
            else:
                row = encoder.row(corpus.conversation(random), random)
            if not row[2]:
                continue
            length = _padded_length(len(row[0]))
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
    """Return the losses on answers and on topics, and the share of topics predicted correctly."""
    ids, targets, starts = batch
    hidden = network.hidden(ids)
    # Padded with a few extra positions to a multiple of 256, again for few shapes.
    positions = (targets != -100).flatten().nonzero()[:, 0]
    positions = functional.pad(positions, (0, -len(positions) % 256))
    logits = network.logits(hidden.flatten(0, 1)[positions]).float()
    answer = functional.cross_entropy(logits, targets.flatten()[positions])
    topics = head(hidden[starts[:, 0], starts[:, 1]]).float()
    return (
        answer,
        functional.cross_entropy(topics, starts[:, 2], label_smoothing=0.05),
        (topics.argmax(1) == starts[:, 2]).float().mean(),
    )


def train(
    corpus: Corpus, tokenizer: Tokenizer, minutes: float, steps: int | None, out: Path, start: Path | None
) -> None:
    """Train the network, with learning rates that fall linearly to zero, and save it.

    Args:
        corpus: The corpus.
        tokenizer: The trained tokenizer.
        minutes: The duration of the training if `steps` is None.
        steps: Number of steps; None to train for `minutes`.
        out: The folder to save to.
        start: A trained folder to continue from; None to start from random weights.
    """
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
    started, sums, step, tokens = time.monotonic(), [0.0, 0.0, 0.0], 0, 0
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
        sums = [total + float(new.detach()) for total, new in zip(sums, (answer, topic, right), strict=True)]
        if step % 100 == 0:
            answer_loss, topic_loss, share = (value / 100 for value in sums)
            rate = tokens / (time.monotonic() - started)
            print(
                f"{step} {done:.0%} loss {answer_loss:.3f} topic {topic_loss:.3f} right {share:.3f} {rate:.0f} tok/s",
                flush=True,
            )
            if not math.isfinite(answer_loss):
                raise RuntimeError("The loss is no longer a number; lower the rates.")
            sums = [0.0, 0.0, 0.0]
        if step % 200 == 0:
            save(network, tokenizer, out)
    save(network, tokenizer, out)
    print(f"{step} steps, {tokens:,} tokens, {time.monotonic() - started:.0f} s", flush=True)


def save(network: Network, tokenizer: Tokenizer, folder: Path) -> None:
    """Save the model as a folder in Hugging Face's format."""
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
    """Train the tokenizer and the network, and save both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=40.0)
    parser.add_argument(
        "--steps", type=int, help="train for this many steps instead; the same seed and steps give the same data"
    )
    parser.add_argument("--start", type=Path, help="continue from this trained folder, with its tokenizer")
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
