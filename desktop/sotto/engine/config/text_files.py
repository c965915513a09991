"""Special tokens and chat templates, as read from a model's small JSON files.

Each fact can be in several files, and only this module knows which file takes precedence.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from sotto.errors import BrokenModelError
from sotto.store.records import ModelSource

JsonFiles = Mapping[str, Mapping[str, Any]]

_DEFAULT = "default"
_NAMED_TOKENS = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")
_TOKEN_ID_FILES = ("generation_config.json", "config.json")
_TOKEN_TEXT_FILES = ("tokenizer_config.json", "special_tokens_map.json")


def chat_templates(source: ModelSource) -> dict[str, str]:
    """Return the Jinja texts of a model's chat templates by name, the general one first; empty if there are none.

    As in Hugging Face's libraries, `chat_template.jinja` takes precedence over `chat_template.json`, and that over
    `tokenizer_config.json`; files for particular uses are added. The general template is the one called `default`, or
    else the first.

    Raises:
        BrokenModelError: The value in a file is not a template.
    """
    found = {_DEFAULT: source.chat_template} if source.chat_template else _written_templates(source.json_files)
    found = {name: text for name, text in (found | dict(source.more_templates)).items() if text}
    return {_DEFAULT: found[_DEFAULT]} | found if _DEFAULT in found else found


def chat_template(source: ModelSource) -> str:
    """Return the Jinja text of the general chat template, empty if there is none; see `chat_templates`."""
    return next(iter(chat_templates(source).values()), "")


def named_tokens(files: JsonFiles) -> dict[str, str]:
    """Return the texts of the named special tokens, `bos_token` for example.

    `tokenizer_config.json` takes precedence, even if it sets a name to null, which means that there is no such token.

    Raises:
        BrokenModelError: A token is neither a text nor an object with `content`.
    """
    found: dict[str, str] = {}
    for name in _NAMED_TOKENS:
        file = next((file for file in _TOKEN_TEXT_FILES if name in files.get(file, {})), None)
        if file is not None and (text := _token_text(file, name, files[file][name])):
            found[name] = text
    return found


def token_ids(files: JsonFiles, name: str) -> Iterator[tuple[int, ...]]:
    """Yield the ids of `name`, for example `eos_token_id`, from each file that has them, in order of precedence.

    Raises:
        BrokenModelError: An id is not an integer or is negative.
    """
    for file in _TOKEN_ID_FILES:
        content = files.get(file, {})
        for holder in (content, content.get("text_config")):
            value = holder.get(name) if isinstance(holder, Mapping) else None
            if value is None:
                continue
            ids = tuple(value) if isinstance(value, list) else (value,)
            if any(type(token) is not int or token < 0 for token in ids):
                raise BrokenModelError(f"{file}: {name} is {_printable(value)}, not a token id or a list of them.")
            yield ids
            break


def _written_templates(files: JsonFiles) -> dict[str, str]:
    for name in ("chat_template.json", "tokenizer_config.json"):
        if value := files.get(name, {}).get("chat_template"):
            return _template_texts(name, value)
    return {}


def _template_texts(file: str, value: object) -> dict[str, str]:
    if isinstance(value, str):
        return {_DEFAULT: value}
    # Newer files map names to templates; older ones list objects with a name and a template.
    if isinstance(value, list) and all(isinstance(entry, Mapping) for entry in value):
        value = {entry.get("name"): entry.get("template") for entry in value}
    if isinstance(value, Mapping) and isinstance(value.get(_DEFAULT, next(iter(value.values()), "")), str):
        return {str(key): text for key, text in value.items() if isinstance(text, str)}
    raise BrokenModelError(f"{file}: chat_template is neither a text nor a list of named texts.")


def _token_text(file: str, name: str, value: object) -> str:
    text = value.get("content") if isinstance(value, Mapping) else value
    if text is None or text is False:
        return ""
    if not isinstance(text, str):
        raise BrokenModelError(f"{file}: {name} is {_printable(value)}, not a text.")
    return text


def _printable(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."
