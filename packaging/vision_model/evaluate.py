"""Asks the model about drawings that training never drew, with transformers: `python evaluate.py --model FOLDER`.

Prints the share of drawings of which shape, colour and count are all named, and those that were named wrongly.
"""

import argparse
from pathlib import Path

import torch
import transformers
from drawings import held_out
from questions import WHOLE, answer

SEED = 1


def main() -> None:
    """Ask, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--count", type=int, default=200)
    parsed = parser.parse_args()
    processor = transformers.AutoProcessor.from_pretrained(parsed.model, backend="pil")
    model = transformers.LlavaForConditionalGeneration.from_pretrained(parsed.model, dtype=torch.float32).eval()
    question, right = WHOLE[0], 0
    chat = [{"role": "user", "content": [{"type": "image"}, {"type": "text", "text": question}]}]
    prompt = processor.apply_chat_template(chat, add_generation_prompt=True)
    for drawing, picture in held_out(parsed.count, SEED):
        given = processor(text=prompt, images=picture, return_tensors="pt", add_special_tokens=False)
        made = model.generate(**given, max_new_tokens=20, do_sample=False)
        said = processor.decode(made[0, given["input_ids"].shape[1] :], skip_special_tokens=True)
        wanted = answer(question, drawing)
        right += said == wanted
        if said != wanted:
            print(f"{wanted} -> {said}")
    print(f"{right} of {parsed.count} drawings: {100 * right / parsed.count:.1f} %")


if __name__ == "__main__":
    main()
