"""What a model would read of a short conversation: its prompt as text, before the model is made."""

from collections.abc import Sequence
from dataclasses import replace

from sotto.engine.config.text_files import named_tokens
from sotto.engine.contract.requests import Message
from sotto.engine.prompt.template_choice import choose_template
from sotto.engine.prompt.templates import ChatTemplate
from sotto.store.records import ModelSource


def sample_prompt(source: ModelSource, system: str, template: str, said: Sequence[str]) -> str:
    """Return the prompt of a conversation.

    Args:
        source: The small files of the model.
        system: The system prompt; empty for none.
        template: A chat template in place of the model's own; empty for that one.
        said: What the user and the assistant say in turns.

    Raises:
        BrokenModelError: The template is not valid, has no place for messages, or fails.
        InvalidRequestError: It refuses such a conversation.
    """
    tokens = named_tokens(source.json_files)
    if template:
        chosen = ChatTemplate.custom(template, tokens)
    else:
        chosen = ChatTemplate(choose_template(replace(source, user_template="")), tokens)
    begun = [Message(row["role"], row["content"]) for row in source.messages]
    turns = [Message(("user", "assistant")[index % 2], text) for index, text in enumerate(said)]
    return chosen.render([*([Message("system", system)] if system else []), *begun, *turns])


def own_template(source: ModelSource) -> str:
    """Return the text of the template that makes a model's prompts; empty for a built-in format or a plain text."""
    choice = choose_template(replace(source, user_template=""))
    return choice.text if choice.kind in ("jinja", "go") else ""
