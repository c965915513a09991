"""Evaluates the built-in model on the held-out questions, through Sotto's own store and engine.

    python packaging/builtin_model/evaluate.py

An answer is right if it matches one of the question's `accept` patterns and none of its `reject` patterns. Only figures
are printed, so that the questions remain unseen by those who work on the corpus.
"""

import argparse
import json
import re
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sotto.engine.kernels import device

device.prepare()

from sotto.engine.contract.events import Failed, Finished  # noqa: E402
from sotto.engine.contract.options import request_options  # noqa: E402
from sotto.engine.contract.requests import GenerateRequest, Message  # noqa: E402
from sotto.engine.engine import Engine  # noqa: E402
from sotto.store.opening import open_model, record_of  # noqa: E402

ROOT = Path(__file__).parents[2]
MANIFEST = "manifests/registry.ollama.ai/library/sotto/latest"


class Answerer:
    """The loaded model, used with the options of its manifest."""

    def __init__(self, engine: Engine, manifest: Path) -> None:
        source = open_model(record_of(manifest))
        self._options = request_options(source.params, {})
        self._engine = engine
        engine.load(source)

    def answer(self, *messages: Message) -> str:
        """Return the model's answer to the last message."""
        request = GenerateRequest(
            id="evaluation",
            messages=messages,
            sampling=self._options.sampling,
            num_predict=self._options.num_predict,
            stop=self._options.stop,
        )
        for event in self._engine.generate(self._engine.prepare(request)):
            if isinstance(event, Finished):
                return event.text
            if isinstance(event, Failed):
                raise RuntimeError(event.message)
        raise AssertionError("a generation ends with Finished or Failed")


@contextmanager
def answerer(manifest: Path) -> Iterator[Answerer]:
    """Load the model of a manifest for the duration of a `with` statement."""
    engine = Engine()
    try:
        yield Answerer(engine, manifest)
    finally:
        engine.close()


def is_right(answer: str, question: dict[str, list[str]]) -> bool:
    """Return whether an answer is right by its question's patterns, ignoring case."""
    accepted = any(re.search(pattern, answer, re.IGNORECASE) for pattern in question["accept"])
    return accepted and not any(re.search(pattern, answer, re.IGNORECASE) for pattern in question.get("reject", ()))


def main() -> None:
    """Evaluate the model, and print and save the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", type=Path, default=ROOT / "resources" / "store")
    parser.add_argument("--questions", type=Path, default=Path(__file__).parent / "held_out.jsonl")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "held_out_figure.json")
    arguments = parser.parse_args()
    questions = [
        json.loads(line) for line in arguments.questions.read_text(encoding="utf-8").splitlines() if line.strip()
    ]
    total, right = Counter[str](), Counter[str]()
    started = time.monotonic()
    with answerer(arguments.store / MANIFEST) as model:
        for question in questions:
            total[question["topic"]] += 1
            right[question["topic"]] += is_right(model.answer(Message("user", question["question"])), question)
    figure = {
        "questions": total.total(),
        "right": right.total(),
        "share": round(right.total() / total.total(), 4),
        "missed_by_topic": {
            topic: f"{total[topic] - right[topic]} of {total[topic]}"
            for topic in sorted(total)
            if right[topic] < total[topic]
        },
    }
    text = json.dumps(figure, indent=2)
    arguments.out.write_text(text + "\n", encoding="utf-8")
    print(f"{text}\n{time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    main()
