"""Sampling random answers from the tokens that a guide allows, without a model."""

import random

from sotto.engine.contract.answer_parts import merge_pieces
from sotto.engine.grammar.guides import Vocabulary
from sotto.engine.parsing.answer_parser import Parser
from sotto.engine.tokens.detokenizer import _BYTE_OF
from sotto.engine.tokens.tokenizer import Tokenizer
from vocabularies import added, tokenizer_json

_CHARACTER_OF = {byte: character for character, byte in _BYTE_OF.items()}
# Some begin or end within the markers that model families write around tool calls and thoughts.
_LONGER = [b"</", b'"}', b"\n\n", b'": "', b">\n", b"k>\n\n{", b'k>\n\n<tool_call>\n{"']
_LIKELY = set(b'"}]>/<(){,:0123456789') | {ord("\n")}


def byte_level(marks=()):
    """Return a byte-level tokenizer with some longer tokens, an end token and these special tokens."""
    tokens = [bytes([byte]) for byte in range(256)] + _LONGER
    vocabulary = {"".join(_CHARACTER_OF[byte] for byte in token): index for index, token in enumerate(tokens)}
    special = [added(len(vocabulary) + index, mark) for index, mark in enumerate(["</s>", *marks])]
    decoder = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    model = {"type": "BPE", "vocab": vocabulary, "merges": []}
    text = tokenizer_json(model=model, decoder=decoder, pre_tokenizer=decoder, added_tokens=special)
    return Tokenizer(text, {"tokenizer_config.json": {"eos_token": "</s>"}})


class Walk:
    """A random answer.

    Attributes:
        text: The text as generated.
        parts: The parts that the parser returned.
        complete: Whether it was completed within the token limit.
    """

    def __init__(self, tokenizer, guide, parser, seed, max_tokens=600):
        chance, detokenizer = random.Random(seed), tokenizer.detokenizer(parser.marks)
        self.text, pieces, self.complete = "", [], False
        for _ in range(max_tokens):
            mask, rows = guide.mask(), tokenizer.vocab_size
            allowed = [token for token in range(rows) if mask[token // 8] >> token % 8 & 1]
            ends = [token for token in allowed if token in tokenizer.eos_ids]
            # Printable ASCII, or half of the time the tokens that are likely to lead to an end.
            likely = [token for token in allowed if token in _LIKELY or token >= 256]
            plain = [token for token in allowed if 32 <= token < 127] or allowed
            token = chance.choice(likely if likely and chance.random() < 0.5 else plain)
            token = ends[0] if ends and chance.random() < 0.3 else token
            guide.take(token)
            if token not in tokenizer.eos_ids:
                new = detokenizer.add(token)
                self.text += new
                pieces += parser.feed(new)
            if guide.complete or token in tokenizer.eos_ids:
                self.complete = True
                break
        self.parts = merge_pieces([*pieces, *parser.feed(detokenizer.finish()), *parser.finish()])


def walks(family, rules, tokenizer, seeds, *, tools=None, lead=None, single=False, **more):
    """Yield a random answer that the rules allow for each seed.

    Args:
        family: The notation of the model's family.
        rules: The grammar.
        tokenizer: A tokenizer, for example `byte_level()`.
        seeds: The seeds of the answers.
        tools: The tools that may be called.
        lead: Describes the text that may precede the answer, such as a thought; None for no such text.
        single: Whether a single tool call ends the answer.
        more: Further arguments of `Walk`.
    """
    vocabulary = Vocabulary(tokenizer, tokenizer.vocab_size)
    for seed in seeds:
        parser = Parser(family, tools, lead=lead, single=single, fresh=str)
        yield Walk(tokenizer, vocabulary.guide(rules, lead=lead), parser, seed, **more)
