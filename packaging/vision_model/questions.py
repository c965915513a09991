"""What people ask about a drawing, and what the model answers; its tokenizer and chat template."""

from collections.abc import Iterator
from random import Random

from drawings import Drawing, all_drawings
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

VOCABULARY = 400
BEGIN, USER, MODEL, END, IMAGE = "<|begin|>", "<|user|>", "<|model|>", "<|end|>", "<image>"
SPECIAL = (BEGIN, USER, MODEL, END, IMAGE)
_SPLIT = r" ?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+|\s+"
WHOLE = (
    "What do you see?",
    "What is in this picture?",
    "What is in the picture?",
    "Describe the drawing.",
    "Describe this image.",
    "What is this?",
    "",
)
COUNT = ("How many are there?", "How many?", "Count them.", "How many things are in the picture?")
COLOUR = ("What colour?", "Which colour is it?", "What colour are they?", "Which colour?")
SHAPE = ("What shape?", "What is drawn?", "Which shape is it?", "What shape are they?", "Which digit is it?")
WITHOUT = ("Hello", "Hello!", "Hi", "Who are you?", "What can you do?", *WHOLE[:-1], *COUNT, *COLOUR, *SHAPE)
NOTHING_SEEN = "Show me a drawing, and I say what is in it."
# An image stands before the text of its message, as in training, wherever it comes in the message.
CHAT_TEMPLATE = (
    "{{ bos_token }}{% for message in messages if message['role'] != 'system' %}"
    "{% if message['role'] == 'user' %}<|user|>{% else %}<|model|>{% endif %}"
    "{% if message['content'] is string %}{{ message['content'] | trim }}{% else %}"
    "{% for part in message['content'] if part['type'] == 'image' %}<image>{% endfor %}"
    "{% for part in message['content'] if part['type'] == 'text' %}{{ part['text'] | trim }}{% endfor %}{% endif %}"
    "<|end|>{% endfor %}{% if add_generation_prompt %}<|model|>{% endif %}"
)


def answer(question: str, drawing: Drawing) -> str:
    """Return the answer to a question about a drawing."""
    if question in COUNT:
        return f"{drawing.number.capitalize()}."
    if question in COLOUR:
        return f"{drawing.colour.capitalize()}."
    if question in SHAPE:
        return f"{drawing.things.capitalize()}."
    return f"{drawing.number.capitalize()} {drawing.colour} {drawing.things}."


def asked(random: Random) -> list[str]:
    """Return the questions of a conversation about a drawing: the first comes with it."""
    first = random.choice(WHOLE if random.random() < 0.6 else (*COUNT, *COLOUR, *SHAPE))
    more = [random.choice((*WHOLE[:-1], *COUNT, *COLOUR, *SHAPE)) for _ in range(random.choice((0, 0, 1, 2)))]
    return [first, *more]


def train_tokenizer() -> Tokenizer:
    """Return a tokenizer that is trained on all questions and answers."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_SPLIT), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        show_progress=False,
        special_tokens=[AddedToken(text, special=True, normalized=False) for text in SPECIAL],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    tokenizer.train_from_iterator(_texts(), trainer)
    return tokenizer


def _texts() -> Iterator[str]:
    for drawing in all_drawings(held_out=False):
        for questions in (WHOLE, COUNT, COLOUR, SHAPE):
            yield answer(questions[0], drawing)
    for _ in range(100):
        yield from (*WITHOUT, NOTHING_SEEN)
