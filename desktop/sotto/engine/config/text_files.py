"""What a model's small files say about its special tokens and its chat template.

Each fact can stand in several files, and this is the one place that knows which file is believed.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from sotto.errors import BrokenModelError
from sotto.store.records import ModelSource

JsonFiles = Mapping[str, Mapping[str, Any]]

_DEFAULT = "default"
_NAMES = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")
_ID_FILES = ("generation_config.json", "config.json")
_TEXT_FILES = ("tokenizer_config.json", "special_tokens_map.json")


def chat_templates(source: ModelSource) -> dict[str, str]:
    """Return the Jinja texts of a model's chat templates by name, that for every conversation first; none for none.

    As Hugging Face does, a `chat_template.jinja` is preferred to `chat_template.json`, and that to
    `tokenizer_config.json`; files for particular uses come on top. The one called `default` is for every conversation,
    or else the first.

    Raises:
        BrokenModelError: What stands there is no template.
    """
    found = {_DEFAULT: source.chat_template} if source.chat_template else _written_templates(source.json_files)
    found = {name: text for name, text in (found | dict(source.more_templates)).items() if text}
    return {_DEFAULT: found[_DEFAULT]} | found if _DEFAULT in found else found


def chat_template(source: ModelSource) -> str:
    """Return the Jinja text of the chat template for every conversation, or an empty text; see `chat_templates`."""
    return next(iter(chat_templates(source).values()), "")


def named_tokens(files: JsonFiles) -> dict[str, str]:
    """Return the texts of the special tokens that have a name, `bos_token` for example.

    `tokenizer_config.json` is believed first; a name that it sets to null has no token.

    Raises:
        BrokenModelError: A token is neither a text nor an object with `content`.
    """
    found: dict[str, str] = {}
    for name in _NAMES:
        file = next((file for file in _TEXT_FILES if name in files.get(file, {})), None)
        if file is not None and (text := _token_text(file, name, files[file][name])):
            found[name] = text
    return found


def token_ids(files: JsonFiles, name: str) -> Iterator[tuple[int, ...]]:
    """Yield the ids that `name`, for example `eos_token_id`, has in each file that gives it, the most trusted first.

    Raises:
        BrokenModelError: An id is no integer or negative.
    """
    for file in _ID_FILES:
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
