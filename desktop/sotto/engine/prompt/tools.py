"""Tools that a model may call, read from requests and files.

The format is OpenAI's, which chat templates expect: a list of `{"type": "function", "function": {"name", "description",
"parameters"}}`, in which `parameters` is a JSON schema. The inner object alone is accepted as well.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sotto.engine.grammar.schema_checks import LARGEST_SCHEMA
from sotto.errors import InvalidRequestError, StoreError
from sotto.store.files import read_all
from sotto.store.printable import format_size

_MAX_FILE_BYTES = 16 << 20
_NAME = re.compile(r"[A-Za-z0-9_.\-]{1,128}")


def read_tools(value: Any, where: str) -> tuple[Mapping[str, Any], ...]:
    """Return the functions that JSON describes, checked.

    Args:
        value: A list of functions, as parsed from JSON.
        where: The field or file that it is from, for errors.

    Raises:
        InvalidRequestError: It is not a list, or does not describe functions in the right form.
    """
    if not isinstance(value, list):
        raise InvalidRequestError(f"{where} holds no list; it should be a list of functions.")
    return tools_at(dict(enumerate(value)), where)


def tools_at(places: Mapping[int, Any], where: str) -> tuple[Mapping[str, Any], ...]:
    """Return some functions of a list in JSON, checked.

    Args:
        places: Descriptions of functions, by their index in the list.
        where: The field or file that the list is from, for errors.

    Raises:
        InvalidRequestError: One does not describe a function in the right form, or two have the same name.
    """
    tools = tuple(_tool(place, f"{where}[{index}]") for index, place in places.items())
    names = [tool["function"]["name"] for tool in tools]
    for name in names:
        if names.count(name) > 1:
            raise InvalidRequestError(f"{where} describes {name} twice; each function needs a name of its own.")
    return tools


def _tool(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidRequestError(f'{where} is not an object; it should be one with "type" and "function".')
    kind = value.get("type", "function")
    if kind != "function":
        raise InvalidRequestError(f'{where}.type is {str(kind)[:40]!r}; "function" is all that there is.')
    function = value.get("function", value if "name" in value else None)
    if not isinstance(function, Mapping):
        raise InvalidRequestError(f'{where}.function is not an object; it should be one with "name" and "parameters".')
    name, description = function.get("name"), function.get("description", "")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InvalidRequestError(
            f"{where}.function.name is {str(name)[:40]!r}; it should be a name of letters, digits, _, . and -."
        )
    if not isinstance(description, str):
        raise InvalidRequestError(f"{where}.function.description is not text; it should say what the function does.")
    parameters = function.get("parameters")
    if parameters is None:
        parameters = {"type": "object", "properties": {}}
    properties = parameters.get("properties", {}) if isinstance(parameters, Mapping) else None
    if not isinstance(properties, Mapping):
        raise InvalidRequestError(f"{where}.function.parameters is not a JSON schema of an object with properties.")
    size = len(json.dumps(parameters))
    if size > LARGEST_SCHEMA:
        raise InvalidRequestError(
            f"{where}.function.parameters has {size} bytes ({format_size(size)}); from 1 to {LARGEST_SCHEMA} "
            f"({format_size(LARGEST_SCHEMA)}) are allowed."
        )
    # Templates iterate over the properties without checking that there are any.
    parameters = {"type": "object", **parameters, "properties": properties}
    return {"type": "function", "function": {**function, "description": description, "parameters": parameters}}


def tools_of_file(path: Path) -> tuple[Mapping[str, Any], ...]:
    """Return the functions that a JSON file describes.

    Raises:
        InvalidRequestError: It cannot be read, or does not describe functions.
    """
    try:
        value = json.loads(read_all(path, _MAX_FILE_BYTES, "a file of functions"))
    except StoreError as error:
        raise InvalidRequestError(error.message) from error
    except (ValueError, RecursionError) as error:
        raise InvalidRequestError(
            f"{path} is not JSON ({_first_line(error)}); it should hold a list of functions."
        ) from error
    return read_tools(value, path.name)


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
